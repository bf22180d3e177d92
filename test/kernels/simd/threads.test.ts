/** Two threads on one memory at once: the module keeps no state, so each gets the bits that it gets alone. */
import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { createScheme } from "../../../src/kernels/index.js";
import { SCRATCH_BYTES } from "../../../src/kernels/simd/index.js";
import type { Triple } from "../../../src/kernels/types.js";
import { Arena, brickField, bricking, moduleBytes, periodicAxes, randomNumbers } from "../../support/simd-memory.js";

const ROUNDS = 20;
const COUNT = 500;

/** Evaluates a scheme ROUNDS times into one result and reports whether every round gave the same bits. */
const THREAD = `
const { parentPort, workerData } = require("node:worker_threads");
const { kernel, method, axes, fields, positions, out, memory, wasm, offset, bytes, gate, rounds, kernels, simd } = workerData;
Promise.all([import(kernels), import(simd)]).then(([{ createScheme }, { instantiateSimd }]) => {
  const accelerator = instantiateSimd(wasm, memory, { offset, bytes });
  const scheme = createScheme(kernel, method, axes, { fd8Legacy: false }, accelerator);
  if (Atomics.add(gate, 0, 1) === 0) Atomics.wait(gate, 0, 1, 10_000);
  else Atomics.notify(gate, 0);
  let same = true;
  let first = null;
  for (let round = 0; round < rounds; round++) {
    out.fill(0);
    scheme.evaluate(fields, positions, 0, positions.length / 3, out);
    if (first === null) first = out.slice();
    else same &&= out.every((value, i) => value === first[i]);
  }
  parentPort.postMessage(same);
});
`;

function run(workerData: object): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(THREAD, { eval: true, workerData });
    worker.once("message", resolve);
    worker.once("error", reject);
  });
}

describe("two threads on one memory", () => {
  it.each([
    { kernel: "velocity", methods: ["Lag8", "Lag4"] },
    { kernel: "velocityHessian", methods: ["Fd4Lag4", "None_Fd8"] },
  ])("$kernel, $methods at once", async ({ kernel, methods }) => {
    const random = randomNumbers(77);
    const arena = new Arena(2 ** 25);
    const nodes: Triple = [24, 24, 24];
    const axes = periodicAxes(nodes, [0.1, 0.1, 0.1], [0, 0, 0]);
    const field = brickField(arena, nodes, bricking(nodes, [16, 16, 16]), 3, random, () => random() - 0.5);
    const gate = arena.integers(1);
    const threads = methods.map((method) => {
      const scheme = createScheme(kernel, method, axes, { fd8Legacy: false }, arena.accelerator());
      const positions = arena.doubles(3 * COUNT);
      for (let i = 0; i < positions.length; i++) positions[i] = 10 * random() - 5;
      const alone = arena.doubles(COUNT * scheme.components);
      scheme.evaluate([field], positions, 0, COUNT, alone);
      return { method, positions, alone, out: arena.doubles(alone.length), offset: arena.take(SCRATCH_BYTES) };
    });
    const results = await Promise.all(
      threads.map(({ method, positions, out, offset }) =>
        run({
          kernel,
          method,
          axes,
          fields: [field],
          positions,
          out,
          memory: arena.memory,
          wasm: moduleBytes,
          offset,
          bytes: SCRATCH_BYTES,
          gate,
          rounds: ROUNDS,
          kernels: new URL("../../../dist/kernels/index.js", import.meta.url).href,
          simd: new URL("../../../dist/kernels/simd/index.js", import.meta.url).href,
        }),
      ),
    );
    expect(results).toEqual([true, true]);
    for (const { alone, out } of threads) expect(out).toEqual(alone);
  });
});
