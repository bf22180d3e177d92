/** The catalogue holds the datasets that a process serves, and scans the data folders for them. */
import { dirname, join, parse } from "node:path";
import type { Logger } from "pino";
import { type Config, descriptorFolder } from "../../shared/config.js";
import { DataError, NotFoundError } from "../../shared/errors.js";
import { groupBy } from "../../shared/group-by.js";
import { seriesHints, seriesPattern } from "../../storage/catalog/series-hint.js";
import { FolderWatch } from "../../storage/catalog/watch.js";
import { type Dataset, SOURCES_PER_DATASET } from "../../storage/dataset/dataset.js";
import {
  BY_CONTENT,
  completeScan,
  type FolderScan,
  linesAbout,
  type ScanChanges,
  statesOf,
  timesServed,
} from "../../storage/dataset/scan.js";
import type { WaitingFile } from "../contract/query.js";
import { FoundLevels } from "./levels.js";
import type { ThreadPool } from "./thread-pool.js";

/** Numbers of combined bricks lie below the negative of this; they start over when the cache has lost the first. */
const FIRST_COMBINATION = 2 ** 20;
/** Open questions listed with the refusal of a dataset. */
const MAX_QUESTIONS_SHOWN = 4;
/** Nodes of a frame above which a dataset should have levels. */
const LARGE_NODES = 256 ** 3;
const MAX_COMBINATIONS = 2 ** 26;
/** Fields that the kernel of a query may have. */
const FIELDS_PER_QUERY = 8;
const INDEX_NAME = "catalogue";
/** Interval between scans of the data folders. */
const RESCAN_MS = 30_000;
/** Duration of a scan above which the next scan uses no worker; the first scan of a process opens every file. */
const SLOW_MS = 250;
const SLOW_FIRST_MS = 2_000;
/** Least time between scans that failed queries cause. */
const SUSPECT_MS = 1_000;

/** The datasets served now, and the numbers of their fields in the brick cache. */
export class Catalog {
  datasets: readonly Dataset[] = [];
  readonly levels: FoundLevels;
  /** Files that wait until a person confirms what they are taken for. */
  waiting: readonly WaitingFile[] = [];
  /** Scans the data folders; calls during a scan share the next one. */
  readonly reload: () => Promise<void>;
  readonly #log: Logger;
  readonly #data: readonly string[];
  #timer: NodeJS.Timeout | undefined;
  #names: ReadonlyMap<string, Dataset> = new Map();
  readonly #sources = new WeakMap<Dataset, number>();
  #nextSource = 1;
  #combinations = 0;
  #reported: ReadonlySet<string> = new Set();
  #last: FolderScan | undefined;
  /** Watch on the folders of the last scan; null until it starts. */
  #changes: FolderWatch | null = null;
  #folders: readonly string[] = [];
  /** Names that are no longer served, with the location of their last dataset. */
  readonly #gone = new Map<string, string>();
  #refusedLocations: ReadonlySet<string> = new Set();
  /** Reasons of refusals, by the lower-case name that the dataset would have. */
  #reasonsByName: ReadonlyMap<string, readonly string[]> = new Map();
  #suspectedAt = Number.NEGATIVE_INFINITY;
  #closed = false;

  /** @param changed called after each scan */
  constructor(
    config: Pick<Config, "data" | "descriptors" | "state">,
    pool: ThreadPool,
    log: Logger,
    changed: () => void = () => {},
  ) {
    const { data: folders, state } = config;
    this.#log = log;
    this.levels = new FoundLevels(state);
    this.#data = folders;
    let [lastMs, lastWasFirst] = [0, true];
    this.reload = oneAtATime(async () => {
      const since = performance.now();
      const known = statesOf(this.#last);
      const found = await pool.run<ScanChanges>({
        kind: "scan",
        folders,
        descriptors: descriptorFolder(config),
        known,
        served: timesServed(this.#last),
        slow: lastMs > (lastWasFirst ? SLOW_FIRST_MS : SLOW_MS),
        index: this.#last === undefined ? join(state, INDEX_NAME) : null,
      });
      lastMs = performance.now() - since;
      lastWasFirst = this.#last === undefined;
      this.#adopt(completeScan(found, this.#last), descriptorFolder(config));
      this.#folders = found.folders;
      this.#changes?.set(found.folders);
      changed();
    });
  }

  /** Starts to scan the data folders after changes and at intervals: not every file system reports changes. */
  watch(): void {
    this.#timer = setInterval(() => this.#scan(), RESCAN_MS).unref();
    this.#changes = new FolderWatch(() => this.#scan());
    this.#changes.set(this.#folders);
  }

  /** Scans the data folders because a query did not find its data: they may have been replaced. */
  suspect(): void {
    const now = performance.now();
    if (now < this.#suspectedAt + SUSPECT_MS) return;
    this.#suspectedAt = now;
    this.#scan();
  }

  #scan(): void {
    this.reload().catch((error: unknown) => {
      // A scan that is running when the service ends is lost with its thread.
      if (!this.#closed) this.#log.error({ err: error }, "the data folders could not be scanned");
    });
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
    this.#changes?.close();
  }

  /**
   * The dataset of a name or alias, in any letter case, or a level of it (`NAME@3`).
   *
   * @throws DataError or NotFoundError if its files are refused
   */
  find(name: string): Dataset | undefined {
    const [, base, level] = /^(.+)@([1-9]\d?)$/.exec(name) ?? [];
    if (base !== undefined) {
      const dataset = this.find(base);
      return dataset && this.levels.of(dataset)?.datasets[Number(level) - 1];
    }
    const found = this.#names.get(name.toLowerCase());
    const location = this.#gone.get(name.toLowerCase());
    if (found !== undefined) return found;
    if (location === undefined) {
      const reasons = this.#reasonsByName.get(name.toLowerCase());
      if (reasons === undefined) return undefined;
      throw new NotFoundError(`Invalid set name: ${name} (it is refused${reasonText(reasons)})`);
    }
    // A folder that is replaced is missing for a moment.
    this.suspect();
    if (!this.#refusedLocations.has(location)) return undefined;
    const reason = reasonText(this.#reasonsByName.get(nameAt(location).toLowerCase()) ?? []);
    const text = `${name} is not served now: its files have changed and are refused${reason}`;
    throw new DataError(text, undefined, { retryAfter: RESCAN_MS / 1000 });
  }

  /** The number of a dataset's first field in the brick cache; each version of a dataset has its own for ever. */
  sourceOf(dataset: Dataset): number {
    const source = this.#sources.get(dataset) ?? SOURCES_PER_DATASET * this.#nextSource++;
    this.#sources.set(dataset, source);
    return source;
  }

  /** A source number for the combined bricks of a query: negative, unlike the numbers of datasets. */
  numberCombination(): number {
    this.#combinations = (this.#combinations + 1) % MAX_COMBINATIONS;
    return -FIRST_COMBINATION - FIELDS_PER_QUERY * this.#combinations;
  }

  /** Takes over a scan: datasets that have not changed stay the same objects and keep their cached bricks. */
  #adopt(scan: FolderScan, descriptors: string): void {
    if (scan === this.#last) return;
    this.#last = scan;
    const { datasets, problems } = scan;
    const served = new Set(this.datasets);
    const hasNew = datasets.some((dataset) => !served.has(dataset));
    const before = new Map(hasNew ? this.datasets.map((dataset) => [versionOf(dataset), dataset]) : []);
    const adopted = datasets.map((dataset) =>
      served.has(dataset) ? dataset : (before.get(versionOf(dataset)) ?? dataset),
    );
    const kept = new Set(adopted);
    for (const dataset of this.datasets) {
      if (!kept.has(dataset)) this.#log.info({ dataset: dataset.name }, "dataset removed or replaced");
    }
    const loaded = adopted.filter((dataset) => !served.has(dataset));
    for (const { name, location } of loaded) this.#log.info({ dataset: name, location }, "dataset loaded");
    const warnings = loaded.flatMap(({ name, warnings }) => warnings.map((warning) => ({ name, warning })));
    for (const [warning, same] of groupBy(warnings, (entry) => entry.warning))
      this.#log.warn({ dataset: same.map(({ name }) => name).join(", ") }, warning);
    // A file that waits to join a confirmed series gets no hint of its own.
    const candidates = new Set(scan.candidates.map(({ location }) => location));
    const seriesOf = (location: string) => (candidates.has(location) ? seriesPattern(location) : null);
    this.waiting = problems
      .filter(({ waits }) => waits === true)
      .map(({ waits: _, ...file }) => ({ ...file, series: seriesOf(file.location) }));
    for (const dataset of adopted) {
      const isLarge = dataset.axes.reduce((product, { nodes }) => product * nodes, 1) > LARGE_NODES;
      if (served.has(dataset) || !isLarge || this.levels.of(dataset) !== null) continue;
      const text = `has no levels, so that pictures of it read whole frames: fieldprobe levels ${dataset.name} makes them`;
      this.#log.info({ dataset: dataset.name }, text);
    }
    const lines = [...linesAbout(problems, this.#data), ...seriesHints(adopted, this.waiting, descriptors)];
    for (const line of lines) if (!this.#reported.has(line)) this.#log.warn(line);
    this.#reported = new Set(lines);
    this.datasets = adopted.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    for (const [name, { location }] of this.#names) this.#gone.set(name, location);
    this.#refusedLocations = new Set(problems.map(({ location }) => location));
    const refusals = new Map<string, string[]>();
    for (const { location, message, names = [] } of problems)
      for (const name of [nameAt(location), ...names].map((one) => one.toLowerCase()))
        refusals.set(name, [...(refusals.get(name) ?? []), message.replaceAll(dirname(location), "…")]);
    this.#reasonsByName = refusals;
    this.#names = new Map(
      this.datasets.flatMap((dataset) =>
        [dataset.name, ...dataset.aliases].map((name) => [name.toLowerCase(), dataset]),
      ),
    );
    for (const name of this.#names.keys()) this.#gone.delete(name);
  }
}

/** The reasons of a refusal that callers may see: those that follow from the content of the files, or from their host. */
function reasonText(messages: readonly string[]): string {
  const hosts = messages.flatMap((message) => /its host tells .*?, so a change would go unseen/.exec(message) ?? []);
  if (hosts.length > 0) return `: ${hosts[0]}`;
  const questions = messages.filter((message) => BY_CONTENT.test(message));
  if (messages.some((message) => message.startsWith("needs a look")))
    return ": it waits until a person confirms what it is taken for";
  if (questions.length === 0) return '; the log of the service and "fieldprobe check" say why';
  return `: ${questions.slice(0, MAX_QUESTIONS_SHOWN).join(" ")}`;
}

/** The name of a dataset, from the name of its file, its store, or the folder of its descriptor. */
function nameAt(location: string): string {
  const { base, dir, name } = parse(location);
  return base === "dataset.json" ? parse(dir).base : name.replace(/\.dataset$/, "");
}

/** A text that is equal for two scans of an unchanged dataset. */
function versionOf({ name, location, digest, files }: Dataset): string {
  return JSON.stringify([name, location, digest, files]);
}

/** Wraps `work` so that it never runs twice at a time: calls during a run share the next one. */
export function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  const begin = (): Promise<void> => {
    next = null;
    running = work().finally(() => {
      running = null;
    });
    return running;
  };
  return () => {
    if (next === null && running === null) return begin();
    next ??= (running as Promise<void>).then(begin, begin);
    return next;
  };
}
