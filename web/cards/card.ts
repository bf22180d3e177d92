/** Kinds of cards: the question of each, and the chart and rows of its answers. */
import type { TemplateResult } from "lit-html";
import type { Chart } from "../chart.js";
import { into, oneOf } from "../controls.js";
import type { Question } from "../state/ask.js";
import type { Axis, AxisName, Dataset } from "../state/dataset.js";

export type Json = Readonly<Record<string, unknown>>;
/** Answers with the times they are for, that of the time shown first. If there are several, each has a label. */
export type Answered = readonly (readonly [time: number, answer: Json, label: string | null])[];

export interface CardContent {
  readonly title: string;
  readonly chart: Chart;
  /** Names and values below the chart. */
  readonly rows: readonly (readonly [string, string])[];
}

export interface CardKind {
  readonly name: string;
  /** Whether a dataset has what the card needs; absent: every dataset has. */
  isAvailable?(set: Dataset): boolean;
  /** Whether it is of the velocity, or of the surface; else of a chosen quantity. */
  readonly isOfFixedQuantity?: true;
  /** Whether it takes no curves of other times. */
  readonly isOfOneTime?: true;
  question(set: Dataset, what: string, time: number): Question;
  /** Throws Error for answers that it cannot show, such as those of vectors. */
  content(set: Dataset, what: string, answers: Answered): CardContent;
  /** Whether a range that is drawn over its chart becomes the brush. */
  canBrush?(): boolean;
  options?(set: Dataset): TemplateResult;
}

export type Moments = Readonly<Record<"mean" | "variance" | "skewness" | "flatness" | "missing" | "infinite", number>>;

export type LeftOut = Partial<Record<"missing" | "infinite", number | readonly number[]>>;
/** Rows that say how many nodes are not in a mean or distribution. */
export const leftOut = (result: LeftOut): CardContent["rows"] =>
  (["missing", "infinite"] as const).flatMap((kind) => {
    const count = [result[kind] ?? 0].flat().reduce((sum, one) => sum + one, 0);
    return count === 0
      ? []
      : [[`${kind === "missing" ? "Missing" : "Infinite"}, not counted`, `${count} nodes`] as const];
  });

export function axisButtons(axes: readonly Axis[], chosen: AxisName, signal: { value: AxisName }) {
  const offered = axes.filter(({ nodes }) => nodes > 1).map(({ name }) => [name, `along ${name}`]);
  return oneOf("Axis", Object.fromEntries(offered), chosen, into(signal));
}

export const resultsOf = <T = unknown>(answer: Json): readonly T[] => answer.results as readonly T[];
