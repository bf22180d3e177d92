import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { Round } from "../../../src/server/http/tick.js";

test("work added in one turn is done together and in order, before the next turn", async () => {
  const done: string[] = [];
  const round = new Round();
  round.add(() => done.push("first"));
  round.add(() => done.push("second"));
  await Promise.resolve();
  process.nextTick(() => done.push("tick"));
  for (let i = 0; i < 3; i++) await turn();
  expect(done).toEqual(["tick", "first", "second"]);
});

test("work added by work waits for the next turn", async () => {
  const done: string[] = [];
  const round = new Round();
  round.add(() => {
    done.push("first");
    round.add(() => done.push("third"));
  });
  round.add(() => done.push("second"));
  setImmediate(() => done.push("between"));
  for (let i = 0; i < 3; i++) await turn();
  expect(done).toEqual(["first", "second", "between", "third"]);
});
