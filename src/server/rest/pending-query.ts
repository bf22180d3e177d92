/** `PendingQuery` is what a request asks while its body arrives: points flow into the engine as soon as the query is known. */
import type { Limits } from "../../config.js";
import type { Evaluation, Query, Result, TripleSink } from "../../engine/query.js";
import { tooManyPoints } from "../../errors.js";
import type { Operation } from "../../operations.js";
import type { PointLimit, RequestLife } from "../http/request-life.js";
import { isComplete, type Request, readRequest, type Texts } from "./parameters.js";
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
    if (this.#evaluation === null && this.#stores.size === 0 && isComplete(this.#question.operation, this.texts)) {
      this.#request = this.#read();
      const [query, ...more] = this.#request.queries as [Query, ...Query[]];
      if (more.length === 0) this.#evaluation = this.#life.start(query);
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

  /** Ends the input and waits for the results, one per time. */
  async finish(): Promise<{ request: Request; results: Result[] }> {
    const request = this.#request ?? this.#read();
    if (this.#evaluation !== null) return { request, results: [await this.#evaluation.finish()] };
    return { request, results: await this.#evaluateAll(request.queries) };
  }

  /** Answers each query, a few at once; the first that fails ends the others. */
  async #evaluateAll(queries: readonly Query[]): Promise<Result[]> {
    const results = new Array<Result>(queries.length);
    let failure: { readonly error: unknown } | null = null;
    let next = 0;
    const work = async () => {
      while (failure === null && next < queries.length) {
        const index = next++;
        try {
          results[index] = await this.#evaluate(queries[index] as Query, queries.length);
        } catch (error) {
          failure ??= { error };
          this.#life.abort();
        }
      }
    };
    await Promise.all(Array.from({ length: CONCURRENT }, () => work()));
    if (failure !== null) {
      for (const result of results) result?.release();
      throw (failure as { readonly error: unknown }).error;
    }
    return results;
  }

  #read(): Request {
    const { operation, dataset, recordEvery } = this.#question;
    const request = readRequest(operation, dataset, this.texts);
    if (recordEvery === null) return request;
    return { ...request, queries: request.queries.map((query) => ({ ...query, recordEvery })) };
  }

  async #evaluate(query: Query, times: number): Promise<Result> {
    const evaluation = this.#life.start(query);
    const { points, name } = this.#life.limit(evaluation.limit);
    for (const [member, store] of this.#stores) {
      if (store.count * times > points) throw tooManyPoints(name, store.count * times, points);
      store.replay(sinkOf(evaluation, member));
    }
    return evaluation.finish();
  }
}
