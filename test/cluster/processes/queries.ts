/** Queries of every operation of the table, by family: what a cluster divides, and in which ways. */
import type { Engine, Query } from "../../../src/engine/contract/query.js";
import {
  ALL_OPERATIONS,
  type Family,
  missingFor,
  type OperationRow,
  spatialOf,
} from "../../../src/shared/operations.js";
import type { Dataset, Triple } from "../../../src/storage/dataset/dataset.js";
import { FIELDS } from "../../support/later.js";
import { generator, writeTriples } from "../../support/run-query.js";

export const QUERY = {
  operation: "GetVelocity",
  dataset: "cube",
  time: 0.1,
  spatialInterpolation: "Lag8",
  temporalInterpolation: "PCHIP",
} as const satisfies Query;

export interface Asked {
  readonly title: string;
  readonly query: Query;
  readonly points: number;
}

const f = Math.fround;
/** A box of nodes that leaves a few out on every side. */
const cornersIn = ({ axes: [x, y, z] }: Dataset) => {
  const ends = { x_end: x.nodes - 5, y_end: y.nodes, z_end: z.nodes - 3 };
  return { x_start: 3, y_start: 2, z_start: 5, ...ends };
};

type Common = Pick<Query, "operation" | "dataset">;

/** Queries of a family; families without a row read nothing, or run through other operations. */
const QUERIES: Partial<Record<Family, (common: Common, row: OperationRow, dataset: Dataset) => Asked[]>> = {
  points: atPoints,
  force: atPoints,
  filter: (common, { name }) => {
    const query = {
      ...common,
      time: f(0.11),
      filterlength: f(0.5),
      nlayers: 2,
      temporalInterpolation: "PCHIP",
    } as const;
    return [{ title: name, query, points: 60 }];
  },
  box: (common, { name }, { axes }) => {
    const { spacing } = axes[0];
    const wide = { ...common, time: f(0.11), field: FIELDS[name] ?? "u", filterwidth: f(7 * spacing) };
    return [
      { title: name, query: name.endsWith("Gradient") ? { ...wide, spacing: f(2 * spacing) } : wide, points: 800 },
    ];
  },
  track: tracked,
  search: (common, { name }, dataset) => [
    {
      title: `${name} of vorticity`,
      query: {
        ...common,
        ...cornersIn(dataset),
        field: "vorticity",
        time: f(0.1),
        threshold: 2,
        spatialInterpolation: "None_Fd8",
      },
      points: 0,
    },
    {
      title: `${name} of a norm`,
      query: {
        ...common,
        ...cornersIn(dataset),
        field: "p",
        time: f(0.1),
        threshold: f(0.6),
        spatialInterpolation: "None",
      },
      points: 0,
    },
  ],
  cutout: (common, { name, fields }, dataset) => {
    const [Xwidth, Ywidth, Zwidth] = dataset.axes.map(({ nodes }) => nodes - 9) as [number, number, number];
    if (fields.length > 0)
      return [{ title: name, query: { ...common, T: 0, X: 1, Y: 8, Z: 7, Xwidth, Ywidth, Zwidth }, points: 0 }];
    const steps = { x_step: 2, y_step: 1, z_step: 3 };
    const filtered = [1, 5].map((filter_width) => ({
      title: `${name}, filter ${filter_width}`,
      query: { ...common, ...cornersIn(dataset), ...steps, T: 1, field: "u", filter_width },
      points: 0,
    }));
    const first = dataset.axes.map(({ nodes, periodic }) => (periodic ? nodes - 7 : 2)) as unknown as Triple;
    const count = dataset.axes.map(({ nodes }) => Math.floor(nodes / 4)) as unknown as Triple;
    const nodes = { field: "velocity", frame: 0, first, count, stride: [3, 1, 2] } as const;
    return [...filtered, { title: `${name}, nodes over seams`, query: { ...common, nodes }, points: 0 }];
  },
};

function atPoints(common: Common, row: OperationRow, dataset: Dataset): Asked[] {
  const options = spatialOf(row, dataset);
  const chosen = [...new Set([options.find((one) => /Lag|Fd4/.test(one)), options.at(-1)])];
  return chosen.flatMap((spatialInterpolation) => {
    if (spatialInterpolation === undefined) return [];
    const field = row.request.some(({ name }) => name === "field") ? { field: "u" } : {};
    const query = { ...common, ...field, time: f(0.13), spatialInterpolation, temporalInterpolation: "PCHIP" } as const;
    return [{ title: `${row.name} ${spatialInterpolation}`, query, points: 3000 }];
  });
}

function tracked(common: Common, { name, request }: OperationRow): Asked[] {
  const has = (member: string): boolean => request.some((one) => one.name === member);
  const query = { ...common, StartTime: f(0.1), spatialInterpolation: "Lag6" } as const;
  if (has("nt"))
    return [
      { title: name, query: { ...query, dt: f(0.004), nt: 4 }, points: 200 },
      { title: `${name} backward, recorded`, query: { ...query, dt: f(-0.002), nt: 5, recordEvery: 2 }, points: 100 },
    ];
  const ended = { ...query, EndTime: f(0.12) };
  if (has("Tp"))
    return [
      { title: `${name}, released with the flow`, query: { ...ended, Tp: f(0.02) }, points: 100 },
      { title: `${name}, velocities and records`, query: { ...ended, Tp: f(0.02), recordEvery: 3 }, points: 100 },
    ];
  return [{ title: name, query: has("dt") ? { ...ended, dt: f(0.01) } : ended, points: 100 }];
}

/** Queries of all operations that a dataset can answer. */
export function everyOperation(dataset: Dataset): Asked[] {
  return (ALL_OPERATIONS as readonly OperationRow[]).flatMap((row) => {
    if (missingFor(row, dataset) !== null) return [];
    return QUERIES[row.family]?.({ operation: row.name, dataset: dataset.name }, row, dataset) ?? [];
  });
}

export function randomPoints(count: number, seed: number, scale = 6 * Math.PI): Float32Array {
  const random = generator(seed);
  return Float32Array.from({ length: 3 * count }, () => (random() - 0.5) * scale);
}

/** The whole answer to a query, as it comes or as it is. */
export async function answerOf(
  engine: Engine,
  query: Query,
  points: ArrayLike<number>,
  velocities: ArrayLike<number> = [],
  deadlineMs = 300_000,
): Promise<Buffer> {
  const evaluation = engine.start(query, { deadlineMs });
  writeTriples(evaluation.points, points);
  writeTriples(evaluation.velocities, velocities);
  const result = await evaluation.finish();
  const parts: Buffer[] = [];
  for await (const part of result.stream ?? result.values)
    parts.push(Buffer.from(new Uint8Array(part.buffer, part.byteOffset, part.byteLength).slice()));
  result.release();
  return Buffer.concat(parts);
}
