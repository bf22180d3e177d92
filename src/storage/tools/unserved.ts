/** Lists the datasets of a file that could be fields and are not served. */
import { DataError } from "../../shared/errors.js";
import { tableNamed } from "../catalog/layouts/usual-names.js";
import type { Dataset } from "../file/dataset.js";
import { placeOf } from "../file/files.js";
import type { StoredFile } from "../file/stored-file.js";
import { openFile } from "../open-file.js";
import { describeStorage } from "./survey.js";

/** Members of a file that are looked at, groups below the root, and datasets that are listed. */
const MOST_MEMBERS = 4000;
const DEPTH = 6;
const LISTED = 12;

/**
 * One line for each dataset of numbers in three dimensions or more, of the first file of the velocity or of the field
 * in its place, that no field is read from. Coordinates are left out, and of those that differ in their numbers alone
 * all but the first. Coarser copies of a field (`/1`, `/2` of `/0`) are named as levels of it.
 */
export function unserved(dataset: Dataset): string[] {
  const parts = Object.values(dataset.fields).flatMap((source) => source?.parts ?? []);
  const [first] = parts;
  if (first === undefined) return [];
  const isSeries = parts.some(({ path }) => path.includes("{step"));
  const frames = [...Array(isSeries ? dataset.time.count : 1).keys()];
  const used = new Set(parts.flatMap((part) => frames.map((frame) => placeOf(part.path, part, frame))));
  if (dataset.forcing.kind === "modes") used.add("/forcing");
  const file = openFile(placeOf(first.file, first, 0));
  try {
    const links = [...used].map((path) => resolved(file, path));
    const served = new Set([...used, ...links]);
    const grids = gridsIn(file);
    const found = grids.filter(({ path }) => !served.has(path));
    const kinds = new Map(found.toReversed().map((grid) => [isSeries ? withoutNumbers(grid.path) : grid.path, grid]));
    const read = grids.filter(({ path }) => served.has(path));
    const lines = [...kinds.values()].toReversed().map((grid) => {
      const whole = read.find((one) => isLevelOf(grid, one));
      return `${grid.path}: ${grid.text}${whole === undefined ? "" : `, a coarser level of ${whole.path}`}`;
    });
    const left = lines.length - LISTED;
    return left > 0 ? [...lines.slice(0, LISTED), `and ${left} more`] : lines;
  } finally {
    file.close();
  }
}

/** Tells people how a dataset becomes a field; `isGeneric` if flags name the fields of the file. */
export function howToServe(isGeneric: boolean): string {
  const flags = isGeneric ? "--named NAME=PATH, --temperature PATH and the like (fieldprobe inspect --help), or " : "";
  return (
    `To serve one: ${flags}fields in a descriptor, under any name. Quantities that follow from the velocity, such as its ` +
    "vorticity, are computed."
  );
}

/** Whether a dataset is a copy of another one with fewer nodes: their paths differ in their numbers alone. */
function isLevelOf(grid: Grid, whole: Grid): boolean {
  return (
    withoutNumbers(grid.path) === withoutNumbers(whole.path) &&
    grid.shape.length === whole.shape.length &&
    grid.shape.join() !== whole.shape.join() &&
    grid.shape.every((length, a) => length <= (whole.shape[a] as number))
  );
}

function withoutNumbers(path: string): string {
  return path.replaceAll(/\d+(?:\.\d+)?/g, "#");
}

function resolved(file: StoredFile, path: string): string | null {
  try {
    return file.resolve(path);
  } catch (error) {
    if (error instanceof DataError) return null;
    throw error;
  }
}

/** A dataset of numbers in three dimensions or more. */
interface Grid {
  readonly path: string;
  readonly shape: readonly number[];
  /** Its storage in words. */
  readonly text: string;
}

/** The datasets of numbers in three dimensions or more, in the order of the file; no link is followed. */
function gridsIn(file: StoredFile): Grid[] {
  const found: Grid[] = [];
  let members = 0;
  const visit = (group: string, depth: number): void => {
    for (const name of file.names(group)) {
      if (++members > MOST_MEMBERS) return;
      const path = group === "/" ? `/${name}` : `${group}/${name}`;
      if (resolved(file, path) !== path) continue;
      const kind = file.kind(path);
      if (kind === "group" && depth < DEPTH) visit(path, depth + 1);
      if (kind !== "dataset" || tableNamed(name) !== null) continue;
      const stored = file.describe(path);
      const isNumber = stored.element === "float" || stored.element === "integer";
      if (isNumber && stored.shape.length >= 3)
        found.push({ path, shape: stored.shape, text: describeStorage(stored) });
    }
  };
  visit("/", 0);
  return found;
}
