/** Tells the kind of a folder by the names in it, on this machine and elsewhere. */

/** The descriptor of a dataset folder. */
export const DESCRIPTOR_NAME = "dataset.json";
/** Stands in the folder of a conversion until it is complete. */
export const CONVERSION_NAME = "conversion.json";
/** The reason why a folder with an unfinished conversion is not served. */
export const UNFINISHED = "an unfinished conversion; fieldprobe convert with the same arguments resumes it";
/** The depth below a data folder at which datasets may lie. */
export const FOLDER_DEPTH = 3;

/** Documents by which a folder is known as a Zarr store. */
export const STORE_NAMES: readonly string[] = ["zarr.json", ".zgroup", ".zarray", ".zmetadata"];

/** Whether the folder with these names in it is a Zarr store. */
export function isStore(names: readonly string[]): boolean {
  return names.some((name) => STORE_NAMES.includes(name));
}

/** The kind of a folder with these names in it: one dataset, the start of one, or a folder of them. */
export function folderKind(names: readonly string[]): "described" | "store" | "unfinished" | "folder" {
  if (names.includes(DESCRIPTOR_NAME)) return "described";
  if (isStore(names)) return "store";
  return names.includes(CONVERSION_NAME) ? "unfinished" : "folder";
}

/** Whether an entry is left out of account: it is hidden, or being written. */
export function isPassedOver(name: string): boolean {
  return name.startsWith(".") || name.endsWith(".partial");
}
