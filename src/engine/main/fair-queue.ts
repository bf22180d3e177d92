/**
 * Weighted fair queue (Demers, Keshav and Shenker, SIGCOMM 1989): clients share the threads equally, the queries of a
 * client share its part, and short queries go first, the shortest before others.
 *
 * Each query has a virtual time, which advances by the time it was served times the number of queries of its client;
 * the least is next. The virtual time of the queue advances as that of a client with an equal part; a query that begins
 * or was idle starts from it.
 */

/** Head start of the shortest queries, in virtual milliseconds, and the length (served and expected) without one. */
const HEAD_START_MS = 100;
const SHORT_MS = 50;
/** Virtual milliseconds by which background tasks follow all others: three centuries. */
const BEHIND_MS = 1e13;

/** The share of a query in the threads. */
export interface QueryShare {
  /** Queries with the same client share the part of one; compared by identity. */
  readonly client: unknown;
  /** Whether it is served only when no other query waits. */
  readonly background: boolean;
  virtual: number;
  /** Milliseconds of service received. */
  served: number;
  /** Whether it waits for a store, and the listener to changes. */
  waits: boolean;
  readonly onWait: (waits: boolean) => void;
}

/** Makes the share of a query; without a client it has its own part. */
export function createShare(
  client: unknown = Symbol("client"),
  onWait: QueryShare["onWait"] = () => undefined,
  background = false,
): QueryShare {
  return { client, background, virtual: 0, served: 0, waits: false, onWait };
}

/** Records whether a query waits for a store, and reports a change. */
export function noteWait(share: QueryShare, waits: boolean): void {
  if (share.waits === waits) return;
  share.waits = waits;
  share.onWait(waits);
}

export interface QueuedTask {
  readonly share: QueryShare;
  /** Milliseconds of a thread that it will take, roughly. */
  readonly expectedMs: number;
}

/** Orders tasks by the virtual time of their queries. */
export class FairQueue<T extends QueuedTask> {
  #virtual = 0;
  readonly #waiting: T[] = [];
  /** Queries with a task that waits or runs, and their numbers of such tasks, by client. */
  readonly #clients = new Map<unknown, Map<QueryShare, number>>();
  #queries = 0;

  get size(): number {
    return this.#waiting.length;
  }

  get queries(): number {
    return this.#queries;
  }

  /** Adds a task; `ended` must be called once it has been taken and has ended, unless it is returned to the queue. */
  add(task: T): void {
    const { share } = task;
    const queries = this.#clients.get(share.client) ?? new Map<QueryShare, number>();
    this.#clients.set(share.client, queries);
    const tasks = queries.get(share) ?? 0;
    queries.set(share, tasks + 1);
    if (tasks === 0) {
      this.#queries++;
      share.virtual = Math.max(share.virtual, this.#virtual);
    }
    this.#waiting.push(task);
  }

  return(task: T): void {
    this.#waiting.push(task);
  }

  /** Takes the next task, or the next one that `suits`; null when there is none. */
  take(suits: (task: T) => boolean = () => true): T | null {
    const next = this.peek(suits);
    if (next !== null) this.#waiting.splice(this.#waiting.indexOf(next), 1);
    return next;
  }

  /** The next task that `suits`, which stays in the queue; null when there is none. */
  peek(suits: (task: T) => boolean): T | null {
    let best = -1;
    for (let i = 0; i < this.#waiting.length; i++) {
      if (!suits(this.#waiting[i])) continue;
      if (best < 0 || rank(this.#waiting[i]) < rank(this.#waiting[best])) best = i;
    }
    return best < 0 ? null : this.#waiting[best];
  }

  /** Removes a task that waits; false when it does not. */
  remove(task: T): boolean {
    const at = this.#waiting.indexOf(task);
    if (at < 0) return false;
    this.#waiting.splice(at, 1);
    this.ended(task);
    return true;
  }

  /** Accounts for the time that a task was served. */
  charge({ share }: T, ms: number): void {
    share.served += ms;
    share.virtual += ms * (this.#clients.get(share.client)?.size ?? 1);
    this.#virtual += ms / Math.max(1, this.#clients.size);
  }

  /** Accounts for a task that ran without being queued. */
  chargeUnqueued(share: QueryShare, ms: number): void {
    const queries = this.#clients.get(share.client)?.size ?? 0;
    const clients = this.#clients.size + (queries === 0 ? 1 : 0);
    share.served += ms;
    share.virtual = Math.max(share.virtual, this.#virtual) + ms * (queries + 1);
    this.#virtual += ms / clients;
  }

  /** Forgets a task that was taken and has ended. */
  ended({ share }: T): void {
    const queries = this.#clients.get(share.client);
    const tasks = queries?.get(share) ?? 0;
    if (!queries || tasks === 0) return;
    if (tasks > 1) {
      queries.set(share, tasks - 1);
      return;
    }
    queries.delete(share);
    this.#queries--;
    if (queries.size === 0) this.#clients.delete(share.client);
  }
}

/** Background tasks come after all others, in their own order. */
function rank({ share: { background, virtual, served }, expectedMs }: QueuedTask): number {
  const ahead = HEAD_START_MS * Math.max(0, 1 - (served + expectedMs) / SHORT_MS);
  return (background ? BEHIND_MS : 0) + virtual - ahead;
}
