/** Preferences among media types (RFC 9110 12.5.1). */
import { describe, expect, it } from "vitest";
import { names, prefers } from "../../../src/events/http/accept.js";

const HAL = "application/hal+json";
const PROBLEM = "application/problem+json";

describe("Accept", () => {
  it.each([
    [undefined, false],
    ["", false],
    ["*/*", false],
    ["application/*", false],
    [HAL, true],
    [`${HAL};q=0`, false],
    [`${HAL};q=0.4, application/json;q=0.3`, true],
    [`${HAL};q=0.3, */*;q=0.5`, false],
    [`text/html, ${HAL.toUpperCase()} ; q=1.0, */*;q=0.1`, true],
    [`${HAL}, application/json`, false],
    [`${HAL};q=abc`, false],
  ])("%s prefers HAL: %s", (accept, expected) => {
    expect(prefers(accept, HAL)).toBe(expected);
  });

  it.each([
    [undefined, false],
    ["*/*", false],
    [PROBLEM, true],
    [`application/json, ${PROBLEM}`, true],
    [`application/json, ${PROBLEM};q=0.5`, false],
    [`${PROBLEM};q=0`, false],
  ])("%s names problems: %s", (accept, expected) => {
    expect(names(accept, PROBLEM)).toBe(expected);
  });
});
