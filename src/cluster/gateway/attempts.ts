/** What a gateway has sent and not heard the end of: each sending has a subject of its own for its answer, and is counted. */
import type { SendingCounts } from "../../engine/carrier.js";
import { encodeHeader, type Header, MessageError, NO_DEADLINE } from "../wire/message.js";
import { SUBJECTS } from "../wire/subjects.js";
import type { Transport } from "../wire/transport.js";
import type { Member } from "./membership.js";
import { bytesOf, type Job, type Parcel, type Try, timeLeft } from "./shipment.js";

/** Bytes of requests and awaited answers under way: half of what a server keeps for a slow client by default. */
const BYTES_IN_FLIGHT = 32 * 1024 * 1024;

/** `SendingCounts` while they grow. */
export type Counts = { -readonly [name in keyof SendingCounts]: number };

export class UnderWay {
  readonly #transport: Transport;
  readonly #counts: Counts;
  readonly #tries = new Map<string, Try>();
  #next = 0;
  #bytes = 0;

  constructor(transport: Transport, counts: Counts) {
    this.#transport = transport;
    this.#counts = counts;
  }

  get size(): number {
    return this.#tries.size;
  }

  /** All tries, also while some of them end. */
  all(): readonly Try[] {
    return [...this.#tries.values()];
  }

  /** The try that a message is about. */
  find(subject: string): Try | undefined {
    return this.#tries.get(subject.slice(subject.lastIndexOf(".") + 1));
  }

  hasRoom(parcel: Parcel): boolean {
    return this.#bytes === 0 || this.#bytes + bytesOf(parcel) <= BYTES_IN_FLIGHT;
  }

  /**
   * Sends a batch to a node; null: to any that has the dataset.
   *
   * @throws RangeError for one that is larger than a message may be; nothing of it is under way then
   */
  send(job: Job, member: Member | null, now: number): void {
    const { parcel } = job;
    job.attempts++;
    const one: Try = {
      id: (this.#next++).toString(36),
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
    const subject = member ? SUBJECTS.evaluate(member.name) : SUBJECTS.any(parcel.dataset);
    const header = encodeHeader({ ...parcel.header, attempt: one.attempt, deadlineMs: timeLeft(parcel.deadline) });
    job.writes.push(this.#transport.publish(subject, [header, ...parcel.values], this.#replyTo(one)));
    job.tries.add(one);
    this.#tries.set(one.id, one);
    this.#bytes += bytesOf(parcel);
    this.#counts.sent++;
    if (member) member.outstanding++;
  }

  /** Tells the node of a try to stop, or asks whether it still has it. */
  ask(one: Try, kind: "cancel" | "enquire"): void {
    if (!one.member) return;
    const header = encodeHeader({ ...one.parcel.header, kind, attempt: one.attempt, deadlineMs: NO_DEADLINE });
    void this.#transport.publish(SUBJECTS.control(one.member.name), [header], this.#replyTo(one));
  }

  /** Forgets a try. */
  drop(one: Try): void {
    if (!this.#tries.delete(one.id)) return;
    one.job?.tries.delete(one);
    this.#bytes -= bytesOf(one.parcel);
    if (one.member) one.member.outstanding--;
  }

  #replyTo(one: Try): string {
    return `${this.#transport.inbox}.${one.id}`;
  }
}

/**
 * Takes a part of an answer.
 *
 * @returns the answer once it is whole, else null; valid as long as `values` is
 * @throws MessageError for an answer to another batch, or another part than the next one
 */
export function joinPart(
  one: Try,
  { offset, total, count, components }: Header,
  values: Uint8Array,
): Uint8Array | null {
  const { header, answerBytes } = one.parcel;
  if (total !== answerBytes || offset !== one.filled || count !== header.count || components !== header.components)
    throw new MessageError(`an answer of ${total} bytes to a batch that has ${answerBytes}`);
  if (values.length < total) {
    one.parts ??= new Uint8Array(total);
    one.parts.set(values, offset);
  }
  one.filled += values.length;
  return one.filled < total ? null : (one.parts ?? values);
}
