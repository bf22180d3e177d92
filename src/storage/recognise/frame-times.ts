/** Times of frames from the file and the answers of the user. */
import { DataError } from "../../shared/errors.js";
import type { DescriptorInput } from "../dataset/descriptor.js";
import { factorBetween } from "../dataset/units.js";
import type { Answers } from "./answers.js";
import { type Stated, USER } from "./grid.js";
import { type Findings, TIMES_ANSWER } from "./layout.js";

type TimeInput = DescriptorInput["time"];

/** Times of the frames: as the user says, else as stated, else the index with a question. */
export function timesOf(
  frames: number,
  stated: Stated<readonly number[]> | null,
  answers: Answers,
  findings: Findings,
): TimeInput {
  const { times } = answers;
  const inUnits = stated?.units ? ` in "${stated.units}"` : "";
  if (times !== undefined) {
    const answered =
      "origin" in times ? Array.from({ length: frames }, (_, k) => times.origin + k * times.step) : times;
    if (answered.length !== frames)
      throw new DataError(`there are ${frames} frames, not the ${answered.length} of --times`);
    findings.addReason(`time: from ${USER}.`);
    if (stated !== null && !isSameTimes(answered, stated))
      findings.override("times", listText(answered), `${stated.where} (${listText(stated.value)}${inUnits})`);
    return describeTimes(answered);
  }
  if (stated?.value.length === frames) {
    const at = stated.value.findIndex((value, index) => index > 0 && value <= (stated.value[index - 1] as number));
    if (at > 0)
      throw new DataError(
        `the times in ${stated.where} do not ascend (${stated.value[at - 1]} is followed by ${stated.value[at]}); frames must be stored from the earliest to the latest`,
      );
    findings.addReason(`time: from ${stated.where}${inUnits}.`);
    return describeTimes(stated.value);
  }
  const count = stated === null ? "" : `${stated.where} has ${stated.value.length}`;
  if (frames !== 1) {
    const mismatch = count && ` (${count} for ${frames} frames)`;
    const text = `The file does not state the times of its ${frames} frames${mismatch}, and the index is a guess.`;
    findings.ask("times", text, TIMES_ANSWER);
    return { origin: 0, step: 1, count: frames };
  }
  if (count === "")
    findings.ask("snapshot", "The file does not state its time; it is a snapshot at time 0.", TIMES_ANSWER);
  else {
    const text = `${count} times, but no dimension of the field is that of time; a snapshot at time 0 is a guess.`;
    findings.contradict("times", text, TIMES_ANSWER);
  }
  return { count: 1, origin: 0 };
}

function isSameTimes(answered: readonly number[], { value, units = "" }: Stated<readonly number[]>): boolean {
  const [first = 0, last = first] = [answered[0], answered.at(-1)];
  const slack = 1e-6 * Math.abs(last - first || first);
  const isSame = answered.length === value.length && answered.every((time, k) => Math.abs(time - value[k]) <= slack);
  return isSame && (units === "" || factorBetween(units, "s") === 1);
}

const listText = (values: readonly number[]): string =>
  values.slice(0, 3).join(", ") + (values[3] === undefined ? "" : ", ...");

function describeTimes(values: readonly number[]): TimeInput {
  const [origin, second] = values as [number, number | undefined];
  if (second === undefined) return { count: 1, origin };
  const step = (values[values.length - 1] - origin) / (values.length - 1);
  const isUniform = values.every((value, index) => Math.abs(value - origin - index * step) <= 1e-6 * step);
  return isUniform ? { origin, step, count: values.length } : { values: [...values] };
}
