/**
 * Files of every producer and tool answer at random points as the field that was written into them, values and
 * gradients. Those of make.py hold polynomials of degree 2 in space and 1 in time, which every scheme reproduces. Those
 * of producers.ts hold the numbers of their nodes, and are compared with the scheme evaluated in float64 on these.
 */
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import h5wasm, { type Dataset as H5Dataset } from "h5wasm/node";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine, Query } from "../../../src/engine/contract/query.js";
import { openEngine } from "../../../src/engine/main/engine.js";
import { loadConfig } from "../../../src/shared/config.js";
import { recogniseSeries } from "../../../src/storage/catalog/series.js";
import type { Answers } from "../../../src/storage/recognise/answers.js";
import { recognise } from "../../../src/storage/recognise/recognise.js";
import { NODES, nodeValue, writeDescriptor } from "../../support/cubes.js";
import { type Nodes, slopeWeights, tensorSum, valueWeights, type Weights } from "../../support/exact-lagrange.js";
import { CASES, type Case, POLYNOMIALS, type Polynomial, PRESSURE, unpackCase } from "../../support/foreign-files.js";
import { confirmIfAsked } from "../../support/open-confirmed.js";
import { OTHERS, otherValue, PRODUCERS, type ProducerFile, placeProducer } from "../../support/producers.js";
import { generator, runQuery } from "../../support/run-query.js";
import { scratchFolder } from "../../support/scratch.js";

const SCRATCH = scratchFolder();
const POINTS = 24;
const VALUES = ["Lag4", "Lag6", "Lag8"] as const;
/** Largest errors, as parts of the largest value and the largest derivative of the field. */
const VALUE_ERROR = 1e-6;
const GRADIENT_ERROR = 1e-3;

const OPERATIONS = {
  velocity: { value: "GetVelocity", gradient: "GetVelocityGradient" },
  pressure: { value: "GetPressure", gradient: "GetPressureGradient" },
  magnetic: { value: "GetMagneticField", gradient: "GetMagneticFieldGradient" },
  potential: { value: "GetVectorPotential", gradient: "GetVectorPotentialGradient" },
  density: { value: "GetDensity", gradient: "GetDensityGradient" },
  temperature: { value: "GetTemperature", gradient: "GetTemperatureGradient" },
  force: { value: "GetForce", gradient: null },
} as const;
type Field = keyof typeof OPERATIONS;

async function serve(folder: string): Promise<Engine> {
  const settings = { DATA: folder, WORKERS: "1", CACHE_BYTES: String(16 * 1024 * 1024) };
  return openEngine(loadConfig(settings, {}), pino({ level: "silent" }));
}

/** Random points between two places on each axis, as they go to the engine. */
function scatter(seed: number, ranges: readonly (readonly [number, number])[]): number[][] {
  const random = generator(seed);
  return Array.from({ length: POINTS }, () => ranges.map(([low, high]) => Math.fround(low + (high - low) * random())));
}

async function ask(engine: Engine, query: Query, points: number[][]): Promise<number[][]> {
  const values = await runQuery(engine, query, points.flat());
  const components = values.length / points.length;
  return points.map((_, index) => [...values.subarray(index * components, (index + 1) * components)]);
}

/** The largest difference over the largest number expected; as it is where nothing but 0 is. */
function errorOf(actual: number[][], expected: number[][]): number {
  const largest = Math.max(...expected.flat().map(Math.abs));
  expect(actual.map((row) => row.length)).toEqual(expected.map((row) => row.length));
  const differences = actual.flatMap((row, n) => row.map((value, c) => Math.abs(value - (expected[n]?.[c] as number))));
  // NaN among the differences makes the maximum NaN, which is below nothing.
  return Math.max(...differences) / (largest || 1);
}

/** A query at a time that need not be stored, or at the time of a snapshot. */
function queryOf(dataset: string, time: number, isSnapshot: boolean): Omit<Query, "operation"> {
  return { dataset, time, temporalInterpolation: isSnapshot ? "None" : "PCHIP" };
}

describe("files of make.py", () => {
  const grid = (count: number, first: number, step: number) =>
    Array.from({ length: count }, (_, i) => first + i * step);
  const CUBE = grid(8, 1, 0.25);
  const GRID = [grid(9, 0.5, 0.25), grid(8, -1, 0.2), grid(10, 2, 0.125)];
  const GRIDS: Readonly<Record<string, number[][]>> = {
    ...Object.fromEntries(
      ["equal-lengths", "equal-lengths-said", "bare", "bare-said", "labels", "scales-in-a-group", "meshes"].map(
        (name) => [name, [CUBE, CUBE, CUBE]],
      ),
    ),
    state_phys: GRID.map((nodes) => nodes.map((at) => at - (nodes[0] as number))),
  };
  /** Cases of several times from 0 to 1 or beyond. */
  const SERIES = new Set(
    ["well-order", "series-of-scalars", "lengths-vector-time-last", "three-times-three-components", "dedalus"].concat([
      ...["pdebench", "state_phys", "giverny", "groups-of-times", "groups-without-times", "groups-said"],
      ...["numbered-datasets", "jax-cfd", "openpmd"],
    ]),
  );
  /** Answers for those that are refused with a question otherwise. */
  const SAID: Readonly<Record<string, Answers>> = {
    "three-times-three-components": { dims: ["c", "y", "x", "z", "t"] },
    "equal-lengths": { dims: ["z", "y", "x"] },
    bare: { dims: ["z", "y", "x"], spacing: [0.25, 0.25, 0.25], origin: [1, 1, 1] },
    "length-open": { spacing: [0.25, 0.2, 0.125] },
    "lists-of-three": { spacing: [0.25, 0.2, 0.125], origin: [0.5, -1, 2] },
    "dimensions-without-variables": { spacing: [0.25, 0.2, 0.125], origin: [0.5, -1, 2] },
    "groups-without-times": { times: [0, 0.5, 1] },
    sabl: {},
  };
  /** Quantised to steps of 0.001: off by half a step, which the sums of the absolute weights enlarge. */
  const QUANTISED = "packed-short";
  /** Quantised to steps of 0.12; `own.test.ts` holds it to half of one. */
  const COARSE = "unsigned";
  /** One plane: it has values at its nodes only, which `test/service/flat.test.ts` asks for. */
  const PLANE = "one-layer";
  const asked = CASES.filter(({ name, expect }) => expect === "served" || name in SAID);
  let engine: Engine;

  beforeAll(async () => {
    for (const entry of asked) place(entry);
    engine = await serve(join(SCRATCH, "made"));
  });
  afterAll(() => engine.close(1000));

  function place(entry: Case): void {
    const paths = unpackCase(entry, join(SCRATCH, "made"));
    const [path] = paths as [string];
    const answers = SAID[entry.name] ?? entry.answers;
    if (paths.length === 1 && answers === undefined) {
      confirmIfAsked(path);
      return;
    }
    const found = paths.length > 1 ? recogniseSeries(paths, answers ?? {}) : recognise(path, answers);
    writeDescriptor(dirname(path), { ...found?.written, name: entry.name });
  }

  /** The part in which no stencil reaches over a seam, at which the polynomials jump, or to nodes without a value. */
  function rangesOf({ name, periodic = "", holes }: Case): [number, number][] {
    return (GRIDS[name] ?? GRID).map((nodes, a) => {
      const seam = name === "state_phys" || periodic.includes("xyz"[a] as string);
      const [first, last] = seam ? [3, nodes.length - 4] : [holes === true && a === 0 ? 5 : 0, nodes.length - 1];
      const margin = 1e-4 * ((nodes[1] as number) - (nodes[0] as number));
      return [(nodes[first] as number) + margin, (nodes[last] as number) - margin];
    });
  }

  /** Derivatives along x, y, z: centred differences are exact for degree 2. */
  function gradient(polynomial: Polynomial, point: readonly number[], t: number): number[] {
    const step = 0.5;
    return point.map((_, a) => {
      const [plus, minus] = [step, -step].map((move) => {
        const [x, y, z] = point.map((at, b) => (a === b ? at + move : at)) as [number, number, number];
        return polynomial(x, y, z, t);
      }) as [number, number];
      return (plus - minus) / (2 * step);
    });
  }

  const LETTERS: Readonly<Record<string, { field: Field; functions: readonly Polynomial[] }>> = {
    v: { field: "velocity", functions: POLYNOMIALS },
    p: { field: "pressure", functions: [PRESSURE] },
    d: { field: "density", functions: [() => 1] },
  };
  const rows = asked.flatMap((entry, seed) =>
    [...entry.fields].map((letter) => ({
      entry,
      seed,
      name: entry.name,
      ...(LETTERS[letter] as (typeof LETTERS)["v"]),
    })),
  );

  it("has a row for everything that is served, and for the producers that must be told something", () => {
    expect(rows.length).toBeGreaterThan(80);
    expect(asked.filter(({ name }) => name in SAID)).toHaveLength(Object.keys(SAID).length);
  });

  /** How far the nodes of each component are moved, while their stored values are those of the others' nodes. */
  const MOVED: Readonly<Record<string, readonly (readonly [number, number, number])[]>> = {
    staggered: [
      [0.1, 0, 0],
      [0, 0.1, 0],
      [0, 0, 0.1],
    ],
    sabl: [
      [0, 0, 0],
      [0, 0, 0],
      [0, 0, 0.0625],
    ],
  };
  const moved = (polynomial: Polynomial, by: readonly [number, number, number] = [0, 0, 0]): Polynomial => {
    return (x, y, z, t) => polynomial(x - by[0], y - by[1], z - by[2], t);
  };

  const exact = rows.filter(({ name }) => name !== QUANTISED && name !== COARSE && name !== PLANE);
  it.each(exact)("$name answers its $field", async (row) => {
    const { entry, field, seed } = row;
    const functions = row.functions.map((polynomial, c) => moved(polynomial, MOVED[entry.name]?.[c]));
    const isSeries = SERIES.has(entry.name);
    const time = isSeries ? Math.fround(generator(seed)()) : (entry.time ?? 0);
    const query = queryOf(entry.name, time, !isSeries);
    const points = scatter(1000 + seed, rangesOf(entry)) as [number, number, number][];
    const values = points.map(([x, y, z]) => functions.map((polynomial) => polynomial(x, y, z, time)));
    // With more nodes the stencils would reach the nodes that have no value.
    for (const spatialInterpolation of entry.holes === true ? VALUES.slice(0, 1) : VALUES) {
      const answer = await ask(engine, { ...query, operation: OPERATIONS[field].value, spatialInterpolation }, points);
      expect(errorOf(answer, values)).toBeLessThan(VALUE_ERROR);
    }
    const operation = OPERATIONS[field].gradient as Query["operation"];
    const answer = await ask(engine, { ...query, operation, spatialInterpolation: "Fd4Lag4" }, points);
    const slopes = points.map((point) => functions.flatMap((polynomial) => gradient(polynomial, point, time)));
    expect(errorOf(answer, slopes)).toBeLessThan(GRADIENT_ERROR);
  });

  it("answers NaN beside nodes without a value", async () => {
    const query = { ...queryOf("missing", 0, true), operation: "GetVelocity", spatialInterpolation: "Lag8" } as const;
    expect((await ask(engine, query, [[1.1, -0.5, 2.45]])).flat()).toEqual([NaN, NaN, NaN]);
  });

  it("answers quantised values as the scheme on what the file stores", async () => {
    const axes = GRID.map((coordinates) => ({ coordinates, period: null }));
    const [entry] = asked.filter(({ name }) => name === QUANTISED) as [Case];
    const fields = await storedShorts(join(SCRATCH, "made", QUANTISED, `${QUANTISED}.h5`));
    const points = scatter(77, rangesOf(entry));
    const query = queryOf(QUANTISED, 0, true);
    for (const [field, names] of [
      ["velocity", ["u", "v", "w"]],
      ["pressure", ["p"]],
    ] as const) {
      const nodes = names.map((name) => (x: number, y: number, z: number) => {
        return Math.fround((fields[name]?.[(z * 8 + y) * 9 + x] as number) * 0.001 + 4);
      });
      await expectScheme(engine, { field, axes, nodes, points, query });
    }
  });

  /** The integers of the components, read by the HDF5 library. */
  async function storedShorts(path: string): Promise<Record<string, Int16Array>> {
    await h5wasm.ready;
    const file = new h5wasm.File(path, "r");
    const values = (name: string) => (file.get(name) as H5Dataset).value as Int16Array;
    const fields = Object.fromEntries([..."uvwp"].map((name) => [name, values(name)]));
    file.close();
    return fields;
  }
});

interface Scheme {
  readonly field: Field;
  readonly axes: readonly Nodes[];
  readonly nodes: readonly ((x: number, y: number, z: number) => number)[];
  readonly points: number[][];
  readonly query: Omit<Query, "operation">;
}

/** Answers are those of the schemes in float64 on the true nodes: values to their rounding, gradients as well. */
async function expectScheme(engine: Engine, { field, axes, nodes, points, query }: Scheme): Promise<void> {
  const { value, gradient } = OPERATIONS[field];
  for (const spatialInterpolation of VALUES) {
    const answer = await ask(engine, { ...query, operation: value, spatialInterpolation }, points);
    const order = Number(spatialInterpolation.slice(-1));
    const expected = points.map((point) => {
      const weights = axes.map((axis, a) => valueWeights(axis, point[a] as number, order));
      return nodes.map((node) => tensorSum(weights as [Weights, Weights, Weights], node));
    });
    expect(errorOf(answer, expected)).toBeLessThan(VALUE_ERROR / 5);
  }
  if (gradient === null) return;
  const answer = await ask(engine, { ...query, operation: gradient, spatialInterpolation: "Fd4Lag4" }, points);
  const expected = points.map((point) => {
    const weights = axes.map((axis, a) => valueWeights(axis, point[a] as number, 4));
    const slopes = axes.map((axis, a) => slopeWeights(axis, point[a] as number));
    return nodes.flatMap((node) =>
      axes.map((_, a) => tensorSum(weights.with(a, slopes[a] as Weights) as [Weights, Weights, Weights], node)),
    );
  });
  // Along x the numbers of nodes change by a thousandth of what they change along z: each direction on its own.
  for (const a of [0, 1, 2]) {
    const along = (rows: number[][]) => rows.map((row) => row.filter((_, index) => index % 3 === a));
    expect(errorOf(along(answer), along(expected))).toBeLessThan(GRADIENT_ERROR / 5);
  }
}

describe("files of producers.ts", () => {
  let engine: Engine;

  beforeAll(async () => {
    for (const [index, entry] of PRODUCERS.entries()) {
      const folder = join(SCRATCH, "producers", `${index}`);
      mkdirSync(folder, { recursive: true });
      const path = await placeProducer(folder, entry);
      if (entry.answers === undefined) confirmIfAsked(path);
      // A file may hold a force, but only a descriptor says that it drives the flow.
      if (entry.others?.includes("force"))
        writeDescriptor(folder, { ...recognise(path)?.written, forcing: { kind: "stored" } });
    }
    engine = await serve(join(SCRATCH, "producers"));
  });
  afterAll(() => engine.close(1000));

  function axesOf({ axes }: ProducerFile): Nodes[] {
    return (["x", "y", "z"] as const).map((name) => {
      const axis = axes[name] as Partial<Record<"origin" | "spacing" | "periodic" | "coordinates", unknown>>;
      if (axis.coordinates !== undefined) return { coordinates: axis.coordinates as number[], period: null };
      const [origin, spacing] = [axis.origin as number, axis.spacing as number];
      const coordinates = Array.from({ length: NODES[name] }, (_, i) => origin + i * spacing);
      return { coordinates, period: axis.periodic === true ? NODES[name] * spacing : null };
    });
  }

  function timesOf({ time }: ProducerFile): number[] {
    const {
      origin = 0,
      step = 0,
      count = 1,
      values,
    } = time as Partial<Record<"origin" | "step" | "count", number>> & {
      values?: number[];
    };
    return values ?? Array.from({ length: count }, (_, k) => origin + k * step);
  }

  const rows = PRODUCERS.flatMap((entry, seed) =>
    [
      ...(entry.velocity === false ? [] : ["velocity" as const]),
      ...(entry.pressure ? ["pressure" as const] : []),
      ...(entry.others ?? []),
    ].map((field) => ({ entry, seed, name: entry.name, field })),
  );

  it.each(rows)("$name answers its $field", async ({ entry, seed, field }) => {
    const axes = axesOf(entry);
    const times = timesOf(entry);
    const frame = times.length - 1;
    const points = scatter(
      seed,
      axes.map(({ coordinates, period }) => {
        const first = coordinates[0] as number;
        const length = period ?? (coordinates.at(-1) as number) - first;
        return [first + 0.001 * length, first + 0.999 * length] as const;
      }),
    );
    const components = field === "velocity" ? 3 : field === "pressure" ? 1 : OTHERS[field];
    const nodes = Array.from({ length: components }, (_, c) => (x: number, y: number, z: number) => {
      const index = { t: frame, z, y, x, c };
      return field === "velocity" || field === "pressure" ? nodeValue(index) : otherValue(field, index);
    });
    const query = queryOf(entry.name, times[frame] as number, true);
    await expectScheme(engine, { field, axes, nodes, points, query });
    // Numbers of nodes change evenly with the frame: between the last two frames they are between those of the two.
    if (frame === 0) return;
    const before = times[frame - 1] as number;
    const time = Math.fround(before + 0.4 * ((times[frame] as number) - before));
    const part = (time - before) / ((times[frame] as number) - before);
    const at = queryOf(entry.name, time, false);
    const moved = nodes.map((node) => (x: number, y: number, z: number) => {
      return node(x, y, z) - (1 - part) * (nodeValue({ t: 1, z, y, x, c: 0 }) - nodeValue({ t: 0, z, y, x, c: 0 }));
    });
    if (times.length === 2 || Math.abs((times[2] as number) - 2 * (times[1] as number) + (times[0] as number)) < 1e-9)
      await expectScheme(engine, { field, axes, nodes: moved, points, query: at });
  });
});
