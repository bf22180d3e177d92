/** A request while its body arrives: points flow into the engine as soon as the query is known, else they are kept. */
import type { Engine, Evaluation, Query, Result, TripleSink } from "../../engine/query.js";
import { DeadlineError } from "../../errors.js";
import type { Operation } from "../../operations.js";
import { isComplete, type Request, readRequest, type Texts } from "./parameters.js";
import { type TripleLimit, TripleStore, TripleWriter, tooManyPoints } from "./triple-writer.js";
import type { Visit } from "./visit.js";

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
    const results = new Array<Result>(request.queries.length);
    let next = 0;
    const work = async () => {
      while (next < request.queries.length) {
        const index = next++;
        results[index] = await this.#evaluate(request.queries[index] as Query, request.queries.length);
      }
    };
    const runs = await Promise.allSettled(Array.from({ length: CONCURRENT }, () => work()));
    const failed = runs.find((run) => run.status === "rejected");
    if (failed !== undefined) {
      for (const result of results) result?.release();
      throw failed.reason;
    }
    return { request, results };
  }

  /** Stops what runs. */
  abort(): void {
    this.#evaluation?.abort();
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
    return this.#engine.start(query, { signal: this.#visit.signal, deadlineMs });
  }

  async #evaluate(query: Query, times: number): Promise<Result> {
    const evaluation = this.#start(query);
    const limit = tighter(evaluation.limit, this.#visit.limit);
    for (const [member, store] of this.#stores) {
      if (store.count * times > limit.points) {
        evaluation.abort();
        throw tooManyPoints(limit);
      }
      store.replay(sinkOf(evaluation, member));
    }
    return evaluation.finish();
  }
}
