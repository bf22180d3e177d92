/** An answer typed on the page: of its line, of a flag that it names, or taken back. */
import { expect, it } from "vitest";
import "./page.js";

const { answerIn } = await import("../drafts.js");

it.each([
  ["7", { length: "7" }],
  ["", { length: null }],
  ["--spacing 0.1", { spacing: "0.1" }],
  ["--dims=z,y,x", { dims: "z,y,x" }],
  ["--length", { length: null }],
])("reads %j", (text, answer) => {
  expect(answerIn(text, "length")).toEqual(answer);
});
