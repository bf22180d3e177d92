/** Scans of the data folders never overlap. */
import { describe, expect, it } from "vitest";
import { oneAtATime } from "../../../src/engine/main/catalog.js";

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
