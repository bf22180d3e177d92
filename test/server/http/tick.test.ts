import { expect, test } from "vitest";
import { Round } from "../../../src/server/http/tick.js";

test("work added in one turn is done together and in order, before the next turn", async () => {
  const done: string[] = [];
  const round = new Round();
  round.add(() => done.push("first"));
  round.add(() => done.push("second"));
  await Promise.resolve();
  process.nextTick(() => done.push("tick"));
  await new Promise((resolve) => setTimeout(resolve, 20));
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
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(done).toEqual(["first", "second", "between", "third"]);
});
