/** `zarrArchive` writes the numbers of a result as a store of Zarr 3 in a ZIP archive, a chunk at a time. */
import { arrayDocument, documentBytes, PLAIN_CODECS, rootDocument } from "../storage/zarr/array-document.js";
import { numbersIn, product, type ResultNumbers, stepsOf } from "./result-files.js";
import { ZipWriter } from "./zip-writer.js";

/** Numbers of a chunk, unless those of a single point are more. */
const CHUNK_NUMBERS = 256 * 1024;

/**
 * The bytes of an archive with the array `values`, of the dimensions `time` (if there are several), `point`, `record`
 * (if there are several) and `component`, and the array `time` if there are several.
 *
 * Source: Zarr core specification 3.1; archives are not compressed, so that chunks can be read in place.
 */
export async function* zarrArchive({
  shape,
  times,
  columns,
  about,
  octets,
}: ResultNumbers): AsyncGenerator<Buffer, undefined> {
  const lead = times === null ? [] : [times.length];
  const [points = 0, ...row] = shape.slice(lead.length);
  const width = product(row);
  const steps = [...stepsOf(points, width, CHUNK_NUMBERS)];
  const [[, rows] = [0, 1]] = steps;
  const documents = new Map<string, object>();
  const dimensions = [...lead.map(() => "time"), "point", ...row.slice(1).map(() => "record"), "component"];
  const chunks = [...lead.map(() => 1), rows, ...row];
  const values = { shape, chunks, dimensions, type: "float32", fill: "NaN", codecs: PLAIN_CODECS };
  documents.set("values", arrayDocument({ ...values, attributes: { components: columns } }));
  const zip = new ZipWriter();
  if (times !== null) {
    const time = { shape: lead, chunks: lead, dimensions: ["time"], type: "float64", fill: "NaN" };
    documents.set("time", arrayDocument({ ...time, codecs: PLAIN_CODECS }));
    yield* zip.add("time/c/0", Buffer.from(Float64Array.from(times).buffer));
  }
  const attributes = Object.fromEntries(Object.entries(about).map(([name, text]) => [`fieldprobe_${name}`, text]));
  yield* zip.add("zarr.json", documentBytes(rootDocument(attributes, documents)));
  for (const [path, document] of documents) yield* zip.add(`${path}/zarr.json`, documentBytes(document));
  const numbers = numbersIn(
    octets,
    (times ?? [0]).flatMap(() => steps.map(([, count]) => count * width)),
  );
  for (const [time] of (times ?? [0]).entries())
    for (const [number, [, count]] of steps.entries()) {
      const some = (await numbers.next()).value as Float32Array;
      // Chunks have one shape, the last one too.
      const chunk = count === rows ? some : new Float32Array(rows * width).fill(Number.NaN);
      if (chunk !== some) chunk.set(some);
      const key = [...lead.map(() => time), number, ...row.map(() => 0)].join("/");
      yield* zip.add(`values/c/${key}`, Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    }
  yield* zip.end();
}
