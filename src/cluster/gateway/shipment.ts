/** Batches on their way: what is to be sent, and one sending of it. */
import type { FieldprobeError } from "../../errors.js";
import { HEADER_BYTES, type Header, inputBytes, NO_DEADLINE } from "../wire/message.js";
import type { Member } from "./membership.js";

/** A batch to be sent. */
export interface Parcel {
  readonly header: Header;
  /** The values after it, in parts; they stay as they are until the batch has been done. */
  readonly values: readonly Uint8Array[];
  /** Name of the dataset. */
  readonly dataset: string;
  /** The node whose cache suits it, or null. */
  readonly node: string | null;
  readonly answerBytes: number;
  /** Told the values of the answer, which are only valid until it returns. */
  readonly take: (answer: Uint8Array) => void;
  /** When it must be over, on the clock of `Date.now`. */
  readonly deadline: number | null;
  /** What takes equally long per unit of work. */
  readonly kind: string;
  readonly work: number;
}

/** A batch until it has been answered or given up. */
export interface Job {
  readonly parcel: Parcel;
  readonly tries: Set<Try>;
  readonly refused: Set<string>;
  /** Sendings that may still be reading the values. */
  readonly writes: Promise<void>[];
  readonly resolve: () => void;
  readonly reject: (error: FieldprobeError) => void;
  attempts: number;
  failures: number;
  /** Not to be sent before. */
  notBefore: number;
}

/** One sending of a batch. */
export interface Try {
  readonly id: string;
  /** Null once the batch has been answered by another try or given up. */
  job: Job | null;
  readonly parcel: Parcel;
  /** Null: any node of the dataset's group. */
  readonly member: Member | null;
  readonly attempt: number;
  sentAt: number;
  heardAt: number;
  enquiredAt: number;
  /** The answer as far as it has come, where it comes in parts. */
  parts: Uint8Array | null;
  filled: number;
}

/** Bytes of a batch that are under way, request and answer. */
export function bytesOf({ header, answerBytes }: Parcel): number {
  return HEADER_BYTES + inputBytes(header) + answerBytes;
}

/** What a message says of its deadline. */
export function timeLeft(deadline: number | null): number {
  return deadline === null ? NO_DEADLINE : Math.max(0, Math.min(NO_DEADLINE - 1, Math.round(deadline - Date.now())));
}
