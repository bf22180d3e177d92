/** Query whose body is still arriving: points flow into the engine, or are kept if there are several times. */
import type { Evaluation, Query, Result, TripleSink } from "../../engine/contract/query.js";
import type { Limits } from "../../shared/config.js";
import { tooManyPoints } from "../../shared/errors.js";
import { operationOf, RECORDS } from "../../shared/operations.js";
import type { TextWorkers } from "../../text/text-task.js";
import type { PointLimit, RequestLife } from "../http/request-life.js";
import { TripleStore, TripleWriter } from "../http/triple-writer.js";

/** Float32 values of a list of times above which a streamed answer is made time by time. */
const STREAM_VALUES = 1 << 22;

const TIMES_AT_ONCE = 4;

export class PendingQuery {
  readonly #life: RequestLife;
  readonly #limits: Limits;
  readonly #query: Query;
  readonly #times: readonly number[];
  #store: TripleStore | null = null;
  #evaluation: Evaluation | null = null;
  #points: TripleWriter | null = null;
  #admitted = 0;

  constructor(life: RequestLife, limits: Limits, query: Query, times: readonly number[]) {
    this.#life = life;
    this.#limits = limits;
    this.#query = query;
    this.#times = times;
  }

  writer(): TripleWriter {
    this.#points = new TripleWriter(...this.#target());
    return this.#points;
  }

  #target(): [TripleSink, PointLimit] {
    if (this.#times.length <= 1) {
      this.#evaluation = this.#life.start(this.#queryAt(0), true);
      return [this.#evaluation.points, this.#life.limit(this.#evaluation.limit)];
    }
    this.#store = new TripleStore();
    return [this.#store, this.#life.limit({ points: this.#limits["query.points"], name: "query.points" })];
  }

  #queryAt(index: number): Query {
    const time = this.#times[index];
    return time === undefined ? this.#query : { ...this.#query, time };
  }

  /** Threads that may read the points of a long body; null if there are none, or the query has not begun. */
  get threads(): TextWorkers | null {
    return this.#evaluation?.textThreads ?? null;
  }

  /** Records the points read since the last call; a promise if reading has to wait. */
  admit(): Promise<void> | null {
    const count = this.#points?.count ?? 0;
    const more = count - this.#admitted;
    this.#admitted = count;
    return this.#life.countPoints(more);
  }

  /** Ends the input, waits for a slot and then for the result, or for the first part of a large one. */
  async answer(): Promise<Result> {
    if (this.#evaluation === null) return this.#answerTimes();
    await this.#life.acquireSlot();
    return this.#evaluation.finish();
  }

  /** Answers a list of times: a large streamed one as the times are computed, any other as a whole. */
  async #answerTimes(): Promise<Result> {
    const count = this.#times.length;
    const { result } = operationOf(this.#query.operation);
    const values = count * (this.#points?.count ?? 0) * RECORDS[result].length;
    if (values <= STREAM_VALUES) return this.#answerTogether();
    await this.#checkTimes();
    const turns = this.#inTurn();
    this.#life.onEnd(() => void turns.return(undefined));
    const first = (await turns.next()).value as Result;
    return { ...first, items: first.items * count, stream: following(first, turns) };
  }

  /**
   * Refuses too many points and unanswerable times. These lie outside an interval, so the first, earliest and latest
   * are tried without points; in an ascending list, bisection finds the first refused one.
   */
  async #checkTimes(): Promise<void> {
    const times = this.#times;
    const check = async (index: number): Promise<void> => {
      const evaluation = this.#life.start(this.#queryAt(index));
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

  /** Starts the query at the first of several times, waits for a slot for all times, and starts it at the others. */
  async #startFirst(stream: boolean): Promise<(index: number) => Evaluation> {
    const more = this.#times.length - 1;
    // The points of all times together count against the limit of a query; each time counts as a point.
    const start = (index: number): Evaluation => {
      const evaluation = this.#life.start(this.#queryAt(index), stream);
      this.#checkCount(evaluation, this.#times.length);
      this.#store?.replay(evaluation.points);
      return evaluation;
    };
    const first = start(0);
    await this.#life.countPoints(more * Math.max(1, this.#points?.count ?? 0));
    // A time without points costs the event loop about as much as an evaluation costs a worker.
    await this.#life.acquireSlot(more * Math.max(1, first.work), more * first.extraRecords);
    return (index) => (index === 0 ? first : start(index));
  }

  /** Answers times in order, a few ahead of the reader; each result lasts until the next is requested. */
  async *#inTurn(): AsyncGenerator<Result, undefined> {
    const start = await this.#startFirst(true);
    const ahead: { readonly evaluation: Evaluation; readonly result: Promise<Result> }[] = [];
    let next = 0;
    const fill = (): void => {
      for (; next < this.#times.length && ahead.length < TIMES_AT_ONCE; next++) {
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
  async #answerTogether(): Promise<Result> {
    const start = await this.#startFirst(false);
    const { slices } = this.#life;
    const times = this.#times.length;
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
    const failures: unknown[] = [];
    let next = 0;
    const work = async (): Promise<void> => {
      try {
        while (failures.length === 0 && next < times) {
          const index = next++;
          const evaluation = start(index);
          put(index, await evaluation.finish());
          this.#life.forget(evaluation);
          await slices.pause();
        }
      } catch (error) {
        failures.push(error);
        this.#life.abort();
      }
    };
    await Promise.all(Array.from({ length: TIMES_AT_ONCE }, work));
    if (failures.length > 0) throw failures[0];
    return joined as unknown as Result;
  }

  #checkCount({ limit }: Evaluation, times: number): void {
    const { points, name, tracking } = this.#life.limit(limit);
    const count = times * Math.max(1, this.#points?.count ?? 0);
    if (count > points) throw tooManyPoints(name, count, points, tracking);
  }
}

/** The parts of a result in order; each may be read until the next is requested. */
export async function* partsOf({ values, stream }: Result): AsyncGenerator<Float32Array, undefined> {
  yield* values;
  if (stream !== undefined) yield* stream;
}

/** What follows the first values: the stream of the first result, then the other results. */
async function* following({ stream }: Result, others: AsyncIterable<Result>): AsyncGenerator<Float32Array, undefined> {
  if (stream !== undefined) yield* stream;
  for await (const result of others) yield* partsOf(result);
}

/** Indices of the earliest (of equals the first) and the latest (of equals the last) time. */
function extremes(times: readonly number[]): readonly [number, number] {
  let [earliest, latest] = [0, 0];
  for (let i = 1; i < times.length; i++) {
    if (times[i] < times[earliest]) earliest = i;
    if (times[i] >= times[latest]) latest = i;
  }
  return [earliest, latest];
}
