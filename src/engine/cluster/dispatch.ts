/** Sends batches to nodes and sees each of them through: credit, tries, hedges, silence, lost nodes, cancellation. */
import type { Logger } from "pino";
import { BusyError, CancelledError, DataError, type FieldprobeError, WorkerError } from "../../errors.js";
import { reviveError } from "../failure.js";
import type { SendingCounts } from "../pool.js";
import { chooseNode } from "./choose.js";
import { readFault } from "./fault.js";
import { decodeHeartbeat } from "./heartbeat.js";
import { Hedging } from "./hedging.js";
import { bytesOf, type Job, type Parcel, type Try, timeLeft } from "./job.js";
import { type Member, Membership } from "./membership.js";
import { decodeMessage, encodeHeader, type Header, MessageError, NO_DEADLINE } from "./message.js";
import { SUBJECTS } from "./subjects.js";
import type { Delivery, Transport } from "./transport.js";

/** Times a batch is tried before its query fails. */
const TRIES = 3;
/** Bytes of requests and awaited answers under way: half of what a server keeps for a slow client by default. */
const BYTES_IN_FLIGHT = 32 * 1024 * 1024;
/** Between two looks at the batches under way. */
const TICK_MS = 5;
/** How long a batch may be quiet before its node is asked about it. */
const ENQUIRE_MS = 200;
/** Between two looks at the heartbeats. */
const SWEEP_MS = 250;
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

/** `SendingCounts` while they grow. */
type Counts = { -readonly [name in keyof SendingCounts]: number };

export class Dispatcher {
  readonly membership: Membership;
  readonly counts: Counts = { sent: 0, hedged: 0, repeated: 0, lost: 0, late: 0 };
  readonly #transport: Transport;
  readonly #settings: DispatchSettings;
  readonly #log: Logger;
  readonly #tries = new Map<string, Try>();
  #waiting: Job[] = [];
  #nextTry = 0;
  #bytes = 0;
  readonly #hedging: Hedging;
  #settledAt = 0;
  #connected = true;
  /** The last heartbeat was of a node too many. */
  #full = false;
  #ticker: NodeJS.Timeout | null = null;
  readonly #sweeper: NodeJS.Timeout;
  #sweptAt = performance.now();

  constructor(transport: Transport, settings: DispatchSettings, log: Logger) {
    this.#transport = transport;
    this.#settings = settings;
    this.#log = log;
    this.membership = new Membership(settings.replicas);
    this.#hedging = new Hedging(settings.hedgeMs);
    transport.subscribe(`${transport.inbox}.*`, (delivery) => this.#receive(delivery));
    transport.subscribe(SUBJECTS.heartbeats, ({ data }) => {
      const heartbeat = decodeHeartbeat(data);
      if (!heartbeat) return;
      const known = this.membership.hear(heartbeat, performance.now());
      if (!known && !this.#full) this.#log.warn({ node: heartbeat.node }, "more nodes than a gateway keeps");
      this.#full = !known;
      this.#pump();
    });
    transport.watch((event) => {
      this.#settledAt = performance.now() + SETTLE_MS;
      if (event !== "unsettled") this.#connected = event === "restored";
      // What was under way on the lost connection may never arrive.
      if (event === "restored") for (const one of [...this.#tries.values()]) this.#lose(one, "the connection was lost");
      this.#pump();
    });
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS);
  }

  /** Batches that wait for a node, and batches that are with one. */
  get waiting(): number {
    return this.#waiting.length;
  }

  get sent(): number {
    return this.#tries.size;
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
      this.#waiting.push(job);
    });
    this.#ticker ??= setInterval(() => this.#tick(), TICK_MS);
    this.#pump();
    const done = answered.finally(() => Promise.all(writes));
    return { done, abandon };
  }

  close(): void {
    clearInterval(this.#sweeper);
    if (this.#ticker) clearInterval(this.#ticker);
    this.#ticker = null;
    const jobs = new Set([...this.#waiting, ...[...this.#tries.values()].flatMap(({ job }) => job ?? [])]);
    for (const job of jobs) this.#fail(job, new CancelledError());
  }

  /** Sends what can be sent. */
  #pump(): void {
    if (!this.#connected || this.#waiting.length === 0) return;
    const now = performance.now();
    this.#waiting = this.#waiting.filter((job) => {
      if (job.notBefore > now || !this.#hasRoom(job.parcel)) return true;
      const chosen = chooseNode(this.membership, job);
      if (chosen === "later") return true;
      this.#transmit(job, chosen, now);
      return false;
    });
  }

  #hasRoom(parcel: Parcel): boolean {
    return this.#bytes === 0 || this.#bytes + bytesOf(parcel) <= BYTES_IN_FLIGHT;
  }

  #transmit(job: Job, member: Member | null, now: number): void {
    const { parcel } = job;
    job.attempts++;
    const one: Try = {
      id: (this.#nextTry++).toString(36),
      job,
      parcel,
      member,
      attempt: job.attempts,
      sentAt: now,
      heardAt: now,
      enquiredAt: now,
      parts: null,
      filled: 0,
    };
    job.tries.add(one);
    this.#tries.set(one.id, one);
    this.#bytes += bytesOf(parcel);
    this.#hedging.earn();
    this.counts.sent++;
    if (member) member.outstanding++;
    const subject = member ? SUBJECTS.evaluate(member.name) : SUBJECTS.any(parcel.dataset);
    const header = encodeHeader({ ...parcel.header, attempt: one.attempt, deadlineMs: timeLeft(parcel.deadline) });
    job.writes.push(this.#transport.publish(subject, [header, ...parcel.values], `${this.#transport.inbox}.${one.id}`));
  }

  #receive({ subject, data, unanswered }: Delivery): void {
    const one = this.#tries.get(subject.slice(subject.lastIndexOf(".") + 1));
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
  #collect(one: Try, { offset, total, count, components }: Header, values: Uint8Array): void {
    const { header, answerBytes } = one.parcel;
    if (total !== answerBytes || offset !== one.filled || count !== header.count || components !== header.components)
      throw new MessageError(`an answer of ${total} bytes to a batch that has ${answerBytes}`);
    if (values.length < total) {
      one.parts ??= new Uint8Array(total);
      one.parts.set(values, offset);
    }
    one.filled += values.length;
    if (one.filled < total) return;
    const { job, parts } = one;
    this.#hedging.learn(one, performance.now());
    this.#drop(one);
    if (job) {
      job.parcel.take(parts ?? values);
      this.#finish(job);
      job.resolve();
    } else this.counts.late++;
    this.#pump();
  }

  /** A node says no. */
  #refuse(one: Try, outcome: ReturnType<typeof readFault>): void {
    const { job, member } = one;
    if (!job) {
      this.#drop(one);
      this.#pump();
      return;
    }
    if (member) job.refused.add(member.name);
    if (outcome.code === "Busy") {
      // It drains, or has another generation by now: nothing was tried.
      this.#drop(one);
      if (member && this.#othersFor(job)) this.#wait(job);
      else this.#retry(job, reviveError(outcome), true);
      return;
    }
    const error = reviveError(outcome);
    if (error instanceof WorkerError || error instanceof DataError) {
      this.#drop(one);
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
    if (member) {
      this.#depart(member, "nobody listens there");
      return;
    }
    this.#drop(one);
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
    for (const one of [...this.#tries.values()]) {
      if (one.member !== member) continue;
      const { job } = one;
      this.#drop(one);
      if (job && job.tries.size === 0) {
        this.counts.repeated++;
        this.#wait(job);
      }
    }
    this.#pump();
  }

  /** A try came to nothing. */
  #lose(one: Try, reason: string): void {
    const { job, member } = one;
    this.#drop(one);
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

  #wait(job: Job, ms = 0): void {
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
      if (one.member) this.#ask(one, "cancel");
    }
    job.tries.clear();
  }

  /** Forgets a try. */
  #drop(one: Try): void {
    if (!this.#tries.delete(one.id)) return;
    one.job?.tries.delete(one);
    this.#bytes -= bytesOf(one.parcel);
    if (one.member) one.member.outstanding--;
  }

  #ask(one: Try, kind: "cancel" | "enquire"): void {
    if (!one.member) return;
    const header = encodeHeader({ ...one.parcel.header, kind, attempt: one.attempt, deadlineMs: NO_DEADLINE });
    void this.#transport.publish(SUBJECTS.control(one.member.name), [header], `${this.#transport.inbox}.${one.id}`);
  }

  #tick(): void {
    if (this.#tries.size === 0 && this.#waiting.length === 0) {
      if (this.#ticker) clearInterval(this.#ticker);
      this.#ticker = null;
      return;
    }
    const now = performance.now();
    for (const one of [...this.#tries.values()]) this.#attend(one, now);
    this.#pump();
  }

  /** Looks after a try that has not been answered: a second node, an enquiry, the end of patience. */
  #attend(one: Try, now: number): void {
    const quiet = now - one.heardAt;
    if (quiet > this.#settings.timeoutMs) {
      this.#lose(one, `no word of it for ${this.#settings.timeoutMs} ms`);
      return;
    }
    const { job } = one;
    if (job && job.tries.size === 1 && this.#hedging.due(one, now)) this.#hedge(job, one, now);
    if (Math.min(quiet, now - one.enquiredAt) > ENQUIRE_MS) {
      one.enquiredAt = now;
      this.#ask(one, "enquire");
    }
  }

  #hedge(job: Job, one: Try, now: number): void {
    if (!this.#hedging.allowed || !this.#hasRoom(job.parcel)) return;
    const other = chooseNode(this.membership, job);
    if (other === null || other === "later") return;
    this.#hedging.spend();
    this.counts.hedged++;
    if (one.member && one.heardAt === one.sentAt) one.member.suspect = true;
    this.#transmit(job, other, now);
  }

  /** Gives up nodes that miss their heartbeats; a gateway that was held up itself first reads what has arrived. */
  #sweep(): void {
    const now = performance.now();
    const held = now - this.#sweptAt > 4 * SWEEP_MS;
    this.#sweptAt = now;
    if (held || now < this.#settledAt) return;
    for (const member of this.membership.silent(now)) this.#depart(member, "no heartbeat");
  }
}
