/** Parts of a region, and the merging of their states in one fixed tree, independent of threads and processes. */
import { PART, type Three } from "./fragments.js";
import { Merged, type PartBox, type PartStates, type ReductionPlan } from "./plan.js";
import type { AnyReduction } from "./reductions.js";

export interface PartOrder {
  readonly total: number;
  at(place: number): Omit<PartBox, "frame">;
}

/** Nodes along x and y of a column of parts in the order of the tree. */
const COLUMN_NODES = 512;
/** Most children of a branch of the tree. */
const FAN = 16;

/** Whether the states of a reduction may be merged in any order: counts, and candidates in a total order. */
function isExact({ weights }: ReductionPlan, kind: AnyReduction["kind"]): boolean {
  if (kind === "extremes") return true;
  return (kind === "histogram" || kind === "joint") && weights.every((axis) => axis === null);
}

/** Whether each node of a frame is a group. */
const isEachNode = ({ kept }: ReductionPlan): boolean => kept[0] && kept[1] && kept[2];

/** Divides nodes into parts of at most `edge` along x, y and z, in the order of the nodes: x first, then y, then z. */
export function divide(count: Three, edge: Three): PartOrder {
  const [nx, ny, nz] = count.map((nodes, a) => Math.ceil(nodes / edge[a]));
  return {
    total: nx * ny * nz,
    at(index) {
      const [i, j, k] = [index % nx, Math.floor(index / nx) % ny, Math.floor(index / (nx * ny))];
      const from: Three = [i * edge[0], j * edge[1], k * edge[2]];
      const left = (a: 0 | 1 | 2): number => Math.min(edge[a], count[a] - from[a]);
      return { from, count: [left(0), left(1), left(2)] };
    },
  };
}

/** Most numbers in the columns of a part. */
const COLUMN_NUMBERS = 2 ** 22;

/** Nodes along x, y and z of a part of a reduction; some reductions need whole lines along their axis. */
function partEdge(plan: ReductionPlan): Three {
  const { reductions, extent, columns } = plan;
  const ofLines = reductions.find((one) => one.kind === "increments" || one.kind === "frequencies");
  // Handing over the counts costs more than counting: larger parts.
  const isCounted = reductions.length > 0 && reductions.every(({ kind }) => kind === "digits");
  const edge = isCounted ? ([64, 64, 64] as const) : PART;
  if (ofLines === undefined) return isEachNode(plan) ? [PART[0], PART[1], 8] : edge; // Each group crosses threads.
  const axis = ofLines.kind === "frequencies" ? (ofLines.line ?? ofLines.axis) : ofLines.axis;
  // Series in time have a column for each time.
  const maxNodes = ofLines.kind === "increments" ? Infinity : COLUMN_NUMBERS / columns.length;
  if (axis === null) {
    const side = Math.max(1, Math.floor(Math.min(maxNodes, PART[0] * PART[1] * PART[2]) ** (1 / 3)));
    return [side, side, side];
  }
  const nodes = extent[axis];
  const side = Math.max(1, Math.floor(Math.sqrt(Math.min(maxNodes, PART[0] * PART[1] * PART[2]) / nodes)));
  return [0, 1, 2].map((a) => (a === axis ? nodes : side)) as unknown as Three;
}

/**
 * The parts of the region of a plan, in the order in which their states are merged: columns along z that are
 * `COLUMN_NODES` wide. `parts-in-sweep.ts` orders their reduction when the region exceeds the cache.
 */
export function partsOf(plan: ReductionPlan): PartOrder {
  const edge = partEdge(plan);
  const [x, y, z] = plan.extent;
  const { total, at } = divide([x, y, z], edge);
  const [nx, ny, nz] = [x, y, z].map((nodes, a) => Math.ceil(nodes / edge[a]));
  const [columnsX, columnsY] = [edge[0], edge[1]].map((nodes) => Math.max(1, Math.floor(COLUMN_NODES / nodes)));
  const order: number[] = [];
  for (let b = 0; b < ny; b += columnsY)
    for (let a = 0; a < nx; a += columnsX)
      for (let k = 0; k < nz; k++)
        for (let j = b; j < Math.min(ny, b + columnsY); j++)
          for (let i = a; i < Math.min(nx, a + columnsX); i++) order.push((k * ny + j) * nx + i);
  return { total, at: (place) => at(order[place]) };
}

/** The merged states of successive branches of the tree of a frame. Plain data, which crosses processes. */
interface BranchStates {
  /** Index of the frame in the plan. */
  readonly frame: number;
  /** 0: parts, in their order. A branch of any other level has `FAN` of the level below, the last one fewer. */
  readonly level: number;
  readonly index: number;
  /** Number of branches; the first of several is the first child of its parent. */
  readonly span: number;
  readonly states: PartStates;
}

/** The merged states of some parts, while the others are unknown. Plain data, which crosses processes. */
export interface PartialMerge {
  readonly tree: readonly BranchStates[];
  /** States that may be merged in any order. */
  readonly unordered: readonly PartStates[];
}

/** A branch of the tree with missing children: merged states of the first children, and states that wait for others. */
interface OpenBranch extends Pick<BranchStates, "frame" | "level"> {
  readonly first: number;
  readonly merged: Merged;
  done: number;
  readonly waiting: Map<number, BranchStates>;
}

/**
 * Merges the states of parts, which may be added in any order. Sums are merged in the order of a tree over the parts of
 * a frame, and then frame by frame, so that their bits do not depend on who has merged some of them before.
 */
export class MergedParts {
  /** The merged states of whole frames, in their order, and of counts. */
  readonly result: Merged;
  readonly parts: PartOrder;
  readonly #plan: ReductionPlan;
  readonly #sizes: readonly number[];
  readonly #openBranches = new Map<string, OpenBranch>();
  /** States of whole frames that wait for earlier ones; of each part if none of its groups is in another. */
  readonly #frames = new Map<number, { next: number; readonly waiting: Map<number, PartStates> }>();
  /** States that may be merged in any order; null if all parts are added here. */
  readonly #unordered: PartStates[] | null;

  /** @param isPartial whether it gets some of the parts, and `partial` is called for their states */
  constructor(plan: ReductionPlan, isPartial = false) {
    this.#plan = plan;
    this.result = new Merged(plan);
    this.parts = partsOf(plan);
    const sizes = [isEachNode(plan) ? 1 : this.parts.total];
    while (sizes[sizes.length - 1] > 1) sizes.push(Math.ceil(sizes[sizes.length - 1] / FAN));
    this.#sizes = sizes;
    this.#unordered = isPartial ? [] : null;
  }

  /** Adds the states of a part of a frame. `place`: index of the part in the order of `partsOf`. */
  add(frame: number, place: number, states: PartStates): void {
    const { reductions } = this.#plan;
    const only = (isWanted: (kind: AnyReduction["kind"]) => boolean) =>
      states.map((groups, r) => (isWanted(reductions[r].kind) ? groups : []));
    this.result.add(only((kind) => isExact(this.#plan, kind)));
    const fragments = only((kind) => kind === "structures");
    if (this.#unordered === null) this.result.add(fragments);
    else if (fragments.some((groups) => groups.length > 0)) this.#unordered.push(fragments);
    const sums = only((kind) => kind !== "structures" && !isExact(this.#plan, kind));
    if (sums.some((groups) => groups.length > 0))
      this.#insert({ frame, level: 0, index: place, span: 1, states: sums });
  }

  addPartial({ tree, unordered }: PartialMerge): void {
    for (const states of unordered) this.result.add(states);
    for (const one of tree) this.#insert(one);
  }

  /** The states that were added, merged as far as the order of the tree allows without the other parts. */
  partial(): PartialMerge {
    const tree: BranchStates[] = [];
    for (const { frame, level, first, merged, done, waiting } of this.#openBranches.values()) {
      if (done > 0) tree.push({ frame, level, index: first, span: done, states: merged.all() });
      tree.push(...waiting.values());
    }
    const level = this.#sizes.length - 1;
    for (const [index, { waiting }] of this.#frames)
      for (const [frame, states] of waiting) tree.push({ frame, level, index, span: 1, states });
    return { tree, unordered: [...(this.#unordered ?? []), this.result.all()] };
  }

  #insert(one: BranchStates): void {
    const { frame, level, index, states } = one;
    if (this.#sizes[level] === 1) {
      this.#addFrame(frame, index, states);
      return;
    }
    const parent = Math.floor(index / FAN);
    const first = parent * FAN;
    const key = `${frame} ${level} ${parent}`;
    const made = { frame, level, first, merged: new Merged(this.#plan), done: 0, waiting: new Map() };
    const open = this.#openBranches.get(key) ?? made;
    this.#openBranches.set(key, open);
    open.waiting.set(index, one);
    for (let next = open.waiting.get(first + open.done); next !== undefined; ) {
      open.waiting.delete(next.index);
      open.merged.add(next.states);
      open.done += next.span;
      next = open.waiting.get(first + open.done);
    }
    if (open.done < Math.min(FAN, this.#sizes[level] - first)) return;
    this.#openBranches.delete(key);
    this.#insert({ frame, level: level + 1, index: parent, span: 1, states: open.merged.all() });
  }

  #addFrame(frame: number, index: number, states: PartStates): void {
    const series = this.#frames.get(index) ?? { next: 0, waiting: new Map<number, PartStates>() };
    const { waiting } = series;
    this.#frames.set(index, series);
    waiting.set(frame, states);
    if (this.#unordered !== null) return;
    for (let next = waiting.get(series.next); next !== undefined; next = waiting.get(series.next)) {
      this.result.add(next);
      waiting.delete(series.next++);
    }
  }
}
