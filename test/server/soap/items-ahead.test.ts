/**
 * Large requests that threads read: the same points and the same first error as without threads, wherever pieces are
 * cut.
 */
import { setImmediate as moment } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { decode, requestedOperations } from "../../../src/server/soap/decode.js";
import { closeEnvelope, openEnvelope } from "../../../src/server/soap/envelope.js";
import { type ByteSource, NameCache, XmlReader } from "../../../src/server/soap/xml/reader.js";
import { LIMITS } from "../../../src/shared/config.js";
import { FieldprobeError } from "../../../src/shared/errors.js";
import { type Steps, walk } from "../../../src/text/steps.js";
import { sourceOf } from "../../support/decode-document.js";
import { FakeEngine } from "../../support/fake-engine.js";
import { NAMESPACE } from "../../support/soap-service.js";
import { type TextsHere, textsHere } from "../../support/texts-here.js";

const COUNT = 24_000;

/** A number of up to nine digits that belongs to an item. */
const coordinate = (i: number, axis: number): string => ((((i * 3 + axis) * 7919) % 1_000_003) / 1000).toString();

function item(i: number, prefix = ""): string {
  const member = (name: string, axis: number): string => `<${prefix}${name}>${coordinate(i, axis)}</${prefix}${name}>`;
  return `<${prefix}Point3>${member("x", 0)}${member("y", 1)}${member("z", 2)}</${prefix}Point3>`;
}

/** A NullOp of `COUNT` items in which some are replaced. */
function document(replaced: Readonly<Record<number, string>> = {}, prefix = "", rest = ""): string {
  const items = Array.from({ length: COUNT }, (_, i) => replaced[i] ?? item(i, prefix));
  return (
    '<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>' +
    `<NullOp xmlns="${NAMESPACE}" xmlns:p="${NAMESPACE}"><points>${items.join("")}</points>${rest}</NullOp></s:Body></s:Envelope>`
  );
}

/** The outcome of a document: its points, or the error with its member. */
type Outcome = readonly number[] | string;

async function outcome(text: string, chunk: number, texts: TextsHere | null, most = 1_000_000): Promise<Outcome> {
  const bytes = Buffer.from(text);
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += chunk) chunks.push(bytes.subarray(at, at + chunk));
  try {
    return await walk(read(chunks, bytes.length, texts, most));
  } catch (error) {
    if (!(error instanceof FieldprobeError)) throw error;
    return `${error.code} ${error.context.member ?? ""} ${error.message}`;
  }
}

/** Hands a few chunks on, as a body does while it arrives, or none. */
function flowOf(source: ByteSource): ByteSource["flow"] {
  let waits = 0;
  return async (into, also) => {
    await Promise.race([moment(), also ?? moment()]);
    let chunks = waits++ % 4;
    for (let wants = true; wants && chunks > 0; chunks--) {
      const bytes = source.take() ?? null;
      if (bytes !== null) wants = into(bytes);
    }
  };
}

function* read(chunks: readonly Buffer[], length: number, texts: TextsHere | null, most: number): Steps<number[]> {
  const engine = new FakeEngine({ slabPoints: 1000 });
  const source = sourceOf(chunks);
  const reader = new XmlReader({ ...source, flow: flowOf(source) }, LIMITS, new NameCache());
  yield* openEnvelope(reader, "1.1", LIMITS["soap.headerBlocks"]);
  const { evaluation } = yield* decode(reader, requestedOperations(NAMESPACE, reader), {
    namespace: NAMESPACE,
    version: "1.1",
    mostPoints: most,
    authorise: () => undefined,
    limit: () => ({ points: most, name: "query.points" }),
    start: (query) => ({ ...engine.start(query, {}), ...(texts === null ? {} : { textThreads: texts }) }),
    countPoints: () => null,
    remaining: () => length,
  });
  yield* closeEnvelope(reader);
  const finished = evaluation.finish();
  let values: number[] = [];
  yield finished.then((result) => {
    values = result.values.flatMap((part) => [...part]);
  });
  return values;
}

const bad = (i: number): string => item(i).replace("</y>", "e</y>");
const DOCUMENTS: readonly (readonly [string, string])[] = [
  ["plain items", document()],
  ["items with a prefix", document({}, "p:")],
  ["a wrong number", document({ 17001: bad(17_001) })],
  ["two wrong numbers", document({ 9000: bad(9_000), 21000: bad(21_000) })],
  ["a comment in an item", document({ 12345: item(12_345).replace("<y>", "<!-- </Point3> --><y>") })],
  ["an item in the other spelling", document({ 8000: item(8_000, "p:"), 16000: item(16_000, "p:") })],
  ["CDATA and references", document({ 20000: item(20_000).replace("<z>", "<z><![CDATA[ ]]>&#49;") })],
  [
    "numbers that need the exact reader",
    document({
      7: item(7).replace(/<x>[^<]*/, "<x>1e-40"),
      15000: item(3).replace(/<x>[^<]*/, "<x>1.00000005960464477539062500000001"),
    }),
  ],
  ["infinite numbers", document({ 19999: item(1).replace(/<x>[^<]*/, "<x> INF ") })],
  ["a missing member", document({ 23999: item(5).replace(/<z>[^<]*<\/z>/, "") })],
  ["white space between items", document().replaceAll("</Point3>", "</Point3>\r\n\t ")],
  ["text between items", document({ 11000: `${item(1)}x` })],
  ["an end before the end", document().slice(0, 1_000_000)],
  ["more than points", document({}, "", "<points/>")],
  ["a wrong end", `${document()}<`],
];

describe("requests that threads read", () => {
  it.each(DOCUMENTS)("are read as without threads: %s", async (_name, text) => {
    const expected = await outcome(text, 65_536, null);
    for (const chunk of [65_536, 40_001]) {
      const texts = textsHere();
      expect(await outcome(text, chunk, texts)).toEqual(expected);
      expect(texts.state.done).toBeGreaterThan(1);
      await expect.poll(() => texts.state.lent).toBe(0);
    }
  });

  it("have their limit, at its very point", async () => {
    const text = document();
    expect(await outcome(text, 65_536, textsHere(), COUNT)).toHaveLength(3 * COUNT);
    for (const most of [COUNT - 1, 9_999]) {
      const texts = textsHere();
      const refused = await outcome(text, 65_536, texts, most);
      expect(refused).toBe(await outcome(text, 65_536, null, most));
      expect(refused).toMatch(/^LimitExceeded|TooMany/);
      await expect.poll(() => texts.state.lent).toBe(0);
    }
  });

  it("survive lost threads and want of memory", async () => {
    const text = document();
    const expected = await outcome(text, 65_536, null);
    for (const texts of [
      textsHere((task) => task % 2 === 1),
      textsHere(() => true),
      textsHere(undefined, 1),
      textsHere(undefined, 0),
    ]) {
      expect(await outcome(text, 65_536, texts)).toEqual(expected);
      await expect.poll(() => texts.state.lent).toBe(0);
    }
  });
});
