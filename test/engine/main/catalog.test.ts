/** Scans of the data folders never overlap, and name large datasets without levels. */
import { join } from "node:path";
import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { oneAtATime } from "../../../src/engine/main/catalog.js";
import { openEngine } from "../../../src/engine/main/engine.js";
import { loadConfig } from "../../../src/shared/config.js";
import { scratchFolder } from "../../support/scratch.js";
import { writeKnownZarr } from "../../support/zarr.js";

it("says at the start which datasets of more than 256^3 nodes have no levels", async () => {
  const data = scratchFolder();
  const at = (length: number) => Float64Array.from({ length }, (_, i) => i);
  const axis = (name: string, n: number) => ({ dimensions: [name], shape: [n], chunks: [n], values: at(n) });
  for (const n of [256, 257]) {
    const stored = { shape: [n, 256, 256], chunks: [64, 64, 64], skip: () => true, values: new Float64Array(0) };
    const p = { dimensions: ["z", "y", "x"], ...stored };
    const arrays = { p, x: axis("x", 256), y: axis("y", 256), z: axis("z", n) };
    writeKnownZarr(join(data, `cube${n}.zarr`), { version: 3, arrays });
  }
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  await (await openEngine(loadConfig({ DATA: data, WORKERS: "1" }, {}), log)).close(0);
  expect(lines.filter((line) => line.includes("dataset loaded"))).toHaveLength(2);
  const told = lines.filter((line) => line.includes("has no levels")).map((line) => JSON.parse(line));
  expect(told.map(({ dataset }) => dataset)).toEqual(["cube257"]);
  expect(told[0].msg).toMatch(/fieldprobe levels cube257 makes them$/);
});

describe("one at a time", () => {
  it("shares the run after the present one among all who ask meanwhile, also when the present one fails", async () => {
    const runs: ((error?: Error) => void)[] = [];
    const ask = oneAtATime(
      () => new Promise((resolve, reject) => runs.push((error) => (error ? reject(error) : resolve()))),
    );
    const first = ask();
    const asked = first.catch(() => ask());
    const second = ask();
    const third = ask();
    expect(runs.length).toBe(1);
    runs[0]?.(new Error("unreadable"));
    await expect(first).rejects.toThrow("unreadable");
    await new Promise((resolve) => setImmediate(resolve));
    expect(runs.length).toBe(2);
    const fourth = ask();
    runs[1]?.();
    await Promise.all([asked, second, third]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(runs.length).toBe(3);
    runs[2]?.();
    await fourth;
    const last = ask();
    expect(runs.length).toBe(4);
    runs[3]?.();
    await last;
  });
});
