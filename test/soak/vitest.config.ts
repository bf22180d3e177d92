/** The long run: hostile requests and damaged files by the thousand against the program as it ships. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    root: new URL("../..", import.meta.url).pathname,
    include: ["test/soak/**/*.soak.ts"],
    globalSetup: ["test/support/build.ts"],
    testTimeout: (2 * Number(process.env.SOAK_MINUTES ?? 10) + 30) * 60_000,
    pool: "forks",
  },
});
