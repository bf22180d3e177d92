/** The tests in a real browser, apart from the suite: they need a Chromium and the built page. */
import { defineConfig } from "vitest/config";
import { ALIASES } from "../support/aliases.js";

export default defineConfig({
  resolve: { alias: ALIASES },
  test: {
    root: new URL("../..", import.meta.url).pathname,
    include: ["test/browser/**/*.browser.ts"],
    globalSetup: ["test/support/build.ts"],
    // For two busy cores that draw in software.
    testTimeout: 480_000,
    expect: { poll: { timeout: 10_000 } },
    hookTimeout: 60_000,
    pool: "forks",
    fileParallelism: false,
  },
});
