/** Values of the members of a question, by type. */
import type { FieldFilter } from "../../../analysis/derived.js";
import type { Dataset } from "../../../engine/contract/dataset.js";
import type { ColumnUnit } from "../../../float32/point-lines.js";
import type { CallMember, Format, MEMBERS, MemberName } from "../../../shared/calls.js";

/** A quantity of a question: its expression, and the name of its column. */
export interface RequestedQuantity {
  readonly text: string;
  readonly name: string;
  readonly isNamed: boolean;
}

/** Requested points. Given rows are one array of numbers, `width` per row. */
export type RequestedPoints =
  | {
      readonly rows: Float64Array;
      readonly width: number;
      readonly columns?: readonly string[];
      readonly units?: readonly ColumnUnit[];
      readonly unread?: readonly string[];
      /** Number of consecutive rows that form a pair or a tetrad. */
      readonly together?: 2 | 4;
    }
  | { readonly input: string }
  | { readonly random: number; readonly seed: number }
  | { readonly pairs: number; readonly distance: number; readonly seed: number }
  | { readonly tetrads: number; readonly distance: number; readonly seed: number };

export type RequestedSpan = { readonly at: number } | { readonly first: number; readonly last: number };
export type RequestedNodes =
  | { readonly node: number }
  | { readonly first: number | null; readonly end: number | null; readonly stride: number };
export type RequestedTimes =
  | { readonly at: number }
  | { readonly list: readonly number[] }
  | { readonly first: number; readonly last: number; readonly step: number | null }
  | "all"
  | { readonly each: number | null };
export type RequestedFrames = { readonly at: number } | { readonly list: readonly number[] } | RequestedNodes | "all";
export type RequestedFilter = FieldFilter | { readonly kind: "box"; readonly width: number };
export type RequestedSeparations =
  | { readonly nodes: readonly number[] }
  | { readonly lengths: readonly number[]; readonly pairs: number; readonly seed: number };
/** Nodes of extremes: the highest, or the lowest values. */
export type RequestedExtremes = Readonly<Partial<Record<"highest" | "lowest", string>>> & {
  readonly count: number;
  readonly apart?: number;
};
/** Ranges along x, y and z; null for a whole axis. */
export type RequestedRegion = readonly (readonly [number, number] | null)[];
export type RequestedScale = { readonly kind: "linear" | "log" } | { readonly kind: "symlog"; readonly linear: number };

interface ValueOf {
  readonly what: readonly RequestedQuantity[];
  readonly points: RequestedPoints;
  readonly along: RequestedSpan;
  readonly nodes: RequestedNodes;
  readonly counts: readonly number[];
  readonly times: RequestedTimes;
  readonly frames: RequestedFrames;
  readonly choice: string;
  readonly choices: readonly string[];
  readonly filter: RequestedFilter;
  readonly condition: string;
  readonly texts: readonly string[];
  readonly number: number;
  readonly integer: number;
  readonly numbers: readonly number[];
  readonly integers: readonly number[];
  readonly pair: readonly [number, number];
  readonly level: number | "auto";
  readonly scale: RequestedScale;
  readonly reductions: readonly Readonly<Record<string, unknown>>[];
  readonly events: "centres" | RequestedExtremes;
  readonly separations: RequestedSeparations;
  readonly region: RequestedRegion;
  readonly boolean: boolean;
}

type Read<Member extends CallMember> = Member extends { readonly choices: readonly (infer Choice)[] }
  ? Member["type"] extends "choices"
    ? readonly Choice[]
    : Choice
  : ValueOf[Member["type"]];

export type MemberValues = {
  readonly [Name in Exclude<MemberName, "format" | "job">]?: Read<(typeof MEMBERS)[Name]>;
} & { readonly format?: Format; readonly others?: Readonly<Record<string, Dataset>> | undefined };
