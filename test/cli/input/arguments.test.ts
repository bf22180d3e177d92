/** Arguments outside of their bounds are refused with the bounds, and those at the bounds are taken. */
import { Command } from "commander";
import { expect, it } from "vitest";
import { answersOf, withAnswers } from "../../../src/cli/input/answer-flags.js";
import { pathArgument, wholeNumber } from "../../../src/cli/input/arguments.js";

it.each([
  [wholeNumber(1, 10), ["1", "10"], ["0", "11", "1.5", "-1", "", "1e1"], "a whole number from 1 to 10 is needed."],
  [wholeNumber(2), ["2", "999999999999999"], ["1", "x"], "a whole number from 2 is needed."],
])("%#: a whole number", (parse, good, bad, message) => {
  for (const text of good) expect(parse(text)).toBe(Number(text));
  for (const text of bad) expect(() => parse(text)).toThrow(message);
});

it("a path is not empty, and no address that is not read", () => {
  expect(pathArgument("file:///data/u.h5")).toBe("/data/u.h5");
  expect(() => pathArgument(" ")).toThrow("a path is needed.");
  expect(() => pathArgument("ftp://host/u.h5")).toThrow(/^.*ftp.*\.$/);
});

it("adds the red lines that are overridden one after another", () => {
  const command = withAnswers(new Command());
  command.parse(["--despite", "values", "--despite", "order,units"], { from: "user" });
  expect(answersOf(command.opts())).toEqual({ despite: ["values", "order", "units"] });
});
