/** Tasks between text and numbers, in memory that all threads share. */

/** The form of items of three numbers as text, the same for all. */
export interface ItemForm {
  /** The eight tags of an item, which may be empty: item, x, /x, y, /y, z, /z, /item. */
  readonly tags: readonly string[];
  /** `xml`: white space may surround tags and numbers. `lines`: there is none, and numbers are finite. */
  readonly rules: "xml" | "lines";
}

export interface ReadTask extends ItemForm {
  readonly kind: "read";
  readonly bytes: Uint8Array;
  readonly out: Float32Array;
}

export interface TriplesRead {
  readonly count: number;
  readonly bytes: number;
  readonly why: number;
}

export interface RecordForm {
  /** Literal text of a record, in ASCII: before its first number, between numbers, after the last one. */
  readonly separators: readonly string[];
  /** Text of numbers that are not finite; null: as in XML Schema. */
  readonly notFinite: string | null;
}

export interface WriteTask extends RecordForm {
  readonly kind: "write";
  readonly values: readonly Float32Array[];
  readonly out: Uint8Array;
}

export interface JsonTask {
  readonly kind: "json";
  readonly bytes: Uint8Array;
}

export interface CompressTask {
  readonly kind: "compress";
  readonly bytes: Uint8Array;
  readonly level: number;
}

/** Worker threads as one query uses them for its request and answer. */
export interface TextWorkers {
  readonly parallelism: number;
  /** Lends shared memory; null if none is left: then the caller does the work. */
  lend(bytes: number): Uint8Array<SharedArrayBuffer> | null;
  giveBack(memory: Uint8Array<SharedArrayBuffer>): void;
  /** Reads points. Rejects if no thread could; none works on the task any more. */
  read(task: Omit<ReadTask, "kind">): Promise<TriplesRead>;
  write(task: Omit<WriteTask, "kind">): Promise<number>;
  compress(bytes: Uint8Array, level: number): Promise<Uint8Array>;
}
