/**
 * Source of the combined bricks of a field in a sweep (`../contract/combined-bricks.ts`): reads stored bricks frame by
 * frame, adds them up, and knows which ones the sweep has passed.
 */

import { cellOf } from "../../kernels/brick-order.js";
import { addFrame } from "../../kernels/filter/interval-sums.js";
import { wrap } from "../../kernels/stencil.js";
import type { Axes, Bricking, FrameWeights, Triple } from "../../kernels/types.js";
import { groupBy } from "../../shared/group-by.js";
import { type CombinedSweep, combinedBricking, NO_ROW } from "../contract/combined-bricks.js";
import { referenceNode } from "../contract/sweep-shape.js";
import type { BrickSource, CombinedBricks, CombinedMemory } from "./brick-source.js";

/** Rows after the evaluated ones of which only the nodes next to the following row are needed. */
const ROWS_BEHIND = 2;

export class CombinedField implements BrickSource, CombinedBricks {
  readonly source: number;
  readonly components: number;
  readonly bricking: Bricking;
  readonly combined = this;
  readonly stored: BrickSource;
  readonly #axes: Axes;
  readonly #frames: FrameWeights;
  readonly #sweep: CombinedSweep;
  /** Index of the field in the batch. */
  readonly #index: number;
  /** Combined bricks in a stored one along x, y, z. */
  readonly #parts: Triple;
  /** Stored bricks that have arrived from a store since all were last requested, by frame and brick. */
  readonly #arrived = new Set<string>();
  /** Whether the sweep follows the stored bricks of this field; if not, none is known to be passed. */
  readonly #shaped: boolean;

  constructor(axes: Axes, stored: BrickSource, frames: FrameWeights, sweep: CombinedSweep, index: number) {
    this.source = sweep.source + index;
    this.components = stored.components;
    this.bricking = combinedBricking(stored.bricking, axes, sweep.shape.axes[0], sweep.halo);
    this.#parts = stored.bricking.edge.map((edge, a) => edge / this.bricking.edge[a]) as unknown as Triple;
    this.#axes = axes;
    this.stored = stored;
    this.#frames = frames;
    this.#sweep = sweep;
    this.#index = index;
    this.#shaped = stored.bricking.edge.every((edge, a) => edge === sweep.bricking.edge[a]);
  }

  get storedValues(): number {
    const { edge } = this.stored.bricking;
    return edge[0] * edge[1] * edge[2] * this.components;
  }

  /** Never called: `make` makes combined bricks. */
  load(): void {
    throw new Error("combined bricks are made, not read");
  }

  make(
    bricks: readonly number[],
    offsets: readonly number[],
    { data, sums, scratch }: CombinedMemory,
    made: (at: number) => void,
  ): number {
    const { frames, weights } = this.#frames;
    const { components } = this;
    const [ex, ey] = this.stored.bricking.edge;
    const [px, py, pz] = this.bricking.edge;
    const rows = { values: px * components, ny: py, nz: pz };
    const size = rows.values * py * pz;
    const stored = data.subarray(scratch, scratch + this.storedValues);
    const groups = groupBy(bricks.keys(), (i) => this.#storedBrick(bricks[i]));
    const [strideY, strideZ] = [components * ex, components * ex * ey];
    for (const [brick, members] of groups) {
      const parts = members.map((i) => {
        const [x, y, z] = this.#place(bricks[i], this.bricking).map((at, a) => at % this.#parts[a]);
        const first = scratch + components * ((z * pz * ey + y * py) * ex + x * px);
        return { first, out: sums.subarray(offsets[i] / 2, offsets[i] / 2 + size) };
      });
      for (const [turn, frame] of frames.entries()) {
        this.stored.load(frame, brick, stored);
        for (const { first, out } of parts)
          addFrame(data, first, strideY, strideZ, rows, weights[turn], turn === 0, out);
      }
      for (const i of members) made(i);
    }
    return groups.size * frames.length * stored.byteLength;
  }

  madeWith(brick: number, positions: Float64Array, first: number, last: number): number[] {
    const place = this.#place(brick, this.bricking);
    const stored = this.#place(this.#storedBrick(brick), this.stored.bricking);
    const whole = stored.map((at, a) => !this.#shaped || this.#isAmong(at, a, positions, first, last));
    const from = place.map((at, a) => (whole[a] ? stored[a] * this.#parts[a] : at));
    const to = from.map((at, a) => (whole[a] ? Math.min(at + this.#parts[a], this.bricking.count[a]) : at + 1));
    return this.#box(from, to);
  }

  areFetched(bricks: readonly number[]): boolean {
    const { fetched } = this.stored;
    if (fetched === undefined) return true;
    const stored = [...new Set(bricks.map((brick) => this.#storedBrick(brick)))];
    const ask = (): boolean => {
      const absent = this.#frames.frames
        .map((frame) => ({ frame, bricks: stored.filter((brick) => !this.#arrived.has(`${frame} ${brick}`)) }))
        .filter((some) => some.bricks.length > 0);
      // Only missing bricks are requested, so that the answer waits for them.
      const there = absent.length === 0 ? [] : fetched(absent);
      for (const some of there) for (const brick of some.bricks) this.#arrived.add(`${some.frame} ${brick}`);
      return there.every((some, at) => some.bricks.length === absent[at].bricks.length);
    };
    if (this.#arrived.size === 0) return ask();
    if (!ask()) return false;
    // Another thread may have taken some bricks meanwhile.
    this.#arrived.clear();
    return ask();
  }

  passed(positions: Float64Array, workerIndex: number): number[] {
    const { rows } = this.#sweep;
    if (!this.#shaped) return [];
    const { axes, width } = this.#sweep.shape;
    const [row, next, along] = axes;
    const { count } = this.stored.bricking;
    const place = this.#storedPlace(positions, 0);
    const column = Math.floor(place[next] / width[next]);
    const columns = column * Math.ceil(count[row] / width[row]) + Math.floor(place[row] / width[row]);
    // Rows of this column, counted from the first one of the sweep.
    const first = columns * count[along] * width[next];
    const depth = Math.min(width[next], count[next] - column * width[next]);
    Atomics.store(rows.evaluated, workerIndex, first + place[along] * depth + (place[next] % width[next]));
    if (this.#index === 0 && this.#sweep.isResumed !== true) Atomics.add(rows.begun, 0, 1);
    // A batch that was handed out before this one, and that no thread has begun, may lie in an earlier row.
    if (Atomics.load(rows.begun, 0) <= this.#sweep.batch) return [];
    const behind = Math.min(...rows.evaluated) - ROWS_BEHIND;
    const from = Atomics.load(rows.passed, this.#index);
    const start = Math.floor(place[row] / width[row]) * width[row];
    const across = new Set(Array.from({ length: width[row] + 1 }, (_, i) => wrap(start - 1 + i, count[row])));
    const out: number[] = [];
    for (let at = Math.max(first, from); at <= behind; at++) {
      const r = (at - first) % depth;
      const layer = Math.floor((at - first) / depth);
      const rowAt = column * width[next] + r;
      // Before the first row of a column comes the last one of the neighbouring column.
      for (const y of r === 0 && depth < count[next] ? [wrap(rowAt - 1, count[next]), rowAt] : [rowAt])
        for (const x of across) this.#addPassed(x, y, layer, at === behind, out);
    }
    if (behind > from) Atomics.store(rows.passed, this.#index, behind);
    return out;
  }

  leave(workerIndex: number): void {
    Atomics.store(this.#sweep.rows.evaluated, workerIndex, NO_ROW);
  }

  /** Adds the passed part of a stored brick and of the one before it along the sweep. */
  #addPassed(x: number, y: number, layer: number, isLastRow: boolean, out: number[]): void {
    const [row, next, along] = this.#sweep.shape.axes;
    const place = [0, 0, 0];
    [place[row], place[next], place[along]] = [x, y, layer];
    const from = place.map((at, a) => at * this.#parts[a]);
    const to = from.map((at, a) => Math.min(at + this.#parts[a], this.bricking.count[a]));
    const inner = [...to];
    inner[along] = from[along] + this.#parts[along] - 1;
    if (isLastRow) inner[next] = from[next] + this.#parts[next] - 1;
    out.push(...this.#box(from, inner));
    const layers = this.stored.bricking.count[along];
    const before = place[along] > 0 ? place[along] - 1 : layers - 1;
    if (layers < 3 || (place[along] === 0 && !this.#axes[along].periodic) || isLastRow) return;
    from[along] = before * this.#parts[along];
    to[along] = Math.min(from[along] + this.#parts[along], this.bricking.count[along]);
    out.push(...this.#box(from, to));
  }

  /** The combined bricks of a box of places. */
  #box(from: readonly number[], to: readonly number[]): number[] {
    const [nx, ny] = this.bricking.count;
    const out: number[] = [];
    for (let z = from[2]; z < to[2]; z++)
      for (let y = from[1]; y < to[1]; y++) for (let x = from[0]; x < to[0]; x++) out.push((z * ny + y) * nx + x);
    return out;
  }

  /** Whether points between two of a batch lie in the layer, or column, of a stored brick. */
  #isAmong(at: number, axis: number, positions: Float64Array, first: number, last: number): boolean {
    const {
      axes: [row, next, along],
      width,
    } = this.#sweep.shape;
    const [from, to] = [first, last].map((point) => this.#storedPlace(positions, point));
    const column = (place: readonly number[], a: number): number => Math.floor(place[a] / width[a]);
    if ([row, next].some((a) => column(from, a) !== column(to, a))) return true;
    if (axis === along) return at >= from[along] && at <= to[along];
    return Math.floor(at / width[axis]) === column(from, axis);
  }

  /** The stored brick of the reference node of a point, counted along x, y, z. */
  #storedPlace(positions: Float64Array, point: number): readonly number[] {
    const { edge } = this.stored.bricking;
    return this.#axes.map((axis, a) => {
      const node = referenceNode(axis, cellOf(axis, positions[3 * point + a]), this.#sweep.shape.reference);
      return Math.floor(node / edge[a]);
    });
  }

  /** The stored brick that holds a combined one. */
  #storedBrick(brick: number): number {
    const { count } = this.stored.bricking;
    const [x, y, z] = this.#place(brick, this.bricking).map((at, a) => Math.floor(at / this.#parts[a]));
    return (z * count[1] + y) * count[0] + x;
  }

  #place(brick: number, { count }: Bricking): Triple {
    return [brick % count[0], Math.floor(brick / count[0]) % count[1], Math.floor(brick / (count[0] * count[1]))];
  }
}
