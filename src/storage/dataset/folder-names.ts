/** The kind of a folder, by the names in it. */
export const DESCRIPTOR_NAME = "dataset.json";
/** Name of the file that marks an incomplete conversion in its folder. */
export const CONVERSION_NAME = "conversion.json";
/** Folders that are not read: names that identify them, and the reason. */
const NOT_READ: readonly { readonly names: readonly string[]; readonly reason: string }[] = [
  {
    names: [CONVERSION_NAME],
    reason: "an unfinished conversion; fieldprobe convert with the same arguments resumes it",
  },
  {
    names: ["manifests", "snapshots", "transactions"],
    reason: "an Icechunk repository, which is not read: copy it to a store of Zarr (xarray: ds.to_zarr)",
  },
];
export const FOLDER_DEPTH = 3;

export const STORE_NAMES: readonly string[] = ["zarr.json", ".zgroup", ".zarray", ".zmetadata"];

export function isStore(names: readonly string[]): boolean {
  return names.some((name) => STORE_NAMES.includes(name));
}

/** The kind of a folder with these names in it: a dataset, a folder of datasets, or something that is not read. */
export function folderKind(names: readonly string[]): "described" | "store" | "folder" | { readonly refused: string } {
  if (names.includes(DESCRIPTOR_NAME)) return "described";
  if (isStore(names)) return "store";
  const known = NOT_READ.find((one) => one.names.every((name) => names.includes(name)));
  return known === undefined ? "folder" : { refused: known.reason };
}

export const LEVELS_SUFFIX = ".levels";

/** Whether an entry is ignored: it is hidden, is being written, or holds levels. */
export function isPassedOver(name: string): boolean {
  return name.startsWith(".") || name.endsWith(".partial") || name.endsWith(LEVELS_SUFFIX);
}
