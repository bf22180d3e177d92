/** Runs a query on an engine: points in, one flat Float32Array out. */
import type { Engine, Query, StartControl, TripleSink } from "../../src/engine/contract/query.js";

export function writeTriples(sink: TripleSink, triples: ArrayLike<number>): void {
  for (let i = 0; i < triples.length; ) {
    const { slab } = sink;
    const size = Math.min(triples.length - i, slab.length);
    for (let k = 0; k < size; k++) slab[k] = triples[i + k] as number;
    sink.commit(size / 3);
    i += size;
  }
}

export async function runQuery(
  engine: Engine,
  query: Query,
  points: ArrayLike<number>,
  velocities: ArrayLike<number> = [],
  control: StartControl = {},
): Promise<Float32Array> {
  const evaluation = engine.start(query, control);
  writeTriples(evaluation.points, points);
  writeTriples(evaluation.velocities, velocities);
  const result = await evaluation.finish();
  const joined = new Float32Array(result.items * result.components);
  let at = 0;
  for await (const part of result.stream ?? result.values) {
    joined.set(part, at);
    at += part.length;
  }
  result.release();
  return joined;
}

type Name<Member extends keyof Query> = NonNullable<Query[Member]>;

export function velocityAt(
  time: number,
  spatialInterpolation: Name<"spatialInterpolation"> = "Lag6",
  temporalInterpolation: Name<"temporalInterpolation"> = "PCHIP",
  dataset = "isotropic32",
): Query {
  return { operation: "GetVelocity", dataset, time, spatialInterpolation, temporalInterpolation };
}

/** Reproducible random numbers in [0, 1): mulberry32. */
export function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
