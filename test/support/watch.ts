/**
 * `watchedTests` and its companions let vitest's watch mode see what the tests see. Tests run worker threads,
 * WebAssembly and the program from the build, which vitest does not follow: the tests of a changed file are found by
 * the references in the source instead. The nearest tests run first, and a new change ends a run that has become stale.
 */
import { existsSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { BaseSequencer, type Reporter, type TestModule, type TestSpecification, type Vitest } from "vitest/node";
import { ROOT, readReferences, seenBy } from "./source-graph.js";

const SOURCES = /\/(?:src|tools|test|web)\/.*\.ts$/;
/** Tests that read the whole source as text. */
const READERS_OF_ALL = ["test/architecture.test.ts"];
/** Estimates how long a file of tests takes that has not run yet. */
const BYTES_PER_MILLISECOND = 10;

const nameOf = (path: string) => relative(ROOT, path).replaceAll(sep, "/");

/** The test that has the name of a source, if there is one. */
const ownTestOf = (source: string) =>
  source
    .replace(/^(?:src\/|(?=tools\/))(.*)\.ts$/, "test/$1.test.ts")
    .replace(/^web\/(?!test\/)(.*)\.ts$/, "web/test/$1.test.ts");

/** Files that have changed since the last run that was not ended early. */
const changed = new Set<string>();
/** Puts what sees only files that changed before the last one behind what sees the last one. */
const FORMER = 1000;
/** By file: how many references lead from it to the file that has changed. */
let distances = new Map<string, number>();

/** Adds a changed file, and returns the tests that see it or another changed file. */
export function watchedTests(file: string): string[] {
  const references = readReferences(["src", "tools", "test", "web"]);
  const name = nameOf(file);
  changed.add(name);
  distances = seenBy([name, ownTestOf(name)], references);
  for (const [other, distance] of seenBy(changed, references))
    if (!distances.has(other)) distances.set(other, FORMER + distance);
  for (const test of READERS_OF_ALL) distances.set(test, Number.MAX_VALUE);
  return [...distances.keys()].filter((test) => test.endsWith(".test.ts") && existsSync(join(ROOT, test)));
}

/** For the setting `watchTriggerPatterns` of vitest. */
export const watchedSources = { pattern: SOURCES, testsToRun: watchedTests };

/**
 * Orders tests: after a change the nearest come first, and of those the quickest. Without one the longest project and
 * file come first, and the files of a project follow each other, since a process goes on with those of its own alone.
 */
export class TestOrder extends BaseSequencer {
  override async sort(tests: TestSpecification[]): Promise<TestSpecification[]> {
    const costs = new Map(tests.map((test) => [test.moduleId, this.#costOf(test)]));
    const costOf = ({ moduleId }: TestSpecification) => costs.get(moduleId) ?? 0;
    const distanceOf = ({ moduleId }: TestSpecification) => distances.get(nameOf(moduleId)) ?? Number.MAX_VALUE;
    if (changed.size === 0) {
      const totals = new Map<string, number>();
      for (const test of tests) totals.set(test.project.name, (totals.get(test.project.name) ?? 0) + costOf(test));
      const totalOf = ({ project }: TestSpecification) => totals.get(project.name) ?? 0;
      return tests.toSorted((a, b) => totalOf(b) - totalOf(a) || costOf(b) - costOf(a));
    }
    return tests.toSorted((a, b) => distanceOf(a) - distanceOf(b) || costOf(a) - costOf(b));
  }

  /** How long a file of tests took when it last ran, in milliseconds, or else an estimate from its size. */
  #costOf({ project, moduleId }: TestSpecification): number {
    const key = `${project.name}:${nameOf(moduleId)}`;
    const { cache } = this.ctx;
    return cache.getFileTestResults(key)?.duration ?? (cache.getFileStats(key)?.size ?? 0) / BYTES_PER_MILLISECOND;
  }
}

/** The first line of each failure in a file of tests, which vitest itself reports only when the whole run has ended. */
function failuresOf(module: TestModule): string[] {
  const failed = (name: string, errors: readonly { readonly message: string }[] = []) =>
    errors.map(({ message }) => `FAIL ${module.relativeModuleId}${name}: ${message.split("\n")[0]}`);
  return [
    ...failed("", module.errors()),
    ...[...module.children.allSuites()].flatMap((suite) => failed(` > ${suite.fullName}`, suite.errors())),
    ...[...module.children.allTests()].flatMap((test) => failed(` > ${test.fullName}`, test.result().errors)),
  ];
}

/** Reports the failures of each file of tests as soon as it has run, in watch mode. */
export const failuresAtOnce: Reporter = {
  onTestModuleEnd(module) {
    if (module.project.vitest.config.watch) for (const line of failuresOf(module)) console.log(line);
  },
  onTestRunEnd(_modules, _errors, reason) {
    if (reason !== "interrupted") changed.clear();
  },
};

/** Ends the current run when a source changes: it is no longer worth waiting for. */
export function endStaleRuns(vitest: Vitest): void {
  let ending = false;
  const end = (file: string) => {
    // A second call would kill the processes of tests, and leave the programs running that they started.
    if (ending || !SOURCES.test(file)) return;
    ending = true;
    void vitest.cancelCurrentRun("keyboard-input").finally(() => {
      ending = false;
    });
  };
  vitest.vite.watcher.on("change", end).on("add", end);
}
