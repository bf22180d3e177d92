/**
 * `PendingQuery` is the query of a request whose body is arriving: points flow into the engine as soon as the query is
 * known.
 */
import type { Limits } from "../../config.js";
import type { Evaluation, Query, Result, TripleSink } from "../../engine/contract/query.js";
import { tooManyPoints } from "../../errors.js";
import { type Operation, RECORDS } from "../../operations.js";
import type { QueryTexts } from "../../text/text-task.js";
import type { PointLimit, RequestLife } from "../life/request-life.js";
import { type ApiRequest, isComplete, readRequest, readTimes, type TextMembers } from "./parameters.js";
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

/**
 * The answer of a query: a whole result, of all times one after another, or the parts of a large answer as they are
 * computed.
 */
export type QueryResult =
  | { readonly request: ApiRequest; readonly result: Result }
  | { readonly request: ApiRequest; readonly first: Result; readonly parts: AsyncIterable<Float32Array> };

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

  /** Ends the input, waits for a slot and then for the results, or for the first part of a large answer. */
  async answer(): Promise<QueryResult> {
    const times = this.texts.get("time") ?? [];
    const values = times.length * (this.#points?.count ?? 0) * RECORDS[this.#question.operation.result].length;
    if (times.length < 2 || values <= STREAM_VALUES) {
      const { request, result } = await this.finish();
      return result.stream === undefined ? { request, result } : { request, first: result, parts: result.stream };
    }
    const request = this.#read(await readTimes(times, this.#life.slices));
    await this.#checkTimes(request);
    const ahead = this.#inTurn(request);
    this.#life.onEnd(() => void ahead.return(undefined));
    const { value: first } = await ahead.next();
    return { request, first: first as Result, parts: partsOf(first as Result, ahead) };
  }

  /**
   * Refuses too many points, and the first of ascending times that cannot be answered, which a query without points
   * shows.
   */
  async #checkTimes({ query, times }: ApiRequest): Promise<void> {
    const last = times.length - 1;
    const check = async (index: number): Promise<void> => {
      const evaluation = this.#life.start({ ...query, time: times[index] });
      this.#checkCount(evaluation, times.length);
      (await evaluation.finish()).release();
      this.#life.forget(evaluation);
    };
    await check(0);
    let refused = await check(last).then(
      () => null,
      (error: unknown) => ({ index: last, error }),
    );
    for (let answered = 0; refused !== null && refused.index - answered > 1; ) {
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

  /** Answers a list of times one after another, a few ahead of the reader. */
  async *#inTurn({ query, times }: ApiRequest): AsyncGenerator<Result, undefined> {
    const count = times.length;
    await this.#life.admit((count - 1) * (this.#points?.count ?? 0));
    const start = (index: number): Evaluation => this.#fill(this.#start({ ...query, time: times[index] }), count);
    const first = start(0);
    await this.#life.enter((count - 1) * first.work, (count - 1) * first.moreRecords);
    const ahead: { readonly evaluation: Evaluation; readonly result: Promise<Result> }[] = [];
    let next = 0;
    const fill = (): void => {
      for (; next < count && ahead.length < CONCURRENT; next++) {
        const evaluation = next === 0 ? first : start(next);
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

  #start(query: ApiRequest["query"]): Evaluation {
    return this.#life.start(query, this.#question.stream ?? false);
  }

  /** Ends the input, waits for a slot and then for the result, of all times one after another. */
  async finish(): Promise<{ request: ApiRequest; result: Result }> {
    const times = this.texts.get("time") ?? [];
    const list = this.#request === null && times.length > 1 ? await readTimes(times, this.#life.slices) : null;
    const request = this.#request ?? this.#read(list);
    if (request.times.length > 1) return { request, result: await this.#evaluateAll(request) };
    const evaluation = this.#evaluation ?? this.#fill(this.#start(request.query));
    await this.#life.enter();
    return { request, result: await evaluation.finish() };
  }

  /** Reads the parameters, with the members that the answer adds to the query. */
  #read(list: readonly number[] | null): ApiRequest {
    const { operation, dataset, recordEvery, tracking } = this.#question;
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
    const { points, name } = this.#life.limit(limit);
    const count = times * Math.max(times > 1 ? 1 : 0, this.#points?.count ?? 0);
    if (count > points) throw tooManyPoints(name, count, points);
  }

  /**
   * Answers a list of times, a few at once; when one has finished, the next begins, and the first that fails ends the
   * others.
   */
  async #evaluateAll({ query, times }: ApiRequest): Promise<Result> {
    const count = times.length;
    await this.#life.admit((count - 1) * Math.max(1, this.#points?.count ?? 0));
    const start = (index: number): Evaluation => this.#fill(this.#life.start({ ...query, time: times[index] }), count);
    const first = start(0);
    // A time without points takes the event loop about as long as an evaluation takes a worker.
    await this.#life.enter((count - 1) * Math.max(1, first.work), (count - 1) * first.moreRecords);
    const joined = new JoinedResult(count);
    const { slices } = this.#life;
    let failure: { readonly error: unknown } | null = null;
    let next = 0;
    const work = async (): Promise<void> => {
      slices.begin();
      try {
        while (failure === null && next < count) {
          const index = next++;
          const evaluation = index === 0 ? first : start(index);
          joined.put(index, await slices.outside(evaluation.finish()));
          this.#life.forget(evaluation);
          await slices.pauseAgain();
        }
      } catch (error) {
        failure ??= { error };
        this.#life.abort();
      } finally {
        slices.end();
      }
    };
    await Promise.all(Array.from({ length: CONCURRENT }, work));
    if (failure !== null) throw (failure as { readonly error: unknown }).error;
    return joined.result();
  }
}

/** The parts of a result, then those of the results that follow it. */
async function* partsOf(first: Result, others: AsyncIterator<Result>): AsyncGenerator<Float32Array, undefined> {
  for (let result: Result | undefined = first; result !== undefined; result = (await others.next()).value) {
    yield* result.values;
    if (result.stream !== undefined) yield* result.stream;
  }
}

/**
 * Results of equal length one after another in one array, so that many short ones take no more memory than one long
 * one.
 */
class JoinedResult {
  readonly #count: number;
  #first: Result | null = null;
  #numbers = new Float32Array(0);

  constructor(count: number) {
    this.#count = count;
  }

  /** Copies a result to its place and gives its buffers back. */
  put(index: number, result: Result): void {
    const length = result.items * result.components;
    if (this.#first === null) this.#numbers = new Float32Array(length * this.#count);
    this.#first ??= result;
    let at = index * length;
    for (const part of result.values) {
      this.#numbers.set(part, at);
      at += part.length;
    }
    result.release();
  }

  /** All of them, once every one has been put. */
  result(): Result {
    const { items, itemsPerPoint, components } = this.#first as Result;
    return {
      items: items * this.#count,
      itemsPerPoint,
      components,
      values: [this.#numbers],
      release: () => undefined,
    };
  }
}
