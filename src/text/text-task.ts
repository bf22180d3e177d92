/** Text tasks turn text into points and results into text, in memory that all threads share. */

/** The form of items of three numbers as text, the same for all. */
export interface ItemForm {
  /** The eight tags of an item, a character for each byte; they may be empty: item, x, /x, y, /y, z, /z, /item. */
  readonly tags: readonly string[];
  /** `xml`: white space may surround tags and numbers. `lines`: there is none, and numbers are finite. */
  readonly rules: "xml" | "lines";
}

/** Reads items from text. */
export interface ReadTask extends ItemForm {
  readonly kind: "read";
  readonly bytes: Uint8Array;
  /** Receives the triples, each number rounded once; it has room for as many as the text can hold. */
  readonly out: Float32Array;
}

/** What was read. */
export interface TriplesRead {
  readonly count: number;
  /** Bytes up to the end of the last item read. */
  readonly bytes: number;
  /** Why reading stopped: `FULL`, `SHORT` or `ODD` of `text-layout.ts`. */
  readonly why: number;
}

/** The form of records as text. */
export interface RecordForm {
  /** Literal text of a record, in ASCII: before its first number, between numbers, after the last one. */
  readonly separators: readonly string[];
  /** Text of numbers that are not finite, in ASCII; null: as in XML Schema. */
  readonly notFinite: string | null;
}

/** Writes records of numbers as text, the shortest decimals; its value is the number of bytes. */
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
