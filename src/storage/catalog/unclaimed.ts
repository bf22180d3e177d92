/**
 * `unclaimedFiles` finds the stored files in or below the folder of a descriptor that it does not name: a scan ignores
 * them.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { isAddress } from "../../shared/addresses.js";
import { hasHdf5Name, isReferences } from "../zarr/kinds.js";

/** Files that are named in a message. */
const NAMED = 3;

function claimsOf(descriptor: unknown): RegExp[] {
  const found: RegExp[] = [];
  JSON.stringify(descriptor, (key, value) => {
    if (key === "file" && typeof value === "string" && !isAddress(value)) {
      const parts = value.split(/\{[^}]*\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
      found.push(new RegExp(`^(?:\\./)?${parts.join(".+")}$`));
    }
    return value;
  });
  return found;
}

/**
 * Lists HDF5 files, by their names, and lists of references below the folder of a descriptor; links are not followed.
 *
 * @param descriptor the descriptor as it was read
 * @returns paths from the folder, in order
 */
export function unclaimedFiles(folder: string, descriptor: unknown): string[] {
  const claims = claimsOf(descriptor);
  return [...entriesBelow(folder, "")]
    .filter((path) => hasHdf5Name(path) || isReferences(path))
    .filter((path) => !claims.some((claim) => claim.test(path)))
    .sort();
}

/**
 * Everything below a folder, as paths from it with slashes; folders that are links are not entered, as Node 24's own
 * recursion does.
 */
function* entriesBelow(root: string, folder: string): Generator<string> {
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    yield path;
    if (entry.isDirectory()) yield* entriesBelow(root, path);
  }
}

/** The warning that files are not served because of the descriptor above them; null if there are none. */
export function unclaimedWarning(folder: string, descriptor: unknown): string | null {
  const files = unclaimedFiles(folder, descriptor);
  if (files.length === 0) return null;
  const more = files.length - NAMED;
  const names = `${files.slice(0, NAMED).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  return (
    `Not served: ${names}, for ${join(folder, "dataset.json")} describes everything in its folder and below. ` +
    "A folder of descriptors (inspect FILE --descriptors FOLDER) keeps several datasets in one folder."
  );
}
