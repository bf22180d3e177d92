/** The toolkits that people use against the real service; apart from the suite, because they are not npm packages. */
import { defineConfig } from "vitest/config";
import { ALIASES } from "../support/aliases.js";

export default defineConfig({
  resolve: { alias: ALIASES },
  test: {
    root: new URL("../..", import.meta.url).pathname,
    include: ["test/clients/**/*.clients.ts"],
    globalSetup: ["test/support/build.ts"],
    testTimeout: 180_000,
    hookTimeout: 300_000,
    pool: "forks",
    fileParallelism: false,
  },
});
