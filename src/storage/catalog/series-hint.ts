/** Finds files that look like one series, for a hint in the log. */
import { basename, dirname, join } from "node:path";
import { isAddress } from "../../shared/addresses.js";
import type { Dataset } from "../dataset/dataset.js";
import { hasHdf5Name } from "../zarr/kinds.js";
import { patternOf } from "./series.js";

/** Number of files from which they are taken for a series. */
const FEWEST = 3;

/** The path of a file with `*` for the last number of its name; null without a number. */
export function seriesPattern(location: string): string | null {
  if (isAddress(location) || !hasHdf5Name(location)) return null;
  const pattern = join(dirname(location), patternOf(basename(location)).replace("{step}", "*"));
  return pattern === location ? null : pattern;
}

/** One line for each set of HDF5 files of one grid whose names differ in their last number. */
export function seriesHints(datasets: readonly Dataset[]): string[] {
  const groups = new Map<string, { readonly pattern: string; readonly names: string[] }>();
  for (const { location, axes, fields } of datasets) {
    const pattern = seriesPattern(location);
    if (pattern === null) continue;
    const key = JSON.stringify([pattern, axes.map(({ nodes }) => nodes), Object.keys(fields)]);
    const group = groups.get(key) ?? { pattern, names: [] };
    group.names.push(basename(location));
    groups.set(key, group);
  }
  return [...groups.values()]
    .filter(({ names }) => names.length >= FEWEST)
    .map(
      ({ pattern, names }) =>
        `${names.length} files ${pattern} look like one series and are served as ${names.length} datasets; ` +
        `fieldprobe inspect ${pattern} --yes makes them one`,
    );
}
