/** What is wrong in a file that is imported: every problem with its place, reported together. */

export interface Problem {
  /** JSON path (`events[3].start`) or `line 12`. */
  readonly place: string;
  readonly reason: string;
}

export class ImportError extends Error {
  readonly problems: readonly Problem[];

  constructor(file: string, problems: readonly Problem[]) {
    const lines = problems.map(({ place, reason }) => `  ${place}: ${reason}`);
    const count = problems.length === 1 ? "one problem" : `${problems.length} problems`;
    super(`${file}: ${count}, nothing was imported\n${lines.join("\n")}`);
    this.name = "ImportError";
    this.problems = problems;
  }
}
