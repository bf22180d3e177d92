/** The points of a batch, sorted by brick so that neighbours in the order share bricks. */
import { type SortTables, sortByBrick, sortTables } from "../../kernels/brick-order.js";
import type { Axes, Bricking } from "../../kernels/types.js";
import { type Arena, BATCH_POINTS, MAX_AXIS_NODES } from "../contract/memory.js";

/** Fewest points that are sorted: sorting fewer costs more than it saves. */
const SORT_FROM = 128;
/** Evaluations of particles in the order of one sort. */
const EVALUATIONS_PER_SORT = 8;

export interface PointOrder {
  readonly axes: Axes;
  /** Whether the points are in sweep order already. */
  readonly sorted: boolean;
  /** Identifies particles that move little between evaluations, so that their order can be reused. */
  readonly moving?: object;
}

/** The points of one batch at a time, in arrays of the arena. */
export class SortedPoints {
  /** Positions in the caller's order, three values per point; the caller fills it before `arrange`. */
  readonly given: Float64Array;
  /** Positions in the order of evaluation. */
  readonly positions: Float64Array;
  /** Index in the caller's order of each position. */
  readonly order: Uint32Array;
  readonly #keys: Uint32Array;
  readonly #tableRoom: Uint32Array;
  /** Key tables of the last sort. */
  #tables: { readonly axes: Axes; readonly bricking: Bricking; readonly tables: SortTables } | null = null;
  /** Particles whose order is kept, their number, and the evaluations until the next sort. */
  #kept: { readonly moving: object; readonly count: number; left: number } | null = null;

  constructor(arena: Arena) {
    this.given = arena.float64(3 * BATCH_POINTS);
    this.positions = arena.float64(3 * BATCH_POINTS);
    this.#keys = arena.uint32(2 * BATCH_POINTS);
    this.order = arena.uint32(2 * BATCH_POINTS);
    this.#tableRoom = arena.uint32(MAX_AXIS_NODES);
  }

  /** Sorts the first `count` points by the bricks of a field, or keeps the order of particles. */
  arrange({ axes, sorted, moving }: PointOrder, bricking: Bricking, count: number): void {
    const { given, positions, order } = this;
    const kept = this.#kept;
    if (kept !== null && kept.moving === moving && kept.count === count && kept.left > 0) {
      kept.left--;
      for (let i = 0; i < count; i++) for (let c = 0; c < 3; c++) positions[3 * i + c] = given[3 * order[i] + c];
      return;
    }
    this.#kept = null;
    if (sorted || count < SORT_FROM) {
      for (let i = 0; i < count; i++) order[i] = i;
      for (let i = 0; i < 3 * count; i++) positions[i] = given[i];
      return;
    }
    sortByBrick(axes, this.#tablesFor(axes, bricking), given, count, this.#keys, order, positions);
    if (moving !== undefined) this.#kept = { moving, count, left: EVALUATIONS_PER_SORT - 1 };
  }

  /** The key tables of the sort, which stay in the arena as long as the grid stays the same. */
  #tablesFor(axes: Axes, bricking: Bricking): SortTables {
    if (this.#tables?.axes === axes && this.#tables.bricking === bricking) return this.#tables.tables;
    let first = 0;
    const placed = (table: Uint32Array): Uint32Array => {
      const place = this.#tableRoom.subarray(first, first + table.length);
      place.set(table);
      first += table.length;
      return place;
    };
    const { x, y, z } = sortTables(axes, bricking);
    const tables = { x: placed(x), y: placed(y), z: placed(z) };
    this.#tables = { axes, bricking, tables };
    return tables;
  }
}
