/** A thread that ends in any state loses no task: another does it, unless the task loses three threads. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { OneThread } from "../../src/shared/one-thread.js";
import { eachScratchFolder } from "../support/scratch.js";

/** An entry that does `starting` when it is loaded, and `working` in each task, once for each file of that name. */
const ENTRY = (folder: string, starting: string, working: string): string => `
  import { existsSync, unlinkSync } from "node:fs";
  const due = (name) => {
    for (const file of [1, 2, 3, 4].map((n) => ${JSON.stringify(folder)} + "/" + name + n))
      if (existsSync(file)) return unlinkSync(file), true;
    return false;
  };
  if (due("start")) ${starting};
  export default (task) => {
    if (due("work")) ${working};
    return task * 2;
  };`;

let folder = "";
eachScratchFolder((made) => {
  folder = made;
});
let thread: OneThread;
let told: string[] = [];
beforeEach(() => {
  told = [];
});
afterEach(() => thread.close());

function begin(starting: string, working: string): void {
  const filename = join(folder, "entry.mjs");
  writeFileSync(filename, ENTRY(folder, starting, working));
  thread = new OneThread({ filename, name: "default", makes: "doubles" }, (line) => told.push(line));
}

const due = (name: string, times: number): void => {
  for (let n = 1; n <= times; n++) writeFileSync(join(folder, `${name}${n}`), "");
};
const all = (count: number) => Promise.all(Array.from({ length: count }, (_, i) => thread.run<number>(i)));

it.each([
  ["ends while it starts", "start", "process.exit(9)", "null"],
  ["fails while it starts", "start", 'throw new Error("no room")', "null"],
  ["ends in a task", "work", "null", "process.exit(9)"],
] as const)("goes on in another if it %s", async (_, when, starting, working) => {
  begin(starting, working);
  due(when, 1);
  expect(await all(4)).toEqual([0, 2, 4, 6]);
  expect(existsSync(join(folder, `${when}1`))).toBe(false);
  expect(told.length).toBeGreaterThan(0);
  for (const line of told)
    expect(line).toMatch(/^the thread that makes doubles has ended \(worker exited.*\); another goes on$/);
  expect(await all(2)).toEqual([0, 2]);
});

it.each([
  ["while it starts", "start", "process.exit(9)", "null"],
  ["in a task", "work", "null", "process.exit(9)"],
] as const)("fails a task that loses three threads %s, and no later one", async (_, when, starting, working) => {
  begin(starting, working);
  due(when, 3);
  await expect(thread.run(1)).rejects.toThrow(/^the thread that makes doubles has ended: worker exited/);
  expect(told).toHaveLength(2);
  expect(await thread.run(2)).toBe(4);
});

it("hands on what a task throws, and asks no other thread", async () => {
  begin("null", 'throw new Error("odd")');
  due("work", 1);
  await expect(thread.run(1)).rejects.toThrow(/^odd$/);
  expect(told).toEqual([]);
  expect(await thread.run(3)).toBe(6);
});
