/** Analyses on a grid with open faces, a stretched axis, holes and a viscosity: answers follow from polynomials. */
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { budgetOf } from "../../../../src/server/ask/analysis/budgets.js";
import { openFile } from "../../../../src/storage/open-file.js";
import { descriptor, type Index, NODES, writeDescriptor, writeField, writeHdf5 } from "../../../support/cubes.js";
import { scratchFolder } from "../../../support/scratch.js";
import { serveTestData, useTestData } from "../../../support/service.js";
import { type AnyAnswer, ask as askOf } from "../ask.js";

const X = Array.from({ length: NODES.x }, (_, i) => 0.5 * i);
const Y = Array.from({ length: NODES.y }, (_, j) => -Math.cos((Math.PI * j) / (NODES.y - 1)));
const Z = Array.from({ length: NODES.z }, (_, k) => 0.25 * k);
/** Half the distance between the neighbours of each node, which is half a cell at the ends. */
const cellsOf = (nodes: readonly number[]): readonly number[] =>
  nodes.map((at, j) => ((nodes[j + 1] ?? at) - (nodes[j - 1] ?? at)) / 2);
const CELLS = cellsOf(Y);
const NU = 0.125;
const isHole = (x: number, y: number, z: number): boolean => x === 6 && y === 5 && z === 5;

const TZYX = ["t", "z", "y", "x"] as const;
const folder = scratchFolder();
await writeHdf5(join(folder, "open.h5"), (file) => {
  const u = (x = 0, y = 0, z = 0) => [y ** 2, x * z, z];
  writeField(file, "/u", { dimensions: [...TZYX, "c"], value: ({ x, y, z, c }) => u(X[x], Y[y], Z[z])[c] as number });
  const p = ({ x, y, z, t }: Index) => (isHole(x, y, z) ? Number.NaN : (X[x] as number) + t);
  writeField(file, "/p", { dimensions: TZYX, value: p });
});
const field = (path: string, ...last: string[]) => ({ file: "open.h5", path, dimensions: [..."tzyx", ...last] });
const content = descriptor("open", { fields: { velocity: field("/u", "c"), pressure: field("/p") }, viscosity: NU });
const axis = (nodes: number, spacing: number) => ({ nodes, origin: 0, spacing });
const axes = { x: axis(NODES.x, 0.5), y: { coordinates: Y, faces: "wall" }, z: axis(NODES.z, 0.25) };
writeDescriptor(folder, { ...content, axes });
const moving = scratchFolder();
copyFileSync(join(folder, "open.h5"), join(moving, "open.h5"));
writeDescriptor(moving, { ...content, name: "moving", axes, frameVelocity: [0.25, 0, 0] });
const service = await useTestData([folder, moving]);

const ask = async <T>(call: string, body: object): Promise<T> =>
  (await askOf(service, { dataset: "open", call, frame: [0], ...body })).json();

type Moments = Readonly<Record<"mean" | "min" | "max" | "count" | "missing", number>>;
const moments = async (quantity: string, more: object = {}): Promise<Moments> =>
  (await ask<{ results: readonly [Moments] }>("statistics", { reduce: [{ moments: quantity }], ...more })).results[0];

const nodes = NODES.x * NODES.y * NODES.z;
const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

describe("statistics on a grid with open faces", () => {
  it.each([
    ["A[0][1] - 2 * y", "Fd4"],
    ["A[1][0] - z", "Fd6"],
    ["A[1][2] - x", "Fd8"],
    // Slid and stretched second differences of order p take p + 2 nodes.
    ["d2(x^5, x) - 20 * x^3", "Fd4"],
    ["d2(y^5, y) - 20 * y^3", "Fd4"],
    ["d2(y^7, y) - 42 * y^5", "Fd6"],
    ["omega.z - z + 2 * y", "Fd4"],
    ["2 * nu * ddot(S, S) - 2 * nu * (1 + x * x / 2 + (z + 2 * y)^2 / 2)", "Fd4"],
  ])("have exact differences of polynomials up to the faces: %s by %s", async (quantity, derivatives) => {
    const { min, max, count } = await moments(quantity, { derivatives });
    expect(count).toBe(nodes);
    expect(Math.max(-min, max)).toBeLessThan(2e-5);
  });

  it("weigh nodes by their cells on the stretched axis, and give profiles along it", async () => {
    const weighted = sum(Y.map((y, j) => (CELLS[j] as number) * y * y)) / sum(CELLS);
    expect((await moments("u.x")).mean).toBeCloseTo(weighted, 7);
    expect((await moments("u.x", { weights: "nodes" })).mean).toBeCloseTo(sum(Y.map((y) => y * y)) / NODES.y, 7);
    const profile = (await moments("u.x", { over: ["x", "z"] })) as unknown as {
      mean: number[];
      coordinates: { y: number[] };
    };
    profile.mean.forEach((mean, j) => {
      expect(mean).toBeCloseTo((Y[j] as number) ** 2, 6);
    });
    expect(profile.coordinates.y).toEqual(Y);
  });

  it("count holes, and what differences reach of them, and leave them out", async () => {
    expect(await moments("p")).toMatchObject({ missing: 1, count: nodes - 1 });
    // Four nodes along each axis; along y also the hole itself, which uneven spacing weighs, and two at a wall.
    expect(await moments("norm(grad(p))")).toMatchObject({ missing: 15 });
    const times = await moments("p - x", { frame: "all", over: ["x", "y", "z"] });
    expect(times).toMatchObject({ mean: [0, 1, 2], missing: [1, 1, 1] });
  });
});

describe("a Gaussian filter on open axes", () => {
  const filtered = (width: number) =>
    ask<{ detail?: string; filter?: object }>("statistics", {
      ...{ reduce: [{ moments: "filter(u).x" }], filter: { kind: "gaussian", width } },
    });

  it("needs three nodes within its width everywhere", async () => {
    // Nodes along x are 0.5 apart, farther than any along y and z.
    expect((await filtered(0.999)).detail).toBe(
      'filter.width: nodes of "open" are up to 0.5 apart on an axis that is not periodic; three of them need a width of at least 1.',
    );
    expect((await filtered(1)).filter).toEqual({ kind: "gaussian", width: 1, widths: [1, 1, 1] });
  });
});

describe("units", () => {
  const asked = { reduce: [{ moments: "p/1.2[kg/m3] + dot(u,u)/2" }, { moments: "sin(2*pi*x)" }] };
  const units = { length: "m", velocity: "m/s", pressure: "Pa" };

  it("bind expressions unless they are to be ignored, and are in the answer", async () => {
    const folder = scratchFolder();
    await writeHdf5(join(folder, "box.h5"), (file) => {
      writeField(file, "/u", { dimensions: [...TZYX, "c"], value: ({ x }) => x });
      writeField(file, "/p", { dimensions: TZYX, value: ({ x }) => 12 * x });
    });
    const fields = { velocity: { ...field("/u", "c"), file: "box.h5" }, pressure: { ...field("/p"), file: "box.h5" } };
    writeDescriptor(folder, { ...descriptor("box", { fields }), units, viscosity: 0.5 });
    const other = await serveTestData([folder]);
    const answer = async (body: object) => {
      const response = await askOf(other, { dataset: "box", call: "statistics", frame: [0], ...body });
      return (await response.json()) as { detail?: string; units?: object; results: readonly Moments[] };
    };
    expect((await answer(asked)).detail).toContain("sin takes a number without unit, not m: divide by");
    const budget = { reduce: ["budget:k"], over: ["x", "z"] };
    expect((await answer(budget)).detail).toContain("terms in m²/s³ and Pa/s have no sum: ask them by hand");
    const { length: _, ...some } = units;
    const bare = { viscosity: 1, fields: { velocity: 3, pressure: 1 }, units: some, time: { count: 1, values: [0] } };
    expect(() => budgetOf("k", bare as never, [0], bare)).toThrow("terms in m³/(s³ length) and Pa m/(length s) have");
    expect((await answer({ ...budget, units: "ignore" })).results).toHaveLength(1);
    const known = {
      p: "Pa",
      "p/1.2[kg/m3] + dot(u,u)/2": "m²/s²",
      ...{ "sin(2*pi*x/1[m])": "1", "norm(u)^(1/3)": "m^(1/3)/s^(1/3)" },
    };
    const checked = await answer({ reduce: Object.keys(known).map((moments) => ({ moments })) });
    expect(checked.units).toEqual(known);
    const ignored = await answer({ ...asked, units: "ignore" });
    expect(ignored.units).toEqual({ "sin(2*pi*x)": "1" });
    expect(ignored.results.map(({ mean }) => mean)).toEqual(checked.results.slice(1, 3).map(({ mean }) => mean));
    const plane = (more: string) =>
      fetch(`${other.url}/api/datasets/box/grid?what=sin(x)&time=0&z=0.5${more}`).then(({ status }) => status);
    expect([await plane(""), await plane("&units=ignore"), await plane("&units=no")]).toEqual([400, 200, 400]);
    const told = {
      "paths?points=1,1,1&what=p&time=0:0.1&step=0.1": "x m, p Pa",
      "around?what=p*u.x&where=p%3E1&lag=1&frame=0": "r_x m, mean Pa m/s, count undefined",
      "statistics?what=u&over=y,z&frame=0": "x m, mean_u_y m/s, variance_u_y undefined",
      "structures?what=p&where=p%3E1&frame=0":
        "volume m³, box_0_1 m, inertia_0_0 m², properties_p_mean Pa, properties_p_integral Pa m³, wraps_0 undefined",
      "structures?what=p&where=p%3E1&frame=0&weights=nodes": "volume 1, properties_p_integral Pa",
      "spectrum?what=u&kind=line&axis=x&over=y,z,t&frame=0": "k 1/m, E undefined",
    };
    for (const [query, expected] of Object.entries(told)) {
      const netcdf = await (await fetch(`${other.url}/api/datasets/box/${query}&format=nc`)).arrayBuffer();
      writeFileSync(join(folder, "table.nc"), new Uint8Array(netcdf));
      const file = openFile(join(folder, "table.nc"));
      const unitOf = (name = "") => `${name} ${file.attributes(`/${name}`).get("units")}`;
      expect(expected.split(", ").map((one) => unitOf(one.split(" ")[0]))).toEqual(expected.split(", "));
      file.close();
    }
    await other.close();
  });
});

it("structure functions count the pairs that open axes have", async () => {
  type Separations = {
    separations: readonly { pairs: number; missing: number; length: number | null; scalar: Record<string, number> }[];
  };
  const along = (axis: string, of: string) =>
    ask<Separations>("structure_functions", { what: [of], orders: [2], axis: [axis], separations: [1, 4] });
  const { separations } = await along("x", "p");
  expect(separations.map(({ pairs, missing }) => [pairs, missing])).toEqual([
    [11 * NODES.y * NODES.z - 2, 2],
    [8 * NODES.y * NODES.z - 2, 2],
  ]);
  expect(separations.map(({ scalar, length }) => [scalar["2"], length])).toEqual([
    [0.25, 0.5],
    [4, 2],
  ]);
});

it("structure functions are of the axes that separations fit by default", async () => {
  const of = (separations: object) => ask("structure_functions", { what: ["p"], separations });
  expect(await of([1])).toMatchObject({ question: { axis: ["x", "z"] } });
  expect(await of({ lengths: [0.3], pairs: 9 })).toMatchObject({ question: { axis: ["x", "y", "z"] } });
});

it("moves with its nodes, while rates are those at fixed places", async () => {
  const of = (call: string, body: object) => ask<AnyAnswer>(call, { dataset: "moving", frame: 2, ...body });
  const { rows, frame_velocity } = await of("find", { where: "p > 5", what: "p, ddt(p), DDt(p) - u.x", limit: 9 });
  expect(frame_velocity).toEqual([0.25, 0, 0]);
  for (const [, , , x, , , p, rate, carried] of rows) expect([p, rate, carried]).toEqual([x + 2, 0.75, 0.75]);
  const { structures } = await of("structures", { where: "p > 6.9" });
  const { results } = await of("around", { where: "p > 6.9", events: "centres", what: "p", lag: 0, method: "Lag4" });
  expect(results[0].mean.flat(3)).toEqual([expect.closeTo(structures[0].centre[0] + 2, 6)]);
});

it("structures end at open faces, and have the volumes of their cells", async () => {
  type Answer = {
    count: number;
    nodes: number;
    missing: number;
    structures: readonly { volume: number; wraps: boolean[]; box: number[][] }[];
  };
  const answer = await ask<Answer>("structures", { where: "abs(x - 2.75) > 2", connectivity: 6 });
  expect(answer).toMatchObject({ count: 2, nodes: 4 * NODES.y * NODES.z, missing: 0 });
  // Two nodes at an end, of which the outer one has half a cell.
  const volume = 1.5 * 0.5 * sum(cellsOf(Z)) * sum(CELLS);
  for (const structure of answer.structures) {
    expect(structure.volume).toBeCloseTo(volume, 10);
    expect(structure.wraps).toEqual([false, false, false]);
  }
  expect(answer.structures.map(({ box }) => [box[0]?.[0], box[1]?.[0]])).toEqual([
    [0, 0.5],
    [5, 5.5],
  ]);
  expect(await ask("structures", { where: "p > -1" })).toMatchObject({ missing: 1, nodes: nodes - 1 });
});
