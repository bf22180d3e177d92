/** Results of several times as HDF5: a few points at a time, and no file of the queue left open after a failure. */
import { join } from "node:path";
import { h5wasm } from "h5wasm/node";
import { beforeAll, expect, it } from "vitest";
import { type ResultNumbers, stepsIn, writeHdf5 } from "../../src/jobs/result-files.js";
import { scratchFolder } from "../support/scratch.js";

const folder = scratchFolder();
beforeAll(() => h5wasm.ready);

/** A result of numbers in parts of an odd length; `ended` is told when nobody reads on. */
function resultOf(numbers: Float32Array, shape: readonly number[], ended = (): void => undefined): ResultNumbers {
  const bytes = Buffer.from(numbers.buffer);
  async function* parts() {
    try {
      for (let at = 0; at < bytes.length; at += 100_001) yield bytes.subarray(at, at + 100_001);
    } finally {
      ended();
    }
  }
  return { shape, times: [0.4, 0.41], columns: ["x", "y", "z"], about: {}, octets: parts() };
}

it("are written in chunks along the points of each time", async () => {
  const numbers = Float32Array.from({ length: 2 * 50_000 * 3 }, (_, i) => i / 7);
  const path = join(folder, "values.h5");
  await writeHdf5(path, resultOf(numbers, [2, 50_000, 3]));
  const file = new h5wasm.File(path, "r");
  const values = file.get("values") as InstanceType<typeof h5wasm.Dataset>;
  expect([values.shape, values.metadata.chunks]).toEqual([
    [2, 50_000, 3],
    [1, 21_845, 3],
  ]);
  expect(Buffer.from((values.value as Float32Array).buffer).equals(Buffer.from(numbers.buffer))).toBe(true);
  file.close();
});

it("end what they are read from when their reader stops, and when there are too few numbers", async () => {
  let ended = 0;
  const end = (): void => {
    ended++;
  };
  for await (const { first, count, values } of stepsIn(resultOf(new Float32Array(600_000), [2, 100_000, 3], end))) {
    expect([first, count, values.length]).toEqual([0, 21_845, 65_535]);
    break;
  }
  expect(ended).toBe(1);
  const short = resultOf(new Float32Array(300_000), [2, 100_000, 3], end);
  await expect(writeHdf5(join(folder, "short.h5"), short)).rejects.toThrow(/fewer numbers than their shape says/);
  expect(ended).toBe(2);
});
