/**
 * An engine without data: closed-form answers that tell points, times and components apart, for tests of the interface.
 */
import type { Engine, Evaluation, Query, Result, TripleSink } from "../../../../src/engine/contract/query.js";
import { rowFor } from "../../../../src/engine/contract/requested-fields.js";
import { type FieldprobeError, NotFoundError } from "../../../../src/shared/errors.js";
import { ALL_OPERATIONS, type Operation, RECORDS } from "../../../../src/shared/operations.js";
import type { Axis, Dataset } from "../../../../src/storage/dataset/dataset.js";
import { readJsonBody } from "../../../../src/text/json-body.js";

const axis = (nodes: number, origin: number, length: number, periodic: boolean): Axis => ({
  nodes,
  origin,
  spacing: length / (periodic ? nodes : nodes - 1),
  periodic,
  coordinates: null,
});

const bricking = { edge: [8, 8, 8], count: [1, 1, 1] } as const;

/** Three different axes, so that a swapped or mirrored one shows. */
export const LOPSIDED: Dataset = {
  name: "lopsided",
  title: "A field without symmetry",
  aliases: ["tilted"],
  axes: [axis(8, 0, 2 * Math.PI, true), axis(6, -1, 2, false), axis(4, 0, Math.PI, true)],
  walls: [
    [false, false],
    [true, true],
    [false, false],
  ],
  openFaces: "fail",
  time: { count: 5, origin: -0.5, step: 0.5, values: null, guardBefore: 1, guardAfter: 1 },
  fields: { velocity: { components: 3, bricking, parts: [] }, pressure: { components: 1, bricking, parts: [] } },
  forcing: { kind: "none" },
  dnsStep: 0.01,
  frameVelocity: [0, 0, 0],
  units: { length: "m", velocity: "m/s" },
  source: "closed form",
  location: "memory",
  digest: "0".repeat(64),
  files: [],
  warnings: [],
  assumed: [],
  questions: [],
};

/** Component `c` of the answer at a point; every argument matters. */
export function closedForm(c: number, x: number, y: number, z: number, time: number): number {
  return Math.fround(Math.sin(x + 0.3 * c) + 2 * y + 0.5 * z * z + 10 * time + c);
}

class Collecting implements TripleSink {
  slab = new Float32Array(3 * 1000);
  readonly kept: number[] = [];

  commit(count: number): void {
    this.kept.push(...this.slab.subarray(0, 3 * count));
    this.slab = new Float32Array(3 * 1000);
  }
}

export interface Log {
  started: Query[];
  answered: number;
  aborted: number;
  released: number;
}

function answer(query: Query, points: readonly number[], velocities: readonly number[]): Omit<Result, "release"> {
  const row = ALL_OPERATIONS.find(({ name }) => name === query.operation) as Operation | undefined;
  if (row === undefined) throw new Error("no such operation");
  const operation = rowFor(row, query.field === undefined ? [] : [query.field], LOPSIDED);
  const components = RECORDS[operation.result].length;
  const perPoint = query.nlayers === undefined ? 1 : (8 ** query.nlayers - 1) / 7;
  const records = query.recordEvery === undefined ? perPoint : 1 + Math.ceil((query.nt ?? 10) / query.recordEvery);
  const items = (points.length / 3) * records;
  const values = new Float32Array(items * components);
  for (let item = 0; item < items; item++) {
    const at = 3 * Math.floor(item / records);
    const [x, y, z] = points.slice(at, at + 3) as [number, number, number];
    const extra = velocities.length > 0 ? (velocities[at + 2] as number) : 0;
    for (let c = 0; c < components; c++) {
      values[item * components + c] =
        operation.name === "NullOp"
          ? ([x, y, z][c] as number)
          : closedForm(c, x, y, z, query.time ?? query.StartTime ?? 0) + (item % records) + extra;
    }
  }
  const half = Math.floor(items / 2) * components;
  return {
    items,
    itemsPerPoint: records,
    components,
    values: [values.subarray(0, half), values.subarray(half)],
    ...(query.recordEvery === undefined ? {} : { recordTimes: Float64Array.from({ length: records }, (_, k) => k) }),
  };
}

/** An engine over `LOPSIDED`. `fail` is thrown by every query; `wait` holds answers back until it settles. */
const notAsked = () => Promise.reject(new Error("not asked by the interface"));

export function analyticEngine(
  options: { fail?: FieldprobeError; wait?: Promise<void>; points?: number } = {},
): Engine & { readonly log: Log } {
  const log: Log = { started: [], answered: 0, aborted: 0, released: 0 };
  const find = (name: string) =>
    [LOPSIDED.name, ...LOPSIDED.aliases].includes(name.toLowerCase()) ? LOPSIDED : undefined;
  return {
    log,
    datasets: () => [LOPSIDED],
    waiting: () => [],
    draft: notAsked,
    find,
    start(query, control): Evaluation {
      log.started.push(query);
      const points = new Collecting();
      const velocities = new Collecting();
      control.signal?.addEventListener("abort", () => log.aborted++);
      return {
        points,
        velocities,
        nodes: 0,
        extraRecords: 0,
        work: 1,
        limit: { points: options.points ?? 2_000_000, name: "query.points" },
        async finish() {
          await options.wait;
          if (options.fail !== undefined) throw options.fail;
          if (query.dataset !== undefined && find(query.dataset) === undefined) {
            throw new NotFoundError(`Invalid set name: ${query.dataset}`);
          }
          log.answered++;
          return { ...answer(query, points.kept, velocities.kept), release: () => void log.released++ };
        },
        abort: () => void log.aborted++,
      };
    },
    status: () => {
      throw new Error("not asked by the interface");
    },
    lend: (bytes) => ({ bytes: new Uint8Array(new SharedArrayBuffer(bytes)), giveBack: () => undefined }),
    readJson: async (bytes) => readJsonBody(Buffer.from(bytes)),
    levels: () => null,
    makeLevels: notAsked,
    levelExtrema: notAsked,
    levelHistograms: notAsked,
    levelWeights: notAsked,
    held: () => [],
    regions: () => null,
    generations: () => null,
    reload: async () => undefined,
    close: async () => true,
  };
}
