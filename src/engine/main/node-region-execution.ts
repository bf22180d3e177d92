/** Runs searches, cutouts and analyses: their regions are divided into boxes, which workers evaluate concurrently. */
import { PART } from "../../analysis/fragments.js";
import { divide, MergedParts, type PartOrder } from "../../analysis/parts.js";
import type { PartStates, ReductionPlan } from "../../analysis/plan.js";
import { addSums, emptySums, type SpectrumSums } from "../../analysis/spectrum.js";
import { type Hits, recordsByValue } from "../../kernels/threshold.js";
import { frameTime } from "../../kernels/time.js";
import { CancelledError, FieldprobeError, LimitError, WorkerError } from "../../shared/errors.js";
import { RECORDS } from "../../shared/operations.js";
import { componentsOf, type Dataset } from "../../storage/dataset/dataset.js";
import type { TextWorkers } from "../../text/text-task.js";
import { firstNumber, type NodeRegion, partOf } from "../contract/node-region.js";
import type { DerivedQuery, Evaluation, ReductionQuery, RegionBox, Result, SpectrumQuery } from "../contract/query.js";
import { framesOf } from "../contract/query-frames.js";
import { packStates, packSums, placesIn, type ReducedParts } from "../contract/reduced-parts.js";
import type { Task } from "../contract/task.js";
import type { CheckedQuery } from "./check-query.js";
import { Collector } from "./collector.js";
import { PART_VALUES, RECORD_BYTES } from "./execution.js";
import { DerivedFrames, derivedAt, sumSpectrum, type TransformRunner } from "./frame-transforms.js";
import { inOrder } from "./in-order.js";
import { placesInSweep } from "./plan/parts-in-sweep.js";
import { type LifeControl, type QueryContext, QueryLife } from "./query-life.js";
import type { Sharing } from "./sharing.js";

const SHARED_PARTS = 16_384;

/** Records of three float32 per hit: node and value, and both again in the order of the answer. */
const HIT_RECORDS = 3;
/** Most hits that are sorted on the main thread: more would hold it for longer than a time slice. */
const SORTED_HERE = 4096;

interface CutoutParts extends PartOrder {
  /** Parts that are computed before they are read, and their bytes. */
  readonly ahead: number;
  readonly heldBytes: number;
  readonly components: number;
}

function evaluationsOf({ columns, reductions }: ReductionPlan): number {
  const more = reductions.map((one) => (one.kind === "increments" ? one.separations.length : 0));
  return Math.max(1, columns.length) + Math.max(0, ...more);
}

export class RegionExecution implements Evaluation {
  readonly points: Collector;
  readonly velocities: Collector;
  readonly nodes: number;
  readonly extraRecords: number;
  readonly limit: { readonly points: number; readonly name: string };
  readonly #context: QueryContext;
  readonly #checked: CheckedQuery;
  readonly #dataset: Dataset;
  readonly #region: NodeRegion;
  /** The parts of a reduction that this process evaluates for another one; null: all parts. */
  readonly #onlyParts: ReducedParts | null;
  readonly #life: QueryLife;
  readonly #failed: Promise<never>;
  readonly #releases: (() => void)[] = [];
  readonly #cutoutParts: CutoutParts | null;
  readonly #lent = new Set<Float32Array>();

  constructor(
    context: QueryContext,
    checked: CheckedQuery,
    region: NodeRegion,
    control: LifeControl,
    onlyParts: ReducedParts | null,
  ) {
    this.#onlyParts = onlyParts;
    this.#context = context;
    this.#checked = checked;
    this.#dataset = checked.dataset as Dataset;
    this.#region = region;
    this.nodes = nodesOf(region);
    const { query, operation } = checked;
    const isSearch = operation.family === "search";
    const isCutout = !isSearch && !query.reduction && !query.spectrum && !query.derivedAt;
    this.#cutoutParts = isCutout ? this.#divideCutout() : null;
    const hits = isSearch ? Math.min(this.nodes, context.limits["search.hits"]) : 0;
    this.extraRecords = HIT_RECORDS * hits + Math.ceil((this.#cutoutParts?.heldBytes ?? 0) / RECORD_BYTES);
    this.limit = { points: context.limits["query.points"], name: "query.points" };
    this.points = new Collector(context.buffers, false, () => undefined);
    this.velocities = new Collector(context.buffers, false, () => undefined);
    let fail: (error: FieldprobeError) => void = () => undefined;
    this.#failed = new Promise<never>((_, reject) => {
      fail = reject;
    });
    this.#failed.catch(() => undefined);
    this.#life = new QueryLife(context, control, {
      failed: (error) => fail(error),
      dataset: () => this.#dataset,
      release: () => {
        this.points.release();
        this.velocities.release();
        for (const part of this.#lent) context.buffers.giveBack(part);
        this.#lent.clear();
        for (const release of this.#releases) release();
      },
    });
  }

  get textThreads(): TextWorkers {
    return this.#life.textThreads;
  }

  /** Work of all frames; of whole frames if transforms read them. */
  get work(): number {
    const { reduction, spectrum, derivedAt, quantity } = this.#checked.query;
    const isWhole = spectrum ?? derivedAt ?? reduction?.derived ?? quantity?.derived;
    const nodes = isWhole ? this.#dataset.axes.reduce((product, axis) => product * axis.nodes, 1) : this.nodes;
    const frames = (reduction ?? spectrum)?.frames.length ?? 1;
    return nodes * frames * this.#region.width ** 3 * (reduction ? evaluationsOf(reduction.plan) : 1);
  }

  async finish(): Promise<Result> {
    if (this.#life.over) return this.#failed;
    this.#life.startClock();
    const result = this.#begin();
    try {
      return await Promise.race([result, this.#failed]);
    } catch (error) {
      result.catch(() => undefined);
      this.#life.fail(error instanceof FieldprobeError ? error : new WorkerError(undefined, error));
      throw error;
    }
  }

  #begin(): Promise<Result> {
    const { query, operation } = this.#checked;
    if (query.reduction) return this.#reduce(query.reduction);
    if (query.spectrum) return this.#spectrum(query.spectrum);
    if (query.derivedAt) return this.#derivedAt(query.derivedAt);
    return operation.family === "search" ? this.#search() : this.#cutOut(this.#cutoutParts as CutoutParts);
  }

  abort(): void {
    this.#life.abort();
  }

  /** Members of each task that reads. */
  #readTask() {
    const sourced = (dataset: Dataset) => ({ dataset, source: this.#context.sourceOf(dataset) });
    const named = Object.entries(this.#checked.query.others ?? {});
    const others = named.map(([name, dataset]) => ({ name, ...sourced(dataset) }));
    return { ...sourced(this.#dataset), others, cancel: this.#life.cancel };
  }

  #run<T>(task: Task, isRepeatable = true): Promise<T> {
    return this.#life.counted(() => this.#life.run<T>(task, () => isRepeatable && !this.#life.over));
  }

  #sharing(): Sharing | null {
    // Peers may have other versions of other datasets.
    const sharing = this.#checked.query.others === undefined ? this.#context.sharing : null;
    const nodes = this.nodes * (this.#checked.query.reduction?.frames.length ?? 1);
    return sharing?.mayDivide(this.#checked) && sharing.shouldDivide(this.#checked, nodes) ? sharing : null;
  }

  async #search(): Promise<Result> {
    const sharing = this.#sharing();
    const base = firstNumber(this.#checked.query);
    const parts = sharing
      ? (await this.#life.counted(() => sharing.search(this.#checked, this.#life.sharing))).map((records) =>
          hitsIn(records, base),
        )
      : await this.#searchParts();
    const hits = parts.reduce((sum, { count }) => sum + count, 0);
    this.#checkHits(hits);
    const values =
      hits <= SORTED_HERE
        ? recordsByValue(parts, hits)
        : await this.#run<Float32Array>({ kind: "join", parts, count: hits });
    // Libraries from before 2019 count nodes from 0.
    for (let i = 0; base === 0 && i < values.length; i += 4) for (let a = 0; a < 3; a++) values[i + a] -= 1;
    return this.#life.handOut({
      items: hits,
      itemsPerPoint: 1,
      components: RECORDS[this.#checked.operation.result].length,
      values: hits === 0 ? [] : [values],
    });
  }

  /** @throws LimitError, in the words of the public service, for more hits than are answered */
  #checkHits(hits: number): void {
    const most = this.#context.limits["search.hits"];
    if (hits <= most) return;
    const text = `The number of points above the threshold exeeds max allowed number: ${most}!`;
    throw new LimitError("search.hits", text);
  }

  async #searchParts(): Promise<readonly Hits[]> {
    const { query } = this.#checked;
    const concurrency = 2 * this.#context.pool.parallelism;
    const most = this.#context.limits["search.hits"];
    const layers = Math.min(PART[2], Math.ceil(this.#region.count[2] / concurrency));
    const { total, at: part } = divide(this.#region.count, [PART[0], PART[1], layers]);
    const parts: Hits[] = [];
    let hits = 0;
    const [method, threshold] = [query.spatialInterpolation ?? "None", query.threshold as number];
    const task = { ...this.#readTask(), kind: "search", method, threshold, most } as const;
    const start = async (index: number): Promise<Hits> => {
      const found = await this.#run<Hits>({ ...task, region: partOf(this.#region, part(index)) });
      hits += found.count;
      this.#checkHits(hits);
      return found;
    };
    await inOrder(
      total,
      concurrency,
      () => this.#life.over,
      start,
      (found) => parts.push(found),
    );
    return parts;
  }

  /** Reduces the parts of all frames, or of some for another process, and merges their states. */
  async #reduce(query: ReductionQuery): Promise<Result> {
    const merged = new MergedParts(query.plan, this.#onlyParts !== null);
    const sharing = this.#onlyParts === null ? this.#sharing() : null;
    if (sharing === null) await this.#reduceHere(query, merged);
    else await this.#reduceWithPeers(sharing, query.frames.length, merged);
    const result = { items: 0, itemsPerPoint: 1, components: 1 };
    if (this.#onlyParts !== null) return this.#life.handOut({ ...result, values: [packStates(merged.partial())] });
    return this.#life.handOut({ ...result, values: [], reduced: merged.result });
  }

  async #reduceWithPeers(sharing: Sharing, frames: number, merged: MergedParts): Promise<void> {
    const { total } = merged.parts;
    const together = Math.max(1, Math.floor(SHARED_PARTS / total));
    for (let from = 0; from < frames && !this.#life.over; from += together) {
      const parts: ReducedParts = { frames: [from, Math.min(together, frames - from)], runs: [0, total] };
      const all = await this.#life.counted(() => sharing.reduce(this.#checked, parts, this.#life.sharing));
      for (const one of all) merged.addPartial(one);
    }
  }

  /** Reduces on the threads of this process; frames of derived fields are made one after another. */
  async #reduceHere({ plan, frames, derived = null, skip }: ReductionQuery, merged: MergedParts): Promise<void> {
    const { total, at: part } = merged.parts;
    const { cacheBytes, parallelism } = this.#context.pool;
    const derivedFrames = derived === null ? null : new DerivedFrames(derived, this.#transforms());
    const parts: ReducedParts = this.#onlyParts ?? { frames: [0, frames.length], runs: [0, total] };
    const requested = placesIn(parts, frames.length, total);
    const places = placesInSweep(requested, merged.parts, plan, this.#region, this.#dataset, cacheBytes);
    /** Reduces `count` of the frames, from the one at index `from` on. */
    const reduce = (from: number, count: number): Promise<void> => {
      const start = async (index: number): Promise<readonly [frame: number, place: number, states: PartStates]> => {
        const at = from + Math.floor(index / places.length);
        const place = places[index % places.length];
        const box = part(place);
        const region = { ...partOf(this.#region, box), frame: frames[at] };
        const states = await this.#run<PartStates>({
          ...{ ...this.#readTask(), kind: "reduce", plan, region, box: { ...box, frame: at } },
          ...(skip?.isEmpty(region) ? { fill: skip.fill } : {}),
          derived: derivedFrames?.fields ?? null,
        });
        return [at, place, states];
      };
      const isOver = (): boolean => this.#life.over;
      return inOrder(places.length * count, 2 * parallelism, isOver, start, (done) => merged.add(...done));
    };
    if (derivedFrames === null) return reduce(...parts.frames);
    for (let i = 0; i < frames.length && !this.#life.over; i++) {
      await derivedFrames.make(frames[i], plan.times[i]);
      await reduce(i, 1);
    }
  }

  async #spectrum(query: SpectrumQuery): Promise<Result> {
    const [sums, parts]: [SpectrumSums, Uint8Array[]] = [emptySums(query.plan), []];
    const take = (part: SpectrumSums) =>
      this.#onlyParts === null ? addSums(query.plan, sums, part) : void parts.push(packSums(part));
    const frames = this.#onlyParts?.frames ?? ([0, query.frames.length] as const);
    await sumSpectrum(query, this.#transforms(), frames, take);
    const values = this.#onlyParts === null ? [] : [packStates(parts)];
    return this.#life.handOut({ items: 0, itemsPerPoint: 1, components: 1, values, sums });
  }

  async #derivedAt(requested: DerivedQuery): Promise<Result> {
    const { time } = this.#dataset;
    const { query } = this.#checked;
    const atPoints = await derivedAt(requested, framesOf(time, query), query.time as number, this.#transforms());
    return this.#life.handOut({ items: 0, itemsPerPoint: 1, components: 1, values: [], atPoints });
  }

  #transforms(): TransformRunner {
    const { pool, scratch } = this.#context;
    return {
      task: this.#readTask(),
      parallelism: pool.parallelism,
      space: scratch,
      isOver: () => this.#life.over,
      // A task that overwrites its input cannot be repeated.
      run: (task) => this.#run(task, task.stage !== "back"),
      atEnd: (release) => this.#releases.push(release),
    };
  }

  /** Divides a cutout into layers of nodes or, if a layer has more than `PART_VALUES`, rows, at least one. */
  #divideCutout(): CutoutParts {
    const region = this.#region;
    const components = this.#checked.query.quantity?.columns.length ?? componentsOf(this.#dataset, region.field);
    const row = region.count[0] * components;
    const rows = Math.min(region.count[1], Math.max(1, Math.floor(PART_VALUES / row)));
    const layers = rows < region.count[1] ? 1 : Math.max(1, Math.floor(PART_VALUES / (row * rows)));
    const { total, at: part } = divide(region.count, [region.count[0], rows, layers]);
    const ahead = Math.min(total, 1 + this.#context.pool.parallelism);
    return { total, at: part, ahead, components, heldBytes: 4 * ahead * nodesOf(part(0)) * components };
  }

  /** Computes the first part, so that most failures precede the answer; computes the others as they are read. */
  async #cutOut({ total, at: part, ahead, components, heldBytes }: CutoutParts): Promise<Result> {
    const region = this.#region;
    const { quantity } = this.#checked.query;
    const sharing = quantity === undefined ? this.#sharing() : null;
    const derivedFrames = quantity?.derived ? new DerivedFrames(quantity.derived, this.#transforms()) : null;
    if (derivedFrames !== null) await derivedFrames.make(region.frame, frameTime(this.#dataset.time, region.frame));
    const evaluated = quantity === undefined ? {} : { quantity, derived: derivedFrames?.fields ?? null };
    const compute = async (box: RegionBox): Promise<Float32Array> => {
      // What is lent after the end would never be given back.
      if (this.#life.over) throw new CancelledError();
      const out = this.#context.buffers.floats(nodesOf(box) * components);
      this.#lent.add(out);
      const task = { ...this.#readTask(), kind: "cutout", region: partOf(region, box), out, ...evaluated } as const;
      await (sharing
        ? this.#life.counted(() => sharing.cutout(this.#checked, box, out, this.#life.sharing))
        : this.#run(task));
      return out;
    };
    const start = (index: number): Promise<Float32Array> => {
      const done = compute(part(index));
      done.catch(() => undefined);
      return done;
    };
    const waiting = Array.from({ length: ahead }, (_, index) => start(index));
    await waiting[0];
    return this.#life.handOutParts({
      items: nodesOf(region),
      itemsPerPoint: 1,
      components,
      values: [],
      shape: [region.count[2], region.count[1], region.count[0], components],
      stream: this.#stream(waiting, start, total),
      heldBytes,
    });
  }

  /** Yields the parts in order, each within the deadline of a result, and starts another for each that was read. */
  async *#stream(
    waiting: Promise<Float32Array>[],
    start: (index: number) => Promise<Float32Array>,
    total: number,
  ): AsyncGenerator<Float32Array> {
    let next = waiting.length;
    for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
      const values = await this.#life.timed(Promise.race([this.#failed, part]));
      yield values;
      if (this.#lent.delete(values)) this.#context.buffers.giveBack(values);
      if (next < total) waiting.push(start(next++));
    }
  }
}

function nodesOf({ count }: Pick<RegionBox, "count">): number {
  return count[0] * count[1] * count[2];
}

function hitsIn(records: Float32Array, base: 0 | 1): Hits {
  const count = records.length / 4;
  const nodes = new Int32Array(3 * count);
  const values = new Float32Array(count);
  for (let i = 0; i < count; i++) {
    for (let a = 0; a < 3; a++) nodes[3 * i + a] = records[4 * i + a] - base;
    values[i] = records[4 * i + 3];
  }
  return { nodes, values, count, unknown: 0, limit: count };
}
