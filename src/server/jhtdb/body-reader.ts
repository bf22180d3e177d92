/** `BodyReader` reads the body of a request part by part; worker threads may read the points of a large one instead. */
import type { ItemForm } from "../../text/text-task.js";

/** A reader for the body of a request: `write` every part, then `end`. */
export interface BodyReader {
  write(part: Buffer): void;
  end(): void;
  /** Items of three numbers, which threads may read instead; absent if a body has none. */
  readonly items?: BodyItems;
}

/** Items of a body, as its reader expects them after what it has read. */
export interface BodyItems {
  readonly form: ItemForm;
  /** Whether an item may come next. */
  readonly isNext: boolean;
  /** Adds items that were read from the bytes that come next. */
  add(triples: Float32Array, count: number, bytes: number): void;
}
