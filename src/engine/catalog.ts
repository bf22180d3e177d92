/** The datasets a process knows by name, kept from scan to scan. */
import type { Logger } from "pino";
import type { Dataset } from "../storage/dataset.js";
import type { Scan } from "./task.js";

/** Numbers reserved in the brick cache for the fields of one version of a dataset. */
const FIELDS_PER_DATASET = 4;

/** The datasets served now, and which numbers stand for their fields in the brick cache. */
export class Catalog {
  datasets: readonly Dataset[] = [];
  readonly #log: Logger;
  #names: ReadonlyMap<string, Dataset> = new Map();
  #sources: ReadonlyMap<Dataset, number> = new Map();
  #nextSource = 1;
  #reported: ReadonlySet<string> = new Set();

  constructor(log: Logger) {
    this.#log = log;
  }

  find(name: string): Dataset | undefined {
    return this.#names.get(name.toLowerCase());
  }

  /** The number of a dataset's first field; a dataset that has been replaced meanwhile gets numbers nobody else has. */
  sourceOf(dataset: Dataset): number {
    return this.#sources.get(dataset) ?? FIELDS_PER_DATASET * this.#nextSource++;
  }

  /** Takes over a scan: datasets that have not changed stay the same objects and keep their cached bricks. */
  adopt({ datasets, problems }: Scan): void {
    const before = new Map(this.datasets.map((dataset) => [versionOf(dataset), dataset]));
    const now = datasets.map((dataset) => before.get(versionOf(dataset)) ?? shareTables(dataset));
    for (const dataset of this.datasets) {
      if (!now.includes(dataset)) this.#log.info({ dataset: dataset.name }, "dataset removed or replaced");
    }
    for (const dataset of now) {
      if (this.datasets.includes(dataset)) continue;
      this.#log.info({ dataset: dataset.name, location: dataset.location }, "dataset loaded");
      for (const warning of dataset.warnings) this.#log.warn({ dataset: dataset.name }, warning);
    }
    const lines = problems.map(({ location, message }) => `${location}: ${message}`);
    for (const line of lines) if (!this.#reported.has(line)) this.#log.warn(line);
    this.#reported = new Set(lines);
    this.datasets = now.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    this.#names = new Map(
      this.datasets.flatMap((dataset) =>
        [dataset.name, ...dataset.aliases].map((name) => [name.toLowerCase(), dataset]),
      ),
    );
    this.#sources = new Map(this.datasets.map((dataset) => [dataset, this.sourceOf(dataset)]));
  }
}

/** The same dataset with its mode table in shared memory: a dataset crosses to a worker with every batch, and tables may be large. */
function shareTables(dataset: Dataset): Dataset {
  if (dataset.forcing.kind !== "modes") return dataset;
  const { coefficient } = dataset.forcing;
  const shared = new Float64Array(new SharedArrayBuffer(coefficient.byteLength));
  shared.set(coefficient);
  return { ...dataset, forcing: { ...dataset.forcing, coefficient: shared } };
}

/** What two scans of the same unchanged dataset agree on. */
function versionOf({ name, location, digest, files }: Dataset): string {
  return JSON.stringify([name, location, digest, files]);
}
