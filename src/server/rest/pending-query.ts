/** `PendingQuery` is what a request asks while its body arrives: points flow into the engine as soon as the query is known. */
import type { Limits } from "../../config.js";
import type { Evaluation, Result, TripleSink } from "../../engine/query.js";
import { tooManyPoints } from "../../errors.js";
import type { Operation } from "../../operations.js";
import type { PointLimit, RequestLife } from "../http/request-life.js";
import { isComplete, type Request, readRequest, readTimes, type Texts, type Times } from "./parameters.js";
import { TripleStore, TripleWriter } from "./triple-writer.js";

/** What is asked, beside the parameters. */
export interface Question {
  readonly operation: Operation;
  /** Null where the operation has none. */
  readonly dataset: string | null;
  /** Steps between the positions on the way; null where they are not asked for. */
  readonly recordEvery: number | null;
}

/** Queries of a time list that are in the engine at once. */
const CONCURRENT = 4;

function sinkOf(evaluation: Evaluation, member: string): TripleSink {
  return member === "points" ? evaluation.points : evaluation.velocities;
}

/** Takes points and parameters in any order; queries start as soon as all of their parameters are there. */
export class PendingQuery {
  readonly texts: Texts;
  readonly #life: RequestLife;
  readonly #limits: Limits;
  readonly #question: Question;
  readonly #stores = new Map<string, TripleStore>();
  #request: Request | null = null;
  #evaluation: Evaluation | null = null;
  #points: TripleWriter | null = null;
  #admitted = 0;

  constructor(life: RequestLife, limits: Limits, question: Question, texts: Texts) {
    this.#life = life;
    this.#limits = limits;
    this.#question = question;
    this.texts = texts;
  }

  /** Where the triples of an array member go. */
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
      this.#evaluation = this.#life.start(this.#request.query);
    }
    if (this.#evaluation !== null) {
      return [sinkOf(this.#evaluation, member), this.#life.limit(this.#evaluation.limit)];
    }
    const store = new TripleStore();
    this.#stores.set(member, store);
    return [store, this.#life.limit({ points: this.#limits["query.points"], name: "query.points" })];
  }

  /** Takes note of the points read since the last call; a promise where reading has to wait. */
  admit(): Promise<void> | null {
    const count = this.#points?.count ?? 0;
    const more = count - this.#admitted;
    this.#admitted = count;
    return this.#life.admit(more);
  }

  /** Ends the input, waits for a slot and then for the results, one per time. */
  async finish(): Promise<{ request: Request; results: Result[] }> {
    const times = this.texts.get("time") ?? [];
    const list = this.#request === null && times.length > 1 ? await readTimes(times, this.#life.slices) : null;
    const request = this.#request ?? this.#read(list);
    if (request.exact.length > 1) return { request, results: await this.#evaluateAll(request) };
    const evaluation = this.#evaluation ?? this.#fill(this.#life.start(request.query));
    await this.#life.enter();
    return { request, results: [await evaluation.finish()] };
  }

  #read(list: Times | null): Request {
    const { operation, dataset, recordEvery } = this.#question;
    const request = readRequest(operation, dataset, this.texts, list);
    return recordEvery === null ? request : { ...request, query: { ...request.query, recordEvery } };
  }

  /** Hands the points that were kept to a query; those of all times together count against its limit, and each time counts as a point. */
  #fill(evaluation: Evaluation, times = 1): Evaluation {
    const { points, name } = this.#life.limit(evaluation.limit);
    const count = times * Math.max(times > 1 ? 1 : 0, this.#points?.count ?? 0);
    if (count > points) throw tooManyPoints(name, count, points);
    for (const [member, store] of this.#stores) store.replay(sinkOf(evaluation, member));
    return evaluation;
  }

  /** Answers a list of times, a few at once, each as another has finished; the first that fails ends the others. */
  async #evaluateAll({ query, exact }: Request): Promise<Result[]> {
    const times = exact.length;
    await this.#life.admit((times - 1) * Math.max(1, this.#points?.count ?? 0));
    const start = (index: number): Evaluation =>
      this.#fill(this.#life.start({ ...query, time: exact[index] as number }), times);
    const first = start(0);
    await this.#life.enter((times - 1) * first.work);
    const results = new ResultList(times);
    const { slices } = this.#life;
    let failure: { readonly error: unknown } | null = null;
    let next = 0;
    const work = async (): Promise<void> => {
      slices.begin();
      try {
        while (failure === null && next < times) {
          const index = next++;
          const evaluation = index === 0 ? first : start(index);
          results.put(index, await slices.outside(evaluation.finish()));
          this.#life.forget(evaluation);
          await slices.pause();
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
    return results.list;
  }
}

/** Results of equal length in one array, so that many short ones take no more memory than one long one. */
class ResultList {
  readonly list: Result[];
  #numbers = new Float32Array(0);

  constructor(count: number) {
    this.list = new Array(count);
  }

  /** Copies a result to its place and gives its buffers back. */
  put(index: number, result: Result): void {
    const { items, itemsPerPoint, components } = result;
    const length = items * components;
    if (this.#numbers.length < length * this.list.length) this.#numbers = new Float32Array(length * this.list.length);
    const numbers = this.#numbers.subarray(index * length, (index + 1) * length);
    let at = 0;
    for (const part of result.values) {
      numbers.set(part, at);
      at += part.length;
    }
    result.release();
    this.list[index] = { items, itemsPerPoint, components, values: [numbers], release: () => undefined };
  }
}
