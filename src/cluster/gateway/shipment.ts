/** A shipment is a part of a batch for one peer; an attempt is one sending of it. */
import type { FieldprobeError } from "../../errors.js";
import { HEADER_BYTES, type Header, inputBytes, NO_DEADLINE } from "../wire/message.js";
import { hasCredit, loadOf, type Member, type Membership } from "./membership.js";

/** A part of a batch, encoded for sending. */
export interface Shipment {
  readonly header: Header;
  /** The values that follow the header, in parts; they must not change until the shipment is settled. */
  readonly values: readonly Uint8Array[];
  /** Name of the dataset. */
  readonly dataset: string;
  /** The peer whose cache suits it, or null. */
  readonly peer: string | null;
  readonly answerBytes: number;
  /** Receives the values of the answer, which are valid until it returns. */
  readonly take: (answer: Uint8Array) => void;
  /** When it must be answered, on the clock of `Date.now`; null: no deadline. */
  readonly deadline: number | null;
  /** Shipments with the same key take equally long per unit of work. */
  readonly costKey: string;
  readonly work: number;
}

/** The state of a shipment that is neither answered nor given up. */
export interface PendingShipment {
  readonly shipment: Shipment;
  /** Attempts that may still be answered. */
  readonly attempts: Set<Attempt>;
  /** Peers that have refused it. */
  readonly refused: Set<string>;
  /** Writes that may still be reading the values. */
  readonly writes: Promise<void>[];
  readonly resolve: () => void;
  readonly reject: (error: FieldprobeError) => void;
  /** Number of attempts so far. */
  sent: number;
  failures: number;
  /** Earliest time of the next attempt, on the clock of `performance.now`. */
  notBefore: number;
}

/** One sending of a shipment. */
export interface Attempt {
  readonly id: string;
  /** Null once the shipment has been answered by another attempt or given up. */
  pending: PendingShipment | null;
  readonly shipment: Shipment;
  /** Null: any peer of the dataset's group. */
  readonly member: Member | null;
  /** 1 for the first sending. */
  readonly number: number;
  sentAt: number;
  heardAt: number;
  enquiredAt: number;
  /** The received part of an answer that comes in several messages. */
  parts: Uint8Array | null;
  filled: number;
}

/** Bytes of the request and of the answer. */
export function bytesOf({ header, answerBytes }: Shipment): number {
  return HEADER_BYTES + inputBytes(header) + answerBytes;
}

/** Milliseconds until a deadline, as a message states them. */
export function timeLeft(deadline: number | null): number {
  return deadline === null ? NO_DEADLINE : Math.max(0, Math.min(NO_DEADLINE - 1, Math.round(deadline - Date.now())));
}

/** Chooses the peer for a shipment: null for any that listens, "later" while all are busy. */
export function choosePeer(
  membership: Membership,
  { shipment, refused, attempts }: PendingShipment,
): Member | null | "later" {
  const busy = new Set([...attempts].map(({ member }) => member));
  const all = membership.usable(shipment.header.generation).filter((member) => !busy.has(member));
  const fresh = all.filter(({ name }) => !refused.has(name));
  const usable = fresh.length > 0 ? fresh : all;
  if (usable.length === 0) return null;
  const trusted = usable.filter(({ suspect }) => !suspect);
  const free = (trusted.length > 0 ? trusted : usable).filter(hasCredit);
  if (free.length === 0) return "later";
  const suited = free.find(({ name }) => name === shipment.peer);
  return suited ?? free.reduce((least, member) => (loadOf(member) < loadOf(least) ? member : least));
}
