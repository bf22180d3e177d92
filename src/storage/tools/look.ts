/** Facts for confirming: extremes, three values, divergence, the ends of each axis, and a small picture. */
import { DataError } from "../../shared/errors.js";
import { openDataset, type StoredBricks } from "../bricks/brick-reader.js";
import { seamRatio } from "../catalog/seam.js";
import { AXIS_NAMES, type Dataset, type FieldName, fieldNames, nodeAt, type Triple } from "../dataset/dataset.js";
import { DivergenceSums, shuffledText } from "./divergence.js";
import { Sums } from "./frame-statistics.js";

/** Most nodes of a field that are read for its extremes: planes, evenly spaced, or rows in the middle of one. */
const MAX_NODES = 2 ** 22;
const BLOCK = 64;
const SLICE = 512;
const PICTURE = { columns: 48, rows: 16, shades: " .:-=+*#%@" };

/** The first component of a field in the middle plane of z. */
export interface Slice {
  readonly title: string;
  readonly columns: number;
  readonly rows: number;
  /** Row by row, x fastest, the smallest y first. */
  readonly values: Float32Array;
}

const short = (value: number): string => String(Number(value.toPrecision(4)));

/** Lines about the values of the first frame, and a slice; one line with the reason if they cannot be read. */
export function lookAt(dataset: Dataset): { readonly lines: string[]; readonly slice: Slice | null } {
  const open = openDataset(dataset);
  try {
    const fields = fieldNames(dataset);
    const lines = [
      ...fields.flatMap((field) => extremes(dataset, field, open)),
      ...divergence(dataset, open),
      ...ends(dataset, open),
    ];
    return { lines, slice: sliceOf(dataset, fields[0] as FieldName, open) };
  } catch (error) {
    if (!(error instanceof DataError)) throw error;
    const { cause = error } = error;
    return { lines: [`The values cannot be read: ${(cause as Error).message}`], slice: null };
  } finally {
    open.close();
  }
}

const nodesOf = ({ axes }: Dataset): Triple => axes.map(({ nodes }) => nodes) as unknown as Triple;

function readBox(dataset: Dataset, field: FieldName, open: StoredBricks, first: Triple, count: Triple): Float64Array {
  const out = new Float64Array(count[0] * count[1] * count[2] * (dataset.fields[field]?.components ?? 1));
  open.readNodes(field, 0, { first, count }, out);
  return out;
}

function extremes(dataset: Dataset, field: FieldName, open: StoredBricks): string[] {
  const nodes = nodesOf(dataset);
  const { components = 1 } = dataset.fields[field] ?? {};
  const every = Math.max(1, Math.ceil((nodes[0] * nodes[1] * nodes[2]) / MAX_NODES));
  const rows = Math.max(1, Math.min(nodes[1], Math.floor(MAX_NODES / nodes[0])));
  const middle = Math.floor((nodes[1] - rows) / 2);
  const found = Array.from({ length: components }, () => new Sums());
  for (let k = 0; k < nodes[2]; k += every) {
    const plane = readBox(dataset, field, open, [0, middle, k], [nodes[0], rows, 1]);
    for (const [at, value] of plane.entries()) (found[at % components] as Sums).add(value);
  }
  const places = [0, 0.5, 1].map((part) => nodes.map((count) => Math.round(part * (count - 1))) as unknown as Triple);
  const values = places.map((place) => readBox(dataset, field, open, place, [1, 1, 1]));
  const part = rows === nodes[1] ? `one plane in ${every}` : `${rows} rows of the first plane`;
  const read = every === 1 ? "" : `, ${part}`;
  return found.map(({ min, max, squares, finite, nonFinite }, c) => {
    const name = components === 1 ? field : `${field} ${AXIS_NAMES[c]}`;
    const at = places.map((place, i) => `${short(values[i]?.[c] as number)} at (${place.join(" ")})`).join(", ");
    const holes = nonFinite === 0 ? "" : `, ${nonFinite} missing or infinite`;
    const range =
      finite === 0 ? "no values" : `${short(min)} to ${short(max)}, rms ${short(Math.sqrt(squares / finite))}`;
    return `${name}: ${range}${holes}${read}; ${at}`;
  });
}

function divergence(dataset: Dataset, open: StoredBricks): string[] {
  if (dataset.fields.velocity?.components !== 3) return [];
  const nodes = nodesOf(dataset);
  const count = nodes.map((length) => Math.min(length, BLOCK)) as unknown as Triple;
  const first = nodes.map((length, at) => Math.floor((length - count[at as 0]) / 2)) as unknown as Triple;
  const sums = new DivergenceSums();
  sums.add(readBox(dataset, "velocity", open, first, count), count, count, first, dataset.axes);
  const found = sums.found();
  if (found === null) return [];
  const what = `rms of divergence over rms of gradient in ${count.join(" x ")} nodes`;
  return [`${what}: ${short(found.own)}; ${shuffledText(found)}`];
}

/** For each axis, the step from the last node back to the first, relative to the usual step. */
function ends(dataset: Dataset, open: StoredBricks): string[] {
  const figures = AXIS_NAMES.flatMap((name, at) => {
    if ((dataset.axes[at]?.nodes ?? 0) < 2) return [];
    const ratio = seamRatio(dataset, at, open);
    return Number.isFinite(ratio) ? [`${name} ${ratio.toPrecision(2)}`] : [];
  });
  if (figures.length === 0) return [];
  return [
    `step from the last plane to the first over the usual step: ${figures.join(", ")} (near 1: periodic; near 0: the end is stored twice)`,
  ];
}

/** A slice through the middle, at evenly spaced nodes; null if there is no plane. */
function sliceOf(dataset: Dataset, field: FieldName, open: StoredBricks): Slice | null {
  const nodes = nodesOf(dataset);
  const { components = 1 } = dataset.fields[field] ?? {};
  if (nodes[0] < 2 || nodes[1] < 2 || nodes[0] * nodes[1] > MAX_NODES) return null;
  const middle = Math.floor(nodes[2] / 2);
  const plane = readBox(dataset, field, open, [0, 0, middle], [nodes[0], nodes[1], 1]);
  const [columns, rows] = [Math.min(SLICE, nodes[0]), Math.min(SLICE, nodes[1])];
  const values = Float32Array.from({ length: columns * rows }, (_, at) => {
    const i = Math.floor(((at % columns) * nodes[0]) / columns);
    const j = Math.floor((Math.floor(at / columns) * nodes[1]) / rows);
    return plane[(j * nodes[0] + i) * components] as number;
  });
  const name = components === 1 ? field : `${field} x`;
  const title = `${name} at z = ${short(nodeAt(dataset.axes[2], middle))}`;
  return { title, columns, rows, values };
}

/** A slice in shades, y upwards. */
export function inShades({ title, columns, rows, values }: Slice): string[] {
  const { shades } = PICTURE;
  const [width, height] = [Math.min(PICTURE.columns, columns), Math.min(PICTURE.rows, rows)];
  const shown = Array.from({ length: width * height }, (_, at) => {
    const i = Math.floor(((at % width) * columns) / width);
    const j = Math.floor(((height - 1 - Math.floor(at / width)) * rows) / height);
    return values[j * columns + i] as number;
  });
  const finite = shown.filter(Number.isFinite);
  const [least, most] = [Math.min(...finite), Math.max(...finite)];
  const shade = (value: number) => {
    if (!Number.isFinite(value)) return "?";
    const part = most === least ? 0 : (value - least) / (most - least);
    return shades[Math.min(shades.length - 1, Math.floor(part * shades.length))] as string;
  };
  const lines = Array.from({ length: height }, (_, row) =>
    shown
      .slice(row * width, (row + 1) * width)
      .map(shade)
      .join(""),
  );
  return [`${title}, x to the right, y upwards:`, ...lines.map((row) => `  |${row}|`)];
}
