/** Lines that keep a draft from being confirmed: open ones, to be answered, and red ones, which may be overridden. */
import type { Question, Subject } from "../dataset/dataset.js";
import type { Answers } from "./answers.js";

/** Subjects that change no number: a single frame has the time 0 unless one is given. */
const NOTES: readonly Subject[] = ["snapshot"];

export function openLines(questions: readonly Question[]): Question[] {
  return questions.filter(({ about }) => !NOTES.includes(about));
}

/** Parts lines into those that are left and those that the person overrides; open lines cannot be overridden. */
export function splitLines(
  lines: readonly Question[],
  { despite = [] }: Answers,
): { readonly questions: Question[]; readonly overridden: Question[] } {
  const isOverridden = ({ about, red }: Question) => red === true && despite.includes(about);
  return {
    questions: lines.filter((line) => !isOverridden(line)),
    overridden: lines.filter(isOverridden).map(({ red: _, ...line }) => line),
  };
}

export const flagsOf = (lines: readonly Question[]): string => [...new Set(lines.map(flagOf))].join(", ");

/** The flag that answers a line: the first that its answer names, else the one that overrides it. */
export function flagOf({ about, answer = "", red }: Question): string {
  const [flag] = /--[a-z-]+/.exec(answer) ?? [];
  if (flag !== undefined && flag !== "--despite") return flag;
  return red === true ? `--despite ${about}` : "a descriptor";
}
