/** Answers before they are written: rows at points, arrays on a grid, or the table of an analysis. */
import type { GroupAnswer } from "../../analysis/reductions.js";
import type { Dataset } from "../../engine/contract/dataset.js";
import type { PathRecords } from "../../engine/cutouts/cutout-thread.js";
import type { CallName } from "../../shared/calls.js";
import { LongNumbers, type Values } from "../../storage/tools/long-numbers.js";
import type { MemberValues } from "./question/member-values.js";

/** A quantity of an answer. The components of an element are adjacent numbers. */
export interface AnsweredQuantity {
  readonly name: string;
  readonly columns: readonly string[];
  readonly shape: readonly number[];
  readonly unit: string | null;
  readonly values: Values;
}

/** A column of rows; the number of a row is `values[stride * row + offset]`. */
export interface Column {
  readonly name: string;
  readonly unit: string | null;
  readonly values: Values;
  readonly stride: number;
  readonly offset: number;
}

/** Rows: positions and times first, then quantities. */
export interface RowsAnswer {
  readonly kind: "rows";
  readonly count: number;
  readonly leadColumns: readonly Column[];
  readonly quantities: readonly AnsweredQuantity[];
  /** Dimensions of the rows in arrays: times, then points. */
  readonly shape: readonly number[];
  readonly more?: Readonly<Record<string, unknown>>;
  /** Written by formats for one quantity when the question names none. */
  readonly positions?: AnsweredQuantity;
  /** Paths: their layout in NetCDF. */
  readonly paths?: { readonly records: PathRecords; readonly starts: Float64Array | null } | undefined;
}

/** A dimension of a grid, or a fixed position or time of the whole grid. */
export interface GridDimension {
  readonly name: string;
  readonly coordinates: Float64Array;
  readonly unit: string | null;
}

export interface GridAnswer {
  readonly kind: "grid";
  /** The slowest first. */
  readonly dims: readonly GridDimension[];
  readonly scalars: readonly GridDimension[];
  readonly quantities: readonly AnsweredQuantity[];
  readonly more?: Readonly<Record<string, unknown>>;
  /** Stored fields: writes their HDF5 file and its XDMF. */
  readonly cutout?: (path: string) => Promise<void>;
}

export interface TableAnswer {
  readonly kind: "table";
  readonly body: GroupAnswer;
  /** The number of the structure of each node; files hold it instead of the table. */
  readonly labels?: GridAnswer;
}

export type Answer = RowsAnswer | GridAnswer | TableAnswer;

/** Members of a question as they were understood. */
export type Restated = Readonly<Record<string, unknown>>;

/** The answer of a call, and the members that it restates differently from the question. */
export interface CallAnswer<Kind extends Answer = Answer> {
  readonly answer: Kind;
  readonly restatements: Restated;
}

/** A question as it was understood, complete: asked again, it gives the same bytes. */
export interface CompleteQuestion {
  readonly dataset: string;
  readonly call: CallName;
  readonly [member: string]: unknown;
}

export interface Outcome {
  readonly answer: Answer;
  readonly question: CompleteQuestion;
  readonly dataset: Dataset;
  /** Members that name the level from which it was computed. */
  readonly levelNote: Restated;
  readonly others: MemberValues["others"];
}

/** The number of a level that is asked as a dataset (`NAME@3`); 0 for other datasets. */
export const levelNumber = ({ name }: Dataset): number => Number(/@(\d+)$/.exec(name)?.[1] ?? 0);

export function columnOf(name: string, values: Values, unit: string | null = null, stride = 1, offset = 0): Column {
  return { name, unit, values, stride, offset };
}

export function columnsOf(quantities: readonly AnsweredQuantity[]): readonly Column[] {
  return quantities.flatMap(({ columns, values, unit }) =>
    columns.map((name, c) => columnOf(name, values, unit, columns.length, c)),
  );
}

export function bytesOf(answer: Answer): number {
  if (answer.kind === "table") return answer.labels === undefined ? 0 : bytesOf(answer.labels);
  return answer.quantities.reduce(
    (sum, { values }) => sum + (values instanceof LongNumbers ? 0 : values.byteLength),
    0,
  );
}
