/** The long run: hostile requests and damaged files by the thousand against the program as it ships. */
import { defineConfig } from "vitest/config";
import { ALIASES } from "../support/aliases.js";

export default defineConfig({
  resolve: { alias: ALIASES },
  test: {
    root: new URL("../..", import.meta.url).pathname,
    include: ["test/soak/**/*.soak.ts"],
    globalSetup: ["test/support/build.ts"],
    testTimeout: (2 * Number(process.env.SOAK_MINUTES ?? 10) + 30) * 60_000,
    pool: "forks",
  },
});
