import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

/**
 * `npm test`. Files run in as many processes as there are cores but one, and in two at least: many of them wait for timers
 * and for programs. A test that needs more than 30 s on a loaded machine names its own timeout: those that start programs, pack the
 * package, kill processes, or measure the accuracy of the whole service.
 */
export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/cluster/processes/**"],
    globalSetup: ["test/support/build.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: "forks",
    maxWorkers: Math.max(2, availableParallelism() - 1),
  },
});
