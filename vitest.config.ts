import { defineConfig } from "vitest/config";

/**
 * `npm test`. A test that needs more than 30 s on a loaded machine names its own timeout: those that start programs, pack the
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
  },
});
