/** A kind of card: its question, and the chart of the answer. */
import type { TemplateResult } from "lit-html";
import type { Chart } from "../chart.js";
import { into, oneOf } from "../controls.js";
import type { Question } from "../state/ask.js";
import type { Axis, AxisName, Dataset } from "../state/dataset.js";

export type Json = Readonly<Record<string, unknown>>;
/** Answers with the times of their questions, the first for the time shown; of several times each has a label. */
export type Answered = readonly (readonly [time: number, answer: Json, label: string | null])[];

export interface Facts {
  readonly chart: Chart;
  readonly rows: readonly (readonly [string, string])[];
  readonly title: string;
}

export interface CardKind {
  readonly name: string;
  has(set: Dataset): boolean;
  readonly hasQuantity: boolean;
  readonly hasTimes: boolean;
  question(set: Dataset, what: string, time: number): Question;
  facts(set: Dataset, what: string, answers: Answered): Facts;
  canBrush?(): boolean;
  options?(set: Dataset): TemplateResult;
}

export type Moments = Readonly<Record<"mean" | "variance" | "skewness" | "flatness" | "missing" | "infinite", number>>;

export type LeftOut = Partial<Record<"missing" | "infinite", number | readonly number[]>>;
/** Rows that say how many nodes are not in a mean or distribution. */
export const leftOut = (result: LeftOut): Facts["rows"] =>
  (["missing", "infinite"] as const).flatMap((kind) => {
    const count = [result[kind] ?? 0].flat().reduce((sum, one) => sum + one, 0);
    return count === 0
      ? []
      : [[`${kind === "missing" ? "Missing" : "Infinite"}, not counted`, `${count} nodes`] as const];
  });

export function axisButtons(axes: readonly Axis[], chosen: AxisName, to: { value: AxisName }): TemplateResult {
  const offered = axes.filter(({ nodes }) => nodes > 1).map(({ name }) => [name, `along ${name}`]);
  return oneOf("Axis", Object.fromEntries(offered), chosen, into(to));
}

export const resultsOf = <T = unknown>(answer: Json): readonly T[] => answer.results as readonly T[];
