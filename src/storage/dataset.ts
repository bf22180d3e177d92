/** Dataset: the plain record that says where the nodes are, when, and what is stored; crosses threads as it is. */

/** Names of fields a dataset may hold. */
export const FIELD_NAMES = ["velocity", "pressure", "force"] as const;
export type FieldName = (typeof FIELD_NAMES)[number];

/** Nodes that an axis may have. */
export const MAX_NODES = 65_536;

/** One grid axis; the members mean what they mean in `kernels/field.ts`. */
export interface Axis {
  readonly nodes: number;
  readonly origin: number;
  readonly spacing: number;
  readonly periodic: boolean;
  readonly coordinates: Float64Array | null;
}

/** Stored times, guards included; as in `kernels/field.ts`. */
export interface TimeAxis {
  readonly count: number;
  readonly origin: number;
  readonly step: number;
  readonly values: Float64Array | null;
  readonly guardBefore: number;
  readonly guardAfter: number;
}

export type Triple = readonly [number, number, number];

/** How a field is cut into bricks, x, y, z; as in `kernels/field.ts`. */
export interface Bricking {
  readonly edge: Triple;
  readonly count: Triple;
}

/** Where the values of a field come from: understood by `storage/hdf5.ts` alone. */
export interface FieldSource {
  readonly components: 1 | 3;
  readonly bricking: Bricking;
  /** One entry for a vector stored as a whole, three for separate components. */
  readonly parts: readonly FieldPart[];
}

/** One HDF5 dataset, or a series with one per frame. */
export interface FieldPart {
  /** Absolute path; may hold `{step:0Nd}`. */
  readonly file: string;
  /** Path inside the file; may hold `{step:0Nd}`. */
  readonly path: string;
  /** Names of the stored dimensions in order, out of `t z y x c`, and `n` for one that is fixed at `index`. */
  readonly dimensions: readonly string[];
  readonly shape: readonly number[];
  /** Shape the file declares where it is not that of its values (contiguous storage only), else null. */
  readonly declared: readonly number[] | null;
  /** For dimensions named `n`: the fixed index (e.g. a trajectory). */
  readonly index: number;
  /** Leading nodes to skip, x, y, z (offset plus ghost layers). */
  readonly skip: Triple;
  /** Axes whose stored order is descending, x, y, z. */
  readonly flip: readonly [boolean, boolean, boolean];
  /** Step of the series at frame k is `firstStep + k * stepIncrement`. */
  readonly firstStep: number;
  readonly stepIncrement: number;
}

/** A file as it was when its dataset was verified. */
export interface FileRecord {
  /** Absolute, symbolic links resolved. */
  readonly path: string;
  readonly bytes: number;
  readonly modifiedMs: number;
  readonly inode: number;
}

/** What drives the flow. */
export type Forcing =
  | { readonly kind: "none" }
  | { readonly kind: "stored" }
  | { readonly kind: "taylorGreen"; readonly amplitude: number; readonly wavenumber: number }
  | {
      readonly kind: "modes";
      /** Integer wavenumbers, (modes, 3). */
      readonly wavenumber: Int32Array;
      /** a and b per component, (frames, modes, 3, 2); frames is the number of stored frames, or 1. */
      readonly coefficient: Float64Array;
      readonly frames: number;
    };

/** A dataset as the service knows it once its files have been verified. */
export interface Dataset {
  readonly name: string;
  readonly title: string;
  readonly aliases: readonly string[];
  readonly axes: readonly [Axis, Axis, Axis];
  readonly time: TimeAxis;
  readonly fields: Partial<Record<FieldName, FieldSource>>;
  readonly forcing: Forcing;
  /** Step of the simulation behind the data, or null where unknown. */
  readonly dnsStep: number | null;
  readonly frameVelocity: Triple;
  readonly units: Readonly<Record<string, string>>;
  readonly source: string;
  /** Folder or file it came from, for logs. */
  readonly location: string;
  /** Hex SHA-256 of manifest and descriptor, or of sizes and times of the files where there is no manifest. */
  readonly digest: string;
  /** Files it reads; one that no longer matches gives DataError. */
  readonly files: readonly FileRecord[];
  readonly warnings: readonly string[];
}
