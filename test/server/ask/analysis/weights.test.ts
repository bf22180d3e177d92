/** What nodes weigh, and which values are left out: answers follow from formulas or from sums over stored numbers. */
import { join } from "node:path";
import h5wasm, { type Dataset } from "h5wasm/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningService } from "../../../../src/main.js";
import { descriptor, writeDescriptor, writeField, writeHdf5 } from "../../../support/cubes.js";
import { folderIn, scratchFolder } from "../../../support/scratch.js";
import { serveTestData } from "../../../support/service.js";
import { type AnyAnswer, ask as askOf } from "../ask.js";

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
const list = (n: number, value: (i: number) => number): number[] => Array.from({ length: n }, (_, i) => value(i));

const [NX, NZ] = [8, 4];
/** Across the flow: nodes on the walls, and the centres of cells between walls. */
const WALL = list(33, (j) => -1 + j / 16);
const CENTRES = list(32, (j) => -1 + (j + 0.5) / 16);
const EDGES = list(11, (j) => -Math.cos((Math.PI * j) / 10));
/** Nodes that are not half way between the edges of their cells. */
const OFF = list(10, (j) => 0.3 * (EDGES[j] as number) + 0.7 * (EDGES[j + 1] as number));
const N = 16;
const isHole = (i: number): boolean => i % 7 === 3;
/** The stored pressure of the set with holes, x fastest. */
const pressureAt = (i: number): number => Math.fround(Math.sin(1.7 * i) + 0.3);

let service: RunningService;
beforeAll(async () => {
  const folder = scratchFolder();
  const field = (file: string, path: string, ...last: string[]) => ({
    ...{ file, path, dimensions: ["z", "y", "x", ...last] },
  });
  const axis = (nodes: number, spacing: number, periodic = true) => ({ nodes, origin: 0, spacing, periodic });
  const folders: string[] = [];
  for (const [name, nodes, y] of [
    ["wall", WALL, { nodes: 33, origin: -1, spacing: 1 / 16, faces: "wall" }],
    ["layer", WALL.slice(0, 17), { nodes: 17, origin: -1, spacing: 1 / 16, faces: ["wall", "open"] }],
    ["cells", CENTRES, { nodes: 32, origin: -1 + 1 / 32, spacing: 1 / 16, faces: "wall", edges: [-1, 1] }],
    ["edged", OFF, { coordinates: OFF, faces: "wall", edges: EDGES }],
  ] as const) {
    const home = folderIn(folder, name);
    const file = `${name}.h5`;
    await writeHdf5(join(home, file), (h5) => {
      const lengths = { x: NX, y: nodes.length, z: NZ };
      const value = ({ y: j, c }: { y: number; c: number }) => (c === 0 ? 1 - (nodes[j] as number) ** 2 : 0);
      writeField(h5, "/u", { dimensions: ["z", "y", "x", "c"], lengths, type: "<d", value });
      writeField(h5, "/p", { dimensions: ["z", "y", "x"], lengths, value: ({ x }) => x });
    });
    const axes = { x: axis(NX, 0.5), y, z: axis(NZ, 0.25) };
    const fields = { velocity: field(file, "/u", "c"), pressure: field(file, "/p") };
    const units = { length: "m", time: "s", velocity: "m/s", pressure: "J/kg" };
    writeDescriptor(home, { ...descriptor(name, { fields }), axes, time: { count: 1 }, viscosity: 0.5, units });
    folders.push(home);
  }
  const home = folderIn(folder, "holes");
  await writeHdf5(join(home, "holes.h5"), (h5) => {
    const lengths = { x: N, y: N, z: N };
    const value = ({ x, y, z }: { x: number; y: number; z: number }) => {
      const i = (z * N + y) * N + x;
      return y === 5 || isHole(i) ? Number.NaN : pressureAt(i);
    };
    writeField(h5, "/p", { dimensions: ["z", "y", "x"], lengths, value });
  });
  const axes = { x: axis(N, 1), y: axis(N, 1), z: axis(N, 1) };
  const fields = { pressure: field("holes.h5", "/p") };
  writeDescriptor(home, { ...descriptor("holes", { fields }), axes, time: { count: 1 } });
  service = await serveTestData([...folders, home, "data/turbulent-channel"]);
});
afterAll(() => service.close());

const ask = async (dataset: string, call: string, body: object): Promise<AnyAnswer> =>
  (await askOf(service, { dataset, call, ...body })).json();

async function reduce(dataset: string, reduction: object, more: object = {}): Promise<AnyAnswer> {
  const answer = await ask(dataset, "statistics", { reduce: [reduction], ...more });
  expect(answer).toHaveProperty("results");
  return answer.results[0];
}

describe("Poiseuille flow, 1 - y^2 between walls at -1 and 1, whose bulk velocity is 2/3", () => {
  it("has the bulk velocity of the trapezoidal rule on 33 nodes, unless nodes are to weigh the same", async () => {
    const trapezoid = sum(WALL.map((y, j) => (j % 32 === 0 ? 0.5 : 1) * (1 - y * y))) / 32;
    const { mean } = await reduce("wall", { moments: "u.x" });
    expect(mean).toBeCloseTo(trapezoid, 7);
    expect(mean).toBeGreaterThan(0.666);
    expect(mean).toBeLessThan(0.6667);
    const nodes = await reduce("wall", { moments: "u.x" }, { weights: "nodes" });
    expect(nodes.mean).toBeCloseTo(sum(WALL.map((y) => 1 - y * y)) / 33, 7);
  });

  it("has whole cells at the walls where nodes are their centres", async () => {
    const { mean } = await reduce("cells", { moments: "u.x" });
    expect(mean).toBeCloseTo(sum(CENTRES.map((y) => 1 - y * y)) / 32, 7);
    const stated = sum(OFF.map((y, j) => (1 - y * y) * ((EDGES[j + 1] as number) - (EDGES[j] as number)))) / 2;
    expect((await reduce("edged", { moments: "u.x" })).mean).toBeCloseTo(stated, 7);
  });

  it.each(["wall", "cells", "edged"])("weighs the domain of %s, and regions add up to it", async (dataset) => {
    const histogram = { histogram: "y", bins: 4, range: [-1, 1] };
    const whole = await reduce(dataset, histogram);
    expect(whole.weight).toBeCloseTo(NX * 0.5 * 2 * NZ * 0.25, 12);
    expect(sum(whole.weights)).toBeCloseTo(whole.weight, 12);
    const [low, high] = await Promise.all([
      reduce(dataset, histogram, { j: ":5" }),
      reduce(dataset, histogram, { j: "5:" }),
    ]);
    expect(low.weight + high.weight).toBeCloseTo(whole.weight, 12);
    const filled = await ask(dataset, "structures", {
      ...{ where: "u.x > -1" },
    });
    expect(filled.weights).toBe("volume");
    expect(filled.structures[0].volume).toBeCloseTo(whole.weight, 12);
  });

  it("has wall units from the walls, and no slope there where no node is", async () => {
    const body = { reduce: [{ moments: "u.x" }], over: ["x", "z"], units: "plus" };
    const { detail } = await ask("cells", "statistics", body);
    expect(detail).toBe("units: no node lies at the walls, y = -1 and 1, for their slopes: give u_tau.");
    for (const [name, places] of [
      ["wall", WALL],
      ["cells", CENTRES],
      ["edged", OFF],
    ] as const) {
      const { wall_units } = await ask(name, "statistics", { ...body, u_tau: 3 });
      expect(wall_units.y_plus).toEqual(places.map((y) => expect.closeTo(((1 - Math.abs(y)) * 3) / 0.5, 12)));
    }
    expect((await ask("wall", "statistics", { ...body, reduce: ["budget:k"] })).units).toEqual({});
    // The slope is 2 at the wall, 0 at the open end.
    const { wall_units } = await ask("layer", "statistics", body);
    expect(wall_units.u_tau).toBeCloseTo(1, 9);
    expect(wall_units.y_plus).toEqual(WALL.slice(0, 17).map((y) => expect.closeTo((y + 1) / 0.5, 9)));
  });

  it("has filtered derivatives, and derivatives of what is filtered", async () => {
    const texts = [
      "filter(grad(u))[0][1] - filter(d(u.x, y))",
      "filter(A)[0][1] - d(filter(u.x), y)",
      "filter(grad(u) - A)[0][1]",
    ];
    const reductions = texts.map((text) => ({ moments: `abs(${text})` }));
    const body = { reduce: reductions, filter: "gaussian:0.5" };
    const { results } = await ask("wall", "statistics", body);
    for (const { max } of results) expect(max).toBeLessThan(1e-6);
    const apart = await reduce(
      "wall",
      { moments: "abs(filter(grad(u))[0][1] - filter(A)[0][1])" },
      { filter: "gaussian:0.5" },
    );
    expect(apart.max).toBeGreaterThan(0.1);
  });

  it("has histograms whose densities weigh cells, and counts that are whole numbers", async () => {
    // A bin for each node: the mean over bins is the mean over nodes.
    const { counts, weights, weight } = await reduce("wall", { histogram: "16 * y", bins: 31, range: [-15.5, 15.5] });
    expect(counts).toEqual(counts.map(() => NX * NZ));
    const outside = 2 * (NX * 0.5 * NZ * 0.25) * (1 / 32);
    expect(sum(weights)).toBeCloseTo(weight - outside, 12);
    const joint = await reduce("edged", {
      ...{ joint: ["y", "x"], bins: [2, 1] },
      range: [
        [-1, 1],
        [0, 4],
      ],
    });
    expect(joint.weights.flat().map((w: number) => w / joint.weight)).toEqual([
      expect.closeTo(0.5, 12),
      expect.closeTo(0.5, 12),
    ]);
    const conditional = await reduce("edged", { conditional: "u.x", on: "y", bins: 2, range: [-1, 1] });
    expect(sum(conditional.weights)).toBeCloseTo(joint.weight, 12);
  });
});

describe("the shipped channel, whose y is stretched", () => {
  const [n, ny] = [32, 49];
  const ux: number[] = [];
  const share: number[] = [];
  beforeAll(async () => {
    await h5wasm.ready;
    const file = new h5wasm.File("data/turbulent-channel/turbulent-channel.h5", "r");
    const stored = file.get("u") as Dataset;
    const [factor, offset] = ["scale_factor", "add_offset"].map((name) => Number(stored.attrs[name]?.value));
    for (const packed of stored.slice([[1, 2]]) as Int16Array)
      ux.push(Math.fround(packed * (factor as number) + (offset as number)));
    const y = [...((file.get("y") as Dataset).value as Float64Array)];
    file.close();
    const width = (j: number) => ((y[Math.min(j + 1, ny - 1)] as number) - (y[Math.max(j - 1, 0)] as number)) / 2;
    share.push(...list(ny, (j) => width(j) / ((y[ny - 1] as number) - (y[0] as number))));
  });
  const at = (k: number, j: number, i: number): number => ux[(k * ny + j) * n + (i % n)] as number;
  /** A mean over all nodes of a term. @param weigh of each plane */
  const mean = (term: (k: number, j: number, i: number) => number, weigh: (j: number) => number): number =>
    sum(list(ny, (j) => weigh(j) * sum(list(n * n, (l) => term(Math.floor(l / n), j, l % n))))) / n ** 2;

  it.each([
    ["volume", (j: number) => share[j] as number],
    ["nodes", () => 1 / ny],
  ] as const)("has line spectra and structure functions weighted by %s", async (weights, weigh) => {
    const common = { frame: [0], weights };
    for (const axis of ["x", "z"]) {
      const line = await ask("turbulent-channel", "spectrum", {
        ...{ ...common, what: ["u.x"], kind: "line", axis, over: ["x", "y", "z", "t"], remove: "none" },
      });
      expect(line.weights).toBe(weights);
      expect(sum(line.results[0]?.E ?? []) / mean((k, j, i) => at(k, j, i) ** 2, weigh)).toBeCloseTo(1, 10);
    }
    const increments = await ask("turbulent-channel", "structure_functions", {
      ...common,
      what: ["u.x"],
      axis: ["x"],
      orders: [2, 3],
      separations: [3],
    });
    expect(increments.weights).toBe(weights);
    for (const order of [2, 3]) {
      const expected = mean((k, j, i) => (at(k, j, i + 3) - at(k, j, i)) ** order, weigh);
      expect((increments.separations[0]?.scalar[order] as number) / expected).toBeCloseTo(1, 10);
    }
    const moments = await reduce("turbulent-channel", { moments: "u.x^2" }, common);
    expect(moments.mean / mean((k, j, i) => at(k, j, i) ** 2, weigh)).toBeCloseTo(1, 10);
  });

  it("refuses separations in nodes along y, and leaves y out by default", async () => {
    const asked = { frame: [0], what: ["u.x"], separations: [1] };
    expect(await ask("turbulent-channel", "structure_functions", { ...asked, axis: ["x", "y"] })).toMatchObject({
      ...{ status: 400, member: "axis", detail: expect.stringContaining("along y are not evenly spaced") },
    });
    const { separations } = await ask(...(["turbulent-channel", "structure_functions", asked] as const));
    expect(separations.map(({ axis }: AnyAnswer) => axis)).toEqual(["x", "z"]);
  });
});

describe("a set with holes", () => {
  const known = list(N ** 3, (i) => i).filter((i) => Math.floor(i / N) % N !== 5 && !isHole(i));
  const missing = N ** 3 - known.length;

  it("has a share of p < 0 of the nodes where p is known", async () => {
    const share = known.filter((i) => pressureAt(i) < 0).length / known.length;
    const { mean, count, ...rest } = await reduce("holes", { moments: "p < 0" });
    expect(mean).toBeCloseTo(share, 12);
    expect([count, rest.missing, rest.infinite]).toEqual([known.length, missing, 0]);
  });

  it.each([
    ...["p < 0", "p <= 0", "p > 0", "p >= 0", "p == 0", "p != 0", "0 < p", "!p", "p && 1", "0 && p", "1 || p"],
    ...["p || 0", "p ? 1 : 2", "p ? p : 2", "p^0", "p^2", "min(p, 1)", "max(1, p)", "sign(p)", "atan2(1, p)"],
    ...[
      "abs(p)",
      "norm([p, 1, 1])",
      "eig1([[1, p, 1], [p, 1, 1], [1, 1, 1]])",
      "eig2([[1, 1, 1], [1, p, 1], [1, 1, 1]])",
    ],
  ])("has no value of %s in them", async (quantity) => {
    expect(await reduce("holes", { moments: quantity })).toMatchObject({ missing, count: known.length });
  });

  it("has null for the mean of nothing", async () => {
    const profile = await reduce("holes", { moments: "p" }, { over: ["x", "z"] });
    for (const name of ["mean", "variance", "min", "max"]) expect(profile[name]?.[5], name).toBeNull();
    expect(profile.mean?.[4]).toBeTypeOf("number");
    const none = { mean: null, variance: null, skewness: null, flatness: null, min: null, max: null, count: 0 };
    expect(await reduce("holes", { moments: "0/0 + p" })).toMatchObject({ ...none, missing: N ** 3 });
    expect(await reduce("holes", { covariance: ["p", "0/0 + p"] })).toMatchObject({
      means: [null, null],
      matrix: [
        [null, null],
        [null, null],
      ],
    });
    const conditional = { conditional: "p", on: "x", bins: 2, range: [20, 30] };
    expect(await reduce("holes", conditional)).toMatchObject({ mean: [null, null], counts: [0, 0] });
  });

  it("refuses a threshold in multiples of an rms of nothing", async () => {
    expect(await ask("holes", "structures", { where: "0/0 + p > 2 * rms(0/0 + p)" })).toMatchObject({
      ...{ status: 400, member: "where", detail: expect.stringContaining("the region has no value") },
    });
  });

  it("counts infinities apart, also for automatic edges", async () => {
    const quantity = "1/(x - 3)";
    const infinite = N * N;
    const { max, ...moments } = await reduce("holes", { moments: quantity });
    expect([moments.count, moments.missing, moments.infinite, max]).toEqual([N ** 3 - infinite, 0, infinite, 1]);
    const histogram = await reduce("holes", { histogram: quantity, bins: 3, range: "auto" });
    expect(histogram).toMatchObject({ infinite, below: 0, above: 0 });
    expect([histogram.edges[0], histogram.edges[3]]).toEqual([-1, 1]);
    for (const reduction of [
      { covariance: ["x", quantity] },
      { conditional: "x", on: quantity, bins: 2, range: "auto" },
      { extremes: quantity, count: 1 },
    ])
      expect(await reduce("holes", reduction)).toMatchObject({ infinite, missing: 0 });
    expect(await ask("holes", "structures", { where: `${quantity} > 0.9` })).toMatchObject({ nodes: 2 * N * N });
    const separations = { what: [quantity], axis: ["y"], separations: [1] };
    expect(await ask("holes", "structure_functions", separations)).toMatchObject({
      separations: [{ infinite, missing: 0, pairs: N ** 3 - infinite }],
    });
  });

  it.each([
    ["statistics", { filter: { kind: "gaussian", width: 4 }, reduce: [{ moments: "filter(p)" }] }],
    ["statistics", { derivatives: "spectral", reduce: [{ moments: "grad(p).x" }] }],
    ["statistics", { points: { random: 5 }, derivatives: "spectral", reduce: [{ moments: "grad(p).x" }] }],
    ["spectrum", { what: ["p"] }],
    ["spectrum", { what: ["p"], kind: "line" }],
  ])("is refused by transforms: %s %j", async (name, body) => {
    expect(await ask("holes", name, body)).toMatchObject({
      detail: expect.stringContaining('all nodes, and some of "holes" have no value.'),
    });
  });
});

describe("regions of isotropic32 that begin below the first node", () => {
  const h = Math.PI / 16;
  const region = { x: `${-2 * h}:${1.5 * h}`, y: `0:${h / 2}`, z: `0:${h / 2}` };

  it.each([
    ["lengths", region],
    ["nodes", { i: "-2:2", j: "0:1", k: "0:1" }],
  ])("have the coordinates asked by %s at nodes", async (_, one) => {
    const profile = await reduce("isotropic32", { moments: "x" }, { time: 0.6, ...one, over: ["y", "z"] });
    [-2, -1, 0, 1].forEach((n, i) => {
      expect(profile.coordinates.x?.[i]).toBeCloseTo(n * h, 12);
      expect((profile.mean as unknown as number[])[i]).toBeCloseTo(n * h, 12);
    });
  });

  it("have them of nodes", async () => {
    const path = `${service.url}/api/datasets/isotropic32/nodes?what=x&frame=0&x=-0.4:0.3&y=0&z=0`;
    const { data, coords } = (await (await fetch(path)).json()) as {
      data: { x: number[] };
      coords: { x: number[] };
    };
    [-2, -1, 0, 1].forEach((n, i) => {
      expect(data.x[i]).toBeCloseTo(n * h, 6);
      expect(coords.x[i]).toBeCloseTo(n * h, 12);
    });
  });

  it("have them at random points, and of structures", async () => {
    const points = { random: 500, seed: 3 };
    const { min, max } = await reduce("isotropic32", { moments: "x" }, { time: 0.6, ...region, points });
    expect(min).toBeGreaterThanOrEqual(-2 * h - 1e-6);
    expect(min).toBeLessThan(-1.9 * h);
    expect(max).toBeLessThan(1.5 * h + 1e-6);
    const body = { time: 0.6, ...region, where: `x < ${-0.5 * h}` };
    const { structures } = await ask("isotropic32", "structures", body);
    expect(structures.map(({ box }: AnyAnswer) => box.map(([x]: number[]) => x))).toEqual([
      [expect.closeTo(-2 * h, 12), expect.closeTo(-h, 12)],
    ]);
  });
});

describe("frames", () => {
  it.each([
    ["frame", { frame: [0, 1, 0] }, "frame: frame 0 is asked twice."],
    ["time", { time: [0.6, 0.6] }, "time: frame 3 is asked twice."],
  ])("are given once: %s", async (member, body, detail) => {
    expect(await ask("isotropic32", "statistics", { ...body, reduce: [{ moments: "u.x" }] })).toMatchObject({
      ...{ status: 400, member, detail: expect.stringContaining(detail) },
    });
  });

  it("do not bring extremes closer than they must be apart, unless each frame has its own", async () => {
    type Extreme = { at: number[]; time: number };
    const ask2 = async (over: string[]) =>
      reduce("isotropic32", { extremes: "norm(u)", count: 6, apart: 1.5 }, { frame: [0, 1, 2], over });
    const near = (list: readonly Extreme[]): number => {
      const period = 2 * Math.PI;
      const apart = (a: Extreme, b: Extreme) =>
        Math.hypot(
          ...a.at.map((x, i) => {
            const d = Math.abs(x - (b.at[i] as number));
            return Math.min(d, period - d);
          }),
        );
      return Math.min(...list.flatMap((a, i) => list.slice(i + 1).map((b) => apart(a, b))));
    };
    const together: readonly Extreme[] = (await ask2(["x", "y", "z", "t"])).highest;
    expect(together).toHaveLength(6);
    expect(near(together)).toBeGreaterThanOrEqual(1.5);
    const frames: readonly (readonly Extreme[])[] = (await ask2(["x", "y", "z"])).highest;
    for (const list of frames) expect(near(list)).toBeGreaterThanOrEqual(1.5);
    expect(near(frames.flat())).toBeLessThan(1.5);
  });
});

describe("moments of what does not vary on unequal weights", () => {
  it.each(["0*x+0.1", "0*x+1/3", "0*x-1e-9"])("are zero: %s", async (moments) => {
    expect(await reduce("turbulent-channel", { moments, order: 4 }, { frame: "all" })).toMatchObject({
      ...{ variance: 0, skewness: null, flatness: null },
    });
  });

  it("are zero at each height of a profile", async () => {
    const profile = await reduce("turbulent-channel", { moments: "y", order: 4 }, { frame: [0], over: ["x", "z"] });
    const { variance, skewness, flatness } = profile as unknown as Record<string, (number | null)[]>;
    expect(new Set(variance)).toEqual(new Set([0]));
    expect(new Set([...(skewness ?? []), ...(flatness ?? [])])).toEqual(new Set([null]));
  });
});
