import { defineConfig } from "vitest/config";
import { ALIASES } from "./test/support/aliases.js";

/** `npm run test:long`: tests whose cost lies in the breadth of their inputs, which CI runs after `npm test`. */
export default defineConfig({
  resolve: { alias: ALIASES },
  test: {
    include: ["test/**/*.long.ts"],
    globalSetup: ["test/support/build.ts"],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    pool: "forks",
    setupFiles: ["test/support/equal-numbers.ts"],
    maxWorkers: 2,
    env: { POISON_READ_MEMORY: "on" },
  },
});
