/** Runs the queries of a question, from start to result. */
import { type Evaluation, type Query, type Result, writeTriples } from "../../engine/contract/query.js";
import type { ReducedParts } from "../../engine/contract/reduced-parts.js";
import type { PointLimit, RequestLife } from "../http/request-life.js";
import { TripleWriter } from "../http/triple-writer.js";

/** Runs a query, or parts of its reduction. `write`: hands over its points, if any. The caller releases the result. */
export async function runQuery(
  life: RequestLife,
  query: Query,
  write?: (evaluation: Evaluation) => void | Promise<void>,
  parts: ReducedParts | null = null,
): Promise<Result> {
  const evaluation = life.start(query, false, parts);
  if (write !== undefined) await write(evaluation);
  await life.acquireSlot();
  const result = await evaluation.finish();
  life.forget(evaluation);
  return result;
}

/**
 * Runs a query at points, three float32 each, whose result is kept until the end of the request.
 * @param limitOf reduces the engine's point limit to the limit of the request
 * @throws LimitError
 */
export async function runAtPoints(
  life: RequestLife,
  query: Query,
  points: Float32Array,
  limitOf: (own: PointLimit) => PointLimit = (own) => own,
  velocities: Float32Array | null = null,
): Promise<Result> {
  const result = await runQuery(life, query, async (evaluation) => {
    const writer = new TripleWriter(evaluation.points, limitOf(evaluation.limit));
    await life.slices.each(points.length / 3, (from, to) =>
      writer.addAll(points.subarray(3 * from, 3 * to), to - from),
    );
    writer.flush();
    if (velocities !== null) writeTriples(evaluation.velocities, velocities);
  });
  life.onEnd(() => result.release());
  return result;
}
