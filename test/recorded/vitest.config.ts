/** Answers recorded by one build and compared with those of another; not part of `npm test`. */
import { defineConfig } from "vitest/config";
import { ALIASES } from "../support/aliases.js";

export default defineConfig({
  resolve: { alias: ALIASES },
  test: {
    root: new URL("../..", import.meta.url).pathname,
    include: ["test/recorded/**/*.test.ts"],
    globalSetup: ["test/support/build.ts"],
    testTimeout: 30 * 60_000,
    hookTimeout: 5 * 60_000,
    pool: "forks",
  },
});
