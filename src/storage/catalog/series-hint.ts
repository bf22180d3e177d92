/** Finds files that look like one series, and the command that joins them. */
import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isAddress } from "../../shared/addresses.js";
import { readOr } from "../../shared/errors.js";
import { shellText } from "../../shared/messages.js";
import type { Dataset } from "../dataset/dataset.js";
import { frameCount } from "../dataset/descriptor.js";
import { openLines } from "../recognise/draft.js";
import { hasHdf5Name } from "../zarr/kinds.js";
import { descriptorsFlag, placeFlags } from "./confirmation.js";
import { patternOf, recogniseSeries, recogniseSet, stepIn } from "./series.js";

/** The path of a file with `*` for the last number of its name; null without a number. */
export function seriesPattern(location: string): string | null {
  if (isAddress(location) || !hasHdf5Name(location)) return null;
  const pattern = join(dirname(location), patternOf(basename(location)).replace("{step}", "*"));
  return pattern === location ? null : pattern;
}

type Waits = { readonly location: string; readonly series: string | null; readonly sources?: readonly string[] };
/** One line for each set of files, served or waiting, of one grid, whose names differ in their last number. */
export function seriesHints(datasets: readonly Dataset[], waiting: readonly Waits[] = [], apart: string | null = null) {
  const fresh = waiting.filter(({ series }) => series !== null);
  const place = ({ location, sources = [] }: Waits) => ({ location, files: sources.map((path) => ({ path })) });
  const all = [...datasets, ...fresh.map((one) => ({ axes: [], fields: {}, time: null, ...place(one) }))];
  const groups = new Map<string, (typeof all)[number][]>();
  for (const one of all) {
    const grid = one.axes.map(({ nodes, origin, spacing }) => [nodes, origin, spacing]);
    const key = JSON.stringify([seriesPattern(one.location), grid, Object.keys(one.fields)]);
    if (seriesPattern(one.location) !== null) groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups.values()].flatMap((group) => {
    if (group.length < 2) return [];
    const files = group.map(({ location }) => location);
    const times = group.flatMap(({ time }) => time ?? []);
    const isSingle = times.every(({ count }) => count === 1);
    const spans = times.map(({ count, origin, step, values }) =>
      [0, count - 1].map((k) => values?.[k] ?? origin + k * step),
    );
    const isApart = spans
      .sort(([a = 0], [b = 0]) => a - b)
      .every(([first = 0], k) => k === 0 || first > (spans[k - 1]?.[1] ?? first));
    const flags = isApart ? "" : isSingle ? timesOf(files) : " --overlap last";
    const places = group.flatMap((one) => one.files.map(({ path }) => path));
    return lineAbout(
      files,
      all.map(({ location }) => location),
      times.length === files.length ? `${flags} --yes` : "",
      placeFlags(files[0] as string, places, apart),
    );
  });
}

/** The line about a file and others like it in its folder; null if they do not make one dataset. */
export function seriesAround(path: string, isFree: (path: string) => boolean, apart?: string): string | null {
  const pattern = seriesPattern(path);
  const beside = pattern === null ? [] : readdirSync(dirname(path)).map((name) => join(dirname(path), name));
  const files = beside.filter((one) => seriesPattern(one) === pattern && isFree(one));
  const line = () => {
    const { descriptor, sources } = recogniseSeries(inOrder(files).slice(0, 3), {});
    const open = openLines(descriptor.questions);
    const places = `${apart === undefined ? "" : descriptorsFlag(apart)}${placeFlags(path, sources, null)}`;
    const time = open.find(({ about }) => about === "times");
    const isSingle = frameCount(recogniseSet([path], {}, false).descriptor) === 1;
    const times = time === undefined ? "" : isSingle ? timesOf(files) : " --overlap last";
    return lineAbout(files, beside, open.some(({ about }) => about !== "times") ? "" : `${times} --yes`, places);
  };
  return files.length < 2 ? null : readOr(line, () => null);
}

const numberOf = (path: string): number => Number(stepIn(basename(path)));
const inOrder = (files: readonly string[]): string[] => files.toSorted((a, b) => numberOf(a) - numberOf(b));

function timesOf(files: readonly string[]): string {
  const numbers = inOrder(files).map(numberOf);
  const [first, second] = numbers as [number, number];
  const isEven = numbers.every((number, k) => number === first + k * (second - first));
  return ` --times ${isEven ? `${first}:${second - first}` : numbers.join(",")}`;
}

/** @param all files that the pattern of the first may name too */
function lineAbout(files: readonly string[], all: readonly string[], flags: string, places: string): string {
  const pattern = seriesPattern(files[0] as string) as string;
  const [head = "", tail = ""] = pattern.split("*");
  const isWide = all.some((one) => one.startsWith(head) && one.endsWith(tail) && !files.includes(one));
  const isPlain = shellText(head + tail) === head + tail && !isWide;
  const command = `fieldprobe inspect ${isPlain ? pattern : inOrder(files).map(shellText).join(" ")}${places}${flags}`;
  return `${files.length} files ${pattern} look like one series: ${command} ${flags === "" ? "shows them as" : "makes them"} one`;
}
