/** Questions that only values and times raise: repeated end nodes; times and positions that float32 rounds. */
import { readOr } from "../../shared/errors.js";
import type { Dataset, Question, TimeAxis } from "../dataset/dataset.js";
import type { Answers } from "../recognise/answers.js";
import { splitLines } from "../recognise/draft.js";
import type { Recognised } from "../recognise/recognise.js";
import { repeatedEnds, repeatedQuestion } from "./seam.js";
import { verify } from "./verify.js";

/** Relative spacing of float32 numbers, in which SOAP sends times. */
const FLOAT32 = 2 ** -23;
/** Largest chunk that `inspect` reads to compare the ends of an axis. */
const CHUNK_BYTES = 2 ** 30;
/** Fraction of a step by which times may be rounded without a warning. */
const ROUGH = 0.01;

/** Questions that the values of a dataset raise and no accepted guess answers. */
export function raisedQuestions(dataset: Dataset): Question[] {
  const repeated = readOr(
    () => repeatedEnds(dataset),
    () => [],
  );
  // A red one is a statement that an answer overrides, not a question that somebody accepted.
  const accepted = dataset.assumed.filter(({ about, red }) => about === "spacing" && red !== true);
  const left = repeated.filter((axis) => !accepted.some(({ axes }) => axes === undefined || axes.includes(axis)));
  return left.length === 0 ? [] : [repeatedQuestion(left)];
}

function roundingOfTimes({ count, origin, step, values }: TimeAxis): number {
  if (count < 2) return 0;
  const last = values?.[count - 1] ?? origin + (count - 1) * step;
  const steps = values === null ? [step] : [...values.subarray(1)].map((value, index) => value - values[index]);
  return (Math.max(Math.abs(origin), Math.abs(last)) * FLOAT32) / steps.reduce((least, one) => Math.min(least, one));
}

/** The warning that float32 times are off by a noticeable fraction of a step; empty if they are not. */
export function warningsOfTimes({ time }: Pick<Dataset, "time">): string[] {
  const rounding = roundingOfTimes(time);
  if (rounding < ROUGH) return [];
  const part = Number(rounding.toPrecision(2));
  const effect = rounding < 0.5 ? "" : ", and cannot tell frames apart: it is refused where that matters";
  return [
    `SOAP sends times as float32, which is up to ${part} of the shortest step off at these times${effect}; /api, POST values and the command line keep them exact.`,
  ];
}

/** The warning of each axis that float32 positions are off by a noticeable fraction of a spacing. */
export function warningsOfPlaces({ axes }: Pick<Dataset, "axes">): string[] {
  return axes.flatMap(({ origin, spacing, nodes, coordinates }, a) => {
    const last = coordinates?.[nodes - 1] ?? origin + (nodes - 1) * spacing;
    const part = (Math.max(Math.abs(origin), Math.abs(last)) * FLOAT32) / 2 / spacing;
    const off = `Positions along ${"xyz"[a]} are taken as float32, up to ${Number(part.toPrecision(2))} of a spacing off`;
    return part < ROUGH || nodes === 1 ? [] : [`${off}: values are those of the rounded positions; nodes are exact.`];
  });
}

/** The description with the questions and warnings that its values and times raise. */
export function measured(found: Recognised, folder: string, answers: Answers): Recognised {
  const { descriptor } = found;
  const outcome = verify({ descriptor, folder, location: "", digest: "", warnings: [] }, CHUNK_BYTES);
  if ("problems" in outcome) return found;
  const { dataset } = outcome;
  const raised = splitLines(raisedQuestions(dataset), answers);
  const guesses = {
    questions: [...descriptor.questions, ...raised.questions],
    assumed: [...descriptor.assumed, ...raised.overridden],
  };
  const written = Object.fromEntries(Object.entries(guesses).filter(([, list]) => list.length > 0));
  return {
    ...found,
    descriptor: { ...descriptor, ...guesses },
    written: { ...found.written, ...written },
    warnings: [...found.warnings, ...warningsOfTimes(dataset), ...warningsOfPlaces(dataset)],
  };
}
