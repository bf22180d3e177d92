/** `zarrArchive` writes the numbers of a result as a store of Zarr 3 in a ZIP archive, a chunk at a time. */
import { product } from "../storage/hdf5/writer.js";
import { arrayDocument, documentBytes, PLAIN_CODECS, rootDocument } from "../storage/zarr/array-document.js";
import { cutOf, type ResultNumbers, stepsIn } from "./result-files.js";
import { ZipWriter } from "./zip-writer.js";

/** Numbers of a chunk, unless those of a single point are more. */
const CHUNK_NUMBERS = 256 * 1024;

/**
 * The bytes of an archive with the array `values`, of the dimensions `time` (if there are several), `point`, `record`
 * (if there are several) and `component`, and the array `time` if there are several.
 *
 * Source: Zarr core specification 3.1; archives are not compressed, so that chunks can be read in place.
 */
export async function* zarrArchive(result: ResultNumbers): AsyncGenerator<Buffer, undefined> {
  const { shape, times, columns, about } = result;
  const { lead, row, rows } = cutOf(result, CHUNK_NUMBERS);
  const documents = new Map<string, object>();
  const dimensions = [...lead.map(() => "time"), "point", ...row.slice(1).map(() => "record"), "component"];
  const chunks = [...lead.map(() => 1), rows, ...row];
  const array = { shape, chunks, dimensions, type: "float32", fill: "NaN", codecs: PLAIN_CODECS };
  documents.set("values", arrayDocument({ ...array, attributes: { components: columns } }));
  const zip = new ZipWriter();
  if (times !== null) {
    const time = { shape: lead, chunks: lead, dimensions: ["time"], type: "float64", fill: "NaN" };
    documents.set("time", arrayDocument({ ...time, codecs: PLAIN_CODECS }));
    yield* zip.add("time/c/0", Buffer.from(Float64Array.from(times).buffer));
  }
  const attributes = Object.fromEntries(Object.entries(about).map(([name, text]) => [`fieldprobe_${name}`, text]));
  yield* zip.add("zarr.json", documentBytes(rootDocument(attributes, documents)));
  for (const [path, document] of documents) yield* zip.add(`${path}/zarr.json`, documentBytes(document));
  for await (const { time, number, count, values } of stepsIn(result, CHUNK_NUMBERS)) {
    // Chunks have one shape, the last one too.
    const chunk = count === rows ? values : new Float32Array(rows * product(row)).fill(Number.NaN);
    if (chunk !== values) chunk.set(values);
    const key = [...lead.map(() => time), number, ...row.map(() => 0)].join("/");
    yield* zip.add(`values/c/${key}`, Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
  }
  yield* zip.end();
}
