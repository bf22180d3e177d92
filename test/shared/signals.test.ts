/** Signals end a process, or have it read its files again. */
import { EventEmitter } from "node:events";
import { pino } from "pino";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { obeySignals, type Signalled } from "../../src/shared/system.js";

class Subject extends EventEmitter {
  readonly pid = 7;
  readonly ends: (string | number)[] = [];
  exit(code: number): void {
    this.ends.push(code);
  }
  kill(pid: number, signal: string): void {
    this.ends.push(`${pid} ${signal}`);
  }
}

let subject: Subject;
let lines: { level: number; msg: string; batches?: number }[];
const log = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) });
beforeEach(() => {
  subject = new Subject();
  lines = [];
  vi.useFakeTimers();
});
afterEach(() => void vi.useRealTimers());

const obey = (drain: () => Promise<boolean | null>) =>
  obeySignals(
    log,
    { underWay: () => ({ batches: 3 }), drain, reload: () => Promise.reject(new Error("gone")) },
    subject as unknown as Signalled,
  );
const settled = () => vi.advanceTimersByTimeAsync(0);

it.each([
  ["SIGTERM", true, [0]],
  ["SIGINT", true, [0]],
  ["SIGTERM", false, [1]],
  ["SIGTERM", null, []],
] as const)("%s with a drain that gives %s ends with %j", async (signal, complete, ends) => {
  const ending = obey(async () => complete);
  expect(ending.begun).toBe(false);
  subject.emit(signal);
  expect(ending.begun).toBe(true);
  expect(lines).toEqual([expect.objectContaining({ batches: 3, msg: expect.stringMatching(/^shutting down/) })]);
  await settled();
  expect(subject.ends).toEqual(ends);
});

it("begins once, and keeps the code of what began it unless something is cut off", async () => {
  const drain = vi.fn(async () => true);
  const ending = obey(drain);
  ending.begin(1);
  subject.emit("SIGTERM");
  await settled();
  expect(drain).toHaveBeenCalledOnce();
  expect(subject.ends).toEqual([1]);
});

it("ends with 1 and says why when it cannot drain", async () => {
  obey(() => Promise.reject(new Error("stuck")));
  subject.emit("SIGTERM");
  await settled();
  expect(subject.ends).toEqual([1]);
  expect(lines.at(-1)).toMatchObject({ level: 60, err: { message: "stuck" } });
});

it("ends by a second SIGINT, but not by the same one passed on", () => {
  obey(() => new Promise(() => undefined));
  subject.emit("SIGINT");
  vi.advanceTimersByTime(400);
  subject.emit("SIGINT");
  expect(subject.ends).toEqual([]);
  vi.advanceTimersByTime(200);
  subject.emit("SIGTERM");
  expect(subject.ends).toEqual([]);
  subject.emit("SIGINT");
  expect(subject.ends).toEqual(["7 SIGINT"]);
  expect(subject.listenerCount("SIGINT")).toBe(0);
});

it("notes that files could not be read again", async () => {
  obey(async () => true);
  subject.emit("SIGHUP");
  await settled();
  expect(subject.ends).toEqual([]);
  expect(lines).toEqual([expect.objectContaining({ level: 50, err: expect.objectContaining({ message: "gone" }) })]);
});
