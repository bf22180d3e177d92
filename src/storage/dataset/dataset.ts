/** Datasets as plain records, which are copied between threads. */
import type { Axes, Axis, Bricking, TimeAxis, Triple, Walls } from "../../kernels/types.js";

// The grid as kernels see it: the only types that storage takes from kernels.
export type { Axes, Axis, Bricking, TimeAxis, Triple, Walls };

import { FIELDS, type FieldName, type KnownField } from "../../shared/operations.js";

export type { FieldName, KnownField } from "../../shared/operations.js";

export const KNOWN_FIELDS = Object.keys(FIELDS) as readonly KnownField[];

export const MAX_FIELDS = 64;

export const MAX_NODES = 65_536;

/** Most bricks of a frame of a field; sizes the brick tables of each worker. */
export const MAX_BRICKS = 524_288;

export const AXIS_NAMES = ["x", "y", "z"] as const;
export type AxisName = (typeof AXIS_NAMES)[number];

/** Storage of a field; only the brick reader interprets it. */
export interface FieldSource {
  readonly components: 1 | 3;
  /** Title from its file or descriptor; absent: its name. */
  readonly title?: string;
  /** Set if it is the mean of the expression that its name is: in a level. */
  readonly isOfExpression?: true;
  readonly bricking: Bricking;
  /** One entry for a vector stored as a whole, three for separate components. */
  readonly parts: readonly FieldPart[];
  readonly axes?: Axes;
  /** Vectors with staggered components: each component as a scalar. */
  readonly own?: readonly [FieldSource, FieldSource, FieldSource];
}

/** Source numbers reserved for a field and its components. */
const SOURCES_PER_FIELD = 4;

/** One HDF5 dataset, or a series with one per frame. */
export interface FieldPart {
  readonly file: string;
  readonly path: string;
  /** Names of the stored dimensions in order, out of `t z y x c`, and `n` for a dimension that is fixed at `index`. */
  readonly dimensions: readonly string[];
  readonly shape: readonly number[];
  /** Shape that the file declares if its values have another one (contiguous storage only), else null. */
  readonly declared: readonly number[] | null;
  /** For dimensions named `n`: the fixed index (e.g. a trajectory). */
  readonly index: number;
  /** The only element of dimension `c` that is read; absent: all elements. */
  readonly component?: number;
  /** Factor of its values; absent: 1. */
  readonly factor?: number;
  /** Value everywhere, whatever is stored; absent: what is stored. */
  readonly constant?: number;
  /** Leading nodes to skip, x, y, z (offset plus ghost layers). */
  readonly skip: Triple;
  /** Axes whose stored order is descending, x, y, z. */
  readonly flip: readonly [boolean, boolean, boolean];
  /** Step of the series at frame k is `firstStep + k * stepIncrement`. */
  readonly firstStep: number;
  readonly stepIncrement: number;
  /** Steps of the frames if they are none of these; absent: they are. */
  readonly numbers?: readonly number[];
  /** Texts that replace `{step}`, one per frame; null without a list. */
  readonly steps: readonly string[] | null;
  /** Index of each frame along `t` in its file, if files of a series hold several. */
  readonly frames?: readonly number[];
}

export interface FileStamp {
  /** Absolute path without symbolic links. */
  readonly path: string;
  readonly bytes: number;
  readonly modifiedMs: number;
  readonly inode: number;
  /** Time of the last change, including metadata, which no program can set: restoring `modifiedMs` hides nothing. */
  readonly changedMs?: number;
  /** Time of the newest object of a store, or of the last change of a file at an address. */
  readonly newestMs?: number;
  /** Digest of the version of a remote file or store, as stated by its host. */
  readonly version?: string;
}

export type Forcing =
  | { readonly kind: "none" }
  | { readonly kind: "stored" }
  | { readonly kind: "constant"; readonly value: Triple }
  | { readonly kind: "taylorGreen"; readonly amplitude: number; readonly wavenumber: number }
  | {
      readonly kind: "modes";
      readonly wavenumber: Int32Array;
      /** a and b per component, (frames, modes, 3, 2); frames is the number of stored frames, or 1. */
      readonly coefficient: Float64Array;
      readonly frames: number;
    };

export const SUBJECTS = [
  "fields",
  "order",
  "spacing",
  "origin",
  "scale",
  "values",
  "units",
  "times",
  "snapshot",
  "periodicity",
  "faces",
] as const;
export type Subject = (typeof SUBJECTS)[number];

/** A guess about a dataset: the unknown, the axes concerned, and the answers to it. */
export interface Question {
  about: Subject;
  axes?: AxisName[] | undefined;
  question: string;
  answer?: string | undefined;
  /** Whether a statement of the file contradicts the choice. */
  red?: true | undefined;
}

export function claimText({ about, axes, question }: Question): string {
  return `${about}${axes === undefined ? "" : ` of ${axes.join(", ")}`}: ${question}`;
}

/** The fate of particles that leave through an open face: their query fails, or their paths end there. */
export const OPEN_FACES = ["fail", "stop"] as const;
export type OpenFaces = (typeof OPEN_FACES)[number];

/** A dataset as the service knows it once its files have been verified. */
export interface Dataset {
  readonly name: string;
  readonly title: string;
  readonly aliases: readonly string[];
  readonly axes: readonly [Axis, Axis, Axis];
  /** Walls at the ends of x, y, z; the ends of periodic axes have none. */
  readonly walls: readonly [Walls, Walls, Walls];
  readonly openFaces: OpenFaces;
  readonly time: TimeAxis;
  /** Whether clients of the public REST interface give frame numbers instead of times; absent: its name decides. */
  readonly countsFrames?: boolean;
  /** Fields by name, known ones first in the order of their table; use `fieldOf` for names from callers. */
  readonly fields: Readonly<Record<FieldName, FieldSource>>;
  readonly forcing: Forcing;
  /** Time step of the simulation that made the data; null if unknown. */
  readonly dnsStep: number | null;
  readonly viscosity?: number;
  readonly frameVelocity: Triple;
  readonly units: Readonly<Record<string, string>>;
  readonly source: string;
  readonly location: string;
  /** Hex SHA-256 of manifest and descriptor, or of sizes and times of the files if there is no manifest. */
  readonly digest: string;
  /** The files it reads; reads of a changed one fail with DataError. */
  readonly files: readonly FileStamp[];
  readonly warnings: readonly string[];
  /** Accepted guesses on which values depend. */
  readonly assumed: readonly Question[];
  readonly questions: readonly Question[];
}

type WithFields = Pick<Dataset, "fields">;

export function fieldNames({ fields }: WithFields): readonly FieldName[] {
  return Object.keys(fields);
}

export const SOURCES_PER_DATASET = SOURCES_PER_FIELD * MAX_FIELDS;

/** The source of a field by any text, or of a staggered component such as `velocity.x`; undefined if there is none. */
export function fieldOf({ fields }: WithFields, name: string): FieldSource | undefined {
  if (Object.hasOwn(fields, name)) return fields[name];
  const field = name.slice(0, -2);
  return Object.hasOwn(fields, field) && name.at(-2) === "."
    ? fields[field].own?.["xyz".indexOf(name.slice(-1))]
    : undefined;
}

export function sourceNumber({ fields }: WithFields, name: FieldName): number {
  const names = Object.keys(fields);
  const at = names.indexOf(name);
  return at >= 0
    ? SOURCES_PER_FIELD * at
    : SOURCES_PER_FIELD * names.indexOf(name.slice(0, -2)) + 1 + "xyz".indexOf(name.slice(-1));
}

/** The parts of a field that are evaluated separately: the field, or its components if they are staggered. */
export function partsOfField(dataset: WithFields, name: FieldName): readonly FieldName[] {
  const isSplit = fieldOf(dataset, name)?.own !== undefined;
  return isSplit ? AXIS_NAMES.map((axis) => `${name}.${axis}`) : [name];
}

export function axesOfField(dataset: WithFields & Pick<Dataset, "axes">, name: FieldName): Axes {
  return fieldOf(dataset, name)?.axes ?? dataset.axes;
}

/** Coordinate of node `i` of an axis. */
export function nodeAt({ coordinates, origin, spacing }: Axis, i: number): number {
  return coordinates?.[i] ?? origin + i * spacing;
}

export function isStaggered(dataset: WithFields, name: FieldName): boolean {
  const source = fieldOf(dataset, name);
  return source?.axes !== undefined || source?.own !== undefined;
}

export function componentsOf(dataset: WithFields, name: FieldName): 1 | 3 {
  return fieldOf(dataset, name)?.components ?? FIELDS[name as KnownField];
}

/** The store of a dataset: the host or bucket of its address, or the path of a local store. */
export function storeOf({ files, location }: Dataset): string {
  const path = files.find(({ newestMs }) => newestMs !== undefined)?.path ?? location;
  return /^\w+:\/\/[^/]+/.exec(path)?.[0] ?? path;
}

export function isInStore({ files }: Dataset): boolean {
  return files.some(({ newestMs }) => newestMs !== undefined);
}
