/**
 * `PendingQuery` is the query of a request whose body is arriving: points flow into the engine as soon as the query is
 * known.
 */

import { AXIS_NAMES } from "../../engine/contract/dataset.js";
import type { Evaluation, Query, Result, TripleSink } from "../../engine/contract/query.js";
import type { Limits } from "../../shared/config.js";
import { tooManyPoints } from "../../shared/errors.js";
import { type Operation, RECORDS } from "../../shared/operations.js";
import type { QueryTexts } from "../../text/text-task.js";
import type { PointLimit, RequestLife } from "../http/request-life.js";
import { answerAtOwnTimes, checkOwnTimes, type OwnTimes, ownTimesOf } from "./own-times.js";
import { type ApiRequest, isComplete, readRequest, readTimes, type TextMembers } from "./parameters.js";
import { addCorners, takeRegion } from "./region.js";
import { TripleStore, TripleWriter } from "./triple-writer.js";

/** The query of a request without its parameters. */
export interface AskedQuery {
  readonly operation: Operation;
  /** Null if the operation has none. */
  readonly dataset: string | null;
  /** Steps between the positions on the way; null if they are not requested. */
  readonly recordEvery: number | null;
  /** Whether a large answer is wanted in parts, as they are computed; absent: no. */
  readonly stream?: boolean;
  /** Tracking over `/api`, which reports exits: its options. */
  readonly tracking?: Pick<Query, "integrator" | "tolerance" | "openFaces">;
}

/** A request as understood, with its result: of all times one after another, in parts if it has a `stream`. */
export interface QueryResult {
  readonly request: ApiRequest;
  readonly result: Result;
}

/** Float32 values of a list of times above which a streamed answer is made time by time. */
const STREAM_VALUES = 1 << 22;

/** Queries of a time list that are in the engine at once. */
const CONCURRENT = 4;

/** The sink of the points of a query, or of its velocities. */
function sinkOf(evaluation: Evaluation, member: string): TripleSink {
  return member === "points" ? evaluation.points : evaluation.velocities;
}

/** Takes points and parameters in any order; queries start as soon as all of their parameters are there. */
export class PendingQuery {
  readonly texts: TextMembers;
  readonly #life: RequestLife;
  readonly #limits: Limits;
  readonly #question: AskedQuery;
  readonly #stores = new Map<string, TripleStore>();
  #request: ApiRequest | null = null;
  #evaluation: Evaluation | null = null;
  #points: TripleWriter | null = null;
  #admitted = 0;
  /** How many nodes further the region of a search lies than its corners: whole periods. */
  #ahead: readonly number[] = [0, 0, 0];

  constructor(life: RequestLife, limits: Limits, question: AskedQuery, texts: TextMembers) {
    this.#life = life;
    this.#limits = limits;
    this.#question = question;
    this.texts = texts;
  }

  /** The destination of the triples of an array member. */
  writer(member: string): TripleWriter {
    const writer = new TripleWriter(...this.#target(member));
    if (member === "points") this.#points = writer;
    return writer;
  }

  #target(member: string): [TripleSink, PointLimit] {
    const { operation } = this.#question;
    const single = (this.texts.get("time")?.length ?? 1) === 1;
    if (this.#evaluation === null && this.#stores.size === 0 && single && isComplete(operation, this.texts)) {
      this.#request = this.#read(null);
      this.#evaluation = this.#start(this.#request.query);
    }
    if (this.#evaluation !== null) {
      return [sinkOf(this.#evaluation, member), this.#life.limit(this.#evaluation.limit)];
    }
    const store = new TripleStore();
    this.#stores.set(member, store);
    return [store, this.#life.limit({ points: this.#limits["query.points"], name: "query.points" })];
  }

  /** The threads that may read the points of a long body; null if there are none, or the query has not begun. */
  get threads(): QueryTexts | null {
    return this.#evaluation?.texts ?? null;
  }

  /** Records the points read since the last call; a promise if reading has to wait. */
  admit(): Promise<void> | null {
    const count = this.#points?.count ?? 0;
    const more = count - this.#admitted;
    this.#admitted = count;
    return this.#life.admit(more);
  }

  /** Puts the region of a search into its other members. */
  #placeRegion(operation: Operation, dataset: string | null): void {
    if (dataset === null || operation.family !== "search") return;
    const region = takeRegion(this.texts);
    if (region !== undefined) this.#ahead = addCorners(this.texts, region, operation, this.#life.dataset(dataset));
  }

  /** Numbers the nodes of a search as its region does. */
  #numbered({ request, result }: QueryResult): QueryResult {
    const ahead = this.#ahead;
    if (ahead.every((nodes) => nodes === 0)) return { request, result };
    const { values, stream, components } = result;
    const number = (records: Float32Array): Float32Array => {
      for (let at = 0; at < records.length; at += components)
        for (let a = 0; a < 3; a++) records[at + a] += ahead[a] as number;
      return records;
    };
    const corners = AXIS_NAMES.flatMap((letter, a) =>
      [`${letter}_start`, `${letter}_end`].map((name) => [
        name,
        (request.options[name] as number) + (ahead[a] as number),
      ]),
    );
    const options = { ...request.options, ...Object.fromEntries(corners) };
    const numbered = { ...result, values: values.map(number), ...(stream && { stream: mapped(stream, number) }) };
    return { request: { ...request, options }, result: numbered };
  }

  /** Ends the input, waits for a slot and then for the result, or for the first part of a large streamed one. */
  async answer(): Promise<QueryResult> {
    return this.#numbered(await this.#answer());
  }

  async #answer(): Promise<QueryResult> {
    const own = ownTimesOf(this.#question.operation);
    if (own !== null && this.texts.has(own.list)) return this.#answerEach(own);
    const times = this.texts.get("time") ?? [];
    const list = this.#request === null && times.length > 1 ? await readTimes(times, this.#life.slices) : null;
    const request = this.#request ?? this.#read(list);
    if (request.times.length > 1) return { request, result: await this.#answerTimes(request) };
    const evaluation = this.#evaluation ?? this.#fill(this.#start(request.query));
    await this.#life.enter();
    return { request, result: await evaluation.finish() };
  }

  /** Answers a list of times: a large streamed one as the times are computed, any other as a whole. */
  async #answerTimes(request: ApiRequest): Promise<Result> {
    const { operation, stream = false } = this.#question;
    const count = request.times.length;
    const values = count * (this.#points?.count ?? 0) * RECORDS[operation.result].length;
    if (!stream || values <= STREAM_VALUES) return this.#answerTogether(request);
    await this.#checkTimes(request);
    const turns = this.#inTurn(request);
    this.#life.onEnd(() => void turns.return(undefined));
    const first = (await turns.next()).value as Result;
    return { ...first, items: first.items * count, stream: following(first, turns) };
  }

  /**
   * Refuses too many points, and a time that cannot be answered, which a query without points shows. The times that can
   * be are an interval, so the first, the earliest and the latest tell; of ascending times the first one is named.
   */
  async #checkTimes({ query, times }: ApiRequest): Promise<void> {
    const check = async (index: number): Promise<void> => {
      const evaluation = this.#life.start({ ...query, time: times[index] });
      this.#checkCount(evaluation, times.length);
      (await evaluation.finish()).release();
      this.#life.forget(evaluation);
    };
    const [earliest, latest] = extremes(times);
    for (const index of new Set([0, earliest])) await check(index);
    let refused = await check(latest).then(
      () => null,
      (error: unknown) => ({ index: latest, error }),
    );
    const ascends = times.every((time, i) => i === 0 || times[i - 1] <= time);
    for (let answered = 0; ascends && refused !== null && refused.index - answered > 1; ) {
      const middle = (answered + refused.index) >> 1;
      try {
        await check(middle);
        answered = middle;
      } catch (error) {
        refused = { index: middle, error };
      }
    }
    if (refused !== null) throw refused.error;
  }

  /** Begins the query at the first of several times, waits for a slot for all of them, and begins it at the others. */
  async #startFirst({ query, times }: ApiRequest, stream: boolean): Promise<(index: number) => Evaluation> {
    const more = times.length - 1;
    const start = (index: number): Evaluation =>
      this.#fill(this.#life.start({ ...query, time: times[index] }, stream), times.length);
    const first = start(0);
    await this.#life.admit(more * Math.max(1, this.#points?.count ?? 0));
    // A time without points takes the event loop about as long as an evaluation takes a worker.
    await this.#life.enter(more * Math.max(1, first.work), more * first.moreRecords);
    return (index) => (index === 0 ? first : start(index));
  }

  /** Answers times in their order, a few ahead of the reader; each result lasts until the next is asked for. */
  async *#inTurn(request: ApiRequest): AsyncGenerator<Result, undefined> {
    const start = await this.#startFirst(request, true);
    const ahead: { readonly evaluation: Evaluation; readonly result: Promise<Result> }[] = [];
    let next = 0;
    const fill = (): void => {
      for (; next < request.times.length && ahead.length < CONCURRENT; next++) {
        const evaluation = start(next);
        const result = evaluation.finish();
        result.catch(() => undefined);
        ahead.push({ evaluation, result });
      }
    };
    try {
      fill();
      for (let turn = ahead.shift(); turn !== undefined; turn = ahead.shift()) {
        const result = await turn.result;
        try {
          fill();
          yield result;
        } finally {
          result.release();
          this.#life.forget(turn.evaluation);
        }
      }
    } finally {
      for (const { result } of ahead) result.then(({ release }) => release()).catch(() => undefined);
    }
  }

  /**
   * Answers a list of times as a whole, a few at once; when one has finished, the next begins, and the first that fails
   * ends the others. Results are copied into one array: many short ones take no more memory than one long one.
   */
  async #answerTogether(request: ApiRequest): Promise<Result> {
    const start = await this.#startFirst(request, false);
    const { slices } = this.#life;
    const times = request.times.length;
    let joined: (Result & { readonly values: readonly [Float32Array] }) | null = null;
    const put = (index: number, { items, itemsPerPoint, components, values, release }: Result): void => {
      const length = items * components;
      try {
        joined ??= {
          ...{ items: items * times, itemsPerPoint, components, release: () => undefined },
          values: [this.#life.floats(length * times)],
        };
        let at = index * length;
        for (const part of values) {
          joined.values[0].set(part, at);
          at += part.length;
        }
      } finally {
        release();
      }
    };
    let failure: { readonly error: unknown } | null = null;
    let next = 0;
    const work = async (): Promise<void> => {
      try {
        while (failure === null && next < times) {
          const index = next++;
          const evaluation = start(index);
          put(index, await evaluation.finish());
          this.#life.forget(evaluation);
          await slices.pause();
        }
      } catch (error) {
        failure ??= { error };
        this.#life.abort();
      }
    };
    await Promise.all(Array.from({ length: CONCURRENT }, work));
    if (failure !== null) throw (failure as { readonly error: unknown }).error;
    return joined as unknown as Result;
  }

  #start(query: ApiRequest["query"]): Evaluation {
    return this.#life.start(query, this.#question.stream ?? false);
  }

  /** Reads the parameters, with the members that the answer adds to the query. */
  #read(list: readonly number[] | null): ApiRequest {
    const { operation, dataset, recordEvery, tracking } = this.#question;
    this.#placeRegion(operation, dataset);
    const { query, options, ...request } = readRequest(operation, dataset, this.texts, list);
    const openFaces = dataset === null ? undefined : this.#life.find(dataset)?.openFaces;
    return {
      ...request,
      options: tracking === undefined ? options : { ...options, ...(openFaces && { openFaces }), ...tracking },
      query: {
        ...query,
        ...(recordEvery === null ? {} : { recordEvery }),
        ...(tracking === undefined ? {} : { exitTimes: true, ...tracking }),
      },
    };
  }

  /**
   * Hands the points that were kept to a query; those of all times together count against its limit, and each time
   * counts as a point.
   */
  #fill(evaluation: Evaluation, times = 1): Evaluation {
    this.#checkCount(evaluation, times);
    for (const [member, store] of this.#stores) store.replay(sinkOf(evaluation, member));
    return evaluation;
  }

  /** @throws LimitError if the points of all times are more than a query may have */
  #checkCount({ limit }: Evaluation, times: number): void {
    const { points, name, tracking } = this.#life.limit(limit);
    const count = times * Math.max(times > 1 ? 1 : 0, this.#points?.count ?? 0);
    if (count > points) throw tooManyPoints(name, count, points, tracking);
  }

  async #answerEach({ member, list }: OwnTimes): Promise<QueryResult> {
    const given = this.texts.get(list) ?? [];
    checkOwnTimes({ member, list }, given.length, this.#points?.count ?? 0, !this.texts.has(member));
    const times = Float64Array.from(await readTimes(given, this.#life.slices, list));
    this.texts.set(member, given.slice(0, 1));
    const { query, options, ...request } = this.#read(null);
    const { [member]: _, ...others } = options;
    const triples = (name: string) => this.#stores.get(name)?.triples();
    const points = triples("points") ?? new Float32Array();
    const velocities = triples("InitialV");
    const all = { points, times, ...(velocities === undefined ? {} : { velocities }) };
    const check = (evaluation: Evaluation): void => this.#checkCount(evaluation, 1);
    const result = await answerAtOwnTimes(this.#life, query, member, all, check);
    // Records of paths that begin at different times are timed from their starts.
    const recordTimes = result.recordTimes?.map((time, _, [start = 0]) => time - start);
    const answered = { ...result, ...(recordTimes === undefined ? {} : { recordTimes }) };
    const starts = member === "StartTime" ? { starts: times } : {};
    const understood = { ...request, query, options: { ...others, pairing: "each" }, times: [], ...starts };
    return { request: understood, result: answered };
  }
}

async function* mapped<T>(items: AsyncIterable<T>, map: (item: T) => T): AsyncGenerator<T, undefined> {
  for await (const item of items) yield map(item);
}

/** The parts of a result in their order; each may be read until the next is asked for. */
export async function* partsOf({ values, stream }: Result): AsyncGenerator<Float32Array, undefined> {
  yield* values;
  if (stream !== undefined) yield* stream;
}

/** What follows the values of a first result: its stream, then the results behind it. */
async function* following({ stream }: Result, others: AsyncIterable<Result>): AsyncGenerator<Float32Array, undefined> {
  if (stream !== undefined) yield* stream;
  for await (const result of others) yield* partsOf(result);
}

/** The indices of the earliest and the latest of some times: of the first and the last of ascending ones. */
function extremes(times: readonly number[]): readonly [number, number] {
  let [earliest, latest] = [0, 0];
  for (let i = 1; i < times.length; i++) {
    if (times[i] < times[earliest]) earliest = i;
    if (times[i] >= times[latest]) latest = i;
  }
  return [earliest, latest];
}
