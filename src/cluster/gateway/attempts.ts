/** Tracks the attempts that are in flight: each has a reply subject of its own, and their bytes are bounded. */
import type { SendingCounts } from "../../engine/query.js";
import { encodeHeader, type Header, MessageError, NO_DEADLINE } from "../wire/message.js";
import { SUBJECTS } from "../wire/subjects.js";
import type { Transport } from "../wire/transport.js";
import type { Member } from "./membership.js";
import { type Attempt, bytesOf, type PendingShipment, type Shipment, timeLeft } from "./shipment.js";

/** Bytes of requests and awaited answers in flight: half of what a server keeps for a slow client by default. */
const BYTES_IN_FLIGHT = 32 * 1024 * 1024;

/** `SendingCounts` that can grow. */
export type Counts = { -readonly [name in keyof SendingCounts]: number };

/** The attempts of a gateway that are in flight. */
export class InFlight {
  readonly #transport: Transport;
  readonly #counts: Counts;
  readonly #attempts = new Map<string, Attempt>();
  #next = 0;
  #bytes = 0;

  constructor(transport: Transport, counts: Counts) {
    this.#transport = transport;
    this.#counts = counts;
  }

  get size(): number {
    return this.#attempts.size;
  }

  /** A copy of the list of attempts, which may end while it is walked. */
  all(): readonly Attempt[] {
    return [...this.#attempts.values()];
  }

  /** The attempt whose reply subject a message has. */
  find(subject: string): Attempt | undefined {
    return this.#attempts.get(subject.slice(subject.lastIndexOf(".") + 1));
  }

  hasRoom(shipment: Shipment): boolean {
    return this.#bytes === 0 || this.#bytes + bytesOf(shipment) <= BYTES_IN_FLIGHT;
  }

  /**
   * Sends a shipment to a peer; null: to any that has the dataset.
   *
   * @throws RangeError for one that is larger than a message may be; it is not in flight then
   */
  send(pending: PendingShipment, member: Member | null, now: number): void {
    const { shipment } = pending;
    pending.sent++;
    const attempt: Attempt = {
      id: (this.#next++).toString(36),
      pending,
      shipment,
      member,
      number: pending.sent,
      sentAt: now,
      heardAt: now,
      enquiredAt: now,
      parts: null,
      filled: 0,
    };
    const subject = member ? SUBJECTS.evaluate(member.name) : SUBJECTS.any(shipment.dataset);
    const header = encodeHeader({
      ...shipment.header,
      attempt: attempt.number,
      deadlineMs: timeLeft(shipment.deadline),
    });
    pending.writes.push(this.#transport.publish(subject, [header, ...shipment.values], this.#replyTo(attempt)));
    pending.attempts.add(attempt);
    this.#attempts.set(attempt.id, attempt);
    this.#bytes += bytesOf(shipment);
    this.#counts.sent++;
    if (member) member.outstanding++;
  }

  /** Tells the peer of an attempt to stop, or asks whether it still works on it. */
  ask(attempt: Attempt, kind: "cancel" | "enquire"): void {
    if (!attempt.member) return;
    const header = encodeHeader({ ...attempt.shipment.header, kind, attempt: attempt.number, deadlineMs: NO_DEADLINE });
    void this.#transport.publish(SUBJECTS.control(attempt.member.name), [header], this.#replyTo(attempt));
  }

  /** Forgets an attempt. */
  drop(attempt: Attempt): void {
    if (!this.#attempts.delete(attempt.id)) return;
    attempt.pending?.attempts.delete(attempt);
    this.#bytes -= bytesOf(attempt.shipment);
    if (attempt.member) attempt.member.outstanding--;
  }

  #replyTo(attempt: Attempt): string {
    return `${this.#transport.inbox}.${attempt.id}`;
  }
}

/**
 * Joins the parts of an answer.
 *
 * @returns the answer once it is complete, else null; valid as long as `values` is
 * @throws MessageError for an answer to another batch, or another part than the next one
 */
export function joinPart(
  attempt: Attempt,
  { offset, total, count, components }: Header,
  values: Uint8Array,
): Uint8Array | null {
  const { header, answerBytes } = attempt.shipment;
  if (total !== answerBytes || offset !== attempt.filled || count !== header.count || components !== header.components)
    throw new MessageError(`an answer of ${total} bytes to a batch that has ${answerBytes}`);
  if (values.length < total) {
    attempt.parts ??= new Uint8Array(total);
    attempt.parts.set(values, offset);
  }
  attempt.filled += values.length;
  return attempt.filled < total ? null : (attempt.parts ?? values);
}
