/** A kind of card: its question, and the chart of the answer. */
import { html, type TemplateResult } from "lit-html";
import type { Chart } from "../chart.js";
import type { Question } from "../state/ask.js";
import type { Dataset } from "../state/dataset.js";

export type Json = Readonly<Record<string, unknown>>;
/** Answers with the times of their questions; the first is for the time shown. */
export type Answered = readonly (readonly [time: number, answer: Json])[];

/** Content of a card: a chart, and numbers below it. */
export interface Facts {
  readonly chart: Chart;
  readonly rows: readonly (readonly [string, string])[];
  readonly title: string;
}

export interface CardKind {
  readonly name: string;
  /** Whether a dataset has the fields and axes that it needs. */
  has(set: Dataset): boolean;
  readonly hasQuantity: boolean;
  /** Whether it can show curves of several times. */
  readonly hasTimes: boolean;
  question(set: Dataset, what: string, time: number): Question;
  facts(set: Dataset, what: string, answers: Answered): Facts;
  /** Whether a range of its horizontal axis can be brushed. */
  canBrush?(): boolean;
  options?(set: Dataset): TemplateResult;
}

export interface Moments {
  readonly mean: number;
  readonly variance: number;
  readonly skewness: number;
  readonly flatness: number;
}

/** A button that switches a choice on and off. */
export const toggle = (label: string, on: { value: boolean }): TemplateResult =>
  html`<button aria-pressed=${on.value ? "true" : "false"} @click=${() => {
    on.value = !on.value;
  }}>${label}</button>`;

export const resultsOf = <T = unknown>(answer: Json): readonly T[] => answer.results as readonly T[];

/** The index of the number nearest to a value. */
export function nearest(numbers: readonly number[], value: number): number {
  let best = 0;
  for (const [i, number] of numbers.entries()) if (Math.abs(number - value) < Math.abs(numbers[best] - value)) best = i;
  return best;
}
