/** docs/accuracy.md says what the service does; `npm run test:long -- accuracy --update` measures again and rewrites it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Dataset, File, ready } from "h5wasm/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect, type FieldClient } from "../../src/client/index.js";
import type { RunningService } from "../../src/main.js";
import { LAPLACIAN_METHODS, SPLINES, TRACKING_METHODS } from "../../src/shared/operations.js";
import { writeCube } from "../../tools/generate/cube.js";
import {
  markdownTable,
  measure,
  measureControlled,
  measureFilters,
  measureNodes,
  measureRounding,
  measureSplines,
  measureTracking,
  QUANTITIES,
} from "../support/accuracy.js";
import { abc, cubicInTime, type Flow, fourierSeries, type Motion } from "../support/exact-flow.js";
import { withTables } from "../support/measured.js";
import { measurePaths } from "../support/path-accuracy.js";
import { scratchFolder } from "../support/scratch.js";
import { serveTestData } from "../support/service.js";

const DOCUMENT = fileURLToPath(new URL("../../docs/accuracy.md", import.meta.url));
const SHIPPED = fileURLToPath(new URL("../../data/isotropic32/isotropic32.h5", import.meta.url));
const NODES = 32;
/** Time of the first stored frame, which is a guard, and time between frames. */
const [ORIGIN, STEP, FRAMES] = [-0.2, 0.2, 15];
const POINTS = 200;
const ABC_SIZES = [8, 16, 32, 64] as const;
const METHODS = ["Lag4", "Lag6", "Lag8"] as const;
const SMOOTH_SPLINES = ["M1Q4", "M1Q6", "M2Q6", "M2Q8", "M3Q8", "M3Q10", "M4Q10", "M4Q12"];

type Errors = readonly (readonly number[])[];

const valueRows = QUANTITIES.filter(({ methods }) => methods === TRACKING_METHODS);
const derivativeRows = QUANTITIES.filter(({ methods }) => methods === LAPLACIAN_METHODS);

async function shippedFrames(): Promise<{ flows: Flow[]; velocities: Float32Array[] }> {
  await ready;
  const file = new File(SHIPPED, "r");
  const read = (name: string) => (file.get(name) as Dataset).value as Float32Array;
  const [velocity, pressure] = [read("velocity"), read("pressure")];
  file.close();
  const size = NODES ** 3;
  const velocities = Array.from({ length: FRAMES }, (_, k) => velocity.subarray(3 * k * size, 3 * (k + 1) * size));
  const flows = velocities.map((u, k) => fourierSeries(NODES, u, pressure.subarray(k * size, (k + 1) * size)));
  return { flows, velocities };
}

function rms(values: Float32Array, difference: (i: number) => number): number {
  let error = 0;
  let norm = 0;
  for (let i = 0; i < values.length; i++) {
    error += difference(i) ** 2;
    norm += (values[i] as number) ** 2;
  }
  return Math.sqrt(error / norm);
}

describe("docs/accuracy.md", () => {
  const folder = scratchFolder();
  let service: RunningService;
  let client: FieldClient;

  beforeAll(async () => {
    for (const nodes of ABC_SIZES) {
      const steps = nodes === 32 ? 12 : 1;
      const name = `abc${nodes}`;
      const options = {
        kind: "abc",
        nodes: [nodes, nodes, nodes],
        steps,
        chunk: null,
        filter: "none",
        seed: 1,
      } as const;
      await writeCube({ ...options, name, folder: join(folder, name) }, () => {});
    }
    service = await serveTestData([folder]);
    client = await connect(service.url);
  });
  afterAll(async () => {
    await service?.close();
  });

  it("states what is measured", { timeout: 240_000 }, async () => {
    const tables = new Map<string, string>();
    const { flows, velocities } = await shippedFrames();
    const frame = 3;
    const time = ORIGIN + frame * STEP;
    const flow = flows[frame] as Flow;

    const shipped = await measure(client, "isotropic32", time, flow, POINTS);
    const rows = (list: readonly (typeof QUANTITIES)[number][], errors: Errors) =>
      list.map((quantity) => [quantity.title, ...(errors[QUANTITIES.indexOf(quantity)] as readonly number[])]);
    tables.set("isotropic32-values", markdownTable(["", ...TRACKING_METHODS], rows(valueRows, shipped)));
    tables.set("isotropic32-derivatives", markdownTable(["", ...LAPLACIAN_METHODS], rows(derivativeRows, shipped)));
    const nodes = await measureNodes(client, "isotropic32", time, flow, NODES, 50);
    tables.set("isotropic32-nodes", markdownTable(["at nodes", ...LAPLACIAN_METHODS], rows(derivativeRows, nodes)));

    const bySpline = await measureSplines(client, "isotropic32", time, flow, POINTS, SPLINES);
    const splineRows = SPLINES.map((name, i) => [
      name,
      ...(bySpline[i] as number[]),
      ...(name.startsWith("M1") ? [""] : []),
    ]);
    const splineHead = ["", "velocity", "velocity gradient", "velocity Hessian"];
    tables.set("isotropic32-splines", markdownTable(splineHead, splineRows));

    const rounding = await measureRounding(client, "isotropic32", time, NODES, velocities[frame] as Float32Array);
    for (const [, ...errors] of rounding)
      for (const [q, bound] of [3e-7, 2e-6, 5e-6].entries()) expect(errors[q]).toBeLessThan(bound);

    const smooth: Errors[] = [];
    const smoothNodes: Errors[] = [];
    const smoothSplines: Errors[] = [];
    for (const size of ABC_SIZES) {
      smooth.push(await measure(client, `abc${size}`, 0, abc(), POINTS));
      smoothSplines.push(await measureSplines(client, `abc${size}`, 0, abc(), POINTS, SMOOTH_SPLINES));
      smoothNodes.push(await measureNodes(client, `abc${size}`, 0, abc(), size, POINTS));
    }
    const orders = (titles: readonly string[], isShown: (method: string) => boolean, measured: readonly Errors[]) =>
      QUANTITIES.filter(({ title }) => titles.includes(title)).flatMap((quantity) =>
        quantity.methods.flatMap((method, m) => {
          const errors = measured.map((table) => table[QUANTITIES.indexOf(quantity)]?.[m] as number);
          const order = Math.log2((errors[0] as number) / (errors[1] as number)).toFixed(1);
          return isShown(method) ? [[quantity.title, method, ...errors, order]] : [];
        }),
      );
    const head = ["", "", ...ABC_SIZES.map((size) => `${size} nodes`), "order"];
    const derivatives = derivativeRows.map(({ title }) => title);
    tables.set(
      "abc-values",
      markdownTable(
        head,
        orders(["velocity"], () => true, smooth),
      ),
    );
    tables.set(
      "abc-derivatives",
      markdownTable(
        head,
        orders(derivatives, (method) => method === "Fd4Lag4", smooth),
      ),
    );
    const atNodes = orders(derivatives.slice(0, 4), (method) => method !== "Fd4Lag4", smoothNodes);
    tables.set("abc-nodes", markdownTable(["at nodes", ...head.slice(1)], atNodes));

    const orderOf = ([few, more]: readonly number[]) => Math.log2((few as number) / (more as number)).toFixed(1);
    const smoothRows = ["velocity", "velocity gradient"].flatMap((title, q) =>
      SMOOTH_SPLINES.map((name, i) => {
        const errors = smoothSplines.map((table) => (table[i] as number[])[q] as number);
        return [title, name, ...errors, orderOf(errors)];
      }),
    );
    tables.set("abc-splines", markdownTable(head, smoothRows));

    const at = (k: number, i: number) => (velocities[k] as Float32Array)[i] as number;
    const middle = velocities[6] as Float32Array;
    const cubic = rms(middle, (i) => at(6, i) - (9 * (at(5, i) + at(7, i)) - at(3, i) - at(9, i)) / 16);
    const nearest = rms(middle, (i) => at(6, i) - at(7, i));
    tables.set("time", markdownTable(["frames 0.4 apart", "None", "PCHIP"], [["velocity", nearest, cubic]]));

    const filters = [];
    for (const [title, dataset, exact, filtered] of [
      ["isotropic32", "isotropic32", flow, time],
      ["ABC, 32 nodes", "abc32", abc(), 0],
    ] as const) {
      for (const length of [0.75, 1.5]) {
        const errors = await measureFilters(client, dataset, filtered, exact, length, { linear: 50, stress: 4 });
        filters.push([title, `${length}`, ...errors]);
      }
    }
    tables.set(
      "filters",
      markdownTable(["", "filterlength", "velocity", "pressure", "gradient", "SGS stress"], filters),
    );

    const decaying: Motion = (position, t) => {
      const [u, v, w] = abc()(position, [0, 0, 0]).map((value) => value * Math.exp(-0.1 * t));
      return [u as number, v as number, w as number];
    };
    const turbulent = cubicInTime(flows, ORIGIN, STEP);
    const flights = [
      ["isotropic32", { dataset: "isotropic32", motion: turbulent, start: 0.4, end: 0.8, steps: 20, count: 6 }],
      ["ABC, 32 nodes", { dataset: "abc32", motion: decaying, start: 0.1, end: 0.9, steps: 200, count: POINTS }],
    ] as const;
    const tracking: (string | number)[][] = [];
    const controlled = [];
    const [numbers, drags] = [
      [4, 8, 16, 32],
      [0.01, 0.1, 1],
    ];
    for (const [title, flight] of flights) {
      const errors = await measureTracking(client, flight, METHODS, numbers);
      METHODS.forEach((method, m) => {
        tracking.push([title, method, ...(errors[m] as readonly number[])]);
      });
      controlled.push([title, ...(await measureControlled(client, flight, drags))]);
    }
    tables.set("tracking", markdownTable(["", "", ...numbers.map((nt) => `nt = ${nt}`)], tracking));
    const controls = ["", "fluid particle", ...drags.map((drag) => `Tp = ${drag}`)];
    tables.set("controlled", markdownTable(controls, controlled));
    for (const [name, table] of await measurePaths(client)) tables.set(name, table);

    await expect(withTables(readFileSync(DOCUMENT, "utf8"), tables)).toMatchFileSnapshot(DOCUMENT);
  });
});
