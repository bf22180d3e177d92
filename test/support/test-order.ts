import { relative, sep } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { ROOT } from "./source-graph.js";

/** Estimates how long a file of tests takes that has not run yet. */
const BYTES_PER_MILLISECOND = 10;

/**
 * Orders tests so that a run ends early: the longest project and file first, the files of a project after each other, since
 * a process goes on with those of its own project alone.
 */
export class TestOrder extends BaseSequencer {
  override async sort(tests: TestSpecification[]): Promise<TestSpecification[]> {
    const costs = new Map(tests.map((test) => [test.moduleId, this.#costOf(test)]));
    const costOf = ({ moduleId }: TestSpecification) => costs.get(moduleId) ?? 0;
    const totals = new Map<string, number>();
    for (const test of tests) totals.set(test.project.name, (totals.get(test.project.name) ?? 0) + costOf(test));
    const totalOf = ({ project }: TestSpecification) => totals.get(project.name) ?? 0;
    return tests.toSorted((a, b) => totalOf(b) - totalOf(a) || costOf(b) - costOf(a));
  }

  /** How long a file of tests took when it last ran, in milliseconds, or else an estimate from its size. */
  #costOf({ project, moduleId }: TestSpecification): number {
    const key = `${project.name}:${relative(ROOT, moduleId).replaceAll(sep, "/")}`;
    const { cache } = this.ctx;
    return cache.getFileTestResults(key)?.duration ?? (cache.getFileStats(key)?.size ?? 0) / BYTES_PER_MILLISECOND;
  }
}
