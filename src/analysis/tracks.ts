/** Tracks: structures that follow each other through frames, and those that begin, end, split and merge. */
import type { ReductionPlan } from "./plan.js";

/** Structures of two consecutive frames that overlap, by their numbers in the lists, from 1. */
export interface Link {
  readonly from: number;
  readonly to: number;
  /** Volume of the nodes in both, and its part of the smaller one. */
  readonly volume: number;
  readonly overlap: number;
}

/** The structures of a frame: the number of each node's, from 1, or 0, and their volumes. */
export interface LabelledFrame {
  readonly labels: Int32Array;
  readonly volumes: readonly number[];
}

/** More than there are structures: a key of two numbers is `from * KEY + to`. */
const KEY = 2 ** 26;

/** The volume of a node of a frame, by its number, x fastest. */
export function volumesOf({
  extent: [nx, ny],
  weights: [x, y, z],
  cell,
}: Omit<ReductionPlan, "columns" | "reductions">) {
  return (node: number): number => {
    const row = Math.floor(node / nx);
    return cell * (x?.[node % nx] ?? 1) * (y?.[row % ny] ?? 1) * (z?.[Math.floor(row / ny)] ?? 1);
  };
}

/** Adds the volumes of nodes `first` to `end - 1` that structures of two frames share, by key. */
export function addShared(
  before: Int32Array,
  after: Int32Array,
  [first, end]: readonly [number, number],
  volumeOf: (node: number) => number,
  shared: Map<number, number>,
): void {
  for (let i = first; i < end; i++) {
    if (before[i] === 0 || after[i] === 0) continue;
    const key = before[i] * KEY + after[i];
    shared.set(key, (shared.get(key) ?? 0) + volumeOf(i));
  }
}

/** The links of two frames, ascending: those whose overlap exceeds `least`. */
export function linksOf(
  shared: ReadonlyMap<number, number>,
  before: readonly number[],
  after: readonly number[],
  least: number,
): readonly Link[] {
  const links = [...shared].map(([key, volume]) => {
    const [from, to] = [Math.floor(key / KEY), key % KEY];
    return { from, to, volume, overlap: volume / Math.min(before[from - 1], after[to - 1]) };
  });
  return links.filter(({ overlap }) => overlap > least).sort((a, b) => a.from - b.from || a.to - b.to);
}

/** A structure among those of the frames beside its own; null where there is no such frame. */
export interface Followed {
  readonly track: number;
  readonly parents: number | null;
  readonly children: number | null;
}

/** A track: its first and last frame, from 0, and how it begins and ends. */
export interface Track {
  readonly first: number;
  readonly last: number;
  readonly begin: "birth" | "split" | "censored";
  readonly end: "death" | "merge" | "censored";
}

/**
 * Follows structures: a track goes on where two share more volume with each other than either does with another of
 * that frame, the lower number first where they are equal. @param counts structures of a frame @param links to the next
 */
export function followed(counts: readonly number[], links: readonly (readonly Link[])[]) {
  const best = (of: readonly Link[]): Link | undefined => of.toSorted((a, b) => b.volume - a.volume)[0];
  const tracks: { first: number; last: number; begin: Track["begin"]; end: Track["end"] }[] = [];
  const frames: Followed[][] = [];
  for (const [k, count] of counts.entries()) {
    const [back, ahead] = [byEnd(links[k - 1], "to"), byEnd(links[k], "from")];
    const backAhead = byEnd(links[k - 1], "from");
    frames.push(
      Array.from({ length: count }, (_, i) => {
        const [parents, children] = [back.get(i + 1) ?? [], ahead.get(i + 1) ?? []];
        const parent = best(parents);
        const goesOn = parent !== undefined && best(backAhead.get(parent.from) ?? []) === parent;
        const track = goesOn ? frames[k - 1][parent.from - 1].track : tracks.length + 1;
        const begin = k === 0 ? "censored" : parent === undefined ? "birth" : "split";
        if (!goesOn) tracks.push({ first: k, last: k, begin, end: "death" });
        const end = k === counts.length - 1 ? "censored" : children.length === 0 ? "death" : "merge";
        Object.assign(tracks[track - 1], { last: k, end });
        return {
          track,
          parents: k === 0 ? null : parents.length,
          children: k === counts.length - 1 ? null : children.length,
        };
      }),
    );
  }
  return { frames: frames as readonly (readonly Followed[])[], tracks: tracks as readonly Track[] };
}

function byEnd(links: readonly Link[] = [], end: "from" | "to"): ReadonlyMap<number, readonly Link[]> {
  const found = new Map<number, Link[]>();
  for (const link of links) {
    const list = found.get(link[end]) ?? [];
    if (list.push(link) === 1) found.set(link[end], list);
  }
  return found;
}
