/** Statistics and series as cards: what each asks, and the chart that it makes of the answer. */
import type { TemplateResult } from "lit-html";
import type { Chart } from "../chart.js";
import type { Question } from "../state/ask.js";
import type { Dataset } from "../state/dataset.js";

export type Json = Readonly<Record<string, unknown>>;
/** Answers beside the times of their questions; the first is that of the time shown. */
export type Answered = readonly (readonly [time: number, answer: Json])[];

/** What a card shows: a chart, and numbers below it. */
export interface Facts {
  readonly chart: Chart;
  readonly rows: readonly (readonly [string, string])[];
  readonly title: string;
}

/** A kind of card. */
export interface CardKind {
  readonly name: string;
  /** Whether a dataset has what it needs. */
  has(set: Dataset): boolean;
  /** Whether it is of a quantity that is chosen. */
  readonly hasQuantity: boolean;
  /** Whether other times can have a curve of their own. */
  readonly hasTimes: boolean;
  question(set: Dataset, what: string, time: number): Question;
  facts(set: Dataset, what: string, answers: Answered): Facts;
  /** Choices of its own. */
  options?(set: Dataset): TemplateResult;
}

/** The results of a table. */
export const resultsOf = <T = unknown>(answer: Json): readonly T[] => answer.results as readonly T[];

/** The index of the number nearest to a value. */
export function nearest(numbers: readonly number[], value: number): number {
  let best = 0;
  for (const [i, one] of numbers.entries()) if (Math.abs(one - value) < Math.abs(numbers[best] - value)) best = i;
  return best;
}
