/** Configuration of a suite apart from `npm test`. */
import { defineConfig, type ViteUserConfig } from "vitest/config";
import { ALIASES } from "./aliases.js";

export const suite = (include: string, testTimeout: number, settings: ViteUserConfig["test"] = {}): ViteUserConfig =>
  defineConfig({
    resolve: { alias: ALIASES },
    test: {
      ...{ root: new URL("../..", import.meta.url).pathname, include: [include], testTimeout, pool: "forks" },
      globalSetup: ["test/support/build.ts"],
      ...settings,
    },
  });
