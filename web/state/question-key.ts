/** Key of a question: what an answer is kept under, so that it is never shown as that of another question. */
import type { DatasetFacts } from "./facts.js";

/**
 * The key of the requests behind a value shown. It holds the dataset with its digest, and the quantities: different
 * quantities may be computed from the same request.
 *
 * @param quantities names of the quantities shown; none if the answer is shown as it comes
 * @param requests paths, queries or bodies, as they are sent
 */
export function questionKey(
  { name, digest }: Pick<DatasetFacts, "name" | "digest">,
  quantities: readonly string[],
  requests: unknown,
): string {
  return JSON.stringify([name, digest, quantities, requests]);
}
