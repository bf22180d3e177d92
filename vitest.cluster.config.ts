import { defineConfig } from "vitest/config";
import { ALIASES } from "./test/support/aliases.js";

/** `npm run test:cluster`: what needs several processes, before the table of `bench:cluster --quick`. */
export default defineConfig({
  resolve: { alias: ALIASES },
  test: {
    include: ["test/cluster/processes/**/*.test.ts"],
    globalSetup: ["test/support/build.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: "forks",
    fileParallelism: false,
  },
});
