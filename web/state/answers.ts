/** Answers as wants of the store: one key for a question and a manifest; large questions run as jobs. */
import { signal } from "@preact/signals-core";
import { askJson, type Question, type Wanted } from "./ask.js";
import type { Dataset } from "./dataset.js";
import { answerOfJob } from "./jobs.js";

export function keyOf(set: Dataset, question: Question): string {
  return JSON.stringify(["answer", set.digest, question]);
}

/** Nodes times frames from which on a question runs as a job, after confirmation. */
export const jobAbove = signal(2 ** 27);
const confirmed = signal<ReadonlySet<string>>(new Set());
export const isConfirmed = (key: string): boolean => confirmed.value.has(key);
export function confirm(key: string): void {
  confirmed.value = new Set(confirmed.peek()).add(key);
}

const NODES_A_SECOND = 1.5e7;
const AT_NODES = ["statistics", "spectrum", "structure_functions", "correlation", "around", "structures", "find"];

/** Nodes times frames times passes of a question; 0 of questions at points. */
export function costOf({ axes, times }: Dataset, { call, time, lag, reduce }: Question): number {
  if (!AT_NODES.includes(call)) return 0;
  const nodes = axes.reduce((product, { nodes: n }) => product * n, 1);
  const frames = time === "all" ? times.length : 1;
  const offsets = Array.isArray(lag) ? lag.reduce((product: number, n) => product * (2 * Number(n) + 1), 1) : 1;
  const terms = JSON.stringify(reduce ?? "").includes("budget") ? 8 : 1;
  return nodes * frames * offsets * terms;
}

/** Whether a question waits for confirmation, and the seconds that it would take. */
export function estimateOf(set: Dataset, question: Question): { readonly waits: boolean; readonly seconds: number } {
  const cost = costOf(set, question);
  const waits = cost > jobAbove.value && !confirmed.value.has(keyOf(set, question));
  return { waits, seconds: cost / NODES_A_SECOND };
}

/** The want of an answer. A large question that was confirmed runs as a job, whose result is its answer. */
export function wantedAnswer<T>(set: Dataset, title: string, question: Question, priority: number): Wanted<T> {
  const isLarge = costOf(set, question) > jobAbove.value;
  return {
    key: keyOf(set, question),
    priority,
    lasting: isLarge,
    shared: [{ title, question }],
    load: (signal) => (isLarge ? answerOfJob<T>(question, signal) : askJson<T>(question, signal)),
  };
}
