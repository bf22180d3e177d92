import { beforeEach, describe, expect, it, vi } from "vitest";
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

/** Exported function -> a comparison of it and its twin. */
const TWINS: Readonly<Record<string, () => void | Promise<void>>> = {
  combinePacket: combines,
  gatherPacket: gathers,
  nextPacket: combines,
  nodal: evaluates("velocityHessian", "None_Fd6"),
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
