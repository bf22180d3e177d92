/** Names the version of code and data with which this process computes the calls of jobs: no result mixes versions. */
import { createHash } from "node:crypto";
import { digestProgram } from "../../../engine/contract/build-digest.js";
import type { Dataset } from "../../../engine/contract/dataset.js";
import type { Engine } from "../../../engine/contract/query.js";
import type { JobCall } from "../../../jobs/job.js";
import type { Generation } from "../../../jobs/job-runner.js";

/** Version of calls whose dataset this process does not serve. */
const ABSENT = "absent";
/** Time for which a job waits for a process of its own version: if this process has its dataset, and if not. */
const PATIENCE_MS = { served: 15_000, absent: 600_000 } as const;

export class Generations {
  readonly #engine: Engine;
  /** Whether other processes take tasks of the same jobs. */
  readonly #isShared: boolean;
  /** What values depend on besides a dataset; computed once, before files of the program can be replaced. */
  readonly #common: string;

  constructor(engine: Engine, fd8Legacy: boolean, isShared: boolean) {
    this.#engine = engine;
    this.#isShared = isShared;
    this.#common = engine.generations() === null ? JSON.stringify([digestProgram(), fd8Legacy]) : "";
  }

  of({ url, others = [] }: JobCall): Generation {
    const name = /^\/api\/datasets\/([^/?]+)/.exec(url)?.[1] ?? null;
    const names = name === null ? null : [name, ...others.map(encodeURIComponent)];
    const datasets = this.#datasetsOf(names);
    const id = names !== null && datasets.length < names.length ? ABSENT : this.#idOf(datasets, names?.length === 1);
    return {
      id,
      isElsewhere: (other) => this.#isShared && (this.#engine.generations()?.isElsewhere(other) ?? false),
      patienceMs: this.#isShared ? PATIENCE_MS[id === ABSENT ? "absent" : "served"] : 0,
      holds: () => {
        const now = this.#datasetsOf(names);
        return now.length === datasets.length && now.every((dataset, i) => dataset === datasets[i]);
      },
    };
  }

  /** The datasets that a call names; all datasets if it names none, since it may read any. */
  #datasetsOf(names: readonly string[] | null): readonly Dataset[] {
    if (names === null) return this.#engine.datasets();
    try {
      return names.flatMap((name) => this.#engine.find(decodeURIComponent(name)) ?? []);
    } catch {
      return []; // Its files are refused.
    }
  }

  #idOf(datasets: readonly Dataset[], isAlone: boolean): string | null {
    const shared = this.#engine.generations();
    if (shared !== null) return shared.of(isAlone ? (datasets[0] as Dataset) : null);
    const hash = createHash("sha256").update(this.#common);
    for (const { name, location, digest, files } of datasets)
      hash.update(JSON.stringify([name, location, digest, files]));
    return hash.digest("hex").slice(0, 32);
  }
}
