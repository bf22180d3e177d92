/**
 * The dispatcher sees shipments through: it chooses a peer, sends, and acts on answers, faults, timeouts and lost peers.
 *
 * A shipment waits until a peer has room for it, then is in flight by one attempt, or by two when it is hedged. An answer settles
 * it; a fault or a timeout puts it back into the queue, unless another attempt is in flight or it has failed too often.
 */
import type { Logger } from "pino";
import { reviveError } from "../../engine/threads/errors-as-data.js";
import { BusyError, CancelledError, DataError, type FieldprobeError, WorkerError } from "../../errors.js";
import { decodeHeartbeat } from "../wire/heartbeat.js";
import { decodeMessage, type Header, MessageError } from "../wire/message.js";
import { SUBJECTS } from "../wire/subjects.js";
import type { ConnectionEvent, Delivery, Transport } from "../wire/transport.js";
import { readFault } from "../wire/wire-fault.js";
import { type Counts, InFlight, joinPart } from "./attempts.js";
import { Hedging } from "./hedging.js";
import { type Member, Membership } from "./membership.js";
import { type Attempt, choosePeer, type PendingShipment, type Shipment } from "./shipment.js";

/** Failed attempts after which the query fails. */
const MOST_FAILURES = 3;
/** Time after the loss of a message server in which peers may be unreachable. */
const SETTLE_MS = 3000;
/** Pause between attempts to reach any peer in that time. */
const AGAIN_MS = 50;
/** Interval of the check for timeouts. */
const TICK_MS = 5;
/** Silence after which a peer is asked about an attempt. */
const ENQUIRE_MS = 200;
/** Longest interval between two checks that counts as silence: a gateway that was held up may have answers that it has not read. */
const COUNTED_MS = 250;
/** Interval of the failure detector, which looks for missed heartbeats. */
const DETECT_MS = 250;

/** Settings of the dispatcher. */
export interface DispatchSettings {
  readonly replicas: number;
  readonly hedgeMs: number;
  /** Silence after which an attempt counts as lost. */
  readonly timeoutMs: number;
}

/** Sends shipments to peers until each is answered or fails. */
export class Dispatcher {
  readonly membership: Membership;
  readonly counts: Counts = { sent: 0, hedged: 0, repeated: 0, lost: 0, late: 0 };
  readonly #log: Logger;
  readonly #timeoutMs: number;
  readonly #inFlight: InFlight;
  readonly #hedging: Hedging;
  readonly #detector: NodeJS.Timeout;
  #detectedAt = performance.now();
  /** The last heartbeat came from a peer beyond the largest number. */
  #full = false;
  #ticker: NodeJS.Timeout | null = null;
  #tickedAt = 0;
  #queue: PendingShipment[] = [];
  #settledAt = 0;
  #connected = true;
  #closed = false;

  constructor(transport: Transport, { replicas, hedgeMs, timeoutMs }: DispatchSettings, log: Logger) {
    this.#log = log;
    this.#timeoutMs = timeoutMs;
    this.membership = new Membership(replicas);
    this.#hedging = new Hedging(hedgeMs);
    this.#inFlight = new InFlight(transport, this.counts);
    transport.subscribe(`${transport.inbox}.*`, (delivery) => this.#receive(delivery));
    transport.subscribe(SUBJECTS.heartbeats, ({ data }) => this.#hear(data));
    this.#detector = setInterval(() => this.#detect(), DETECT_MS);
    transport.watch((event) => this.#follow(event));
  }

  /** Number of shipments that wait for a peer. */
  get waiting(): number {
    return this.#queue.length;
  }

  /** Number of attempts in flight. */
  get sent(): number {
    return this.#inFlight.size;
  }

  /**
   * Sends a shipment.
   *
   * @returns a promise that resolves once the answer has been taken, and a function that gives the shipment up: the promise then
   *   rejects with the given error. Once it settles, nothing reads the values of the shipment any more.
   */
  send(shipment: Shipment): { readonly done: Promise<void>; readonly abandon: (error: FieldprobeError) => void } {
    const writes: Promise<void>[] = [];
    let abandon: (error: FieldprobeError) => void = () => {};
    const answered = new Promise<void>((resolve, reject) => {
      const pending: PendingShipment = {
        shipment,
        attempts: new Set(),
        refused: new Set(),
        writes,
        resolve,
        reject,
        sent: 0,
        failures: 0,
        notBefore: 0,
      };
      abandon = (error) => this.#fail(pending, error);
      if (this.#closed) reject(new CancelledError());
      else this.#queue.push(pending);
    });
    if (!this.#closed) this.#startTicks();
    this.#pump();
    const done = answered.finally(() => Promise.all(writes));
    return { done, abandon };
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#detector);
    this.#stopTicks();
    const open = new Set([...this.#queue, ...this.#inFlight.all().flatMap(({ pending }) => pending ?? [])]);
    for (const pending of open) this.#fail(pending, new CancelledError());
  }

  /** Sends the shipments for which a peer has room. */
  #pump(): void {
    if (this.#queue.length === 0) return;
    const now = performance.now();
    if (!this.#connected) {
      if (now < this.#settledAt) return;
      for (const { reject } of this.#queue.splice(0)) reject(new BusyError("The message system cannot be reached.", 1));
      return;
    }
    this.#queue = this.#queue.filter((pending) => {
      if (pending.notBefore > now || !this.#inFlight.hasRoom(pending.shipment)) return true;
      const chosen = choosePeer(this.membership, pending);
      if (chosen === "later") return true;
      this.#transmit(pending, chosen, now);
      return false;
    });
  }

  #transmit(pending: PendingShipment, member: Member | null, now: number): void {
    try {
      this.#inFlight.send(pending, member, now);
      this.#hedging.earn();
    } catch (error) {
      // A server that the connection has moved to may take smaller messages than the shipment was cut for.
      if (pending.attempts.size === 0) pending.reject(new WorkerError(undefined, error));
    }
  }

  #receive({ subject, data, unanswered }: Delivery): void {
    const attempt = this.#inFlight.find(subject);
    if (!attempt) {
      this.counts.late++;
      return;
    }
    if (unanswered) {
      this.#unreachable(attempt);
      return;
    }
    try {
      const { header, values } = decodeMessage(data);
      const { query, batch } = attempt.shipment.header;
      if (header.query !== query || header.batch !== batch) throw new MessageError("an answer to another question");
      this.#heed(attempt, header, values);
    } catch (error) {
      if (!(error instanceof MessageError)) throw error;
      this.#log.warn({ node: attempt.member?.name, err: error }, "malformed message");
      this.#lose(attempt, error.message);
    }
  }

  /** Acts on a message about an attempt. */
  #heed(attempt: Attempt, header: Header, values: Uint8Array): void {
    attempt.heardAt = performance.now();
    if (attempt.member) attempt.member.suspect = false;
    switch (header.kind) {
      case "held":
        return;
      case "unknown":
        this.#lose(attempt, "the peer does not know the batch");
        return;
      case "fault":
        this.#refuse(attempt, readFault(values));
        return;
      case "answer":
        this.#collect(attempt, header, values);
        return;
      default:
        throw new MessageError(`a peer does not send "${header.kind}"`);
    }
  }

  /** Takes a part of an answer. */
  #collect(attempt: Attempt, header: Header, values: Uint8Array): void {
    const answer = joinPart(attempt, header, values);
    if (!answer) return;
    const { pending } = attempt;
    this.#inFlight.drop(attempt);
    if (pending) {
      // A late answer tells how long its peer was away, not how long such shipments take.
      this.#hedging.learn(attempt, performance.now());
      pending.shipment.take(answer);
      this.#finish(pending);
      pending.resolve();
    } else this.counts.late++;
    this.#pump();
  }

  /** Acts on a fault that a peer reports. */
  #refuse(attempt: Attempt, outcome: ReturnType<typeof readFault>): void {
    const { pending, member } = attempt;
    if (!pending) {
      this.#inFlight.drop(attempt);
      this.#pump();
      return;
    }
    if (member) pending.refused.add(member.name);
    const error = reviveError(outcome);
    if (outcome.code === "Busy") {
      // The peer drains, or has another generation by now: nothing was evaluated.
      this.#inFlight.drop(attempt);
      if (member && this.#hasOthers(pending)) this.#requeue(pending);
      else this.#retry(pending, error, true);
      return;
    }
    if (error instanceof WorkerError || error instanceof DataError) {
      this.#inFlight.drop(attempt);
      this.#retry(pending, error, true);
      return;
    }
    this.#fail(pending, error);
  }

  #hasOthers({ shipment, refused }: PendingShipment): boolean {
    return this.membership.usable(shipment.header.generation).some(({ name }) => !refused.has(name));
  }

  /** Acts on the notice that nobody listens where an attempt went. */
  #unreachable(attempt: Attempt): void {
    const { pending, member } = attempt;
    if (member?.heartbeat.draining) {
      // It takes nothing new, but answers what it has.
      this.#repeat(attempt);
      return;
    }
    if (member) {
      this.#depart(member, "nobody listens there");
      return;
    }
    this.#inFlight.drop(attempt);
    if (!pending) return;
    if (performance.now() < this.#settledAt) {
      this.#requeue(pending, AGAIN_MS);
      return;
    }
    this.#fail(pending, new BusyError("No worker is live that has this dataset.", 1));
  }

  /** Removes a lost peer; its shipments go to others. */
  #depart(member: Member, reason: string): void {
    if (this.membership.get(member.name) === member) {
      this.membership.remove(member.name);
      this.#log.warn({ node: member.name }, `node lost: ${reason}`);
    }
    for (const attempt of this.#inFlight.all()) {
      if (attempt.member === member) this.#repeat(attempt);
    }
    this.#pump();
  }

  /** Ends an attempt that failed through no fault of its shipment. */
  #repeat(attempt: Attempt): void {
    const { pending } = attempt;
    this.#inFlight.drop(attempt);
    if (!pending || pending.attempts.size > 0) return;
    this.counts.repeated++;
    this.#requeue(pending);
  }

  /** Ends an attempt that timed out or was answered by a malformed message. */
  #lose(attempt: Attempt, reason: string): void {
    const { pending, member } = attempt;
    this.#inFlight.drop(attempt);
    if (!pending) return;
    this.counts.lost++;
    if (member) pending.refused.add(member.name);
    this.#retry(pending, new WorkerError(undefined, new Error(reason)), this.#connected);
  }

  /** Puts a shipment back into the queue, unless another attempt is in flight or it has failed too often. */
  #retry(pending: PendingShipment, error: FieldprobeError, counts: boolean): void {
    if (counts) pending.failures++;
    if (pending.attempts.size > 0) return;
    if (pending.failures >= MOST_FAILURES) {
      this.#fail(pending, error);
      return;
    }
    this.counts.repeated++;
    this.#requeue(pending);
  }

  /** Puts a shipment back into the queue, unless another attempt is in flight: its answer must not find it there. */
  #requeue(pending: PendingShipment, ms = 0): void {
    if (pending.attempts.size > 0) return;
    pending.notBefore = performance.now() + ms;
    this.#queue.unshift(pending);
    this.#pump();
  }

  #fail(pending: PendingShipment, error: FieldprobeError): void {
    this.#queue = this.#queue.filter((other) => other !== pending);
    this.#finish(pending);
    pending.reject(error);
    this.#pump();
  }

  /** Detaches the other attempts of a shipment: their peers are told, and count as busy until they report otherwise. */
  #finish(pending: PendingShipment): void {
    for (const attempt of pending.attempts) {
      attempt.pending = null;
      if (attempt.member) this.#inFlight.ask(attempt, "cancel");
    }
    pending.attempts.clear();
  }

  /** Checks for timeouts until nothing is in flight and nothing waits. */
  #startTicks(): void {
    if (this.#ticker) return;
    this.#tickedAt = performance.now();
    this.#ticker = setInterval(() => this.#tick(), TICK_MS);
  }

  #stopTicks(): void {
    if (this.#ticker) clearInterval(this.#ticker);
    this.#ticker = null;
  }

  #tick(): void {
    if (this.#inFlight.size === 0 && this.#queue.length === 0) {
      this.#stopTicks();
      return;
    }
    const now = performance.now();
    const uncounted = now - this.#tickedAt - COUNTED_MS;
    this.#tickedAt = now;
    for (const attempt of this.#inFlight.all()) {
      if (uncounted > 0) moveOn(attempt, uncounted, now);
      this.#checkTime(attempt, now);
    }
    this.#pump();
  }

  /** Hedges an attempt that is late, asks about one that is silent, and gives up one that is silent for too long. */
  #checkTime(attempt: Attempt, now: number): void {
    const silence = now - attempt.heardAt;
    if (silence > this.#timeoutMs) {
      this.#lose(attempt, `no message for ${this.#timeoutMs} ms`);
      return;
    }
    this.#hedge(attempt, now);
    if (Math.min(silence, now - attempt.enquiredAt) > ENQUIRE_MS) {
      attempt.enquiredAt = now;
      this.#inFlight.ask(attempt, "enquire");
    }
  }

  /** Sends a late shipment to a second peer. */
  #hedge(attempt: Attempt, now: number): void {
    const { pending } = attempt;
    if (pending?.attempts.size !== 1 || !this.#hedging.due(attempt, now)) return;
    if (!this.#hedging.allowed || !this.#inFlight.hasRoom(pending.shipment)) return;
    const other = choosePeer(this.membership, pending);
    if (other === null || other === "later" || pending.refused.has(other.name)) return;
    this.#hedging.spend();
    this.counts.hedged++;
    if (attempt.member && attempt.heardAt === attempt.sentAt) attempt.member.suspect = true;
    this.#transmit(pending, other, now);
  }

  #hear(data: Uint8Array): void {
    const heartbeat = decodeHeartbeat(data);
    if (!heartbeat) return;
    const kept = this.membership.hear(heartbeat, performance.now());
    if (!kept && !this.#full) this.#log.warn({ node: heartbeat.node }, "more nodes than a gateway keeps");
    this.#full = !kept;
    this.#pump();
  }

  /** Removes the peers that have missed their heartbeats; a gateway that was held up itself first reads what has arrived. */
  #detect(): void {
    const now = performance.now();
    const held = now - this.#detectedAt > 4 * DETECT_MS;
    this.#detectedAt = now;
    if (held || now < this.#settledAt) return;
    for (const member of this.membership.silent(now)) this.#depart(member, "no heartbeat");
  }

  #follow(event: ConnectionEvent): void {
    this.#settledAt = performance.now() + SETTLE_MS;
    if (event !== "unsettled") this.#connected = event === "restored";
    // What was in flight on the lost connection may never arrive; no peer is to blame for that.
    if (event === "restored") for (const attempt of this.#inFlight.all()) this.#repeat(attempt);
    this.#pump();
  }
}

/** Moves the times of an attempt forward, so that some milliseconds do not count as silence. */
function moveOn(attempt: Attempt, ms: number, now: number): void {
  for (const name of ["sentAt", "heardAt", "enquiredAt"] as const) attempt[name] = Math.min(now, attempt[name] + ms);
}
