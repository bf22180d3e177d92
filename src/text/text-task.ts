/** Text tasks turn text into points and results into text, in memory that all threads share. */
import type { ItemRules } from "../float32/triples.js";

/** Reads items of three numbers, all in the same form, from text (`float32/triples.ts`). */
export interface ReadTask {
  readonly kind: "read";
  readonly bytes: Uint8Array;
  /** The tags of an item, a character for each byte; they may be empty. */
  readonly tags: readonly string[];
  /** The white space around them, and the form of the numbers. */
  readonly rules: ItemRules;
  /** Receives the triples; it has room for as many as the text can hold. */
  readonly out: Float32Array;
}

/**
 * Counts of what was read: triples, and the bytes up to the end of the last of them; fewer than were given if an
 * item has another form.
 */
export interface TriplesRead {
  readonly count: number;
  readonly bytes: number;
}

/** The form of records as text. */
export interface RecordForm {
  /** Literal text of a record, in ASCII: before its first number, between numbers, after the last one. */
  readonly separators: readonly string[];
  /** Text of numbers that are not finite, in ASCII; null: as in XML Schema. */
  readonly notFinite: string | null;
}

/** Writes records of numbers as text (`float32/record-writer.ts`); its value is the number of bytes. */
export interface WriteTask extends RecordForm {
  readonly kind: "write";
  /** Parts of whole records. */
  readonly values: readonly Float32Array[];
  /** Receives the text; it has room for the longest. */
  readonly out: Uint8Array;
}

/** Reads a JSON object (`json-members.ts`); its value is the members. */
export interface JsonTask {
  readonly kind: "json";
  readonly bytes: Uint8Array;
  /** Members that are arrays of points. */
  readonly arrays: readonly string[];
}

/** Compresses bytes by Zstandard; its value is the compressed bytes. */
export interface CompressTask {
  readonly kind: "compress";
  readonly bytes: Uint8Array;
  readonly level: number;
}

/** The worker threads as one query uses them for the bytes of its request and its answer. */
export interface QueryTexts {
  /** Tasks that keep all threads at work. */
  readonly parallelism: number;
  /**
   * Lends shared memory of `bytes`; null if as much as may be is lent already: then the caller does the
   * work.
   */
  take(bytes: number): Uint8Array<SharedArrayBuffer> | null;
  /** Takes back memory that is no longer used. */
  give(memory: Uint8Array<SharedArrayBuffer>): void;
  /** Reads points from text. Rejects if no thread could; none works on the task any more. */
  read(task: Omit<ReadTask, "kind">): Promise<TriplesRead>;
  /** Writes records as text, and counts its bytes. Rejects as `read` does. */
  write(task: Omit<WriteTask, "kind">): Promise<number>;
  /** Compresses bytes by Zstandard. Rejects as `read` does. */
  compress(bytes: Uint8Array, level: number): Promise<Uint8Array>;
}
