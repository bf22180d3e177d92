/** What the members of a question are read as. */
import type { FieldFilter } from "../../../analysis/derived.js";
import type { CallMember, FormName, MEMBERS, MemberName } from "../../../shared/calls.js";

/** A quantity of a question: its expression, and the name of its column. */
export interface AskedQuantity {
  readonly text: string;
  readonly name: string;
  /** Whether the caller gave the name. */
  readonly isNamed: boolean;
}

/** Points as they are asked for; rows that were given are numbers in a row, `width` each. */
export type AskedPoints =
  | {
      readonly rows: Float64Array;
      readonly width: number;
      readonly columns?: readonly string[];
      readonly units?: readonly string[];
      /** Rows that follow one another and are a pair or a tetrad. */
      readonly together?: 2 | 4;
    }
  | { readonly input: string }
  | { readonly random: number; readonly seed: number }
  | { readonly pairs: number; readonly distance: number; readonly seed: number }
  | { readonly tetrads: number; readonly distance: number; readonly seed: number };

export type AskedSpan = { readonly at: number } | { readonly first: number; readonly last: number };
export type AskedNodes =
  | { readonly node: number }
  | { readonly first: number | null; readonly end: number | null; readonly stride: number };
/** Times, or an interval of them. */
export type AskedTimes =
  | { readonly at: number }
  | { readonly list: readonly number[] }
  | { readonly first: number; readonly last: number; readonly step: number | null }
  | "all"
  | { readonly each: number | null };
export type AskedFrames = { readonly at: number } | { readonly list: readonly number[] } | AskedNodes | "all";
export type AskedFilter = FieldFilter | { readonly kind: "box"; readonly width: number };
export type AskedSeparations =
  | { readonly nodes: readonly number[] }
  | { readonly lengths: readonly number[]; readonly pairs: number; readonly seed: number };
export type AskedScale = { readonly kind: "linear" | "log" } | { readonly kind: "symlog"; readonly linear: number };

/** Values by the type of their member. */
interface ValueOf {
  readonly what: readonly AskedQuantity[];
  readonly points: AskedPoints;
  readonly along: AskedSpan;
  readonly nodes: AskedNodes;
  readonly counts: readonly number[];
  readonly times: AskedTimes;
  readonly frames: AskedFrames;
  readonly choice: string;
  readonly choices: readonly string[];
  readonly filter: AskedFilter;
  readonly condition: string;
  readonly texts: readonly string[];
  readonly number: number;
  readonly integer: number;
  readonly numbers: readonly number[];
  readonly integers: readonly number[];
  readonly pair: readonly [number, number];
  readonly level: number | "auto";
  readonly scale: AskedScale;
  readonly reductions: readonly Readonly<Record<string, unknown>>[];
  readonly separations: AskedSeparations;
  readonly boolean: boolean;
}

type Read<Member extends CallMember> = Member extends { readonly choices: readonly (infer Choice)[] }
  ? Member["type"] extends "choices"
    ? readonly Choice[]
    : Choice
  : ValueOf[Member["type"]];

export type MemberValues = {
  readonly [Name in Exclude<MemberName, "format" | "job">]?: Read<(typeof MEMBERS)[Name]>;
} & { readonly format?: FormName };
