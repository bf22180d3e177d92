/** Connections to SQLite files load their library without asking the network. */
import { createRequire } from "node:module";
import { afterEach, expect, it, vi } from "vitest";
import { openConnection } from "../../src/shared/sqlite.js";

const { cache } = createRequire(import.meta.url);

afterEach(() => {
  vi.restoreAllMocks();
});

it("loads its library without looking up the peers of the process, and leaves later reports as they are", () => {
  for (const file of Object.keys(cache)) if (/(libsql|@neon-rs).*\.js$/.test(file)) delete cache[file];
  const report = process.report as { excludeNetwork?: boolean; getReport(): object };
  const before = report.excludeNetwork;
  const asked: unknown[] = [];
  const getReport = report.getReport.bind(report);
  vi.spyOn(report, "getReport").mockImplementation(() => {
    asked.push(report.excludeNetwork);
    return getReport();
  });
  openConnection(":memory:", "write").close();
  expect(asked).toEqual([true]);
  expect(report.excludeNetwork).toBe(before);
});
