/** A request while its body arrives: points flow into the engine as soon as the query is known, else they are kept. */
import type { Engine, Evaluation, Query, Result, TripleSink } from "../../engine/query.js";
import { DeadlineError } from "../../errors.js";
import type { Operation } from "../../operations.js";
import type { Visit } from "../http/visit.js";
import { isComplete, type Request, readRequest, type Texts } from "./parameters.js";
import { type TripleLimit, TripleStore, TripleWriter, tooManyPoints } from "./triple-writer.js";

/** What is asked, beside the parameters. */
export interface Question {
  readonly operation: Operation;
  /** Absent where the operation has no dataset. */
  readonly dataset: string | undefined;
  /** Set where the positions on the way are asked for. */
  readonly recordEvery: number | undefined;
}

/** Queries of a time list that are in the engine at once. */
const CONCURRENT = 4;

function sinkOf(evaluation: Evaluation, member: string): TripleSink {
  return member === "points" ? evaluation.points : evaluation.velocities;
}

/** The smaller of two limits on points. */
function tighter(a: TripleLimit, b: TripleLimit): TripleLimit {
  return a.points <= b.points ? a : b;
}

export class Intake {
  readonly texts: Texts;
  readonly #engine: Engine;
  readonly #visit: Visit;
  readonly #question: Question;
  readonly #stores = new Map<string, TripleStore>();
  readonly #running = new Set<Evaluation>();
  #request: Request | null = null;
  #evaluation: Evaluation | null = null;
  #points: TripleWriter | null = null;
  #admitted = 0;

  constructor(engine: Engine, visit: Visit, question: Question, texts: Texts) {
    this.#engine = engine;
    this.#visit = visit;
    this.#question = question;
    this.texts = texts;
  }

  /** Where the triples of an array member go. */
  writer(member: string): TripleWriter {
    const writer = new TripleWriter(...this.#target(member));
    if (member === "points") this.#points = writer;
    return writer;
  }

  #target(member: string): [TripleSink, TripleLimit] {
    if (this.#evaluation === null && this.#stores.size === 0 && isComplete(this.#question.operation, this.texts)) {
      this.#request = this.#read();
      const [query, ...more] = this.#request.queries as [Query, ...Query[]];
      if (more.length === 0) this.#evaluation = this.#start(query);
    }
    if (this.#evaluation !== null) {
      return [sinkOf(this.#evaluation, member), tighter(this.#evaluation.limit, this.#visit.limit)];
    }
    const store = new TripleStore();
    this.#stores.set(member, store);
    return [store, this.#visit.limit];
  }

  /** Waits while too many points are in flight, those read since the last call included. */
  async admitted(): Promise<void> {
    const count = this.#points?.count ?? 0;
    if (count === this.#admitted) return;
    const wait = this.#visit.admit(count - this.#admitted);
    this.#admitted = count;
    await wait;
  }

  /** Ends the input and waits for the results, one per time. */
  async finish(): Promise<{ request: Request; results: Result[] }> {
    const request = this.#request ?? this.#read();
    if (this.#evaluation !== null) return { request, results: [await this.#evaluation.finish()] };
    return { request, results: await this.#evaluateAll(request.queries) };
  }

  /** Stops what runs. */
  abort(): void {
    for (const evaluation of this.#running) evaluation.abort();
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
          this.abort();
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
    if (recordEvery === undefined) return request;
    return { ...request, queries: request.queries.map((query) => ({ ...query, recordEvery })) };
  }

  #start(query: Query): Evaluation {
    const deadlineMs = this.#visit.deadline - performance.now();
    if (deadlineMs <= 0) throw new DeadlineError();
    const evaluation = this.#engine.start(query, { signal: this.#visit.signal, deadlineMs });
    this.#running.add(evaluation);
    return evaluation;
  }

  async #evaluate(query: Query, times: number): Promise<Result> {
    const evaluation = this.#start(query);
    const limit = tighter(evaluation.limit, this.#visit.limit);
    for (const [member, store] of this.#stores) {
      if (store.count * times > limit.points) throw tooManyPoints(limit);
      store.replay(sinkOf(evaluation, member));
    }
    const result = await evaluation.finish();
    this.#running.delete(evaluation);
    return result;
  }
}
