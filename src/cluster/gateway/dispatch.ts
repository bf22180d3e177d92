/** Sees batches through: which node gets one and when, and what a fault, silence, a lost node or a caller who leaves makes of it. */
import type { Logger } from "pino";
import { reviveError } from "../../engine/threads/errors-as-data.js";
import { BusyError, CancelledError, DataError, type FieldprobeError, WorkerError } from "../../errors.js";
import { decodeMessage, type Header, MessageError } from "../wire/message.js";
import type { Delivery, Transport } from "../wire/transport.js";
import { readFault } from "../wire/wire-fault.js";
import { type Counts, joinPart, UnderWay } from "./attempts.js";
import { chooseNode } from "./choose.js";
import { Hedging } from "./hedging.js";
import { type Member, Membership } from "./membership.js";
import { RollCall } from "./roll-call.js";
import type { Job, Parcel, Try } from "./shipment.js";
import { Lookout } from "./timeouts.js";

/** Times a batch is tried before its query fails. */
const TRIES = 3;
/** How long nodes may be unreachable after a server of the message system was lost. */
const SETTLE_MS = 3000;
/** Between two tries to reach any node at all in that time. */
const AGAIN_MS = 50;

export interface DispatchSettings {
  readonly replicas: number;
  readonly hedgeMs: number;
  /** Silence after which a batch counts as lost. */
  readonly timeoutMs: number;
}

export class Dispatcher {
  readonly membership: Membership;
  readonly counts: Counts = { sent: 0, hedged: 0, repeated: 0, lost: 0, late: 0 };
  readonly #log: Logger;
  readonly #underWay: UnderWay;
  readonly #lookout: Lookout;
  readonly #rollCall: RollCall;
  readonly #hedging: Hedging;
  #waiting: Job[] = [];
  #settledAt = 0;
  #connected = true;
  #closed = false;

  constructor(transport: Transport, settings: DispatchSettings, log: Logger) {
    this.#log = log;
    this.membership = new Membership(settings.replicas);
    this.#hedging = new Hedging(settings.hedgeMs);
    this.#underWay = new UnderWay(transport, this.counts);
    transport.subscribe(`${transport.inbox}.*`, (delivery) => this.#receive(delivery));
    this.#lookout = new Lookout(this.#underWay, settings.timeoutMs, {
      waiting: () => this.#waiting.length > 0,
      pending: (one, now) => this.#hedge(one, now),
      silent: (one, reason) => this.#lose(one, reason),
      after: () => this.#pump(),
    });
    this.#rollCall = new RollCall(transport, log, {
      membership: this.membership,
      heard: () => this.#pump(),
      missed: (member) => this.#depart(member, "no heartbeat"),
      settled: (now) => now >= this.#settledAt,
    });
    transport.watch((event) => {
      this.#settledAt = performance.now() + SETTLE_MS;
      if (event !== "unsettled") this.#connected = event === "restored";
      // What was under way on the lost connection may never arrive; no node is to blame for that.
      if (event === "restored") for (const one of this.#underWay.all()) this.#repeat(one);
      this.#pump();
    });
  }

  /** Batches that wait for a node, and batches that are with one. */
  get waiting(): number {
    return this.#waiting.length;
  }

  get sent(): number {
    return this.#underWay.size;
  }

  /**
   * Sends a batch.
   *
   * @returns a promise that resolves once the answer has been taken, and a way to give the batch up: it then rejects with the
   *   given error. However it ends, nothing reads the values of the batch any more.
   */
  send(parcel: Parcel): { readonly done: Promise<void>; readonly abandon: (error: FieldprobeError) => void } {
    const writes: Promise<void>[] = [];
    let abandon: (error: FieldprobeError) => void = () => {};
    const answered = new Promise<void>((resolve, reject) => {
      const job: Job = {
        parcel,
        tries: new Set(),
        refused: new Set(),
        writes,
        resolve,
        reject,
        attempts: 0,
        failures: 0,
        notBefore: 0,
      };
      abandon = (error) => this.#fail(job, error);
      if (this.#closed) reject(new CancelledError());
      else this.#waiting.push(job);
    });
    if (!this.#closed) this.#lookout.start();
    this.#pump();
    const done = answered.finally(() => Promise.all(writes));
    return { done, abandon };
  }

  close(): void {
    this.#closed = true;
    this.#rollCall.close();
    this.#lookout.stop();
    const jobs = new Set([...this.#waiting, ...this.#underWay.all().flatMap(({ job }) => job ?? [])]);
    for (const job of jobs) this.#fail(job, new CancelledError());
  }

  /** Sends what can be sent. */
  #pump(): void {
    if (this.#waiting.length === 0) return;
    const now = performance.now();
    if (!this.#connected) {
      if (now >= this.#settledAt) this.#failWaiting(new BusyError("The message system cannot be reached.", 1));
      return;
    }
    this.#waiting = this.#waiting.filter((job) => {
      if (job.notBefore > now || !this.#underWay.hasRoom(job.parcel)) return true;
      const chosen = chooseNode(this.membership, job);
      if (chosen === "later") return true;
      this.#transmit(job, chosen, now);
      return false;
    });
  }

  #failWaiting(error: FieldprobeError): void {
    for (const job of this.#waiting.splice(0)) job.reject(error);
  }

  #transmit(job: Job, member: Member | null, now: number): void {
    try {
      this.#underWay.send(job, member, now);
      this.#hedging.earn();
    } catch (error) {
      // A server that the connection has moved to may take less than the batch was cut for.
      if (job.tries.size === 0) job.reject(new WorkerError(undefined, error));
    }
  }

  #receive({ subject, data, unanswered }: Delivery): void {
    const one = this.#underWay.find(subject);
    if (!one) {
      this.counts.late++;
      return;
    }
    if (unanswered) {
      this.#unreachable(one);
      return;
    }
    try {
      const { header, values } = decodeMessage(data);
      if (header.query !== one.parcel.header.query || header.batch !== one.parcel.header.batch)
        throw new MessageError("an answer to another question");
      this.#heed(one, header, values);
    } catch (error) {
      if (!(error instanceof MessageError)) throw error;
      this.#log.warn({ node: one.member?.name, err: error }, "a message that makes no sense");
      this.#lose(one, error.message);
    }
  }

  /** Acts on a message about a try. */
  #heed(one: Try, header: Header, values: Uint8Array): void {
    one.heardAt = performance.now();
    if (one.member) one.member.suspect = false;
    switch (header.kind) {
      case "held":
        return;
      case "unknown":
        this.#lose(one, "the node knows nothing of it");
        return;
      case "fault":
        this.#refuse(one, readFault(values));
        return;
      case "answer":
        this.#collect(one, header, values);
        return;
      default:
        throw new MessageError(`a node does not send "${header.kind}"`);
    }
  }

  /** Takes a part of an answer. */
  #collect(one: Try, header: Header, values: Uint8Array): void {
    const answer = joinPart(one, header, values);
    if (!answer) return;
    const { job } = one;
    this.#underWay.drop(one);
    if (job) {
      // A late answer tells how long its node was away, not how long such batches take.
      this.#hedging.learn(one, performance.now());
      job.parcel.take(answer);
      this.#finish(job);
      job.resolve();
    } else this.counts.late++;
    this.#pump();
  }

  /** A node says no. */
  #refuse(one: Try, outcome: ReturnType<typeof readFault>): void {
    const { job, member } = one;
    if (!job) {
      this.#underWay.drop(one);
      this.#pump();
      return;
    }
    if (member) job.refused.add(member.name);
    if (outcome.code === "Busy") {
      // It drains, or has another generation by now: nothing was tried.
      this.#underWay.drop(one);
      if (member && this.#othersFor(job)) this.#wait(job);
      else this.#retry(job, reviveError(outcome), true);
      return;
    }
    const error = reviveError(outcome);
    if (error instanceof WorkerError || error instanceof DataError) {
      this.#underWay.drop(one);
      this.#retry(job, error, true);
      return;
    }
    this.#fail(job, error);
  }

  #othersFor({ parcel, refused }: Job): boolean {
    return this.membership.usable(parcel.header.generation).some(({ name }) => !refused.has(name));
  }

  /** Nobody listens where a try went. */
  #unreachable(one: Try): void {
    const { job, member } = one;
    if (member?.heartbeat.draining) {
      // It takes nothing new, but answers what it has.
      this.#repeat(one);
      return;
    }
    if (member) {
      this.#depart(member, "nobody listens there");
      return;
    }
    this.#underWay.drop(one);
    if (!job) return;
    if (performance.now() < this.#settledAt) {
      this.#wait(job, AGAIN_MS);
      return;
    }
    this.#fail(job, new BusyError("No worker is live that has this dataset.", 1));
  }

  /** A node is gone: what it had goes elsewhere now. */
  #depart(member: Member, reason: string): void {
    if (this.membership.get(member.name) === member) {
      this.membership.remove(member.name);
      this.#log.warn({ node: member.name }, `node lost: ${reason}`);
    }
    for (const one of this.#underWay.all()) {
      if (one.member === member) this.#repeat(one);
    }
    this.#pump();
  }

  /** A try has ended by no fault of its node's. */
  #repeat(one: Try): void {
    const { job } = one;
    this.#underWay.drop(one);
    if (!job || job.tries.size > 0) return;
    this.counts.repeated++;
    this.#wait(job);
  }

  /** A try came to nothing. */
  #lose(one: Try, reason: string): void {
    const { job, member } = one;
    this.#underWay.drop(one);
    if (!job) return;
    this.counts.lost++;
    if (member) job.refused.add(member.name);
    this.#retry(job, new WorkerError(undefined, new Error(reason)), this.#connected);
  }

  /** Puts a batch back, unless another try of it is under way or it has failed too often. */
  #retry(job: Job, error: FieldprobeError, counts: boolean): void {
    if (counts) job.failures++;
    if (job.tries.size > 0) return;
    if (job.failures >= TRIES) {
      this.#fail(job, error);
      return;
    }
    this.counts.repeated++;
    this.#wait(job);
  }

  /** Puts a batch back into the line, unless another try of it is under way: its answer must not find it there. */
  #wait(job: Job, ms = 0): void {
    if (job.tries.size > 0) return;
    job.notBefore = performance.now() + ms;
    this.#waiting.unshift(job);
    this.#pump();
  }

  #fail(job: Job, error: FieldprobeError): void {
    this.#waiting = this.#waiting.filter((other) => other !== job);
    this.#finish(job);
    job.reject(error);
    this.#pump();
  }

  /** Leaves the other tries of a batch to themselves: their nodes are told, and count as busy until they say they are not. */
  #finish(job: Job): void {
    for (const one of job.tries) {
      one.job = null;
      if (one.member) this.#underWay.ask(one, "cancel");
    }
    job.tries.clear();
  }

  /** Sends a batch that is late to a second node. */
  #hedge(one: Try, now: number): void {
    const { job } = one;
    if (job?.tries.size !== 1 || !this.#hedging.due(one, now)) return;
    if (!this.#hedging.allowed || !this.#underWay.hasRoom(job.parcel)) return;
    const other = chooseNode(this.membership, job);
    if (other === null || other === "later" || job.refused.has(other.name)) return;
    this.#hedging.spend();
    this.counts.hedged++;
    if (one.member && one.heardAt === one.sentAt) one.member.suspect = true;
    this.#transmit(job, other, now);
  }
}
