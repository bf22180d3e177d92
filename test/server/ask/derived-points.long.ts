/** Filtered fields and spectral derivatives at points, at any time, and filters on axes with walls. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningService } from "../../../src/main.js";
import { writeChannel } from "../../support/channel.js";
import { type Complex, derivative, dft, transformOf, wavenumberAt } from "../../support/dft.js";
import { scratchFolder } from "../../support/scratch.js";
import { serveTestData } from "../../support/service.js";

const NODES = 32;
const CELLS = NODES ** 3;
const WIDTH = 0.8;
const PLANE = 5;

let service: RunningService;
beforeAll(async () => {
  const folder = scratchFolder();
  await writeChannel(folder);
  service = await serveTestData([folder]);
});
afterAll(() => service.close());

type Members = Readonly<Record<string, string | number>>;

async function get(call: string, members: Members, from = service): Promise<Float32Array> {
  const texts = Object.entries({ ...members, format: "f32" }).map(([name, value]) => [name, String(value)]);
  const response = await fetch(`${from.url}/api/datasets/isotropic32/${call}?${new URLSearchParams(texts)}`);
  if (response.status !== 200) throw new Error(((await response.json()) as { readonly detail: string }).detail);
  return new Float32Array(await response.arrayBuffer());
}
const plane = (what: string, more: Members = {}, from = service) =>
  get("grid", { z: (2 * Math.PI * PLANE) / NODES, what, time: 0.6, samples: NODES, ...more }, from);

/** The components of a stored frame, counted from 1. */
async function stored(frame: number): Promise<readonly Float64Array[]> {
  const values = await get("nodes", { what: "u", frame: frame - 1 });
  return [0, 1, 2].map((c) => Float64Array.from({ length: CELLS }, (_, n) => values[3 * n + c] as number));
}

const gaussian = (values: ArrayLike<number>): Complex => {
  const { re, im } = transformOf(NODES, values);
  const factor = (n: number) =>
    Math.exp((-wavenumberAt(NODES, n).reduce((sum, k) => sum + k * k, 0) * WIDTH ** 2) / 24);
  return { re: re.map((value, n) => factor(n) * value), im: im.map((value, n) => factor(n) * value) };
};
const filtered = (values: ArrayLike<number>): Float64Array => dft(NODES, gaussian(values), 1).re;
const inPlane = (values: ArrayLike<number>) =>
  Array.from({ length: NODES ** 2 }, (_, i) => values[PLANE * NODES ** 2 + i] as number);

function compare(answer: Float32Array, expected: ArrayLike<number>, within: number): void {
  expect(answer).toHaveLength(expected.length);
  const worst = answer.reduce((most, value, i) => Math.max(most, Math.abs(value - (expected[i] as number))), 0);
  expect(worst).toBeLessThan(within);
}

describe("derived inputs at points", () => {
  it("are exact derivatives and filtered fields at the nodes of a slice and a volume", async () => {
    const [, uy] = (await stored(4)) as [Float64Array, Float64Array, Float64Array];
    compare(
      await plane("A[1][0]", { derivatives: "spectral" }),
      inPlane(derivative(NODES, transformOf(NODES, uy), 0)),
      2e-6,
    );
    const filter = `gaussian:${WIDTH}`;
    compare(await plane("filter(u.y)", { filter }), inPlane(filtered(uy)), 5e-7);
    const slope = inPlane(derivative(NODES, gaussian(uy), 2));
    compare(await plane("filter(A[1][2])", { filter, derivatives: "spectral" }), slope, 2e-6);
    const volume = await get("grid", { what: "filter(u.y)", time: 0.6, samples: NODES, filter });
    compare(volume, filtered(uy), 5e-7);
  });

  it("are of the fields at the time of the query: the filter and the sum over frames commute, products do not", async () => {
    const frames = await Promise.all([3, 4, 5, 6].map(stored));
    // The cubic through four frames, half way between two of them.
    const weights = [-1 / 16, 9 / 16, 9 / 16, -1 / 16];
    const at = (c: number) =>
      Float64Array.from({ length: CELLS }, (_, n) =>
        weights.reduce((sum, weight, f) => sum + weight * (frames[f]?.[c]?.[n] as number), 0),
      );
    const [ux, uy] = [at(0), at(1)];
    const product = filtered(ux.map((value, n) => value * (uy[n] as number)));
    const [bx, by] = [filtered(ux), filtered(uy)];
    const stress = product.map((value, n) => value - (bx[n] as number) * (by[n] as number));
    const filter = `gaussian:${WIDTH}`;
    compare(await plane("filter(u.x)", { filter, time: 0.7 }), inPlane(bx), 6e-7);
    compare(await plane("tau[0][1]", { filter, time: 0.7 }), inPlane(stress), 6e-7);
  });

  it("have the same bits with scratch space in a file, and at random points the mean of the nodes", async () => {
    const members = { filter: `sharp:${WIDTH}`, derivatives: "spectral", time: 0.65, samples: 20 };
    const known = await plane("Pi", members);
    const small = await serveTestData([], { ANALYSIS_MEMORY_BYTES: "1000", WORKERS: "1" });
    expect(await plane("Pi", members, small)).toEqual(known);
    await small.close();
    const ask = async (drawn: object) => {
      const body = {
        time: 0.6,
        ...drawn,
        derivatives: "spectral",
        filter: { kind: "gaussian", width: WIDTH },
        reduce: [{ moments: "Pi" }],
      };
      const response = await fetch(`${service.url}/api/datasets/isotropic32/statistics`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      const { results } = (await response.json()) as { readonly results: readonly { readonly mean: number }[] };
      return results[0]?.mean as number;
    };
    const [nodes, random] = [await ask({}), await ask({ points: { random: 8000, seed: 3 } })];
    expect(nodes).toBeCloseTo(0.02012934859, 10);
    expect(Math.abs(random / nodes - 1)).toBeLessThan(0.08);
  });

  it.each<[Members, string]>([
    [{ filter: "gaussian" }, "filter: "],
    [{ filter: "gaussian:-1" }, "filter: "],
    [{ filter: "gaussian:9" }, "the shortest"],
    [{}, "filter"],
    [{ filter: "gaussian:1", derivatives: "M1Q4" }, "derivatives: "],
    [{ filter: "gaussian:1", time: 99 }, "out of range"],
  ])("%j get one line", async (members, words) => {
    await expect(plane("norm(filter(A))", members)).rejects.toThrow(words);
  });
});

describe("quantities at nodes", () => {
  const nodes = (members: Members) =>
    get("nodes", { i: "29:32", j: "0:31:3", k: "3:9:2", frame: 3, derivatives: "Fd4", ...members });

  it("are the numbers of slices at the nodes, with strides", async () => {
    const filter = `gaussian:${WIDTH}`;
    const whole = await plane("tau[0][2]", { filter });
    const part = await nodes({ what: "tau[0][2]", filter });
    expect(part).toHaveLength(3 * 11 * 3);
    // The plane of node 5 is the second that is taken from node 3.
    const expected = Array.from(
      { length: 33 },
      (_, i) => whole[3 * Math.floor(i / 3) * NODES + 29 + (i % 3)] as number,
    );
    compare(part.subarray(33, 66), expected, 5e-7);
    const slope = await plane("A[1][0]", { derivatives: "spectral" });
    compare(
      (await nodes({ what: "A[1][0]", derivatives: "spectral" })).subarray(33, 66),
      expected.map((_, i) => slope[3 * Math.floor(i / 3) * NODES + 29 + (i % 3)] as number),
      3e-6,
    );
    const [plain, fields] = await Promise.all([nodes({ what: "u.y" }), nodes({ what: "u" })]);
    expect([...plain]).toEqual(Array.from(plain, (_, i) => fields[3 * i + 1]));
  });
});

describe("a Gaussian filter between walls", () => {
  /** Coordinates of the nodes between the walls, and the quadrature by its definition. */
  const y = Array.from({ length: NODES }, (_, j) => -Math.cos((Math.PI * j) / (NODES - 1)));
  const cell = y.map((_, j) => ((y[Math.min(NODES - 1, j + 1)] as number) - (y[Math.max(0, j - 1)] as number)) / 2);
  const mean = (values: readonly number[], j: number, width: number): number => {
    const weights = y.map((at, k) => {
      const kernel = Math.exp((-6 * (at - (y[j] as number)) ** 2) / width ** 2);
      return kernel < 1e-8 ? 0 : kernel * (cell[k] as number);
    });
    const sum = weights.reduce((a, b) => a + b, 0);
    return weights.reduce((total, weight, k) => total + weight * (values[k] as number), 0) / sum;
  };
  const profile = async (quantity: string, more: object = {}) => {
    const body = { frame: [1], over: ["x", "z"], reduce: [{ moments: quantity }], ...more };
    const response = await fetch(`${service.url}/api/datasets/channel/statistics`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return (await response.json()) as {
      readonly results: readonly { readonly mean: number[] }[];
      readonly detail: string;
    };
  };

  it("is the quadrature along the stretched axis, and its derivative the difference of that", async () => {
    for (const width of [0.25, 0.5]) {
      const filter = { kind: "gaussian", width };
      // The mean over x and z of what varies along x and z is 0, so profiles show what y does alone.
      const plain = (await profile("u.x")).results[0]?.mean as number[];
      const smooth = (await profile("filter(u).x", { filter })).results[0]?.mean as number[];
      plain.forEach((_, j) => {
        expect(smooth[j]).toBeCloseTo(mean(plain, j, width), 7);
      });
      const slope = (await profile("filter(A)[0][1]", { filter })).results[0]?.mean as number[];
      const middle = ((smooth[17] as number) - (smooth[15] as number)) / ((y[17] as number) - (y[15] as number));
      expect(slope[16]).toBeCloseTo(middle, 1);
      // Along x the filter is exact: a mode k falls by exp(-k^2 D^2 / 24).
      const wide = (await profile("u.y*sin(x)")).results[0]?.mean as number[];
      const narrow = (await profile("filter(u).y*sin(x)", { filter })).results[0]?.mean as number[];
      expect(Math.abs(wide[16] as number)).toBeGreaterThan(0.1);
      expect((narrow[16] as number) / (wide[16] as number)).toBeCloseTo(Math.exp(-(width ** 2) / 24), 6);
    }
  });

  it("is the only one there", async () => {
    const refused = async (more: object) => (await profile("filter(u).x", more)).detail;
    expect(await refused({ filter: { kind: "sharp", width: 0.5 } })).toContain("need a periodic axis");
    expect(await refused({ filter: { kind: "tophat", width: 0.5 } })).toContain("need a periodic axis");
    expect(await refused({ filter: { kind: "gaussian", width: 0.5 }, derivatives: "spectral" })).toContain(
      "need a periodic axis",
    );
    expect(await refused({ filter: { kind: "gaussian", width: 3 } })).toContain('the shortest axis of "channel" is 2');
  });
});
