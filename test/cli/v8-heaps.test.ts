/** The heaps of V8, in processes of their own, since their bounds are those of a process. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const SCRIPT = `
  import { once } from "node:events";
  import { getHeapSpaceStatistics } from "node:v8";
  import { Worker } from "node:worker_threads";
  const { boundOldGarbage, boundYoungObjects } = await import(process.argv[1]);
  if (process.argv[2] === "bounded") boundYoungObjects();
  const worker = new Worker("0", { eval: true });
  await once(worker, "online");
  await once(worker, "exit");
  if (process.argv[2] === "bounded") boundOldGarbage();
  const statistics = (name) => getHeapSpaceStatistics().find(({ space_name }) => space_name === name);
  const kept = [];
  let old = 0;
  for (let i = 0; i < 1_200_000; i++) {
    kept[i % 100_000] = { i, text: "young " + i };
    if (i > 600_000 && i % 10_000 === 0) old = Math.max(old, statistics("old_space").space_used_size);
  }
  console.log(statistics("new_space").space_size, old);
`;
const MODULE = new URL("../../dist/cli/v8-heaps.js", import.meta.url).href;
const MIB = 1024 * 1024;

/** Bytes for young and for old objects in a process that has started a thread and made many objects. */
async function heapBytes(how: "bounded" | "unbounded"): Promise<readonly number[]> {
  const words = ["--input-type=module", "-e", SCRIPT, MODULE, how];
  return (await promisify(execFile)(process.execPath, words)).stdout.split(" ").map(Number);
}

test("young objects and old garbage take little memory, also where threads have started", async () => {
  const [[young = 0, old = 0], [youngElsewhere = 0]] = await Promise.all([
    heapBytes("bounded"),
    heapBytes("unbounded"),
  ]);
  expect(young).toBeLessThanOrEqual(8 * MIB);
  expect(youngElsewhere).toBeGreaterThan(2 * young);
  // Objects that are kept take some 12 MiB: 21 MiB are in use at most, without a bound 44 to 48.
  expect(old).toBeLessThanOrEqual(32 * MIB);
});
