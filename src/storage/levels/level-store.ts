/** The store of the levels of a dataset: its location, its content, and its levels as datasets. */

import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isAddress } from "../../shared/addresses.js";
import { DataError, orElse } from "../../shared/errors.js";
import { sha256 } from "../../shared/sha256.js";
import { type Dataset, type FieldSource, fieldNames, isStaggered, type Triple } from "../dataset/dataset.js";
import { fileStamp, realPath, statusOf } from "../dataset/files.js";
import { LEVELS_SUFFIX } from "../dataset/folder-names.js";
import { withoutSum } from "../zarr/codecs.js";
import { crc32c } from "../zarr/crc32c.js";
import { BINS } from "./box-kernels.js";
import { coarsestLevel, levelAxis, nodesOf, shapeOf, type Widths } from "./level-axes.js";
import { chunkOf, EXTREMA_LEVEL, type Histogram, type LevelExtrema } from "./level-sums.js";

/** A stored field or an expression with levels. */
export interface LevelQuantity {
  readonly text: string;
  readonly array: string;
  readonly components: 1 | 3;
}

export interface LevelSet {
  readonly folder: string;
  readonly widths: Widths;
  readonly quantities: readonly LevelQuantity[];
  /** Level k at index k - 1, each a dataset whose fields are named by the texts of the quantities. */
  readonly datasets: readonly Dataset[];
}

export const ROOT = "zarr.json";
export const ATTRIBUTE = "fieldprobe_levels";
const MAX_ROOT_BYTES = 16 * 2 ** 20;
/** Arrays of a level store: all frames, without offset or flip, every step. */
const WHOLE = {
  declared: null,
  index: 0,
  skip: [0, 0, 0],
  flip: [false, false, false],
  firstStep: 0,
  stepIncrement: 1,
  steps: null,
} as const;

/** Which data a store belongs to; written first, without quantities until some are complete. */
export interface Claim {
  readonly schemaVersion: 1;
  readonly dataset: string;
  readonly digest: string;
  readonly quantities: readonly LevelQuantity[];
}

/** Folders where levels of a dataset may lie, the preferred folder first: next to it, and below the state folder. */
export function levelFolders({ name, location }: Dataset, state: string): readonly string[] {
  const own = join(state, "levels", `${name}${LEVELS_SUFFIX}`);
  if (isAddress(location)) return [own];
  return [join(dirname(realPath(location) ?? location), `${name}${LEVELS_SUFFIX}`), own];
}

/** The fields that have levels: those on the nodes of the dataset. */
export function fieldsWithLevels(dataset: Dataset): readonly LevelQuantity[] {
  const own = fieldNames(dataset).filter((text) => !isStaggered(dataset, text));
  return own.map((text) => ({ text, array: text, components: (dataset.fields[text] as FieldSource).components }));
}

export function levelQuantity(text: string, components: 1 | 3): LevelQuantity {
  return { text, array: `what_${sha256(text).slice(0, 12)}`, components };
}

/** Key of the histograms of a frame, which are written last. */
export const histogramsKey = ({ array }: LevelQuantity, frame: number): string => `histograms/${array}/${frame}`;

export const extremaKey = ({ array }: LevelQuantity, frame: number): string => `extrema/${array}/${frame}`;

/** The claim of a store; null if it is no store of levels. */
export function claimIn(document: Uint8Array): Claim | null {
  const claim = orElse(() => JSON.parse(new TextDecoder().decode(document)).attributes[ATTRIBUTE] as Claim, null);
  return orElse(() => claim?.schemaVersion === 1 && claim.quantities.every(isQuantity), false) ? claim : null;
}

const isQuantity = ({ text, array, components }: LevelQuantity): boolean =>
  typeof text === "string" && /^\w[\w.-]*$/.test(array) && (components === 1 || components === 3);

/** Opens the levels of a dataset in the first folder that has them. Returns null if there are none of these data. */
export function openLevels(dataset: Dataset, widths: Widths, folders: readonly string[]): LevelSet | null {
  for (const place of folders) {
    const path = join(place, ROOT);
    const size = statusOf(path)?.size;
    if (size === undefined || size >= MAX_ROOT_BYTES) continue;
    const { digest = "", quantities = [] } = claimIn(readFileSync(path)) ?? {};
    if (digest !== dataset.digest || quantities.length === 0) continue;
    const folder = realpathSync(place);
    const stamp = { ...fileStamp(folder), newestMs: newestIn(folder) };
    const levels = Array.from({ length: coarsestLevel(dataset.axes) }, (_, i) => i + 1);
    const datasets = levels.map((k) => levelDataset(dataset, widths, k, quantities, stamp));
    return { folder, widths, quantities, datasets };
  }
  return null;
}

/** The time of the newest file, by which readers of the store identify the version. */
function newestIn(folder: string): number {
  let newest = 0;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) newest = Math.max(newest, statSync(join(entry.parentPath, entry.name)).mtimeMs);
  return newest;
}

/** A level as a dataset. It has no walls, because none of its positions lies on one. */
function levelDataset(
  dataset: Dataset,
  widths: Widths,
  k: number,
  quantities: readonly LevelQuantity[],
  stamp: Dataset["files"][number],
): Dataset {
  const nodes = shapeOf(nodesOf(dataset), k);
  const edge = chunkOf(nodes);
  const { time, name, aliases, forcing } = dataset;
  const count = nodes.map((n, a) => Math.ceil(n / edge[a])) as unknown as Triple;
  const sourceOf = ({ text, array, components }: LevelQuantity): [string, FieldSource] => {
    const vector = components === 1 ? [] : [components];
    const part = {
      ...WHOLE,
      file: stamp.path,
      path: `/${k}/${array}`,
      dimensions: ["t", "z", "y", "x", ...vector.map(() => "c")],
      shape: [time.count, ...nodes.toReversed(), ...vector],
    };
    const title = dataset.fields[text]?.title;
    const about = { ...(title && { title }), ...(array === text ? {} : { isOfExpression: true as const }) };
    return [text, { components, bricking: { edge, count }, parts: [part], ...about }];
  };
  const open = [false, false] as const;
  return {
    ...dataset,
    name: `${name}@${k}`,
    aliases: aliases.map((alias) => `${alias}@${k}`),
    axes: dataset.axes.map((axis, a) => levelAxis(axis, widths[a], k)) as unknown as Dataset["axes"],
    walls: [open, open, open],
    fields: Object.fromEntries(quantities.map(sourceOf)),
    forcing: forcing.kind === "stored" ? { kind: "none" } : forcing,
    location: stamp.path,
    digest: sha256(JSON.stringify([dataset.digest, k, quantities])),
    files: [stamp],
  };
}

/** Reads an object of a level store, whose last bytes are its checksum. Throws DataError if it is damaged. */
async function readChecked(path: string): Promise<ArrayBuffer> {
  try {
    return Uint8Array.from(withoutSum(await readFile(path), crc32c())).buffer;
  } catch (cause) {
    throw new DataError(`${path} is damaged; remove its folder and make the levels again`, cause);
  }
}

/** Extrema of a quantity in cubes of 8^3 nodes. */
export async function readExtrema(
  { folder, datasets }: LevelSet,
  quantity: LevelQuantity,
  frame: number,
): Promise<LevelExtrema> {
  const values = new Float32Array(await readChecked(join(folder, extremaKey(quantity, frame))));
  return { size: nodesOf(datasets[EXTREMA_LEVEL - 1]), values };
}

export async function readHistograms(
  { folder }: LevelSet,
  quantity: LevelQuantity,
  frame: number,
): Promise<Histogram[]> {
  const all = new Float64Array(await readChecked(join(folder, histogramsKey(quantity, frame))));
  return Array.from({ length: quantity.components }, (_, c) => {
    const [low, width, ...weights] = all.subarray(c * (2 + BINS), (c + 1) * (2 + BINS));
    return { edges: [low, width], weights: Float64Array.from(weights) };
  });
}
