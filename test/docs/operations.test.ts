/** docs/operations.md names every operation of both dialects. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { LATER_OPERATIONS, OLDER_OPERATIONS } from "../../src/shared/operations.js";

const PAGE = readFileSync(new URL("../../docs/operations.md", import.meta.url), "utf8");
const NAMED = new Set([...PAGE.matchAll(/`(\w+)`/g)].map(([, name]) => name));

it.each([...OLDER_OPERATIONS, ...LATER_OPERATIONS].map(({ name }) => name))("%s is described", (name) => {
  expect(NAMED).toContain(name);
});
