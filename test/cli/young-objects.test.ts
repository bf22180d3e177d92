/** The memory of young objects, in a process of its own, since the bound is that of a process. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const SCRIPT = `
  import { once } from "node:events";
  import { getHeapSpaceStatistics } from "node:v8";
  import { Worker } from "node:worker_threads";
  const { boundYoungObjects } = await import(process.argv[1]);
  if (process.argv[2] === "bounded") boundYoungObjects();
  const worker = new Worker("0", { eval: true });
  await once(worker, "online");
  await once(worker, "exit");
  const kept = [];
  for (let i = 0; i < 600_000; i++) kept[i % 50_000] = { i, text: "young " + i };
  console.log(getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space").space_size);
`;
const MODULE = new URL("../../dist/cli/young-objects.js", import.meta.url).href;

/** Bytes for young objects in a process that has started a thread and made many objects. */
async function youngBytes(how: "bounded" | "unbounded"): Promise<number> {
  const words = ["--input-type=module", "-e", SCRIPT, MODULE, how];
  return Number((await promisify(execFile)(process.execPath, words)).stdout);
}

test("the memory of young objects stays small, also where threads have started", async () => {
  const [bounded, unbounded] = await Promise.all([youngBytes("bounded"), youngBytes("unbounded")]);
  expect(bounded).toBeLessThanOrEqual(8 * 1024 * 1024);
  expect(unbounded).toBeGreaterThan(2 * bounded);
});
