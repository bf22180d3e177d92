/** Types of requests and answers, derived from the operation table. */
import type {
  ALL_OPERATIONS,
  OperationName,
  PlainOperationName,
  RECORDS,
  RecordName,
  SpatialInterpolation,
  TemporalInterpolation,
  WireMember,
  WireType,
} from "../shared/operations.js";
import type { JobMethods } from "./jobs.js";
import type { QuestionMethods } from "./questions.js";

/** x, y, z, x, y, z, ... or one triple per point, rounded to float32. */
export type Points = Float32Array | readonly (readonly [number, number, number])[];

interface MemberValues {
  string: string;
  float: number;
  int: number;
  SpatialInterpolation: SpatialInterpolation;
  TemporalInterpolation: TemporalInterpolation;
  ArrayOfPoint3: Points;
  ArrayOfVector3: Points;
  ArrayOfArrayOfFloat: readonly ArrayLike<number>[];
}

export type TableRow = (typeof ALL_OPERATIONS)[number];
type Row<N extends OperationName> = Extract<TableRow, { readonly name: N }>;
type RecordOf<N extends OperationName> =
  | Row<N>["result"]
  | (Row<N> extends { readonly scalar: { readonly result: infer R extends RecordName } } ? R : never);
type MemberOf<N extends OperationName> = Row<N>["request"][number];
/** The type of a member; only spatial options that the operation accepts. */
type ValueOf<N extends OperationName, M extends WireMember> = M["type"] extends "SpatialInterpolation"
  ? Row<N>["spatial"][number]
  : MemberValues[M["type"] & WireType];

export type RequestOf<N extends OperationName> = {
  readonly [M in MemberOf<N> as M["required"] extends true ? M["name"] : never]: ValueOf<N, M>;
} & {
  readonly [M in MemberOf<N> as M["required"] extends true ? never : M["name"]]?: ValueOf<N, M>;
};

/** Answer of an operation, in the order of its points. */
export interface Answer<N extends OperationName = OperationName> {
  readonly record: RecordOf<N>;
  readonly components: (typeof RECORDS)[RecordOf<N>];
  /** 1, but `(8^nlayers - 1) / 7` for the box filters. */
  readonly recordsPerPoint: number;
  /** `points * recordsPerPoint * components.length` numbers. */
  readonly values: Float32Array;
}

export interface CallOptions {
  /** Ends the call; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Called after every part of the answer. */
  readonly onProgress?: (done: number, total: number) => void;
}

export type FieldClient = {
  readonly [N in Exclude<OperationName, PlainOperationName>]: (
    request: RequestOf<N>,
    options?: CallOptions,
  ) => Promise<Answer<N>>;
} & QuestionMethods &
  JobMethods;
