/** What the page reads off volumes is right for fields that are known. */
import { expect, it, vi } from "vitest";
import { emptySpace } from "../draw/empty.js";
import { halfFloat } from "../draw/gl.js";
import { manifests } from "../state/ask.js";
import type { Axis, Dataset } from "../state/dataset.js";
import { coordinateOf, nodeOf, wrapped } from "../state/dataset.js";
import { extremesText, inPi, plainNumber, shortNumber, ticksOf } from "../state/format.js";
import { largestOf, quantilesOf, refined, sampleAt, type Volume, wantedVolume } from "../state/volumes.js";

const STRETCHED = Array.from({ length: 17 }, (_, j) => -Math.cos((Math.PI * j) / 16));
const periodic = (name: "x" | "y" | "z", nodes: number): Axis => {
  const spacing = (2 * Math.PI) / nodes;
  return { name, nodes, first: 0, last: 2 * Math.PI - spacing, length: 2 * Math.PI, spacing, periodic: true };
};
const table = (name: "x" | "y" | "z"): Axis => ({
  ...{ name, nodes: 17, first: -1, last: 1, length: 2, spacing: 0.02, periodic: false, coordinates: STRETCHED },
});

const dataset = (axes: readonly Axis[]) => ({ axes }) as unknown as Dataset;

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
      cube: 1,
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
  expect([inPi(Math.PI / 2), inPi(-3 * Math.PI), inPi(1)]).toEqual(["π/2", "−3π", null]);
  expect(ticksOf(0, 2 * Math.PI, 4, true)).toHaveLength(5);
});

it("loads a box too large for the page by means of levels, sample by sample where its nodes are", async () => {
  const axes = [periodic("x", 400), periodic("y", 400), periodic("z", 303)];
  const set = { ...dataset(axes), name: "large", digest: "d", levels: 5, fields: [] } as unknown as Dataset;
  const asked: URLSearchParams[] = [];
  manifests.set("large", "d");
  vi.stubGlobal("location", new URL("http://127.0.0.1/view/large"));
  vi.stubGlobal("fetch", async (url: URL) => {
    asked.push(url.searchParams);
    const [nx = 0, ny = 0, nz = 0] = (url.searchParams.get("samples") ?? "").split(",").map(Number);
    const [from = 0, to = 0] = (url.searchParams.get("z") ?? "").split(":").map(Number);
    const values = Float32Array.from({ length: nx * ny * nz }, (_, i) => {
      const k = Math.floor(i / (nx * ny));
      return from + (k * (to - from)) / (nz - 1);
    });
    return new Response(values.buffer, { headers: { "fieldprobe-manifest": "d" } });
  });
  try {
    const volume = await wantedVolume(set, "u.x", 0, 3, 0).load(new AbortController().signal);
    expect([volume.dims, volume.cube]).toEqual([[134, 134, 101], 2]);
    expect(asked.map((one) => one.get("level"))).toEqual(asked.map(() => "auto"));
    for (const k of [0, 1, 33, 99, 100]) expect(volume.data[134 ** 2 * k]).toBeCloseTo((3 * k * 2 * Math.PI) / 303, 5);
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

it("loads all nodes of short axes beside a long one", async () => {
  const axes = [periodic("x", 400), periodic("y", 24), periodic("z", 201)];
  const set = { ...dataset(axes), name: "long", digest: "d", levels: 5, fields: [] } as unknown as Dataset;
  const asked: string[] = [];
  manifests.set("long", "d");
  vi.stubGlobal("location", new URL("http://127.0.0.1/view/long"));
  vi.stubGlobal("fetch", async ({ searchParams }: URL) => {
    asked.push(["i", "j", "k"].map((name) => searchParams.get(name)).join(" "));
    const values = new Float32Array(134 * 24 * 101).map((_, i) => i % 134);
    return new Response(values.buffer, { headers: { "fieldprobe-manifest": "d" } });
  });
  try {
    const volume = await wantedVolume(set, "u.x", 0, 3, 0).load(new AbortController().signal);
    expect(asked).toEqual(["0::3  0:201:2"]);
    expect([volume.dims, volume.strides, volume.cube]).toEqual([[134, 24, 101], [3, 1, 2], 1]);
    // Sample 2 of x is node 6, and node 5 of y is its sample 5.
    expect(sampleAt(volume, set, [6.75 * axes[0].spacing, 5 * axes[1].spacing, 0])).toBeCloseTo(2.25, 5);
  } finally {
    vi.unstubAllGlobals();
  }
});
