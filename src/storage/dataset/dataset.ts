/** Datasets as plain records, which cross threads as they are. */
import type { Axes, Axis, Bricking, TimeAxis, Triple, Walls } from "../../kernels/types.js";

// The grid as kernels see it: types only, the one thing that storage knows of kernels.
export type { Axes, Axis, Bricking, TimeAxis, Triple, Walls };

import { FIELDS, type FieldName, type KnownField } from "../../shared/operations.js";

export type { FieldName, KnownField } from "../../shared/operations.js";

/** Names of the fields that have operations of their own. */
export const KNOWN_FIELDS = Object.keys(FIELDS) as readonly KnownField[];

export const MOST_FIELDS = 64;

export const MAX_NODES = 65_536;

/** Bricks of a frame that a field may have; it sizes the brick tables of each worker. */
export const MAX_BRICKS = 524_288;

export const AXIS_NAMES = ["x", "y", "z"] as const;
export type AxisName = (typeof AXIS_NAMES)[number];

/** Storage of a field; only the brick reader interprets it. */
export interface FieldSource {
  readonly components: 1 | 3;
  /** What it is, in words of its file or descriptor; absent: its name says it. */
  readonly title?: string;
  readonly bricking: Bricking;
  /** One entry for a vector stored as a whole, three for separate components. */
  readonly parts: readonly FieldPart[];
  readonly axes?: Axes;
  /** Of a vector whose components have nodes of their own: each as a scalar. */
  readonly own?: readonly [FieldSource, FieldSource, FieldSource];
}

/** Numbers reserved for a field and its components, as for the bricks of each. */
const SOURCES_PER_FIELD = 4;

/** One HDF5 dataset, or a series with one per frame. */
export interface FieldPart {
  readonly file: string;
  readonly path: string;
  /** Names of the stored dimensions in order, out of `t z y x c`, and `n` for one that is fixed at `index`. */
  readonly dimensions: readonly string[];
  readonly shape: readonly number[];
  /** Shape the file declares if it is not that of its values (contiguous storage only), else null. */
  readonly declared: readonly number[] | null;
  /** For dimensions named `n`: the fixed index (e.g. a trajectory). */
  readonly index: number;
  /** Of the dimension `c`, the only element that is read; absent: all of them. */
  readonly component?: number;
  /** Number that its values are multiplied by; absent: 1. */
  readonly factor?: number;
  /** Leading nodes to skip, x, y, z (offset plus ghost layers). */
  readonly skip: Triple;
  /** Axes whose stored order is descending, x, y, z. */
  readonly flip: readonly [boolean, boolean, boolean];
  /** Step of the series at frame k is `firstStep + k * stepIncrement`. */
  readonly firstStep: number;
  readonly stepIncrement: number;
  /** Texts that replace `{step}`, one per frame; null if there is none. */
  readonly steps: readonly string[] | null;
  /** Where each frame is along `t` in its file, if files of a series hold several. */
  readonly frames?: readonly number[];
}

export interface FileStamp {
  /** Absolute, symbolic links resolved. */
  readonly path: string;
  readonly bytes: number;
  readonly modifiedMs: number;
  readonly inode: number;
  /** Time of the last change of anything about it, which no program can set: a restored `modifiedMs` hides nothing. */
  readonly changedMs?: number;
  /** Of a store of many objects: the time of its newest one. Of a file at an address: the time of its last change. */
  readonly newestMs?: number;
  /** Of what lies at an address: the digest of its version, as its host tells it. */
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

/** Subjects of questions about a dataset. */
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

/** A guess about a dataset: what is not known, of which axes, and what answers it. */
export interface Question {
  about: Subject;
  axes?: AxisName[] | undefined;
  question: string;
  answer?: string | undefined;
  /** Whether a statement of the file contradicts what was chosen. */
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
  /** Clients of the public REST interface give numbers of frames instead of times; absent: its name decides. */
  readonly countsFrames?: boolean;
  /** By name: known fields first, in the order of their table; use `fieldOf` for names of callers. */
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
  /** Files it reads; one that no longer matches gives DataError. */
  readonly files: readonly FileStamp[];
  readonly warnings: readonly string[];
  /** Guesses that somebody has accepted and that values rest on. */
  readonly assumed: readonly Question[];
  readonly questions: readonly Question[];
}

type WithFields = Pick<Dataset, "fields">;

export function fieldNames({ fields }: WithFields): readonly FieldName[] {
  return Object.keys(fields);
}

export const SOURCES_PER_DATASET = SOURCES_PER_FIELD * MOST_FIELDS;

/** The source of a field by any text, or of a component with its own nodes, as `velocity.x`; undefined without one. */
export function fieldOf({ fields }: WithFields, name: string): FieldSource | undefined {
  if (Object.hasOwn(fields, name)) return fields[name];
  const field = name.slice(0, -2);
  return Object.hasOwn(fields, field) && name.at(-2) === "."
    ? fields[field].own?.["xyz".indexOf(name.slice(-1))]
    : undefined;
}

/** The number of a field, or of a component with nodes of its own, among those of its dataset. */
export function sourceNumber({ fields }: WithFields, name: FieldName): number {
  const names = Object.keys(fields);
  const at = names.indexOf(name);
  return at >= 0
    ? SOURCES_PER_FIELD * at
    : SOURCES_PER_FIELD * names.indexOf(name.slice(0, -2)) + 1 + "xyz".indexOf(name.slice(-1));
}

/** The parts of a field that are evaluated alone: itself, or its components if these have nodes of their own. */
export function partsOfField(dataset: WithFields, name: FieldName): readonly FieldName[] {
  const isSplit = fieldOf(dataset, name)?.own !== undefined;
  return isSplit ? AXIS_NAMES.map((axis) => `${name}.${axis}`) : [name];
}

export function axesOfField(dataset: WithFields & Pick<Dataset, "axes">, name: FieldName): Axes {
  return fieldOf(dataset, name)?.axes ?? dataset.axes;
}

/** Whether a field, or a component of it, has other nodes than its dataset. */
export function isStaggered(dataset: WithFields, name: FieldName): boolean {
  const source = fieldOf(dataset, name);
  return source?.axes !== undefined || source?.own !== undefined;
}

/** Numbers at a node of a field that a dataset has, or of a known one that it has not stored. */
export function componentsOf(dataset: WithFields, name: FieldName): 1 | 3 {
  return fieldOf(dataset, name)?.components ?? FIELDS[name as KnownField];
}

/** The store that a dataset is read from: the host or bucket of its address, or the path of a store of this machine. */
export function storeOf({ files, location }: Dataset): string {
  const path = files.find(({ newestMs }) => newestMs !== undefined)?.path ?? location;
  return /^\w+:\/\/[^/]+/.exec(path)?.[0] ?? path;
}

/** Whether the values of a dataset are fetched from a store, rather than read from files of this machine. */
export function isInStore({ files }: Dataset): boolean {
  return files.some(({ newestMs }) => newestMs !== undefined);
}
