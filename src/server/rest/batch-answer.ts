/** An answer of a batch before it is written: what its numbers are, the numbers, and the same as JSON. */
import { nested, octetsOf } from "./answer/write-answer.js";

export interface BatchAnswer {
  /** Members that say what the numbers are. */
  readonly head: object;
  /** The numbers; none if all of the answer is in its members. */
  readonly values: readonly Float32Array[];
  readonly json: () => Iterable<Buffer>;
}

/** One object of JSON: the members of a head, and `values` nested as `shape` says. */
export function* withValues(
  head: object,
  values: readonly Float32Array[],
  shape: readonly number[],
): Generator<Buffer> {
  yield Buffer.from(`${JSON.stringify(head).slice(0, -1)},"values":`);
  yield* nested({ values }, shape);
  yield Buffer.from("}\n");
}

/**
 * Answers of a batch as one line of JSON, `{"results": [...]}`, followed by the float32 numbers of all results in their
 * order. A result says how many are its own by `numbers`. Spaces make the line a multiple of four bytes long.
 */
export function* batchOctets(answers: readonly (BatchAnswer | { readonly problem: object })[]): Generator<Buffer> {
  const results = answers.map((answer) => {
    if ("problem" in answer) return { problem: answer.problem, numbers: 0 };
    return { ...answer.head, numbers: answer.values.reduce((sum, { length }) => sum + length, 0) };
  });
  const line = Buffer.from(JSON.stringify({ results }));
  yield line;
  yield Buffer.from(`${" ".repeat(3 - (line.length % 4))}\n`);
  for (const answer of answers) if (!("problem" in answer)) yield* octetsOf(answer.values);
}
