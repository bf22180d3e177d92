/** Measures the integrators and the gradients of flow maps, for docs/accuracy.md. */
import { expect } from "vitest";
import type { FieldClient } from "../../src/client/index.js";
import { advectDopri5, DOPRI5_STATE, dopri5State } from "../../src/kernels/dopri5.js";
import type { TimedSampler } from "../../src/kernels/types.js";
import { markdownTable, scatter } from "./accuracy.js";
import { abc, type Motion, path } from "./exact-flow.js";
import { pathEnds } from "./operation-questions.js";
import { periodicAxes } from "./simd-memory.js";

const COUNT = 100;
const flat = scatter(COUNT);
const points = Array.from(
  { length: COUNT },
  (_, i) => [...flat.subarray(3 * i, 3 * i + 3)] as [number, number, number],
);
const [START, END] = [0.1, 0.9];

/** The flow of the generated dataset in closed form. */
const decaying: Motion = (position, t) => abc()(position, [0, 0, 0]).map((value) => value * Math.exp(-0.1 * t));

const distance = (a: ArrayLike<number>, b: ArrayLike<number>) =>
  Math.hypot(...[0, 1, 2].map((c) => (a[c] as number) - (b[c] as number)));
const rms = (values: readonly number[]) => Math.sqrt(values.reduce((sum, v) => sum + v * v, 0) / values.length);
const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] as number;

/** The tables of paths by name; the service has isotropic32, and abc32 with frames up to the time 0.9. */
export async function measurePaths(client: FieldClient): Promise<ReadonlyMap<string, string>> {
  async function track(
    dataset: string,
    integrator: "heun" | "rk4",
    from: readonly (readonly number[])[],
    start: number,
    end: number,
    nt: number,
  ) {
    return pathEnds(client, dataset, {
      ...{ StartTime: start, EndTime: end, dt: (end - start) / nt, integrator, spatialInterpolation: "M4Q12" },
      points: from.map((point) => point.slice(0, 3)),
    });
  }

  async function orders() {
    const exact = points.map((point) => path(decaying, point, START, END, 400));
    const rows = [];
    for (const integrator of ["heun", "rk4"] as const) {
      const errors: number[] = [];
      for (const nt of [2, 4, 8, 16]) {
        const ends = await track("abc32", integrator, points, START, END, nt);
        errors.push(rms(ends.map((end, i) => distance(end, exact[i] as number[]))));
      }
      const order = Math.log2((errors[0] as number) / (errors[1] as number));
      expect(order).toBeGreaterThan(integrator === "heun" ? 1.8 : 3.8);
      const there = await track("abc32", integrator, points, START, END, 8);
      const back = await track("abc32", integrator, there, END, START, 8);
      rows.push([
        integrator,
        ...errors,
        order.toFixed(1),
        rms(back.map((end, i) => distance(end, points[i] as number[]))),
      ]);
    }
    return rows;
  }

  /** Ends of paths in the flow in closed form, nothing interpolated, by dopri5: the order is error against steps. */
  function adaptiveOrders() {
    const [count, span] = [20, 8];
    const exact = points.slice(0, count).map((point) => path(decaying, point, 0, span, 4000));
    const sample: TimedSampler = (positions, particles, times, out) => {
      for (let i = 0; i < particles; i++) {
        const place = [...positions.subarray(3 * i, 3 * i + 3)] as [number, number, number];
        out.set(decaying(place, times[i] as number).slice(0, 3), 3 * i);
      }
    };
    const axes = periodicAxes([32, 32, 32], [Math.PI / 16, Math.PI / 16, Math.PI / 16], [0, 0, 0]);
    const rows: (string | number)[][] = [];
    let before: { error: number; steps: number } | null = null;
    for (const tolerance of [1e-3, 1e-5, 1e-7]) {
      const ends = Float64Array.from(points.slice(0, count).flat());
      const state = new Float64Array(DOPRI5_STATE * count);
      const moved = { axes, frameVelocity: [0, 0, 0] as const, sample, start: 0, step: span, steps: 1, tolerance };
      advectDopri5(moved, ends, count, state);
      const error = rms(exact.map((end, i) => distance(ends.subarray(3 * i), end)));
      const steps = dopri5State(state, count).taken.reduce((sum, taken) => sum + taken, 0) / count;
      const order = before === null ? null : Math.log(before.error / error) / Math.log(steps / before.steps);
      if (order !== null) expect(order).toBeGreaterThan(4.5);
      rows.push([tolerance, error, steps.toFixed(1), order?.toFixed(1) ?? ""]);
      before = { error, steps };
    }
    return rows;
  }

  /** Paths of the included flow by dopri5, against those by many Runge-Kutta steps. */
  async function tolerances() {
    const common = { StartTime: 0.5, points } as const;
    const ends = (asked: object) => pathEnds(client, "isotropic32", { ...asked });
    const rows = [];
    for (const spatialInterpolation of ["Lag6", "M2Q8"] as const) {
      const fine = { ...common, spatialInterpolation, dt: 1 / 1024, nt: 1024, integrator: "rk4" } as const;
      const exact = await ends(fine);
      for (const tolerance of [1e-3, 1e-4, 1e-5]) {
        const asked = { ...common, spatialInterpolation, dt: 1, nt: 1, integrator: "dopri5", tolerance } as const;
        const found = await ends(asked);
        const off = found.map((end, i) => distance(end, exact[i] as number[]));
        const kept = off.filter((error) => error <= tolerance).length / COUNT;
        expect(kept).toBeGreaterThanOrEqual(0.95);
        const from = found.map((end) => end.slice(0, 3));
        const back = await ends({ ...asked, StartTime: 1.5, dt: -1, points: from });
        const missed = points.map((point, i) => distance(back[i] as number[], point));
        const steps = found.reduce((sum, end) => sum + (end.at(-1) as number), 0) / COUNT;
        rows.push([
          spatialInterpolation,
          tolerance,
          `${Math.round(100 * kept)} %`,
          median(off),
          median(missed),
          steps.toFixed(1),
        ]);
      }
    }
    return rows;
  }

  async function volumes() {
    const rows: (string | number)[][] = [];
    for (const [method, derivatives] of [
      ["Lag8", "Fd4Lag4"],
      ["Lag8", "M2Q8"],
      ["M2Q8", "Fd4Lag4"],
      ["M2Q8", "M2Q8"],
    ] as const) {
      const row: (string | number)[] = [method, derivatives];
      for (const [start, end] of [
        [0.4, 1.4],
        [1.4, 0.4],
      ] as const) {
        const { data } = await client.flow_map("isotropic32", {
          ...{ what: "gradient", time: `${start}:${end}`, step: 0.01, z: 1.5, samples: 10, method, derivatives },
        });
        row.push(median((data.gradient as number[][][][]).flat().map((F) => Math.abs(determinant(F.flat()) - 1))));
      }
      if (method === "M2Q8" && derivatives === "M2Q8")
        for (const volume of row.slice(2)) expect(volume).toBeLessThanOrEqual(1e-3);
      rows.push(row);
    }
    return rows;
  }

  /** Paths of the included flow over ten turnovers of its largest gradients: equal evaluations, and there and back. */
  async function paths() {
    const rows: (string | number)[][] = [];
    for (const spatialInterpolation of ["Lag8", "M2Q8"] as const) {
      const common = { spatialInterpolation, points } as const;
      const ends = (asked: object) => pathEnds(client, "isotropic32", { ...asked });
      const fine = { ...common, StartTime: 0, dt: 1 / 512, nt: 1024, integrator: "rk4" } as const;
      const exact = await ends(fine);
      for (const [integrator, dt, nt] of [
        ["heun", 0.025, 80],
        ["rk4", 0.05, 40],
        ["dopri5", 0.05, 40],
      ] as const) {
        const asked = { ...common, integrator, dt, nt, ...(integrator === "dopri5" ? { tolerance: 1e-5 } : {}) };
        const found = await ends({ ...asked, StartTime: 0 });
        const from = found.map((end) => end.slice(0, 3));
        const back = await ends({ ...asked, StartTime: 2, dt: -dt, points: from });
        const error = rms(found.map((end, i) => distance(end, exact[i] as number[])));
        const missed = rms(points.map((point, i) => distance(back[i] as number[], point)));
        const how = integrator === "dopri5" ? "tolerance 1.0e-5" : `dt = ${dt}`;
        rows.push([spatialInterpolation, integrator, how, error, missed]);
      }
    }
    return rows;
  }

  const orderHead = ["", "nt = 2", "nt = 4", "nt = 8", "nt = 16", "order", "forward and back, nt = 8"];
  const toleranceHead = ["", "tolerance", "paths within it", "median error", "forward and back", "mean steps"];
  return new Map([
    ["path-orders", markdownTable(orderHead, await orders())],
    ["path-orders-adaptive", markdownTable(["tolerance", "error", "mean steps", "order"], adaptiveOrders())],
    ["path-errors", markdownTable(["", "", "", "error", "forward and back"], await paths())],
    ["path-tolerances", markdownTable(toleranceHead, await tolerances())],
    ["flow-map-volumes", markdownTable(["method", "derivatives", "forward", "backward"], await volumes())],
  ]);
}

export function determinant([
  a = 0,
  b = 0,
  c = 0,
  d = 0,
  e = 0,
  f = 0,
  g = 0,
  h = 0,
  i = 0,
]: readonly number[]): number {
  return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g);
}
