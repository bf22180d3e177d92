/** The SOAP codec in process: decoding and encoding of bulk requests in the common ways of writing them. */

import type { Evaluation, Result, TripleSink } from "../dist/engine/contract/query.js";
import { decode, operationsAsked } from "../dist/server/soap/decode.js";
import { ResponseEncoder } from "../dist/server/soap/encode.js";
import { closeEnvelope, openEnvelope } from "../dist/server/soap/envelope.js";
import { PlainScanners } from "../dist/server/soap/items.js";
import { Transcoder } from "../dist/server/soap/transcode.js";
import { Spellings, XmlReader } from "../dist/server/soap/xml/reader.js";
import { LIMITS } from "../dist/shared/config.js";
import type { OperationRow } from "../dist/shared/operations.js";
import { SmallTexts } from "../dist/text/small-texts.js";
import { type Steps, walk } from "../dist/text/steps.js";
import { alternate, type Contestant } from "./alternate.js";
import { checkSame } from "./ask.js";
import type { BenchOptions, Row } from "./row.js";

const NAMESPACE = "http://turbulence.pha.jhu.edu/";
const SLAB_POINTS = 65_536;
const PART_BYTES = 64 * 1024;
const SPELLINGS = new Spellings();
const SCANNERS = new PlainScanners();
const TEXTS = new SmallTexts();
/** Points that are read and written once to see that they come out as they went in. */
const CHECKED = 100;

/** A form in which clients write an item: name of the case, and the item. */
const STYLES: readonly (readonly [string, (numbers: readonly number[]) => string])[] = [
  ["plain", ([x, y, z]) => `<Point3><x>${x?.toFixed(7)}</x><y>${y?.toFixed(7)}</y><z>${z?.toFixed(7)}</z></Point3>`],
  [
    "prefixed-17-digits",
    ([x, y, z]) =>
      `<ns1:Point3><ns1:x>${x?.toPrecision(17)}</ns1:x><ns1:y>${y?.toPrecision(17)}</ns1:y><ns1:z>${z?.toPrecision(17)}</ns1:z></ns1:Point3>`,
  ],
  [
    "indented-exponents",
    ([x, y, z]) =>
      `\n    <Point3>\n      <x>${x?.toExponential(8)}</x>\n      <y>${y?.toExponential(8)}</y>\n      <z>${z?.toExponential(8)}</z>\n    </Point3>`,
  ],
  [
    "comments",
    ([x, y, z]) => `<Point3><x>${x?.toFixed(7)}</x><!-- --><y>${y?.toFixed(7)}</y><z>${z?.toFixed(7)}</z></Point3>`,
  ],
];

/** A sink that reuses one slab: what is measured is the codec. */
function sink(slab: Float32Array): TripleSink & { last: number } {
  const made = {
    slab,
    last: 0,
    commit(count: number) {
      made.last = count;
    },
  };
  return made;
}

function document(count: number, write: (numbers: readonly number[]) => string): Buffer {
  const given = numbers(count);
  const items = Array.from({ length: count }, (_, i) => write(given.slice(3 * i, 3 * i + 3))).join("");
  return Buffer.from(
    '<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>' +
      `<NullOp xmlns="${NAMESPACE}" xmlns:ns1="${NAMESPACE}"><points>${items}</points></NullOp></s:Body></s:Envelope>`,
  );
}

/** Random coordinates, the same in every style. */
function numbers(count: number): number[] {
  let state = 7;
  return Array.from({ length: 3 * count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (6 * state) / 2 ** 32 + 0.01;
  });
}

/** Reads a document in parts as a socket gives them; returns its row and the last slab. */
function* read(bytes: Buffer, slab: Float32Array): Steps<{ row: OperationRow; checksum: number }> {
  const transcoder = new Transcoder(null);
  let at = 0;
  let ended = false;
  const reader = new XmlReader(
    {
      declare: (encoding) => transcoder.declare(encoding),
      take() {
        if (ended) return null;
        const part = at < bytes.length ? bytes.subarray(at, at + PART_BYTES) : null;
        at += PART_BYTES;
        ended = part === null;
        const ready = transcoder.push(part);
        return ended && ready.length === 0 ? null : ready;
      },
      arrival: () => Promise.resolve(),
      flow: () => Promise.resolve(),
    },
    LIMITS,
    SPELLINGS,
  );
  yield* openEnvelope(reader, "1.1", 16);
  const rows = operationsAsked(NAMESPACE, reader);
  const [row] = rows;
  if (row === undefined) throw new Error("the document names no operation");
  const points = sink(slab);
  const evaluation: Evaluation = {
    points,
    velocities: sink(slab),
    nodes: 0,
    moreRecords: 0,
    work: 0,
    limit: { points: Number.MAX_SAFE_INTEGER, name: "none" },
    finish: () => Promise.reject(new Error("nothing is evaluated here")),
    abort: () => undefined,
  };
  yield* decode(reader, rows, {
    namespace: NAMESPACE,
    version: "1.1",
    scanners: SCANNERS,
    smallTexts: TEXTS,
    mostPoints: 1_000_000,
    authorise: () => undefined,
    limit: (own) => own,
    start: () => evaluation,
    admit: () => null,
  });
  yield* closeEnvelope(reader);
  return { row, checksum: (slab[0] as number) + points.last };
}

/** Rows in million points per second. */
export async function benchCodec({ quick }: BenchOptions): Promise<Row[]> {
  const points = quick ? 20_000 : 200_000;
  const slab = new Float32Array(3 * SLAB_POINTS);
  let checksum = 0;
  const rate = async (work: () => Promise<number>): Promise<number> => {
    const since = performance.now();
    checksum += await work();
    return points / (performance.now() - since) / 1000;
  };
  const about = (name: string, bytes: number) => ({
    bench: "codec",
    case: name,
    backend: "plain",
    unit: "Mpoints/s",
    params: { points, bytesPerPoint: Math.round(bytes / points) },
  });
  const decoders = STYLES.map(([name, write]): Contestant => {
    const bytes = document(points, write);
    return {
      row: about(`decode-${name}`, bytes.length),
      run: () => rate(async () => (await walk(read(bytes, slab))).checksum),
    };
  });
  for (const [name, write] of STYLES) {
    await walk(read(document(CHECKED, write), slab));
    for (const [i, number] of numbers(CHECKED).entries()) {
      if (!(Math.abs((slab[i] as number) - number) < 1e-6)) throw new Error(`${name}: ${number} is read as ${slab[i]}`);
    }
  }
  const { row } = await walk(read(document(1, (STYLES[0] as (typeof STYLES)[0])[1]), slab));
  const values = Float32Array.from({ length: 3 * points }, (_, i) => Math.sin(i) * 3);
  const result: Result = { items: points, itemsPerPoint: 1, components: 3, values: [values], release: () => undefined };
  const encoder = new ResponseEncoder(NAMESPACE, TEXTS);
  const some = { ...result, items: CHECKED, values: [values.subarray(0, 3 * CHECKED)] };
  let text = "";
  for (const block of encoder.encode(row, "1.1", some)) text += Buffer.from(block).toString();
  const written = Float32Array.from(text.matchAll(/<[xyz]>([^<]*)</g), ([, number]) => Number(number));
  checkSame("encode", written, values.slice(0, 3 * CHECKED));
  const write = async (): Promise<number> => {
    let bytes = 0;
    for (const block of encoder.encode(row, "1.1", result)) bytes += block.length;
    return bytes;
  };
  const encode: Contestant = { row: about("encode", await write()), run: () => rate(write) };
  const rows = await alternate([...decoders, encode], quick ? 3 : 9, quick);
  if (!(checksum > 0)) throw new Error("nothing was decoded");
  return rows;
}
