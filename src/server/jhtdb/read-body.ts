/** Reads the bodies of requests as they arrive; worker threads read the points of long ones. */
import { endOf, readAhead } from "../../text/items-ahead.js";
import { type Steps, walk } from "../../text/steps.js";
import type { Body } from "../http/body.js";
import type { RequestLife } from "../http/request-life.js";
import type { PendingQuery } from "./pending-query.js";
import type { PointsReader } from "./points-reader.js";

/**
 * Length from which worker threads read a body. If its length is not stated, or an item had an unusual form, the main
 * thread reads this many bytes before threads are tried.
 */
const LARGE_BYTES = 256 * 1024;

/** Reads a body to its end; its socket waits while a part is being read or too many points are in flight. */
export async function readBody(
  reader: PointsReader,
  pending: Pick<PendingQuery, "admit" | "threads">,
  life: Pick<RequestLife, "openBody">,
): Promise<void> {
  const body = life.openBody();
  try {
    await walk(readParts(reader, pending, body));
    reader.end();
  } finally {
    body.release();
  }
}

/** Reads the parts of a body; threads read the items of a large one, as long as these have the usual form. */
function* readParts(reader: PointsReader, pending: Pick<PendingQuery, "admit" | "threads">, body: Body): Steps<void> {
  const admit = function* (): Steps<void> {
    const wait = pending.admit();
    if (wait) yield wait;
  };
  const deliver = function* (triples: Float32Array, count: number): Steps<void> {
    reader.add(triples, count);
    yield* admit();
  };
  /** Bytes that are read here before threads are tried, and those read since they were. */
  let least = body.remaining >= LARGE_BYTES ? 0 : LARGE_BYTES;
  let since = 0;
  for (let part = body.take(); part !== null; part = body.take()) {
    if (part === undefined) {
      yield body.arrival();
      continue;
    }
    const end = endOf(reader.form);
    const at = since + part.length >= least ? part.lastIndexOf(end, undefined, "latin1") : -1;
    if (at < 0) {
      reader.write(part);
      since += part.length;
      yield* admit();
      continue;
    }
    const cut = at + end.length;
    body.putBack(part.subarray(cut));
    reader.write(part.subarray(0, cut));
    since += cut;
    yield* admit();
    const { threads } = pending;
    if (threads === null) least = Number.POSITIVE_INFINITY;
    if (threads === null || !reader.isNext) continue;
    const isOdd = yield* readAhead(body, reader.form, threads, deliver);
    least = Math.max(LARGE_BYTES, isOdd ? 2 * least : 0);
    since = 0;
  }
}
