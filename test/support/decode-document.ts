/** Runs the reading half of the pipeline on a document cut into chosen chunks, without sockets. */
import type { Evaluation, Result } from "../../src/engine/contract/query.js";
import { decode, requestedOperations } from "../../src/server/soap/decode.js";
import { closeEnvelope, openEnvelope } from "../../src/server/soap/envelope.js";
import { Transcoder } from "../../src/server/soap/transcode.js";
import type { ByteSource } from "../../src/server/soap/xml/reader.js";
import { NameCache, XmlReader } from "../../src/server/soap/xml/reader.js";
import { LIMITS } from "../../src/shared/config.js";
import { type Steps, walk } from "../../src/text/steps.js";
import { FakeEngine } from "./fake-engine.js";
import { NAMESPACE, type Version } from "./soap-service.js";

/** Bytes as a source, each chunk as it is given, waited for before it comes. */
export function sourceOf(chunks: readonly Uint8Array[]): ByteSource {
  const transcoder = new Transcoder(null);
  let next = 0;
  let waiting = false;
  return {
    declare: (encoding) => transcoder.declare(encoding),
    take() {
      waiting = !waiting;
      if (waiting) return undefined;
      for (;;) {
        if (next > chunks.length) return null;
        const chunk = next < chunks.length ? Buffer.from(chunks[next] as Uint8Array) : null;
        next++;
        const ready = transcoder.push(chunk);
        if (ready.length > 0) return ready;
      }
    },
    arrival: () => Promise.resolve(),
    flow: () => Promise.resolve(),
  };
}

/** The components of the answer to a document, flat; throws what the pipeline throws. */
export async function decodeDocument(
  chunks: readonly Uint8Array[],
  version: Version,
  slabPoints = 5,
): Promise<number[]> {
  const evaluation = await walk(readDocument(chunks, version, slabPoints));
  return valuesOf(await evaluation.finish());
}

function* readDocument(chunks: readonly Uint8Array[], version: Version, slabPoints: number): Steps<Evaluation> {
  const engine = new FakeEngine({ slabPoints });
  const reader = new XmlReader(sourceOf(chunks), LIMITS, new NameCache());
  yield* openEnvelope(reader, version, LIMITS["soap.headerBlocks"]);
  const rows = requestedOperations(NAMESPACE, reader);
  const [row] = rows;
  if (row === undefined) throw new Error(`no operation ${reader.local}`);
  const { evaluation } = yield* decode(reader, rows, {
    namespace: NAMESPACE,
    version,
    mostPoints: 1_000_000,
    authorise: () => undefined,
    limit: (own) => own,
    start: (query) => engine.start(query, {}),
    countPoints: () => null,
  });
  yield* closeEnvelope(reader);
  return evaluation;
}

const valuesOf = (result: Result): number[] => result.values.flatMap((values) => [...values]);
