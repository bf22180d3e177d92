/** Questions that only values and times raise: repeated end nodes; values, times and positions that float32 rounds. */
import { readOr } from "../../shared/errors.js";
import { openDataset } from "../bricks/brick-reader.js";
import { AXIS_NAMES, type Dataset, fieldNames, type Question, type TimeAxis } from "../dataset/dataset.js";
import type { Answers } from "../recognise/answers.js";
import { splitLines } from "../recognise/draft.js";
import type { Recognised } from "../recognise/recognise.js";
import { LINES, largest, linesOf, repeatedEnds, repeatedQuestion, STEPS } from "./seam.js";
import { verify } from "./verify.js";

/** Relative spacing of float32 numbers, in which SOAP sends times. */
const FLOAT32 = 2 ** -23;
/** Largest chunk that `inspect` reads to compare the ends of an axis. */
const CHUNK_BYTES = 2 ** 30;
/** Fraction of a step, or of the range of values, that may be rounded away without a word. */
const ROUGH = 0.01;
/** Variations below this part of a value are rounding errors of float64. */
const NOISE = 1e-12;
const none = () => [];

/** Questions that the values of a dataset raise and no accepted guess answers. */
export function raisedQuestions(dataset: Dataset): Question[] {
  const repeated = readOr(() => repeatedEnds(dataset), none);
  // A red one is a statement that an answer overrides, not a question that somebody accepted.
  const accepted = dataset.assumed.filter(({ about, red }) => about === "spacing" && red !== true);
  const left = repeated.filter((axis) => !accepted.some(({ axes }) => axes === undefined || axes.includes(axis)));
  return left.length === 0 ? [] : [repeatedQuestion(left)];
}

/** What float32, in which values are answered, does to finite values of one component; red if some become infinite. */
function claimOfValues(name: string, values: readonly number[]): Question[] {
  const [size, short] = [largest(values), (value: number) => Number(value.toPrecision(4))];
  if (!Number.isFinite(Math.fround(size))) {
    const question = `${name} reaches ${short(size)}, and values are answered in float32, which ends at 3.4e38: larger ones are infinite, or null in JSON.`;
    return [{ about: "values", question, answer: "fields.*.factor in a descriptor, of a larger unit", red: true }];
  }
  const span = Math.max(...values) - Math.min(...values);
  const rounding = largest(values.map((value) => value - Math.fround(value)));
  if (!(span > NOISE * size && rounding > ROUGH * span)) return [];
  const question = `${name} varies by ${short(span)} in values up to ${short(size)}, and is answered in float32, up to ${short(rounding)} off.`;
  return [{ about: "values", question }];
}

/** Claims about the fields that are stored in float64, by lines of the first frame. */
function claimsOfValues(dataset: Dataset): Question[] {
  const open = openDataset(dataset);
  const claimsOf = (field: string): Question[] => {
    const { components, nodes, read } = linesOf(dataset, 0, open, field);
    const valuesOn = (lines: number) =>
      Array.from({ length: lines }, (_, n) => [...read(n, 0, Math.min(nodes, STEPS))]).flat();
    // The first line may lie on walls, where values are 0.
    if (valuesOn(3).every((value) => Object.is(value, Math.fround(value)))) return [];
    const values = valuesOn(LINES);
    return Array.from({ length: components }, (_, c) => {
      const own = values.filter((value, at) => at % components === c && Number.isFinite(value));
      return claimOfValues(components === 1 ? field : `${field} ${AXIS_NAMES[c]}`, own);
    }).flat();
  };
  try {
    return fieldNames(dataset).flatMap((field) => readOr(() => claimsOf(field), none));
  } finally {
    open.close();
  }
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
  const claims = claimsOfValues(dataset);
  const raised = splitLines([...raisedQuestions(dataset), ...claims.filter((line) => line.red)], answers);
  const guesses = {
    questions: [...descriptor.questions, ...raised.questions],
    assumed: [...descriptor.assumed, ...raised.overridden, ...claims.filter((line) => !line.red)],
  };
  const written = Object.fromEntries(Object.entries(guesses).filter(([, list]) => list.length > 0));
  return {
    ...found,
    descriptor: { ...descriptor, ...guesses },
    written: { ...found.written, ...written },
    warnings: [...found.warnings, ...warningsOfTimes(dataset), ...warningsOfPlaces(dataset)],
  };
}
