/** What the page reads off volumes is right for fields that are known. */
import { expect, it, vi } from "vitest";
import { emptySpace } from "../draw/empty.js";
import { halfFloat } from "../draw/gl.js";
import { askAtPoints, manifests } from "../state/ask.js";
import type { Axis, Dataset } from "../state/dataset.js";
import { coordinateOf, nodeOf, wrapped } from "../state/dataset.js";
import { extremesText, piText, plainNumber, shortNumber, ticksOf } from "../state/format.js";
import { largestOf, quantilesOf, refined, sampleAt, type Volume, wantedVolume } from "../state/volumes.js";

const STRETCHED = Array.from({ length: 17 }, (_, j) => -Math.cos((Math.PI * j) / 16));
const periodic = (name: "x" | "y" | "z", nodes: number): Axis => {
  const spacing = (2 * Math.PI) / nodes;
  return { name, nodes, first: 0, last: 2 * Math.PI - spacing, length: 2 * Math.PI, spacing, periodic: true };
};
const table = (name: "x" | "y" | "z"): Axis => ({
  ...{ name, nodes: 17, first: -1, last: 1, length: 2, spacing: 0.02, periodic: false, coordinates: STRETCHED },
});

const long = (name: "x" | "y" | "z"): Axis => {
  const coordinates = Array.from({ length: 300 }, (_, j) => Math.tanh((j - 149.5) / 100) / Math.tanh(1.495));
  return { ...table(name), nodes: 300, coordinates };
};

const dataset = (axes: readonly Axis[]) => ({ axes, plainMethod: "Lag4" }) as unknown as Dataset;

function volumeOf(set: Dataset, value: (x: number, y: number, z: number) => number): Volume {
  const dims = set.axes.map(({ nodes }) => nodes) as unknown as [number, number, number];
  const data = Float32Array.from({ length: dims[0] * dims[1] * dims[2] }, (_, n) => {
    const node = [n % dims[0], Math.floor(n / dims[0]) % dims[1], Math.floor(n / (dims[0] * dims[1]))];
    const [x, y, z] = set.axes.map((axis, a) => coordinateOf(axis, node[a] as number)) as [number, number, number];
    return value(x, y, z);
  });
  const finite = data.filter(Number.isFinite);
  return {
    ...{
      key: "",
      what: "",
      frame: 0,
      dims,
      stride: 1,
      strides: [1, 1, 1] as const,
      of: "nodes",
      unit: null,
      data,
      isMasked: finite.length < data.length,
    },
    ...{ low: Math.min(...finite), high: Math.max(...finite) },
  };
}

it("a linear field is exact between stretched nodes", () => {
  const set = dataset([table("x"), table("y"), table("z")]);
  const volume = volumeOf(set, (x, y, z) => 2 * x - y + 0.5 * z);
  for (const place of [
    [0.1, -0.93, 0.4],
    [-0.999, 0.2, 0.99],
  ] as const)
    expect(sampleAt(volume, set, place)).toBeCloseTo(2 * place[0] - place[1] + 0.5 * place[2], 6);
  const fine = refined(volume, set);
  const [nx, ny] = fine.dims;
  const at = (i: number, j: number, k: number) => fine.data[i + nx * (j + ny * k)];
  const place = [7, 20, 61].map((n, a) => (fine.first[a] as number) + n * (fine.spacing[a] as number)) as [
    number,
    number,
    number,
  ];
  expect(at(7, 20, 61)).toBeCloseTo(2 * place[0] - place[1] + 0.5 * place[2], 5);
});

it("samples go on over a periodic seam, and finer ones are those of the wave", () => {
  const set = dataset([periodic("x", 16), periodic("y", 16), periodic("z", 16)]);
  const volume = volumeOf(set, (x, y) => Math.sin(x) + Math.cos(y));
  expect(sampleAt(volume, set, [2 * Math.PI - 1e-9, 0, 0])).toBeCloseTo(1, 5);
  expect(nodeOf(set.axes[0], -0.1)).toBeCloseTo(nodeOf(set.axes[0], 2 * Math.PI - 0.1), 9);
  expect(wrapped(set.axes[0], 7)).toBeCloseTo(7 - 2 * Math.PI, 12);
  const fine = refined(volume, set);
  expect(fine.dims).toEqual([32, 32, 32]);
  const exact = (i: number, j: number) => Math.sin((i * Math.PI) / 16) + Math.cos((j * Math.PI) / 16);
  for (const [i, j] of [
    [31, 1],
    [5, 30],
  ] as const)
    expect(fine.data[i + 32 * j]).toBeCloseTo(exact(i, j), 5);
});

it("finer samples keep the nodes of short periodic axes in their places", () => {
  const set = dataset([periodic("x", 24), periodic("y", 7), periodic("z", 5)]);
  const volume = volumeOf(set, (x, y, z) => 0.2 * Math.cos(x) + Math.sin(y) + 0.3 * Math.cos(z));
  const { dims, data } = refined(volume, set);
  for (let n = 0; n < volume.data.length; n++) {
    const [i, j, k] = [n % 24, Math.floor(n / 24) % 7, Math.floor(n / (24 * 7))];
    expect(data[2 * i + dims[0] * (2 * j + dims[1] * 2 * k)]).toBeCloseTo(volume.data[n] as number, 5);
  }
});

it("finds the largest value of the nodes around which interpolation meets no hole", () => {
  const set = dataset([periodic("x", 24), periodic("y", 12), periodic("z", 12)]);
  const rising = (x: number) => Math.round((x * 24) / (2 * Math.PI));
  const volume = volumeOf(set, (x) => (rising(x) === 20 ? Number.NaN : rising(x)));
  expect(largestOf(volume)[0]).toBe(15);
  expect(largestOf(volumeOf(set, rising))[0]).toBe(23);
});

it("quantiles weigh what nodes stand for, and leave out what is missing", () => {
  const set = dataset([table("x"), periodic("y", 8), periodic("z", 8)]);
  const volume = volumeOf(set, (x, y) => (y === 0 ? Number.NaN : x));
  const [low, middle, high] = quantilesOf(volume, set, [0.25, 0.5, 0.75]) as [number, number, number];
  // Nodes are equally many to each side; the volume between -0.5 and 0.5 is half of it.
  expect(middle).toBeCloseTo(0, 1);
  expect(Math.abs(high - 0.5)).toBeLessThan(0.1);
  expect(Math.abs(low + 0.5)).toBeLessThan(0.1);
  expect(largestOf(volume)[0]).toBe(16);
});

it("rays step over nothing that holds surface, over seams too", () => {
  const set = dataset([periodic("x", 16), periodic("y", 16), periodic("z", 16)]);
  const volume = volumeOf(set, (x) => -(Math.min(x, 2 * Math.PI - x) ** 2));
  const fine = { ...volume, first: [0, 0, 0], spacing: [1, 1, 1], dims: [16, 16, 16] } as never;
  const { dims, distance } = emptySpace(fine, -0.01, 1, [true, true, true]);
  expect(dims).toEqual([4, 4, 4]);
  // Only node 0 is inside: blocks 0 and, below it over the seam, 3 may hold surface.
  expect([...distance.subarray(0, 4)]).toEqual([0, 1, 1, 0]);
});

it("half floats are those of the standard", () => {
  for (const [value, bits] of [
    [0, 0],
    [1, 0x3c00],
    [-2, 0xc000],
    [0.333251953125, 0x3555],
    [65504, 0x7bff],
  ] as const)
    expect(halfFloat(value)).toBe(bits);
});

it("numbers are written with four digits and one minus sign", () => {
  expect([[], [2, -1.5, 3]].map(extremesText)).toEqual(["none", `${shortNumber(-1.5)}, ${shortNumber(3)}`]);
  expect([21.8133, -2.5904992, 0, 1234567, 0.00001234, Number.NaN].map((one) => shortNumber(one))).toEqual([
    ...["21.81", "−2.590", "0", "1.235·10⁶", "1.234·10⁻⁵", "none"],
  ]);
  expect(plainNumber(0.4)).toBe("0.4");
  expect([piText(Math.PI / 2), piText(-3 * Math.PI), piText(1)]).toEqual(["π/2", "−3π", null]);
  expect(ticksOf(0, 2 * Math.PI, 4, true)).toHaveLength(5);
});

const open = (name: "x" | "y" | "z", nodes: number, spacing = 0.05): Axis => {
  const last = (nodes - 1) * spacing;
  return { name, nodes, first: 0, last, length: last, spacing, periodic: false };
};
const [X, Y, Z] = ["x", "y", "z"] as const;

/** Sines along periodic axes and lines along others, different ones along all. */
function fieldOf(axes: readonly Axis[], place: readonly number[]): number {
  return axes.reduce((sum, one, a) => sum + (a + 1) * (one.periodic ? Math.sin : Number)(place[a] as number), 0);
}

/** A service that answers the field at the places that docs/asking.md states for `nodes`, `grid` and `values`. */
function serve(axes: readonly Axis[], asked: URL[]) {
  return async (url: URL, { body }: { body?: Float32Array } = {}): Promise<Response> => {
    asked.push(url);
    const members = url.searchParams;
    const samples = (members.get("samples") ?? "").split(",").map(Number);
    const placesOf = (axis: Axis, a: number): number[] => {
      const { first, last, length, nodes, name } = axis;
      if (url.pathname.endsWith("nodes")) {
        const [from, end, step] = (members.get("ijk"[a] as string) ?? "::").split(":");
        const run = Array.from({ length: Number(end) || nodes }, (_, node) => coordinateOf(axis, node));
        return run.slice(Number(from)).filter((_, i) => i % (Number(step) || 1) === 0);
      }
      const [from, to] = (members.get(name) ?? "").split(":").map(Number) as [number, number?];
      if (members.has(name) && to === undefined) return [from];
      const n = samples[a] as number;
      if (to === undefined)
        return Array.from({ length: n }, (_, i) => first + (i * length) / (axis.periodic ? n : n - 1));
      if (axis.periodic ? to - from > length + 1e-9 : from < first - 1e-9 || to > last + 1e-9)
        return expect.fail(`${name}=${from}:${to} is refused`);
      return Array.from({ length: n }, (_, i) => from + ((i + 0.5) * (to - from)) / n);
    };
    const points: number[][] = [];
    if (url.pathname.endsWith("values")) {
      for (let i = 0; body !== undefined && i < body.length; i += 3) points.push([...body.subarray(i, i + 3)]);
    } else {
      const [xs, ys, zs] = axes.map(placesOf) as [number[], number[], number[]];
      for (const z of zs) for (const y of ys) for (const x of xs) points.push([x, y, z]);
    }
    const values = Float32Array.from(points, (place) => fieldOf(axes, place));
    return new Response(values.buffer, { headers: { "fieldprobe-manifest": "d" } });
  };
}

it.each([
  ["nodes of short axes beside a long one", [periodic(X, 402), periodic(Y, 24), periodic(Z, 200)], {}, 3, "nodes"],
  ["nodes of stretched axes", [periodic(X, 402), table(Y), periodic(Z, 200)], {}, 3, "nodes"],
  ["strides that do not divide a period", [periodic(X, 251), periodic(Y, 12), periodic(Z, 14)], {}, 2, "grid"],
  ["strides that end before the last node", [open(X, 200), open(Y, 12), open(Z, 14)], {}, 2, "grid"],
  ["a grid that moves", [periodic(X, 24), open(Y, 33), periodic(Z, 20)], { frameVelocity: [0, 0, 0.1] }, 1, "grid"],
  ["staggered fields", [periodic(X, 24), open(Y, 33), periodic(Z, 20)], { isStaggered: true }, 1, "grid"],
  [
    "staggered fields, of an axis in parts",
    [open(X, 200), periodic(Y, 12), open(Z, 14)],
    { isStaggered: true },
    2,
    "grid",
  ],
  [
    "staggered fields between stretched nodes",
    [periodic(X, 24), table(Y), open(Z, 20)],
    { isStaggered: true },
    1,
    "values",
  ],
  [
    "strides of stretched axes that end before the last node",
    [periodic(X, 8), long(Y), periodic(Z, 8)],
    {},
    2,
    "values",
  ],
  ["levels", [periodic(X, 402), periodic(Y, 402), periodic(Z, 303)], { levels: 5 }, 3, "grid"],
  ["levels of open axes", [open(X, 280), open(Y, 252), open(Z, 222)], { levels: 5 }, 2, "grid"],
] as const)(
  "has samples where it takes them to be: %s",
  async (_, axes, own: { levels?: number; isStaggered?: boolean; frameVelocity?: readonly number[] }, stride, call) => {
    const { levels = 0, isStaggered = false, ...moving } = own;
    const fields = [{ name: "velocity", ...(isStaggered ? { nodes: {} } : {}) }];
    const known = { name: "known", digest: "d", times: [0], levels, fields, ...moving };
    const set = { ...dataset(axes), ...known } as unknown as Dataset;
    const asked: URL[] = [];
    manifests.set("known", "d");
    vi.stubGlobal("location", new URL("http://127.0.0.1/view/known"));
    vi.stubGlobal("fetch", serve(axes, asked));
    try {
      const volume = await wantedVolume(set, "u.x", 0, stride, 0).load(new AbortController().signal);
      const { dims, strides, data } = volume;
      expect(data).toHaveLength(dims[0] * dims[1] * dims[2]);
      expect(new Set(asked.map(({ pathname }) => pathname.split("/").at(-1)))).toEqual(new Set([call]));
      expect(volume.of).toBe(levels > 0 ? "means of 2³ nodes" : call === "nodes" ? "nodes" : "samples by Lag4");
      if (levels > 0) expect(asked.every(({ searchParams }) => searchParams.get("level") === "1")).toBe(true);
      let most = 0;
      for (let i = 0; i < data.length; i += 7) {
        const at = [i % dims[0], Math.floor(i / dims[0]) % dims[1], Math.floor(i / (dims[0] * dims[1]))];
        const place = axes.map((axis, a) => coordinateOf(axis, (at[a] as number) * (strides[a] as number)));
        most = Math.max(most, Math.abs((data[i] as number) - fieldOf(axes, place)));
      }
      expect(most).toBeLessThan(2e-5);
      // The samples fill each axis: a period, or up to the last node.
      for (const [a, { nodes, periodic: isPeriodic }] of axes.entries())
        expect((dims[a] as number) - (isPeriodic ? 0 : 1)).toBeCloseTo(
          (isPeriodic ? nodes : nodes - 1) / (strides[a] as number),
          9,
        );
      // What is read between samples is right to their distance squared, also across a seam.
      for (const part of [0.013, 0.37, 0.998]) {
        const place = axes.map(({ first, length }) => first + part * length) as [number, number, number];
        expect(Math.abs(sampleAt(volume, set, place) - fieldOf(axes, place))).toBeLessThan(0.1);
      }
    } finally {
      vi.unstubAllGlobals();
    }
  },
);

it("asks values at many points in parts", async () => {
  const axes = [open(X, 400, 1), open(Y, 400, 1), open(Z, 400, 1)];
  const asked: URL[] = [];
  manifests.set("known", "d");
  vi.stubGlobal("location", new URL("http://127.0.0.1/view/known"));
  vi.stubGlobal("fetch", serve(axes, asked));
  try {
    const points = Float32Array.from({ length: 3 * 450_000 }, (_, i) => (i * 7919) % 400);
    const values = await askAtPoints({ dataset: "known", call: "values", what: "u.x" }, points);
    expect([values.length, asked.length]).toEqual([450_000, 3]);
    for (const i of [0, 1, 199_999, 200_000, 449_999])
      expect(values[i]).toBe(fieldOf(axes, [...points.subarray(3 * i, 3 * i + 3)]));
  } finally {
    vi.unstubAllGlobals();
  }
});

it("takes no page of another server for numbers", async () => {
  const set = { ...dataset([periodic("x", 8), periodic("y", 8), periodic("z", 8)]), name: "small", fields: [] };
  vi.stubGlobal("location", new URL("http://127.0.0.1/view/small"));
  vi.stubGlobal("fetch", async () => new Response("<!doctype html><p>Log in  </p>"));
  try {
    const { load } = wantedVolume(set as unknown as Dataset, "u.x", 0, 1, 0);
    await expect(load(new AbortController().signal)).rejects.toThrow("A server in between");
  } finally {
    vi.unstubAllGlobals();
  }
});
