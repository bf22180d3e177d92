/** Spectra of the shipped turbulence are those published; of known waves, those of the definition. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { writeCube } from "../../../../tools/generate/cube.js";
import { scratchFolder } from "../../../support/scratch.js";
import { serveTestData, useTestData } from "../../../support/service.js";
import { type AnyAnswer, ask as askOf, jsonOf } from "../ask.js";

const folder = scratchFolder();
const cube = { kind: "abc", steps: 2, chunk: [8, 16, 32], filter: "none", seed: 3 } as const;
for (const [name, nodes] of [
  ["mixed", [20, 18, 30]],
  ["prime", [14, 16, 16]],
  ["channel", [20, 18, 24]],
  ["thin", [20, 18, 1]],
  ["deep", [20, 18, 1]],
  ["profile", [1, 18, 1]],
  ["sheet", [1, 18, 20]],
  ["duct", [20, 18, 12]],
] as const)
  await writeCube({ ...cube, nodes, name, folder: join(folder, name) }, () => undefined);
for (const [name, axes] of [
  ["channel", { y: { periodic: false } }],
  ["profile", { y: { periodic: false } }],
  ["duct", { y: { periodic: false }, z: { periodic: false } }],
  ["thin", { z: { spacing: 0.001 } }],
  ["deep", { z: { spacing: 100, periodic: false } }],
] as const) {
  const path = join(folder, name, "dataset.json");
  const descriptor = JSON.parse(readFileSync(path, "utf8"));
  for (const [axis, members] of Object.entries(axes)) Object.assign(descriptor.axes[axis], members);
  writeFileSync(path, JSON.stringify({ ...descriptor, viscosity: 0.1 }));
  rmSync(join(folder, name, "manifest.json"));
}
const service = await useTestData([folder]);

const ask = async (body: object, dataset = "isotropic32", from = service): Promise<AnyAnswer> =>
  (await askOf(from, { dataset, call: "spectrum", ...body })).json();

async function meanOf(quantity: string, dataset = "isotropic32", more: object = { time: 0.6 }): Promise<number> {
  const question = { dataset, call: "statistics", ...more, reduce: [{ moments: quantity }] };
  return (await jsonOf(await askOf(service, question))).results[0].mean;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

const near = (value: number) => expect.closeTo(value, 8);

function nearAll(values: readonly number[], printed: readonly number[], digits: number): void {
  printed.forEach((one, i) => {
    expect(Number((values[i] as number).toPrecision(digits))).toBe(one);
  });
}

describe("spectra of isotropic32 at 0.6", () => {
  it("over shells are those published, and sum to half the mean square", async () => {
    const { E, transfer, flux, kind, k } = await ask({ time: 0.6, terms: ["transfer", "flux"] });
    nearAll(
      E.slice(1),
      [0.299999999, 0.129999994, 0.0244604931, 0.00930826245, 0.00317522455, 0.00088019249, 0.000333744832],
      9,
    );
    nearAll(transfer.slice(1), [-0.0610185, 0.0253809, 0.0154993, 0.0106117, 0.00508863], 6);
    expect(Math.abs(sum(E) / 0.4683676806610685 - 1)).toBeLessThan(1e-12);
    expect(Math.abs(sum(transfer))).toBeLessThan(1e-9);
    expect(flux[2]).toBeCloseTo(-((transfer[1] as number) + (transfer[2] as number)), 14);
    expect([kind, ...k.slice(0, 3)]).toEqual(["shell", 0, 1, 2]);
  });

  it("along lines are those published, and sum to the mean square", async () => {
    const { E } = await ask({ time: 0.6, what: ["u.x"], kind: "line", axis: "x" });
    const printed = [0.1816899, 0.0933513741, 0.0141122344, 0.00199721947, 0.000403396029, 0.000104400821];
    expect(E[0]).toBeCloseTo(printed[0] as number, 7);
    nearAll(E.slice(1), printed.slice(1), 9);
    expect(Math.abs(sum(E) / (await meanOf("u.x^2")) - 1)).toBeLessThan(1e-12);
  });

  it("sum to the means of what they are spectra of", async () => {
    const terms = ["helicity", "dissipation", "cross:grad(p)"];
    const { E, helicity, dissipation, cross, scales } = await ask({ time: 0.6, terms });
    expect(sum(cross)).toBeCloseTo(await meanOf("dot(u, grad(p))"), 12);
    // Differences in space stay below the derivatives of the modes.
    expect(sum(helicity) / (await meanOf("helicity", "isotropic32", { time: 0.6, derivatives: "Fd8" }))).toBeCloseTo(
      1,
      3,
    );
    expect(scales.rms).toBeCloseTo(Math.sqrt((2 * 0.4683676806610685) / 3), 9);
    // docs/demonstration-data.md: 19.0 to 19.5 over the frames, by the statistics of the solver.
    expect(scales.Re_lambda).toBeGreaterThan(18.95);
    expect(scales.Re_lambda).toBeLessThan(19.55);
    const nu = 0.036;
    // Each mode by its own |k|: 2 nu S:S of the derivatives of the modes, not 2 nu n^2 E[n] of the shells.
    const epsilon = await meanOf("epsilon", "isotropic32", { time: 0.6, derivatives: "spectral" });
    expect([(scales.dissipation as number) / epsilon, sum(dissipation) / epsilon]).toEqual([near(1), near(1)]);
    expect(Math.abs((2 * nu * sum(E.map((e: number, n: number) => n * n * e))) / epsilon - 1)).toBeGreaterThan(0.01);
    expect(scales.taylor).toEqual(near(Math.sqrt((15 * nu * (scales.rms as number) ** 2) / epsilon)));
    expect(scales.kolmogorov).toEqual(near((nu ** 3 / epsilon) ** 0.25));
    const line = await ask({ time: 0.6, kind: "line", axis: "z" });
    expect(line.components).toHaveLength(3);
    expect(Math.abs(sum(line.E) / (2 * 0.4683676806610685) - 1)).toBeLessThan(1e-12);
    const plane = await ask({ time: 0.6, what: ["p"], kind: "plane", axis: "x" });
    expect(2 * (sum(plane.E.map(sum)) / 32)).toBeCloseTo(await meanOf("p^2"), 13);
  });

  it("have the same bits with one worker, and with a scratch file", async () => {
    const body = { frame: [2, 3], terms: ["transfer", "helicity", "cross:omega"] };
    const known = await ask(body);
    for (const settings of [{ WORKERS: "1" }, { ANALYSIS_MEMORY_BYTES: "1000" }]) {
      const other = await serveTestData([], settings);
      expect(await ask(body, "isotropic32", other)).toEqual(known);
      await other.close();
    }
  });
});

describe("spectra of a Beltrami flow on axes of 20, 18 and 30 nodes", () => {
  it("have all energy in the first shell, no transfer and the largest helicity", async () => {
    const { E, transfer, helicity } = await ask({ frame: [0], terms: ["transfer", "helicity"] }, "mixed");
    // A^2 + B^2 + C^2 = 2, of float32 nodes.
    expect(E[1]).toBeCloseTo(1, 6);
    expect(sum(E.slice(2))).toBeLessThan(1e-13);
    expect(Math.max(...transfer.map(Math.abs))).toBeLessThan(1e-6);
    expect(helicity[1]).toBeCloseTo(2 * (E[1] as number), 6);
  });

  it("are of two axes where the third has one node, whatever its spacing", async () => {
    const [{ k, E, scales }, deep] = [await ask({ frame: [0] }, "thin"), await ask({ frame: [0] }, "deep")];
    expect(deep).toMatchObject({ kind: "shell", k, E, scales });
    // A = 1 is the mean of uy, and B^2 + C^2 = 1; 18 nodes in 2 pi.
    expect(k.slice(0, 3)).toEqual([0, 1, 2]);
    for (const n of [0, 1]) expect(E[n]).toBeCloseTo(0.5, 7);
    expect(scales.resolution).toBeCloseTo(9 * (scales.kolmogorov as number), 12);
  });

  it.each(["channel", "profile"])("give planes of a %s as a function of the axis across", async (dataset) => {
    const { E, coordinates, k } = await ask({ frame: [0], what: ["u.x"], kind: "plane" }, dataset);
    expect([E.length, coordinates.y.length, k.length]).toEqual([18, 18, E[0]?.length]);
    // ux = A sin z + C cos y: the mean over a plane is C cos y; a profile has z = 0 alone.
    coordinates.y.forEach((y: number, j: number) => {
      expect(E[j]?.[0]).toBeCloseTo(Math.cos(y) ** 2 / 6, 6);
      expect(E[j]?.[1] ?? "none").toEqual(dataset === "profile" ? "none" : expect.closeTo(1 / 4, 6));
    });
  });
});

it("are followed by no integral length along an axis of one node", async () => {
  const body = { frame: [0], call: "correlation", what: ["u.x"], axis: ["z"] };
  expect(await ask(body, "thin")).toMatchObject({ integral_length: null, crossed: false });
});

it.each([
  ...["Fd4", "Fd6", "Fd8", "spectral"].map((derivatives) => ({ derivatives })),
  ...["Fd4Lag4", "Fd8", "M2Q8"].map((derivatives) => ({ derivatives, points: { random: 50, seed: 1 } })),
])("have no derivatives along an axis of one node: %j", async (how) => {
  const what = ["A[0][2]", "A[1][2]", "A[2][2]", "d2(u.x, z)", "hess(u)[0][0][2]"];
  const { results } = await ask(
    { call: "statistics", frame: [0], what: what.map((one) => `abs(${one})`), ...how },
    "thin",
  );
  expect(results.map(({ max }: AnyAnswer) => max)).toEqual([0, 0, 0, 0, 0]);
});

it.each([
  ["profile", { call: "correlation" }, ["y"]],
  ["sheet", { call: "correlation" }, ["y"]],
  ["channel", { call: "correlation" }, ["x"]],
  ["profile", { kind: "line" }, ["y"]],
  ["sheet", { kind: "line" }, ["y"]],
  ["sheet", { kind: "wavenumber_frequency", frame: [0, 1] }, ["y"]],
  ["duct", {}, ["x"]],
])("take the first axis of several nodes of a %s by default: %j", async (dataset, members, axis) => {
  const answer = await ask({ frame: [0], what: ["u.x"], ...members }, dataset);
  expect(answer.question.axis).toEqual(axis);
  expect(await ask(answer.question, dataset)).toEqual(answer);
});

it.each([
  ["1 - y/4", 1.5735031693489778, true],
  ["1 - y/5", 2.396928288692961, true],
  ["1 - y/6", 2.5885654837773737, false],
])("have an integral to the first zero of a whole open line, by NumPy: %s", async (what, length, crossed) => {
  const answer = await ask({ frame: [0], call: "correlation", what: [what], axis: ["y"], remove: "none" }, "profile");
  expect(answer).toMatchObject({ integral_length: expect.closeTo(length, 9), crossed });
});

it.each([
  ["line", "x", "x,z,t"],
  ["line", "y", "x,y,z,t"],
  ["modes", "x,z", "x,y,z,t"],
])("keep the digits of fluctuations about a large mean: %s along %s over %s", async (kind, axis, over) => {
  const of = (what: string, remove: string) => ask({ frame: "0:2", what, kind, axis, over, remove });
  const [large, plain] = [await of("1000 + u.x", "mean"), await of("fluc(u.x)", "none")];
  const E = (one: AnyAnswer): number[] => one.results[0].E.flat();
  for (const [i, one] of E(plain).entries()) expect(E(large)[i]).toBeCloseTo(one, 13);
});

describe("bad requests", () => {
  it.each([
    [{ what: ["A"] }, "isotropic32", "what: spectra are of a vector or a scalar, not of a tensor."],
    [{ kind: "line", terms: ["flux"] }, "isotropic32", "terms: flux is of shells only."],
    [{ what: ["p"], terms: ["transfer"] }, "isotropic32", "terms: transfer is of the velocity u only."],
    [{ what: ["p"], terms: ["helicity"] }, "isotropic32", "terms: helicity needs a vector."],
    [{ terms: ["cross:p"] }, "isotropic32", "terms: the quantity after cross: must be a vector"],
    [{ kind: "line", terms: ["dissipation"] }, "isotropic32", "terms: dissipation is of shells only."],
    [{ kind: "line", axis: "y", terms: ["flux"] }, "channel", "terms: they are of shells, planes and periodic lines."],
    [{ kind: "line", axis: "y", at: "x:0" }, "channel", "at: it is for periodic lines, modes and correlations."],
    [{ kind: "line", axis: "z" }, "deep", "axis: z has one node."],
    [{ kind: "modes", cross: ["u.x+u", "p"] }, "isotropic32", "cross: + joins a scalar and a vector (column 4)."],
    [{ kind: "frequency", frame: [0, 1], what: ["u.x+u"] }, "thin", "what: + joins a scalar and a vector (column 4)."],
    [{ what: ["log(u.x)"] }, "isotropic32", "Spectra and correlations need all nodes, and some"],
    [{ what: ["log(u.x)"], call: "correlation" }, "isotropic32", "Spectra and correlations need all nodes, and some"],
    [{ what: ["filter(log(u.x), gaussian:1)"] }, "isotropic32", "Filters and spectral derivatives need all nodes"],
    [{ terms: ["energy"] }, "isotropic32", "terms: expected some of transfer, flux"],
    [{ kind: "plane" }, "isotropic32", "axis: the axis across the planes must be given"],
    [{ axis: "x" }, "isotropic32", "axis: shells have none"],
    [{ kind: "shell" }, "channel", 'Transforms along y need a periodic axis, and that of "channel" is not'],
    [{}, "prime", 'x of "prime" has 14; the nearest are 12 and 15.'],
    [{ x: "0:1" }, "isotropic32", "x: spectrum does not take it"],
  ])("%j of %s get one line", async (body, dataset, words) => {
    const { detail } = await ask({ frame: [0], ...body }, dataset);
    expect(detail).toContain(words);
    expect(detail).not.toContain("\n");
  });
});
