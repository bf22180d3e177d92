/** Spectral derivatives and filtered fields of the shipped turbulence are those published, in all analyses of nodes. */
import { describe, expect, it } from "vitest";
import { serveTestData, useTestData } from "../../../support/service.js";
import { type AnyAnswer, ask as askOf } from "../ask.js";

const service = await useTestData();

const ask = async (call: string, body: object, from = service): Promise<AnyAnswer> =>
  (await askOf(from, { dataset: "isotropic32", call, time: 0.6, ...body })).json();
const moments = async (quantities: readonly string[], more: object = {}): Promise<AnyAnswer> => {
  const reduce = quantities.map((quantity) => ({ moments: quantity }));
  return (await ask("statistics", { reduce, ...more })).results;
};
const GAUSSIAN = { derivatives: "spectral", filter: { kind: "gaussian", width: 0.8 } } as const;

describe("spectral derivatives and filters of isotropic32 at 0.6", () => {
  it("are those published", async () => {
    const names = ["2*ddot(S,S)", "dot(filter(u), filter(u)) / 2", "tr(tau) / 2", "Pi", "Pi < 0"];
    const printed = [3.0512068, 0.4006696281, 0.06769805259, 0.02012934859, 0.255188];
    const digits = [9, 10, 10, 10, 6];
    (await moments(names, GAUSSIAN)).forEach(({ mean }: AnyAnswer, i: number) => {
      expect(Number(mean.toPrecision(digits[i]))).toBe(printed[i]);
    });
    const atOrigin = { x: "0:0.1", y: "0:0.1", z: "0:0.1" };
    const node = await moments(["filter(u).x", "filter(u).y", "filter(u).z"], { ...GAUSSIAN, ...atOrigin });
    [0.17435832, -0.17920619, -0.64988373].forEach((value, c) => {
      expect(node[c]?.mean).toBeCloseTo(value, 8);
    });
  });

  it("leave nothing of a filter as wide as a node, and the sharp one as much as the spectrum says", async () => {
    const [off] = await moments(["norm(filter(u) - u)"], { filter: { kind: "tophat", width: 0.2 } });
    expect(off?.mean).toBeLessThan(1e-14);
    const [sharp] = await moments(["dot(filter(u), filter(u)) / 2"], { filter: { kind: "sharp", width: Math.PI / 2 } });
    // All modes of the first shell and half of the next, whose sum the filter cuts at |k| = 2.
    expect(sharp?.mean).toBeGreaterThan(0.3);
    expect(sharp?.mean).toBeLessThan(0.43);
    const [high] = await moments(["2*ddot(S,S)"], { derivatives: "Fd8" });
    expect(high?.mean).toBeCloseTo(3.0512068, 2);
  });

  it("have the same bits with one worker, with a scratch file, and in boxes across the seam", async () => {
    const reduce = [{ moments: "Pi" }, { moments: "tr(hess(p))" }];
    const body = { ...GAUSSIAN, frame: [2, 3], time: undefined, reduce };
    const known = await ask("statistics", body);
    expect(JSON.stringify(known)).toContain('"count":65536');
    for (const settings of [{ WORKERS: "1" }, { ANALYSIS_MEMORY_BYTES: "1000" }]) {
      const other = await serveTestData([], settings);
      expect(await ask("statistics", body, other)).toEqual(known);
      await other.close();
    }
    const h = (2 * Math.PI) / 32;
    const part = async (first: number, count: number) => {
      const along = `${first * h}:${(first + 32) * h}`;
      const region = { x: `${first * h}:${(first + count - 0.5) * h}`, y: along, z: along };
      return (await moments(["Pi"], { ...GAUSSIAN, ...region }))[0];
    };
    const [a, b] = [await part(29, 7), await part(36 - 32, 25)];
    const [whole] = await moments(["Pi"], GAUSSIAN);
    expect([a.count, b.count]).toEqual([7 * 1024, 25 * 1024]);
    expect((a.mean * a.count + b.mean * b.count) / 32768).toBeCloseTo(whole?.mean as number, 15);
  });

  it("are known to structures, structure functions and spectra too", async () => {
    const structures = { where: "norm(filter(omega)) > 2 * rms(norm(filter(omega)))", ...GAUSSIAN };
    expect((await ask("structures", structures)).count).toBeGreaterThan(0);
    const increments = { what: ["filter(u)"], orders: [2], separations: [1], axis: ["x"], ...GAUSSIAN };
    const { separations } = await ask("structure_functions", increments);
    expect(separations[0]?.longitudinal[2]).toBeLessThan(0.0068);
    const spectrum = async (of: string, how: object = GAUSSIAN) => (await ask("spectrum", { what: [of], ...how })).E;
    const plain = { derivatives: "spectral" };
    const [whole, filtered, vorticity] = [
      await spectrum("u", plain),
      await spectrum("filter(u)"),
      await spectrum("omega", plain),
    ];
    // Shell 1 has the modes (1, 0, 0) and (1, 1, 0) alone, and vorticity is |k| times velocity.
    const ratio = (filtered[1] as number) / (whole[1] as number);
    expect(ratio).toBeGreaterThan(Math.exp((-2 * 2 * 0.8 ** 2) / 24));
    expect(ratio).toBeLessThan(Math.exp((-2 * 0.8 ** 2) / 24));
    const sum = vorticity.reduce((total: number, one: number) => total + 2 * one, 0);
    expect(Number(sum.toPrecision(6))).toBe(3.05121);
  });
});

it.each(["Lag8", "Lag6", "M2Q8"])("of one node leaves Fd4Lag4 between nodes as it is: method %s", async (method) => {
  const what = ["filter(A)", "A", "filter(u)", "u"].slice(0, method === "M2Q8" ? 2 : 4);
  const body = {
    what,
    filter: "tophat:0.2",
    method,
    derivatives: "Fd4Lag4",
    points: [
      [1, 2, 3],
      [0.1, 6.2, 4],
    ],
  };
  const { rows } = await ask("values", body);
  for (const row of rows.map((one: number[]) => one.slice(3)))
    for (let c = 0; c < 9; c++) expect(row[c]).toBeCloseTo(row[c + 9], 5);
});

describe("a tophat", () => {
  const h = Math.PI / 16;
  it.each([
    [3.99 * h, 3],
    [4.01 * h, 5],
  ])("of width %d averages the nodes that the answer states", async (width, nodes) => {
    const filter = { kind: "tophat", width };
    const region = { i: 5, j: 6, k: 7 };
    const answer = await ask("statistics", {
      ...{ filter, ...region, reduce: [{ moments: "filter(p)" }] },
    });
    const widths = [nodes, nodes, nodes].map((n) => n * h);
    expect(answer.filter).toEqual({ ...filter, widths });
    const half = (nodes - 1) / 2;
    const around = (node: number) => `${node - half}:${node + half + 1}`;
    const cube = { i: around(5), j: around(6), k: around(7) };
    const [mean] = await moments(["p"], cube);
    expect(answer.results[0]?.mean).toBeCloseTo(mean?.mean as number, 7);
  });
});

describe("bad requests", () => {
  const unused = "filter: nothing uses it: write filter(u), tau, Pi, ….";
  it.each([
    ["structures", { where: "p > 1" }, unused],
    ["around", { what: "p", where: "p > 1", lag: 1 }, unused],
    ["correlation", { what: "p" }, unused],
    ["statistics", { what: "p", where: "p > 0" }, unused],
    ["structures", { where: "filter(p) > 1" }, undefined],
    ["spectrum", { what: "u", terms: ["cross:filter(u)"] }, undefined],
  ])("say of %s of %j whether the filter is used", async (call, body, detail) => {
    expect(await ask(call, { ...body, filter: "gaussian:1.2" })).toEqual(
      detail === undefined
        ? expect.not.objectContaining({ code: "InvalidRequest" })
        : expect.objectContaining({ detail }),
    );
  });

  it.each([
    [{ derivatives: "Lag8" }, "derivatives: expected one of Fd4, Fd6, Fd8, spectral"],
    [{ reduce: [{ moments: "filter(u)" }] }, "reduce[0].moments: filter(...) needs a filter, such as gaussian:0.8"],
    [{ filter: "box:1", reduce: [{ moments: "filter(p)" }] }, "filter: box is the mean about points; at nodes take"],
    [{ filter: { kind: "sharp", width: 0 } }, "filter: the width is above 0."],
    [{ filter: { kind: "sharp", width: 7 }, reduce: [{ moments: "filter(p)" }] }, "the shortest period"],
    [
      { filter: "sharp:1", points: { random: 5 }, derivatives: "M2Q8", reduce: [{ moments: "filter(A)" }] },
      "derivatives: filtered fields take Fd4Lag4, Fd4, Fd6, Fd8 or spectral, not M2Q8",
    ],
  ])("%j get one line", async (body, words) => {
    const { detail } = await ask("statistics", { reduce: [{ moments: "p" }], ...body });
    expect(detail).toContain(words);
    expect(detail).not.toContain("\n");
  });
});
