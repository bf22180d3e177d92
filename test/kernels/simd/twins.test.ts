/** The functions that the WebAssembly modules export: each has a plain twin in TypeScript, with the same bits. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { createIntervalSums } from "../../../src/kernels/filter/interval-sums.js";
import { createScheme } from "../../../src/kernels/index.js";
import type { BrickField, Triple } from "../../../src/kernels/types.js";
import {
  Arena,
  brickField,
  bricking,
  combinedField,
  moduleBytes,
  periodicAxes,
  randomNumbers,
} from "../../support/simd-memory.js";

/** Exported functions that were called since the test began. */
const called = vi.hoisted(() => new Set<string>());

vi.mock("../../../src/kernels/simd/webassembly.js", async (original) => {
  const actual = await original<typeof import("../../../src/kernels/simd/webassembly.js")>();
  const instantiate: typeof actual.instantiate = (...parameters) =>
    new Proxy(actual.instantiate(...parameters), {
      get(module, name: keyof ReturnType<typeof actual.instantiate>) {
        called.add(name);
        return module[name];
      },
    });
  return { ...actual, instantiate };
});

const SEED = 905;
const NODES: Triple = [20, 18, 22];
const POINTS = 40;
const WEIGHTS = [-0.0625, 0.5625, 0.5625, -0.0625];

/** Functions of a module, by its bytes; the types of this project do not declare WebAssembly. */
function functionsOf(bytes: Uint8Array): string[] {
  const { WebAssembly } = globalThis as unknown as {
    WebAssembly: { Module: { new (from: Uint8Array): object; exports(of: object): { name: string; kind: string }[] } };
  };
  const all = WebAssembly.Module.exports(new WebAssembly.Module(bytes));
  return all.flatMap(({ name, kind }) => (kind === "function" ? [name] : [])).sort();
}

/** A scheme by the module and its twin, over four frames and random points in a cube of edge `spread`. */
function prepare(kernel: string, method: string, spread = 4) {
  const random = randomNumbers(SEED);
  const arena = new Arena(2 ** 23);
  const axes = periodicAxes(NODES, [0.1, 0.125, 0.07], [-0.3, 0, 1.7]);
  const cut = bricking(NODES, [8, 8, 8]);
  const frames = WEIGHTS.map(() => [brickField(arena, NODES, cut, 3, random, () => random() - 0.5)]);
  const positions = arena.doubles(3 * POINTS);
  positions.forEach((_, i) => {
    positions[i] = spread * random() - 1;
  });
  const plain = createScheme(kernel, method, axes, { fd8Legacy: false });
  const simd = createScheme(kernel, method, axes, { fd8Legacy: false }, arena.accelerator());
  const outs = () => [arena.doubles(POINTS * plain.components), arena.doubles(POINTS * plain.components)] as const;
  return { arena, axes, cut, frames, positions, plain, simd, outs };
}

const evaluates = (kernel: string, method: string) => () => {
  const { frames, positions, plain, simd, outs } = prepare(kernel, method);
  const [expected, out] = outs();
  const [fields] = frames as [BrickField[], ...BrickField[][]];
  plain.evaluate(fields, positions, 0, POINTS, expected);
  simd.evaluate(fields, positions, 0, POINTS, out);
  expect(out).toEqual(expected);
};

const combines = () => {
  const { frames, positions, plain, simd, outs } = prepare("velocity", "Lag4", 0.2);
  const [expected, out] = outs();
  plain.combine(frames, WEIGHTS, positions, 0, POINTS, expected);
  simd.combine(frames, WEIGHTS, positions, 0, POINTS, out);
  expect(out).toEqual(expected);
};

const gathers = () => {
  const { arena, cut, frames, positions, plain, simd, outs } = prepare("velocity", "Lag4", 0.2);
  const [expected, out] = outs();
  const sums = combinedField(
    arena,
    frames.map(([field]) => field as BrickField),
    WEIGHTS,
    cut,
  );
  plain.evaluateCombined([sums], positions, 0, POINTS, expected);
  simd.evaluateCombined([sums], positions, 0, POINTS, out);
  expect(out).toEqual(expected);
};

const covers = (kernel: string, method: string) => () => {
  const { arena, cut, positions, plain, simd } = prepare(kernel, method);
  const [expected, found] = [plain, simd].map((scheme) => {
    const marks = arena.bytes(64).fill(0);
    const list = arena.integers(64);
    return [...list.subarray(0, scheme.cover(cut, positions, 0, 1, marks, list, 0))].sort((a, b) => a - b);
  });
  expect(found).toEqual(expected);
};

const sorts = async () => {
  const { sortByBrick, sortTables } = await import("../../../src/kernels/brick-order.js");
  const { arena, axes, cut, positions } = prepare("velocity", "Lag4");
  const plain = sortTables(axes, cut);
  const [x, y, z] = [plain.x, plain.y, plain.z].map((table) => {
    const copy = arena.words(table.length);
    copy.set(table);
    return copy;
  }) as [Uint32Array, Uint32Array, Uint32Array];
  const expected = new Uint32Array(2 * POINTS);
  sortByBrick(axes, plain, positions, POINTS, new Uint32Array(2 * POINTS), expected, new Float64Array(3 * POINTS));
  const out = arena.words(2 * POINTS);
  const sorted = arena.doubles(3 * POINTS);
  arena.accelerator().sortByBrick(axes, { x, y, z }, positions, POINTS, arena.words(2 * POINTS), out, sorted);
  expect([...out.subarray(0, POINTS)]).toEqual([...expected.subarray(0, POINTS)]);
};

const addsIntervals = () => {
  const arena = new Arena(2 ** 22);
  const random = randomNumbers(SEED);
  const block = arena.floats(12 ** 3);
  for (let i = 0; i < block.length; i++) block[i] = random() - 0.5;
  const rows = { from: Int32Array.of(0, 1, 3), interval: Int32Array.of(0, 0, 1), weight: Float64Array.of(0.5, 2, -1) };
  const part = { first: Int32Array.of(0, 0, 0), length: Int32Array.of(2, 2, 2) };
  const [expected, out] = [createIntervalSums(), arena.accelerator().intervalSums].map((sums) => {
    const data = new Float32Array(arena.memory.buffer);
    const to = new Float64Array(8);
    sums.add(data, block.byteOffset / 4, 12, 144, 1, part, [rows, rows, rows], 2, to);
    return to;
  });
  expect(out).toEqual(expected);
};

const addsFrames = () => {
  const arena = new Arena(2 ** 22);
  const random = randomNumbers(SEED);
  const block = arena.floats(12 ** 3);
  for (let i = 0; i < block.length; i++) block[i] = random() - 0.5;
  const [expected, out] = [createIntervalSums(), arena.accelerator().intervalSums].map((sums) => {
    const data = new Float32Array(arena.memory.buffer);
    const rows = { values: 7, ny: 3, nz: 4 };
    sums.addFrame(data, block.byteOffset / 4, 12, 144, rows, 0.3, true, sums.combined);
    sums.addFrame(data, block.byteOffset / 4 + 5, 12, 144, rows, 0.7, false, sums.combined);
    return sums.combined.slice(0, 7 * 3 * 4);
  });
  expect(out).toEqual(expected);
};

/** Exported function -> a comparison of it and its twin. */
const TWINS: Readonly<Record<string, () => void | Promise<void>>> = {
  addFrame: addsFrames,
  combinePacket: combines,
  coverNodal: covers("velocityGradient", "None_Fd4"),
  coverTensor: covers("velocity", "Lag6"),
  gatherPacket: gathers,
  intervalSums: addsIntervals,
  nextPacket: combines,
  nodal: evaluates("velocityHessian", "None_Fd6"),
  sortByBrick: sorts,
  spline: evaluates("velocityGradient", "M2Q8"),
  tensor: evaluates("velocityGradient", "Fd4Lag4"),
  values: evaluates("velocity", "Lag8"),
};

describe("functions of kernels.wasm", () => {
  beforeEach(() => called.clear());

  it("are those that have a twin", () => {
    expect(functionsOf(moduleBytes)).toEqual(Object.keys(TWINS).sort());
  });

  it.each(Object.keys(TWINS))("%s has the bits of its twin", async (name) => {
    await TWINS[name]?.();
    expect(called).toContain(name);
  });
});

describe("functions of text.wasm", () => {
  it("are those that test/float32/text-module.test.ts compares with TripleScanner and RecordWriter", () => {
    const bytes = readFileSync(fileURLToPath(new URL("../../../dist/text/text.wasm", import.meta.url)));
    expect(functionsOf(bytes)).toEqual(["readTriples", "writeRecords"]);
  });
});
