/** Finds files that look like one series, and the command that joins them. */
import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isAddress } from "../../shared/addresses.js";
import { readOr } from "../../shared/errors.js";
import { groupBy } from "../../shared/group-by.js";
import { shellText } from "../../shared/messages.js";
import type { Axis, Dataset, TimeAxis } from "../dataset/dataset.js";
import { frameCount } from "../dataset/descriptor.js";
import type { Refusal } from "../dataset/scan.js";
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

/** A file that waits for its confirmation; without a series it gets no hint. */
type WaitingFile = Pick<Refusal, "location" | "sources"> & { readonly series: string | null };

/** What a file that waits states of its dataset. */
const UNREAD = { axes: [], fields: {}, time: null };

/** A file that may belong to a series. */
interface Candidate extends Pick<Dataset, "location" | "fields"> {
  readonly axes: readonly Axis[];
  readonly time: TimeAxis | null;
  readonly files: readonly { readonly path: string }[];
}

/**
 * A line for each set of two or more files on one grid whose names differ only in the last number.
 * @param descriptors folder of confirmations that cannot be beside their files; null: none
 */
export function seriesHints(
  datasets: readonly Dataset[],
  waiting: readonly WaitingFile[] = [],
  descriptors: string | null = null,
): string[] {
  const waitingSeries = waiting
    .filter(({ series }) => series !== null)
    .map(({ location, sources = [] }) => ({ ...UNREAD, location, files: sources.map((path) => ({ path })) }));
  const candidates: Candidate[] = [...datasets, ...waitingSeries];
  const locations = candidates.map(({ location }) => location);
  return groupsOf(candidates).map((group) => {
    const names = group.map(({ location }) => location);
    const paths = group.flatMap(({ files }) => files.map(({ path }) => path));
    return hintLine(names, locations, flagsFor(group), placeFlags(names[0] as string, paths, descriptors));
  });
}

function groupsOf(candidates: readonly Candidate[]): Candidate[][] {
  const numbered = candidates.filter(({ location }) => seriesPattern(location) !== null);
  const groups = groupBy(numbered, ({ location, axes, fields }) => {
    const grid = axes.map(({ nodes, origin, spacing }) => [nodes, origin, spacing]);
    return JSON.stringify([seriesPattern(location), grid, Object.keys(fields)]);
  });
  return [...groups.values()].filter(({ length }) => length > 1);
}

/** The flags that make a group one dataset; empty if open questions of waiting files have to be shown first. */
function flagsFor(group: readonly Candidate[]): string {
  const times = group.flatMap(({ time }) => time ?? []);
  if (times.length < group.length) return "";
  // Files that follow one another in time need no flag.
  if (areSuccessive(times)) return " --yes";
  // Single frames that state no time of their own take it from their names.
  if (times.every(({ count }) => count === 1)) return `${timesFlag(group.map(({ location }) => location))} --yes`;
  // A run that was started again has repeated the last frames of the file before.
  return " --overlap last --yes";
}

function areSuccessive(times: readonly TimeAxis[]): boolean {
  const spans = times.map(({ count, origin, step, values }) => ({
    first: values?.[0] ?? origin,
    last: values?.[count - 1] ?? origin + (count - 1) * step,
  }));
  spans.sort((a, b) => a.first - b.first);
  return spans.every(({ first }, k) => k === 0 || first > (spans[k - 1]?.last ?? first));
}

/** The line about a file and others like it in its folder; null if they do not make one dataset. */
export function seriesAround(path: string, isFree: (path: string) => boolean, descriptors?: string): string | null {
  const pattern = seriesPattern(path);
  if (pattern === null) return null;
  const neighbours = readdirSync(dirname(path)).map((name) => join(dirname(path), name));
  const files = neighbours.filter((neighbour) => seriesPattern(neighbour) === pattern && isFree(neighbour));
  const makeLine = () => {
    const { descriptor, sources } = recogniseSeries(inOrder(files).slice(0, 3), {});
    const folderFlag = descriptors === undefined ? "" : descriptorsFlag(descriptors);
    const open = openLines(descriptor.questions).map(({ about }) => about);
    const isSingle = frameCount(recogniseSet([path], {}, false).descriptor) === 1;
    const timeFlag = isSingle ? timesFlag(files) : " --overlap last";
    const flags = open.some((about) => about !== "times") ? "" : `${open.length > 0 ? timeFlag : ""} --yes`;
    return hintLine(files, neighbours, flags, `${folderFlag}${placeFlags(path, sources, null)}`);
  };
  return files.length < 2 ? null : readOr(makeLine, () => null);
}

const numberOf = (path: string): number => Number(stepIn(basename(path)));
const inOrder = (files: readonly string[]): string[] => files.toSorted((a, b) => numberOf(a) - numberOf(b));

/** The flag of times by the numbers in names: start and step, or all of them. */
function timesFlag(files: readonly string[]): string {
  const numbers = inOrder(files).map(numberOf);
  const [first, second] = numbers as [number, number];
  const isEven = numbers.every((number, k) => number === first + k * (second - first));
  return ` --times ${isEven ? `${first}:${second - first}` : numbers.join(",")}`;
}

/** @param candidates all files that the pattern might match, `files` among them */
function hintLine(files: readonly string[], candidates: readonly string[], flags: string, folderFlags: string): string {
  const pattern = seriesPattern(files[0] as string) as string;
  const [head = "", tail = ""] = pattern.split("*");
  const matchesOthers = candidates.some(
    (path) => path.startsWith(head) && path.endsWith(tail) && !files.includes(path),
  );
  const canUsePattern = shellText(head + tail) === head + tail && !matchesOthers;
  const names = canUsePattern ? pattern : inOrder(files).map(shellText).join(" ");
  const effect = flags === "" ? "shows them as" : "makes them";
  return `${files.length} files ${pattern} look like one series: fieldprobe inspect ${names}${folderFlags}${flags} ${effect} one`;
}
