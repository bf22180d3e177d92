import { expect, test } from "vitest";
import { type Steps, walk } from "../../src/text/steps.js";

test("steps that find everything at hand end without a wait", () => {
  const seen: number[] = [];
  function* inner(wait: boolean): Steps<number> {
    if (wait) yield Promise.resolve();
    return seen.push(1);
  }
  function* outer(): Steps<void> {
    seen.push(yield* inner(false));
    seen.push(yield* inner(true));
  }
  void walk(outer());
  expect(seen).toEqual([1, 1]);
});

test("a wait is waited for, and its failure is thrown where it stands", async () => {
  function* steps(): Steps<string> {
    yield Promise.resolve();
    try {
      yield Promise.reject(new Error("late"));
    } catch (error) {
      yield new Promise((resolve) => setImmediate(resolve));
      return (error as Error).message;
    }
    return "nothing was thrown";
  }
  expect(await walk(steps())).toBe("late");
});

test("what steps throw rejects the walk", async () => {
  function* steps(): Steps<never> {
    yield Promise.resolve();
    throw new RangeError("too far");
  }
  await expect(walk(steps())).rejects.toThrow(new RangeError("too far"));
});
