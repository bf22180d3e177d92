/** Measures the error of every option against exact flows and writes it as Markdown tables. */
import type { Answer, FieldClient } from "../../src/client/index.js";
import type { OperationName } from "../../src/shared/operations.js";
import { LAPLACIAN_METHODS, SPLINES, TRACKING_METHODS } from "../../src/shared/operations.js";
import { type Derivative, type Flow, type Motion, path, stress } from "./exact-flow.js";
import { createExactSpline, type Derivatives, splineNamed } from "./exact-spline.js";

const VALUE: readonly Derivative[] = [[0, 0, 0]];
const FIRST: readonly Derivative[] = [
  [1, 0, 0],
  [0, 1, 0],
  [0, 0, 1],
];
const SECOND: readonly Derivative[] = [
  [2, 0, 0],
  [1, 1, 0],
  [1, 0, 1],
  [0, 2, 0],
  [0, 1, 1],
  [0, 0, 2],
];
const PURE = SECOND.filter((derivative) => derivative.includes(2));
const VELOCITY = [0, 1, 2];
const PRESSURE = [3];

/**
 * What a record of an operation is, in terms of the flow: for every component of the flow the derivatives, in wire
 * order.
 */
interface Quantity {
  readonly title: string;
  readonly operation: OperationName;
  readonly methods: readonly string[];
  readonly exact: (flow: Flow, point: readonly number[]) => readonly number[];
}

const derivatives =
  (components: readonly number[], list: readonly Derivative[]) => (flow: Flow, point: readonly number[]) => {
    const values = list.map((derivative) => flow(point, derivative));
    return components.flatMap((c) => values.map((value) => value[c] as number));
  };

export const QUANTITIES: readonly Quantity[] = [
  { title: "velocity", operation: "GetVelocity", methods: TRACKING_METHODS, exact: derivatives(VELOCITY, VALUE) },
  {
    title: "velocity and pressure",
    operation: "GetVelocityAndPressure",
    methods: TRACKING_METHODS,
    exact: derivatives([...VELOCITY, ...PRESSURE], VALUE),
  },
  {
    title: "velocity gradient",
    operation: "GetVelocityGradient",
    methods: LAPLACIAN_METHODS,
    exact: derivatives(VELOCITY, FIRST),
  },
  {
    title: "pressure gradient",
    operation: "GetPressureGradient",
    methods: LAPLACIAN_METHODS,
    exact: derivatives(PRESSURE, FIRST),
  },
  {
    title: "velocity Hessian",
    operation: "GetVelocityHessian",
    methods: LAPLACIAN_METHODS,
    exact: derivatives(VELOCITY, SECOND),
  },
  {
    title: "pressure Hessian",
    operation: "GetPressureHessian",
    methods: LAPLACIAN_METHODS,
    exact: derivatives(PRESSURE, SECOND),
  },
  {
    title: "velocity Laplacian",
    operation: "GetVelocityLaplacian",
    methods: LAPLACIAN_METHODS,
    exact: (flow, point) => {
      const values = PURE.map((derivative) => flow(point, derivative));
      return VELOCITY.map((c) => values.reduce((sum, value) => sum + (value[c] as number), 0));
    },
  },
];

/** Points of a low-discrepancy sequence in the box [0, 2 pi)^3, as float32; the same on every run. */
export function scatter(count: number): Float32Array {
  // The additive recurrence of the plastic number's powers (Roberts 2018) fills the box evenly.
  const g = 1.2207440846057596;
  return Float32Array.from({ length: 3 * count }, (_, i) => {
    const fraction = (0.5 + (Math.floor(i / 3) + 1) / g ** ((i % 3) + 1)) % 1;
    return 2 * Math.PI * fraction;
  });
}

const pointAt = (points: Float32Array, i: number) => [...points.subarray(3 * i, 3 * i + 3)];

/** Root mean square of the differences, relative to that of the exact values. */
function relativeError(values: Float32Array, exact: readonly number[]): number {
  let error = 0;
  let norm = 0;
  exact.forEach((value, i) => {
    error += ((values[i] as number) - value) ** 2;
    norm += value ** 2;
  });
  return Math.sqrt(error / norm);
}

type Method = (request: object) => Promise<Answer>;

async function errorsAt(
  client: FieldClient,
  dataset: string,
  time: number,
  flow: Flow,
  points: Float32Array,
  positions: readonly (readonly number[])[],
  quantities: readonly Quantity[] = QUANTITIES,
): Promise<readonly (readonly number[])[]> {
  const table: number[][] = [];
  for (const { operation, methods, exact } of quantities) {
    const values = positions.flatMap((position) => exact(flow, position));
    const errors: number[] = [];
    for (const spatialInterpolation of methods) {
      const request = { dataset, time, spatialInterpolation, temporalInterpolation: "None", points };
      errors.push(
        relativeError((await (client[operation as keyof FieldClient] as unknown as Method)(request)).values, values),
      );
    }
    table.push(errors);
  }
  return table;
}

/** Relative errors of every option of every quantity, in the order of QUANTITIES and their methods. */
export function measure(client: FieldClient, dataset: string, time: number, flow: Flow, count: number) {
  const points = scatter(count);
  const positions = Array.from({ length: count }, (_, i) => pointAt(points, i));
  return errorsAt(client, dataset, time, flow, points, positions);
}

/**
 * Relative errors of velocity, its gradient and its Hessian by splines; where one has no Hessian, the last is missing.
 */
export async function measureSplines(
  client: FieldClient,
  dataset: string,
  time: number,
  flow: Flow,
  count: number,
  splines: readonly string[],
): Promise<readonly (readonly number[])[]> {
  const points = scatter(count);
  const positions = Array.from({ length: count }, (_, i) => pointAt(points, i));
  const operations = ["GetVelocity", "GetVelocityGradient", "GetVelocityHessian"];
  const quantities = operations.map((name) => QUANTITIES.find(({ operation }) => operation === name) as Quantity);
  const smooth = splines.filter((name) => !name.startsWith("M1"));
  const columns = await errorsAt(
    client,
    dataset,
    time,
    flow,
    points,
    positions,
    quantities.map((quantity, q) => ({ ...quantity, methods: q < 2 ? splines : smooth })),
  );
  return splines.map((name, i) => {
    const [value, gradient, hessian] = columns as [number[], number[], number[]];
    const second = smooth.indexOf(name);
    return [value[i] as number, gradient[i] as number, ...(second < 0 ? [] : [hessian[second] as number])];
  });
}

/**
 * What the service answers with splines against the same splines of the same nodes in float64: per number of nodes the
 * largest error of its splines in velocity, gradient and Hessian.
 */
export async function measureRounding(
  client: FieldClient,
  dataset: string,
  time: number,
  side: number,
  field: Float32Array,
): Promise<[string, number, number, number][]> {
  const points = scatter(40);
  const positions = Array.from({ length: points.length / 3 }, (_, i) => pointAt(points, i));
  const all = [...VALUE, ...FIRST, ...SECOND] as Derivatives;
  const worst = new Map<string, [number, number, number]>();
  for (const name of SPLINES) {
    const spline = splineNamed(name);
    const exactAt = createExactSpline(spline, side, field);
    const records = positions.map((position) => exactAt(position, all));
    const row = worst.get(`Q${spline.nodes}`) ?? [0, 0, 0];
    worst.set(`Q${spline.nodes}`, row);
    for (const [q, operation, from, count] of [
      [0, "GetVelocity", 0, 1],
      [1, "GetVelocityGradient", 1, 3],
      [2, "GetVelocityHessian", 4, 6],
    ] as const) {
      if (operation === "GetVelocityHessian" && name.startsWith("M1")) continue;
      const request = { dataset, time, spatialInterpolation: name as "M2Q8", temporalInterpolation: "None" } as const;
      const { values } = await client[operation]({ ...request, points });
      let [error, norm] = [0, 0];
      records.forEach((record, i) => {
        for (let c = 0; c < 3; c++) {
          for (let d = 0; d < count; d++) {
            const exact = record[c * all.length + from + d] as number;
            error += ((values[(i * 3 + c) * count + d] as number) - exact) ** 2;
            norm += exact ** 2;
          }
        }
      });
      row[q] = Math.max(row[q], Math.sqrt(error / norm));
    }
  }
  return [...worst].map(([name, errors]) => [name, ...errors]);
}

/** The same at nodes of the grid, where the nearest node is the place itself. */
export function measureNodes(
  client: FieldClient,
  dataset: string,
  time: number,
  flow: Flow,
  nodes: number,
  count: number,
) {
  const spacing = (2 * Math.PI) / nodes;
  const positions = Array.from({ length: count }, (_, i) =>
    pointAt(scatter(count), i).map((x) => Math.round(x / spacing) * spacing),
  );
  return errorsAt(client, dataset, time, flow, Float32Array.from(positions.flat()), positions);
}

/** Relative errors of the four box filters against exact means over the cube, in the order of the operation table. */
export async function measureFilters(
  client: FieldClient,
  dataset: string,
  time: number,
  flow: Flow,
  filterlength: number,
  counts: { readonly linear: number; readonly stress: number },
): Promise<readonly number[]> {
  const answer = async (operation: OperationName, points: Float32Array) => {
    const request = { dataset, time, filterlength, nlayers: 1, temporalInterpolation: "None", points };
    return (await (client[operation as keyof FieldClient] as unknown as Method)(request)).values;
  };
  const side = Math.fround(filterlength);
  const points = scatter(counts.linear);
  const mean = (components: readonly number[], list: readonly Derivative[]) =>
    Array.from({ length: counts.linear }, (_, i) => {
      const values = list.map((derivative) => flow(pointAt(points, i), derivative, side));
      return components.flatMap((c) => values.map((value) => value[c] as number));
    }).flat();
  const few = scatter(counts.stress);
  const stresses = Array.from({ length: counts.stress }, (_, i) => stress(flow, pointAt(few, i), side)).flat();
  return [
    relativeError(await answer("GetBoxFilterVelocity", points), mean(VELOCITY, VALUE)),
    relativeError(await answer("GetBoxFilterPressure", points), mean(PRESSURE, VALUE)),
    relativeError(await answer("GetBoxFilterVelocityGradient", points), mean(VELOCITY, FIRST)),
    relativeError(await answer("GetBoxFilterSGSStress", few), stresses),
  ];
}

/**
 * Root mean square distance between the answered positions and the exact ones, relative to the mean distance covered.
 */
function pathError(points: Float32Array, values: Float32Array, exact: readonly number[]): number {
  let error = 0;
  let covered = 0;
  exact.forEach((value, i) => {
    error += ((values[i] as number) - value) ** 2;
    covered += (value - (points[i] as number)) ** 2;
  });
  return Math.sqrt(error / covered);
}

export interface Flight {
  readonly dataset: string;
  readonly motion: Motion;
  readonly start: number;
  readonly end: number;
  readonly steps: number;
  readonly count: number;
}

/** Relative errors of GetPosition by method and number of steps. */
export async function measureTracking(
  client: FieldClient,
  { dataset, motion, start, end, steps, count }: Flight,
  methods: readonly (typeof TRACKING_METHODS)[number][],
  numbers: readonly number[],
): Promise<readonly (readonly number[])[]> {
  const points = scatter(count);
  const exact = Array.from({ length: count }, (_, i) => path(motion, pointAt(points, i), start, end, steps)).flat();
  const table: number[][] = [];
  for (const spatialInterpolation of methods) {
    const errors: number[] = [];
    for (const nt of numbers) {
      const dt = (end - start) / nt;
      const request = { dataset, StartTime: start, dt, nt, spatialInterpolation, points };
      errors.push(pathError(points, (await client.GetPosition(request)).values, exact));
    }
    table.push(errors);
  }
  return table;
}

/** Relative errors of GetPositionParticleControl and GetPositionInertialParticle (response times `drags`) with Lag8. */
export async function measureControlled(
  client: FieldClient,
  { dataset, motion, start, end, steps, count }: Flight,
  drags: readonly number[],
): Promise<readonly number[]> {
  const points = scatter(count);
  const exact = (drag: number) =>
    Array.from({ length: count }, (_, i) => path(motion, pointAt(points, i), start, end, steps, drag)).flat();
  const request = { dataset, StartTime: start, EndTime: end, spatialInterpolation: "Lag8", points } as const;
  const errors = [pathError(points, (await client.GetPositionParticleControl(request)).values, exact(0))];
  for (const Tp of drags) {
    const answer = await client.GetPositionInertialParticle({ ...request, Tp });
    errors.push(pathError(points, answer.values, exact(Math.fround(Tp))));
  }
  return errors;
}

/** A Markdown table; numbers are written with two significant digits. */
export function markdownTable(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const cell = (value: string | number) => (typeof value === "number" ? value.toExponential(1) : value);
  const line = (cells: readonly (string | number)[]) => `| ${cells.map(cell).join(" | ")} |\n`;
  return `${line(head)}|${"---|".repeat(head.length)}\n${rows.map(line).join("")}`;
}
