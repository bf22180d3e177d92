/** Types of requests and answers, derived from the operation table. */

import type {
  ALL_OPERATIONS,
  Integrator,
  Member,
  MemberType,
  OperationName,
  RECORDS,
  RecordName,
  SpatialInterpolation,
  TemporalInterpolation,
  VALUES,
} from "../shared/operations.js";
import type { JobMethods } from "./jobs.js";
import type { QuestionMethods } from "./questions.js";
import type { TrackRecord } from "./tracks.js";

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
/** The type of a member; of the spatial options those that the operation answers. */
type ValueOf<N extends OperationName, M extends Member> = M["type"] extends "SpatialInterpolation"
  ? Row<N>["spatial"][number]
  : MemberValues[M["type"] & MemberType];

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

export type TrackingName = Extract<(typeof ALL_OPERATIONS)[number], { readonly family: "track" }>["name"];

export interface TrackingOptions {
  /** The scheme that moves particles, heun by default; drag needs heun. */
  readonly integrator?: Integrator;
  /** With dopri5: the error of a path, as a distance, at which its steps aim; by default 1e-6 of the least spacing. */
  readonly tolerance?: number;
  /** Splines track particles too. */
  readonly spatialInterpolation: (typeof VALUES)[number];
  /** What happens to particles that leave through open faces; by default, what the dataset says. */
  readonly openFaces?: "fail" | "stop";
  readonly startTimes?: readonly number[];
}

/** Positions of particles: with the times of their exits if they stop at open faces, and with the steps of dopri5. */
export interface TrackAnswer<R extends TrackRecord = TrackRecord> {
  readonly record: R;
  readonly components: (typeof RECORDS)[R];
  readonly recordsPerPoint: 1;
  readonly values: Float32Array;
}

/** Positions of particles that stop at open faces, and the times of their exits: NaN for those that are inside. */
export type ExitAnswer = TrackAnswer<"Exit">;

export type FieldClient = {
  readonly [N in OperationName]: (request: RequestOf<N>, options?: CallOptions) => Promise<Answer<N>>;
} & {
  /** Tracks particles with a choice of integrator and of behaviour at open faces; over plain HTTP. */
  track<N extends TrackingName>(
    operation: N,
    request: Omit<RequestOf<N>, "spatialInterpolation" | "StartTime"> & {
      readonly StartTime?: number;
    } & TrackingOptions,
    options?: CallOptions,
  ): Promise<TrackAnswer>;
  /** Values at points that have a time each; over plain HTTP. */
  atTimes<N extends OperationName>(
    operation: N,
    request: Omit<RequestOf<N>, "time"> & { readonly times: readonly number[] },
    options?: CallOptions,
  ): Promise<Answer<N>>;
  /** Tracks particles that stop where they leave the domain; over plain HTTP, as SOAP has no place for the times. */
  stopAtOpenFaces<N extends TrackingName>(
    operation: N,
    request: RequestOf<N>,
    options?: CallOptions,
  ): Promise<ExitAnswer>;
} & QuestionMethods &
  JobMethods;
