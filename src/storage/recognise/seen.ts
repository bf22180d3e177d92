/** What a file states and its description does not use, verbatim. */
import { readOr } from "../../shared/errors.js";
import { type Descriptor, frameCount, partsIn, placesIn } from "../dataset/descriptor.js";
import { placeOf } from "../dataset/files.js";
import { isPackingName } from "../dataset/packing.js";
import { isNumeric, typeText } from "../dataset/stored.js";
import { join } from "./evidence.js";
import type { Contents } from "./layout.js";
import { isLibraryAttribute, valueText } from "./statements.js";
import { MAX_SMALL_VALUES } from "./structure.js";

const MAX_LINES = 10_000;
const MAX_DEPTH = 64;
/** Values of a small dataset that are shown. */
const MAX_SHOWN = 8;

/**
 * @param descriptor null for a file without fields
 * @returns a line for each unused attribute, `path@name = value`, each unused dataset, and what cannot be read
 */
export function unusedIn(contents: Contents, descriptor: Descriptor | null, timeTable: string | null): string[] {
  const used = descriptor === null ? new Set<string>() : usedPaths(descriptor);
  if (timeTable !== null) used.add(timeTable);
  const lines: string[] = [];
  const seen = new Set<string>();
  const visit = (path: string): void => {
    const isNew = seen.size < seen.add(contents.identity(path) ?? path).size;
    if (!isNew || lines.length >= MAX_LINES) return;
    const isUsed = used.has(path) || contents.isUsed(path);
    for (const [name, value] of contents.attributes(path)) {
      const isApplied = contents.isUsed(path, name) || isLibraryAttribute(name) || (isUsed && isPackingName(name));
      if (!isApplied) lines.push(`${path === "/" ? "" : path}@${name} = ${valueText(value)}`);
    }
    const names = contents.group(path);
    if (names === null) {
      if (!isUsed) lines.push(datasetText(contents, path));
      return;
    }
    if (path.split("/").length > MAX_DEPTH && names.length > 0) lines.push(`${path} (deeper members are not listed)`);
    else for (const name of names) look(join(path, name));
  };
  const look = (path: string): void => {
    readOr(
      () => visit(path),
      ({ message }) => lines.push(`${path} (${message})`),
    );
  };
  look("/");
  return lines.slice(0, MAX_LINES);
}

/** Paths that a descriptor names, at its first frame and at all others of this file. */
function usedPaths(descriptor: Descriptor): Set<string> {
  const used = new Set<string>();
  for (const field of Object.values(descriptor.fields))
    for (const { path } of partsIn(field))
      for (let frame = 0; frame < (path.includes("{step") ? frameCount(descriptor) : 1); frame++)
        used.add(placeOf(path, field ?? {}, frame));
  for (const { path } of placesIn([descriptor.axes, descriptor.fields, descriptor.forcing])) used.add(path);
  return used;
}

/** What a link is that leads to no object of the file; null for others. */
export function lostReason({ file }: Contents, path: string): string | null {
  return readOr(
    () => (file.resolve(path) === null ? "a link to nothing" : null),
    ({ message }) => message.replace(`${file.path}: ${path} is `, "").replace(/\.$/, ""),
  );
}

function datasetText(contents: Contents, path: string): string {
  const stored = contents.dataset(path);
  if (stored === null) return `${path} (${lostReason(contents, path) ?? "neither a group nor a dataset"})`;
  const { shape } = stored;
  const count = shape.reduce((product, length) => product * length, 1);
  const head = `${path} (${typeText(stored)}, ${shape.length === 0 ? "one number" : shape.join(" x ")})`;
  if (count > MAX_SMALL_VALUES) return head;
  const values = () => {
    const all = isNumeric(stored) ? [...contents.numbers(path)] : contents.textsIn(path);
    if (all === null) return head;
    const last = isNumeric(stored) ? ` ${all.at(-1)}` : "";
    return `${head} = ${all.slice(0, MAX_SHOWN).join(", ")}${all.length > MAX_SHOWN ? `, ...${last}` : ""}`;
  };
  return readOr(values, () => head);
}
