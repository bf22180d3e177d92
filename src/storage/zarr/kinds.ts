/** Tells stores from other files and folders by their names. */

/** Documents by which a folder is known as a Zarr store. */
const STORE_NAMES: readonly string[] = ["zarr.json", ".zgroup", ".zarray", ".zmetadata"];

/** Whether the folder with these names in it is a Zarr store. */
export function isStore(names: readonly string[]): boolean {
  return names.some((name) => STORE_NAMES.includes(name));
}

/** Whether a path or address is that of a list of references. */
export function isReferences(path: string): boolean {
  return /\.(refs|kerchunk)\.json$/i.test(path);
}
