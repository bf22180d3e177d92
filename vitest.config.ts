import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { ALIASES } from "./test/support/aliases.js";
import { BUILT_FILES, FROM_BUILD } from "./test/support/from-build.js";
import { TestOrder } from "./test/support/test-order.js";

/** Suites with a configuration of their own, and what tests share. */
const APART = ["browser", "clients", "recorded", "soak", "support"];

/** Rooms whose files of tests share processes, and modules once loaded: those modules keep no state. */
const SHARED = [
  ...["analysis", "cli", "client", "conformance", "docs", "engine", "events", "float32", "jobs", "kernels"],
  ...["server", "service", "shared", "storage", "text", "tools"],
];

/** Rooms whose tests load the modules of the source as they are transformed, not as the build has made them. */
const FROM_SOURCE = ["chaos", "cluster", "deploy", "engine", "house", "web"];

/**
 * Files run in separate processes. A test that needs more than 30 s on a loaded machine names its own timeout: those that
 * start programs, pack the package, kill processes, or measure the accuracy of the whole service.
 */
const SETTINGS = {
  exclude: ["test/cluster/processes/**"],
  testTimeout: 30_000,
  hookTimeout: 60_000,
  pool: "forks" as const,
  setupFiles: ["test/support/equal-numbers.ts"],
  server: { deps: { external: [BUILT_FILES] } },
  // Memory of the store thread that has been given back turns into NaN at once, in all that tests start.
  env: { POISON_READ_MEMORY: "on" },
};

/** Whether a file of tests replaces modules, codecs or variables of the environment, which others must not meet. */
const mustBeAlone = (file: string): boolean =>
  /^vi\.mock\(|useS3Bucket\(|^registerCodecs\(|store-mutants/m.test(
    readFileSync(new URL(file, import.meta.url), "utf8"),
  );

/**
 * One project for each folder of tests, so that `--project ROOM` chooses a room, and one for the files above them. Files
 * that replace modules, codecs or the environment run in a project `ROOM-alone`, each in a process of its own.
 */
function rooms() {
  const entries = readdirSync(new URL("test", import.meta.url), { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory() && !APART.includes(entry.name)).map(({ name }) => name);
  const folders = new Map([...names.map((name) => [name, `test/${name}`] as const), ["web", "web/test"]]);
  const resolve = { alias: ALIASES };
  const fromBuild = process.argv.includes("run") && process.env.FROM_SOURCE === undefined;
  const loading = (room: string) => ({
    resolve,
    plugins: fromBuild && !FROM_SOURCE.includes(room) ? [FROM_BUILD] : [],
  });
  return [
    { ...loading("house"), test: { ...SETTINGS, name: "house", include: ["test/*.test.ts"] } },
    ...[...folders].flatMap(([name, folder]) => {
      const room = { ...SETTINGS, name, include: [`${folder}/**/*.test.ts`] };
      if (!SHARED.includes(name)) return [{ ...loading(name), test: room }];
      const files = readdirSync(new URL(folder, import.meta.url), { recursive: true, encoding: "utf8" });
      const tests = files.filter((file) => file.endsWith(".test.ts")).map((file) => `${folder}/${file}`);
      const alone = tests.filter(mustBeAlone);
      return [
        { ...loading(name), test: { ...room, exclude: [...SETTINGS.exclude, ...alone], isolate: false } },
        ...(alone.length === 0 ? [] : [{ resolve, test: { ...SETTINGS, name: `${name}-alone`, include: alone } }]),
      ];
    }),
  ];
}

/**
 * `npm test`. There are as many processes as cores but one, and at least two, since many tests
 * wait for timers and for programs.
 */
export default defineConfig({
  test: {
    globalSetup: ["test/support/build.ts"],
    // Each project has a server of its own: what one has made of a module serves all, also in the next run.
    experimental: { fsModuleCache: true },
    maxWorkers: Math.max(2, availableParallelism() - 1),
    projects: rooms(),
    sequence: { sequencer: TestOrder },
  },
});
