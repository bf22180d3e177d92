/** Connections leave files to the rest of the service. */
import { readdirSync } from "node:fs";
import { expect, it } from "vitest";
import { connectionsAllowed, mostOpenFiles } from "../../../src/server/http/open-files.js";

it("knows how many files may be open", () => {
  expect(mostOpenFiles()).toBeGreaterThan(readdirSync("/proc/self/fd").length);
});

it.each([
  [1024, Number.POSITIVE_INFINITY, 1024],
  [1024, 1_048_576, 1024],
  [1024, 1024, 768],
  [1024, 256, 160],
  [100, 256, 100],
  [1024, 160, 64],
  [1024, 80, 1],
])("allows of %d connections, with %d open files, %d", (wanted, files, allowed) => {
  expect(connectionsAllowed(wanted, files)).toBe(allowed);
});
