/** Answers as files of named arrays: NetCDF, HDF5, Zarr and NumPy archives. */
import type { SampledGrid } from "../../../engine/cutouts/cutout-thread.js";
import { blockOf, type Numbers, numbersOf, slabLengths, slabsOf, typeOf } from "../../../storage/tools/long-numbers.js";
import { arrayDocument, documentBytes, PLAIN_CODECS, rootDocument } from "../../../storage/zarr/array-document.js";
import type { GridAnswer, Outcome, RowsAnswer } from "../answer.js";
import { wrong } from "../faults.js";
import { arraysOf, bytesIn, chunksOf, type NamedNumbers } from "./arrays.js";
import { type NamedArray, textArray } from "./numpy-files.js";
import { aboutOf, attributesOf } from "./origin.js";
import { ZipWriter } from "./zip-writer.js";

/** Most numbers of a file that are held in memory for the thread that writes it. */
const HELD_NUMBERS = 1 << 20;
const ZARR_TYPES = { "<f4": "float32", "<f8": "float64", "<i4": "int32" } as const;
/** Numbers of a chunk of Zarr, at most. */
const CHUNK_NUMBERS = 256 * 1024;

const namesOf = ({ title, unit }: NamedNumbers) => ({ long_name: title, ...(unit === null ? {} : { units: unit }) });

/** An answer as NetCDF and HDF5 describe it; long arrays are read in parts. */
export async function gridFileOf(answered: Outcome, answer: RowsAnswer | GridAnswer): Promise<SampledGrid> {
  const arrays = arraysOf(answer);
  const placesOf = (one: NamedNumbers) => ({
    ...{ name: one.name, values: one.values as Float64Array },
    attributes: { ...namesOf(one), ...(/^[xyzt]$/.test(one.name) ? { axis: one.name.toUpperCase() } : {}) },
  });
  const scales = arrays.filter(({ isScale }) => isScale);
  const known = new Set(scales.map(({ name }) => name));
  const lengths = new Map(arrays.flatMap(({ dims, shape }) => dims.map((name, d) => [name, shape[d]])));
  if ([...lengths.values()].includes(0))
    throw wrong("format", "the answer has no rows, and a dimension of NetCDF has at least one: take json or csv");
  // Rows and components have no coordinates: they are counted.
  const counted = [...lengths]
    .filter(([name]) => !known.has(name))
    .map(([name, length]) => ({
      ...{ name, values: Float64Array.from({ length }, (_, i) => i) },
      attributes: { long_name: `number of the ${name.replace(/\d+$/, "")}` },
    }));
  const data = arrays.filter(({ isScale, dims }) => !isScale && dims.length > 0);
  const isHeld = data.reduce((sum, { values }) => sum + values.length, 0) <= HELD_NUMBERS;
  const variables = data.map(async (one) => ({
    ...{ name: one.name, axes: one.dims, attributes: namesOf(one) },
    values: isHeld ? await blockOf(one.values, 0, one.values.length) : one.values,
  }));
  return {
    axes: [...scales.map(placesOf), ...counted],
    scalars: arrays.filter(({ dims }) => dims.length === 0).map(placesOf),
    variables: await Promise.all(variables),
    about: attributesOf(answered),
  };
}

/** An answer as a store of Zarr 3 in a ZIP archive, not compressed. */
export async function* zarrOf(answered: Outcome, answer: RowsAnswer | GridAnswer): AsyncGenerator<Buffer, undefined> {
  const zip = new ZipWriter();
  const documents = new Map<string, object>();
  const arrays = arraysOf(answer);
  const chunksOf = (shape: readonly number[]) => slabLengths(shape, CHUNK_NUMBERS);
  for (const one of arrays) {
    const { name, dims, shape, values } = one;
    const type = ZARR_TYPES[typeOf(values)];
    const attributes = namesOf(one);
    const fill = type === "int32" ? 0 : "NaN";
    documents.set(
      name,
      arrayDocument({ shape, chunks: chunksOf(shape), type, fill, codecs: PLAIN_CODECS, dimensions: dims, attributes }),
    );
  }
  yield* zip.add("zarr.json", documentBytes(rootDocument(attributesOf(answered), documents)));
  for (const [path, document] of documents) yield* zip.add(`${path}/zarr.json`, documentBytes(document));
  for (const { name, shape, values } of arrays) {
    const lengths = chunksOf(shape);
    const length = lengths.reduce((product, n) => product * n, 1);
    for (const { start, from, to } of slabsOf(shape, lengths)) {
      const part = await blockOf(values, from, to);
      // All chunks have the same shape, including the last one.
      const whole = part.length === length ? part : filled(part, length);
      yield* zip.add(`${name}/c${start.map((at, d) => `/${at / lengths[d]}`).join("")}`, bytesIn(whole));
    }
  }
  yield* zip.end();
}

function filled(part: Numbers, length: number): Numbers {
  const out = numbersOf(typeOf(part), length);
  if (!(out instanceof Int32Array)) out.fill(Number.NaN);
  out.set(part);
  return out;
}

/** An answer as the arrays of a NumPy archive, with its origin. */
export function archiveOf(answered: Outcome, answer: RowsAnswer | GridAnswer): readonly NamedArray[] {
  const arrays = arraysOf(answer).map(({ name, shape, values }) => ({
    name,
    type: typeOf(values),
    shape,
    chunks: chunksOf(values),
  }));
  return [...arrays, ...Object.entries(aboutOf(answered)).map(([name, text]) => textArray(`fieldprobe_${name}`, text))];
}
