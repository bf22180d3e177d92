import { readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { ALIASES } from "./test/support/aliases.js";
import { failuresAtOnce, TestOrder, watchedSources } from "./test/support/watch.js";

/** Suites with a configuration of their own, and what tests share. */
const APART = ["browser", "clients", "soak", "support"];

/**
 * Files run in separate processes. A test that needs more than 30 s on a loaded machine names its own timeout: those that
 * start programs, pack the package, kill processes, or measure the accuracy of the whole service.
 */
const SETTINGS = {
  exclude: ["test/cluster/processes/**"],
  testTimeout: 30_000,
  hookTimeout: 60_000,
  pool: "forks" as const,
};

/** One project for each folder of tests, so that `--project ROOM` chooses a room, and one for the files above them. */
function rooms() {
  const folders = readdirSync(new URL("test", import.meta.url), { withFileTypes: true });
  const names = folders.filter((entry) => entry.isDirectory() && !APART.includes(entry.name)).map(({ name }) => name);
  const resolve = { alias: ALIASES };
  return [
    { resolve, test: { ...SETTINGS, name: "house", include: ["test/*.test.ts"] } },
    ...names.map((name) => ({ resolve, test: { ...SETTINGS, name, include: [`test/${name}/**/*.test.ts`] } })),
  ];
}

/**
 * `npm test` and `npm run test:watch`. There are as many processes as cores but one, and at least two, since many tests
 * wait for timers and for programs.
 */
export default defineConfig({
  test: {
    globalSetup: ["test/support/build.ts"],
    maxWorkers: Math.max(2, availableParallelism() - 1),
    projects: rooms(),
    reporters: ["default", failuresAtOnce],
    sequence: { sequencer: TestOrder },
    watchTriggerPatterns: [watchedSources],
  },
});
