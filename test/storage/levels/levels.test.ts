/**
 * Levels against plain loops over nodes: means, positions, inclusive extrema and histograms, on periodic, stretched,
 * 2^n + 1 and holed grids; their store is resumed, and is never that of other data.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openDataset } from "../../../src/storage/bricks/brick-reader.js";
import type { Axis, Dataset, Triple } from "../../../src/storage/dataset/dataset.js";
import type { Widths } from "../../../src/storage/levels/level-axes.js";
import {
  fieldsWithLevels,
  type LevelQuantity,
  levelFolders,
  levelQuantity,
  openLevels,
  readExtrema,
  readHistograms,
} from "../../../src/storage/levels/level-store.js";
import { LevelWriter } from "../../../src/storage/levels/level-writer.js";
import { readArray } from "../../support/read-zarr.js";
import { scratchFolder } from "../../support/scratch.js";

const SCRATCH = scratchFolder();

const periodic = (nodes: number): Axis => ({ nodes, origin: 0.5, spacing: 0.25, periodic: true, coordinates: null });
const walled = (nodes: number): Axis => ({ nodes, origin: -1, spacing: 0.125, periodic: false, coordinates: null });
function stretched(nodes: number): Axis {
  const coordinates = Float64Array.from({ length: nodes }, (_, i) => -Math.cos((Math.PI * i) / (nodes - 1)));
  return { nodes, origin: -1, spacing: (coordinates[1] as number) + 1, periodic: false, coordinates };
}

/** Half the way to each neighbour; none beyond an end. */
function widthsOf({ nodes, origin, spacing, periodic: isPeriodic, coordinates }: Axis): Float64Array {
  const at = (i: number) => coordinates?.[i] ?? origin + i * spacing;
  return Float64Array.from({ length: nodes }, (_, i) => {
    if (isPeriodic) return spacing;
    return (i > 0 ? (at(i) - at(i - 1)) / 2 : 0) + (i < nodes - 1 ? (at(i + 1) - at(i)) / 2 : 0);
  });
}

interface Case {
  readonly name: string;
  readonly axes: readonly [Axis, Axis, Axis];
  readonly value: (x: number, y: number, z: number, c: number) => number;
}

const noise = (x: number, y: number, z: number, c: number): number => {
  const s = Math.sin(12.9898 * x + 78.233 * y + 37.719 * z + 5.1 * c) * 43758.5453;
  return 3 * (s - Math.floor(s)) - 1;
};

const CASES: readonly Case[] = [
  { name: "periodic", axes: [periodic(64), periodic(32), periodic(16)], value: noise },
  { name: "periodic with partial cubes", axes: [periodic(70), periodic(20), periodic(9)], value: noise },
  { name: "stretched between walls", axes: [periodic(24), stretched(37), walled(33)], value: noise },
  { name: "2^n + 1", axes: [walled(33), walled(65), walled(17)], value: noise },
  { name: "longer than eight boxes", axes: [walled(600), periodic(5), walled(3)], value: noise },
  {
    name: "holed",
    axes: [periodic(40), stretched(21), walled(18)],
    value: (x, y, z, c) => ((x - 20) ** 2 + (y - 8) ** 2 + z ** 2 < 90 + c ? Number.NaN : noise(x, y, z, c)),
  },
  { name: "constant", axes: [walled(20), walled(20), walled(20)], value: () => 1 / 3 },
];

function datasetOf({ name, axes }: Case): Dataset {
  const field = (components: 1 | 3) => ({ components, bricking: { edge: [8, 8, 8], count: [1, 1, 1] }, parts: [] });
  return {
    ...{ name: name.replaceAll(/\W/g, "-"), title: name, aliases: [], axes, digest: name, warnings: [], assumed: [] },
    ...{
      time: { count: 2, origin: 0, step: 1, values: null, guardBefore: 0, guardAfter: 0 },
      forcing: { kind: "none" },
    },
    ...{
      fields: { velocity: field(3), pressure: field(1) },
      location: join(SCRATCH, "data.h5"),
      questions: [],
      units: {},
    },
  } as unknown as Dataset;
}

const nodesOf = ({ axes }: Pick<Case, "axes">) => axes.map(({ nodes }) => nodes) as unknown as Triple;
const valueAt = (one: Case, frame: number, x: number, y: number, z: number, c: number): number =>
  Math.fround(one.value(x, y, z, c) * (frame + 1));

function reader(one: Case, components: number, frame: number) {
  return async (first: Triple, count: Triple, out: Float32Array): Promise<void> => {
    let at = 0;
    for (let z = 0; z < count[2]; z++)
      for (let y = 0; y < count[1]; y++)
        for (let x = 0; x < count[0]; x++)
          for (let c = 0; c < components; c++)
            out[at++] = valueAt(one, frame, first[0] + x, first[1] + y, first[2] + z, c);
  };
}

async function make(one: Case, dataset = datasetOf(one), quantities = fieldsWithLevels(dataset)) {
  const widths = one.axes.map(widthsOf) as unknown as Widths;
  const folders = levelFolders(dataset, join(SCRATCH, "state"));
  const writer = await LevelWriter.open(dataset, widths, folders);
  let read = 0;
  for (const quantity of quantities)
    for (let frame = 0; frame < 2; frame++) {
      if (await writer.has(quantity, frame)) continue;
      read++;
      await writer.write(quantity, frame, reader(one, quantity.components, frame), 2, () => {});
    }
  writer.close();
  return { writer, dataset, widths, folders, quantities, read };
}

/** The nodes of cube j along an axis: its own, and for extrema the next one, over a seam the first. */
function cube(axis: Axis, k: number, j: number, isInclusive: boolean): number[] {
  const nodes: number[] = [];
  for (let i = 2 ** k * j; i < 2 ** k * (j + 1) && i < axis.nodes; i++) nodes.push(i);
  const next = (nodes.at(-1) as number) + 1;
  if (isInclusive && next < axis.nodes) nodes.push(next);
  if (isInclusive && next === axis.nodes && axis.periodic) nodes.push(0);
  return nodes;
}

describe.each(CASES)("levels of a grid: $name", (one) => {
  it("are means, positions, extrema and histograms of its nodes", async () => {
    const { writer, dataset, widths, folders, quantities } = await make(one);
    await writer.finish(quantities);
    const set = openLevels(dataset, widths, folders);
    if (set === null) throw new Error("no levels");
    const longest = Math.max(...nodesOf(one));
    expect(set.datasets).toHaveLength(
      Array.from({ length: 20 }, (_, k) => k).find((k) => longest <= 8 * 2 ** k) as number,
    );
    for (const [i, level] of set.datasets.entries()) {
      const k = i + 1;
      const cubes = nodesOf(one).map((n) => Math.ceil(n / 2 ** k)) as unknown as Triple;
      expect(nodesOf(level as never)).toEqual(cubes);
      one.axes.forEach((axis, a) => {
        for (let j = 0; j < (cubes[a] as number); j++) {
          let [sum, weight] = [0, 0];
          for (const node of cube(axis, k, j, false)) {
            const w = widths[a]?.[node] as number;
            sum += w * (axis.coordinates?.[node] ?? axis.origin + node * axis.spacing);
            weight += w;
          }
          const { coordinates, origin, spacing } = level.axes[a as 0];
          expect(coordinates?.[j] ?? origin + j * spacing).toBeCloseTo(sum / weight, 12);
        }
      });
      const stored = openDataset(level);
      for (const quantity of quantities) {
        const n = quantity.components;
        const extrema = k === 3 ? await readExtrema(set, quantity, 1) : null;
        const found = new Float32Array(n * cubes[0] * cubes[1] * cubes[2]);
        stored.readNodes(quantity.text, 1, { first: [0, 0, 0], count: cubes }, found);
        for (let z = 0, at = 0; z < cubes[2]; z++)
          for (let y = 0; y < cubes[1]; y++)
            for (let x = 0; x < cubes[0]; x++)
              for (let c = 0; c < n; c++, at++) {
                let [sum, weight, known, all] = [0, 0, 0, 0];
                for (const kz of cube(one.axes[2], k, z, false))
                  for (const ky of cube(one.axes[1], k, y, false))
                    for (const kx of cube(one.axes[0], k, x, false)) {
                      const w = (widths[0][kx] as number) * (widths[1][ky] as number) * (widths[2][kz] as number);
                      const v = valueAt(one, 1, kx, ky, kz, c);
                      all++;
                      if (Number.isNaN(v)) continue;
                      known++;
                      sum += w * v;
                      weight += w;
                    }
                const mean = 2 * known < all ? Number.NaN : sum / weight;
                expect(Number.isNaN(found[at] as number)).toBe(Number.isNaN(mean));
                if (!Number.isNaN(mean)) expect(Math.abs((found[at] as number) - mean)).toBeLessThan(1e-6);
                if (extrema === null) continue;
                let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
                for (const kz of cube(one.axes[2], k, z, true))
                  for (const ky of cube(one.axes[1], k, y, true))
                    for (const kx of cube(one.axes[0], k, x, true)) {
                      const v = valueAt(one, 1, kx, ky, kz, c);
                      if (v < low) low = v;
                      if (v > high) high = v;
                    }
                const place = 2 * (at - c) + c;
                expect([extrema.values[place], extrema.values[place + n]]).toEqual([low, high]);
              }
      }
      stored.close();
    }
    const [nx, ny, nz] = nodesOf(one);
    for (const quantity of quantities) {
      const histograms = await readHistograms(set, quantity, 1);
      for (const [c, { edges, weights }] of histograms.entries()) {
        const [low, width] = edges;
        expect(Number.isInteger(Math.log2(width))).toBe(true);
        const expected = new Float64Array(4096);
        let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
        for (let z = 0; z < nz; z++)
          for (let y = 0; y < ny; y++)
            for (let x = 0; x < nx; x++) {
              const v = valueAt(one, 1, x, y, z, c);
              if (Number.isNaN(v)) continue;
              const w = (widths[0][x] as number) * (widths[1][y] as number) * (widths[2][z] as number);
              const bin = Math.floor((v - low) / width);
              expected[bin] = (expected[bin] ?? Number.NaN) + w;
              [least, most] = [Math.min(least, v), Math.max(most, v)];
            }
        expect(low <= least && most < low + 4096 * width).toBe(true);
        if (least < most)
          expect(Math.floor((2 * most) / width) - Math.floor((2 * least) / width)).toBeGreaterThanOrEqual(4096);
        for (let i = 0; i < 4096; i++) expect(weights[i]).toBeCloseTo(expected[i] as number, 9);
      }
    }
  });
});

/** A flow that is small, for what does not depend on numbers. */
const SMALL = { ...(CASES[1] as Case), name: "small" };

it("reproduces linear fields at the positions of cubes, on every level of a stretched grid", async () => {
  const axes = [walled(17), stretched(40), walled(16)] as const;
  const y = axes[1].coordinates as Float64Array;
  const linear: Case = {
    name: "linear",
    axes,
    value: (i, j, k, c) => 1 + 0.125 * i + 2 * (y[j] as number) - k / 8 + c,
  };
  const { writer, dataset, widths, folders, quantities } = await make(linear);
  await writer.finish(quantities);
  for (const level of openLevels(dataset, widths, folders)?.datasets ?? []) {
    const [nx, ny, nz] = nodesOf(level as never);
    const out = new Float32Array(nx * ny * nz);
    const read = (x: number) =>
      openDataset(level).readNodes("pressure", 0, { first: [x, 0, 0], count: [nx, ny, nz] }, out);
    read(0);
    expect(() => read(1)).toThrow(`has no nodes 1,0,0 to ${nx},${ny - 1},${nz - 1} of pressure.`);
    const at = (a: 0 | 1 | 2, i: number) => level.axes[a].coordinates?.[i] as number;
    for (let k = 0, i = 0; k < nz; k++)
      for (let j = 0; j < ny; j++)
        for (let x = 0; x < nx; x++, i++)
          expect(out[i]).toBeCloseTo(1 + (at(0, x) + 1) + 2 * at(1, j) - (at(2, k) + 1), 5);
  }
});

it("goes on where it was interrupted, and adds quantities later", async () => {
  const one = { ...SMALL, name: "resumed" };
  const first = await make(one, undefined, [fieldsWithLevels(datasetOf(one))[0] as LevelQuantity]);
  // Without an end there is no store yet.
  expect(openLevels(first.dataset, first.widths, first.folders)).toBeNull();
  const rest = await make(one);
  expect([first.read, rest.read]).toEqual([2, 2]);
  await rest.writer.finish(rest.quantities);
  const q = levelQuantity("norm(u)", 1);
  const more = await make(one, undefined, [q]);
  await more.writer.finish([q]);
  const set = openLevels(more.dataset, more.widths, more.folders);
  expect(set?.quantities.map(({ text }) => text)).toEqual(["velocity", "pressure", "norm(u)"]);
  expect(Object.keys(set?.datasets[0]?.fields ?? {})).toEqual(["velocity", "pressure", "norm(u)"]);
});

it("makes a frame again whose last object did not reach the disk", async () => {
  const one = { ...SMALL, name: "power" };
  const { folders, quantities } = await make(one);
  const [quantity] = quantities as [LevelQuantity];
  const last = join(folders[0] as string, `histograms/${quantity.array}/1`);
  // After a loss of power a file has its name and length, and zeros in it.
  writeFileSync(last, new Uint8Array(readFileSync(last).length));
  expect((await make(one)).read).toBe(1);
});

it("is made by one process at a time, of which the other one is told", async () => {
  const one = { ...SMALL, name: "two-makers" };
  const dataset = datasetOf(one);
  const widths = one.axes.map(widthsOf) as unknown as Widths;
  const folders = levelFolders(dataset, join(SCRATCH, "state"));
  const first = await LevelWriter.open(dataset, widths, folders);
  await expect(LevelWriter.open(dataset, widths, folders)).rejects.toThrow(
    new RegExp(`^levels of two-makers are being made by process ${process.pid} on `),
  );
  first.close();
  (await LevelWriter.open(dataset, widths, folders)).close();
  // That of a process that was killed is taken over.
  const lock = join(SCRATCH, ".two-makers.levels.lock");
  const { pid } = spawnSync("true");
  writeFileSync(lock, `${pid} ${hostname()}\n`);
  (await LevelWriter.open(dataset, widths, folders)).close();
  expect(existsSync(lock)).toBe(false);
});

it("never takes levels of other data, and replaces them", async () => {
  const one = { ...SMALL, name: "replaced" };
  const before = await make(one);
  await before.writer.finish(before.quantities);
  const changed = { ...before.dataset, digest: "other" };
  expect(openLevels(changed, before.widths, before.folders)).toBeNull();
  const after = await make(one, changed);
  expect(after.read).toBe(4);
  await after.writer.finish(after.quantities);
  expect(openLevels(changed, before.widths, before.folders)).not.toBeNull();
  expect(openLevels(before.dataset, before.widths, before.folders)).toBeNull();
});

it("takes the state folder if the place beside the dataset holds something else or cannot be written", async () => {
  const one = { ...SMALL, name: "elsewhere" };
  const dataset = { ...datasetOf(one), location: join(SCRATCH, "file-not-folder", "data.h5") };
  writeFileSync(join(SCRATCH, "file-not-folder"), "");
  const { writer, quantities, widths, folders } = await make(one, dataset);
  await writer.finish(quantities);
  expect(writer.folder).toBe(join(SCRATCH, "state", "levels", "elsewhere.levels"));
  expect(openLevels(dataset, widths, folders)?.folder).toBe(writer.folder);
});

it("is a store of Zarr 3, as its specification says that it is read", async () => {
  const one = { ...SMALL, name: "read-by-others" };
  const { writer, quantities, dataset, widths, folders } = await make(one);
  await writer.finish(quantities);
  const { folder, datasets } = openLevels(dataset, widths, folders) as NonNullable<ReturnType<typeof openLevels>>;
  const { shape, dimensions, values, attributes } = readArray(folder, "1/velocity");
  expect([shape, dimensions, attributes]).toEqual([
    [2, 5, 10, 35, 3],
    ["time", "z", "y", "x", "component"],
    { what: "velocity" },
  ]);
  const out = new Float32Array(3 * 35 * 10 * 5);
  openDataset(datasets[0] as Dataset).readNodes("velocity", 1, { first: [0, 0, 0], count: [35, 10, 5] }, out);
  expect(values.subarray(out.length)).toEqual(Float64Array.from(out));
  expect(readArray(folder, "3/x").values).toEqual(datasets[2]?.axes[0].coordinates);
});
