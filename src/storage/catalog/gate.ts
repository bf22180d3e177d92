/** Gate through which every scanned or opened dataset passes before it is used. */
import { basename } from "node:path";
import { claimText } from "../dataset/dataset.js";
import { openQuestions, questionText } from "../dataset/descriptor.js";
import { DESCRIPTOR_NAME } from "../dataset/folder-names.js";
import type { Admitted, Refused } from "../dataset/scan.js";
import { splitLines } from "../recognise/draft.js";
import { changedSince } from "./confirmation.js";
import { withNewFrames } from "./growth.js";
import { raisedQuestions, warningsOfPlaces, warningsOfTimes } from "./raised-questions.js";
import { type Description, verify } from "./verify.js";

/**
 * Admits a dataset, or gives the reasons against it: open questions that change values, faults of its files, or values
 * that contradict its description.
 */
export function admit(description: Description, chunkBytes: number, served?: Float64Array): Admitted | Refused {
  const questions = openQuestions(description.descriptor);
  if (questions.length > 0) return { problems: questions.map((text) => refusalOf(text, description)) };
  const changed = changedSince(description);
  if (changed !== null) return { problems: [changed], waits: true };
  const { description: extended, waiting } = withNewFrames(description, served);
  const outcome = verify(extended, chunkBytes);
  if ("problems" in outcome) return outcome;
  const { dataset } = outcome;
  const { questions: unanswered, overridden } = splitLines(raisedQuestions(dataset), description);
  if (unanswered.length > 0)
    return { problems: unanswered.map((entry) => refusalOf(questionText(entry), description)) };
  const assumed = overridden.map((entry) => `assumed ${claimText(entry)}`);
  const warnings = [...dataset.warnings, ...assumed, ...warningsOfTimes(dataset), ...warningsOfPlaces(dataset)];
  return { dataset: { ...dataset, warnings, assumed: [...dataset.assumed, ...overridden] }, waiting };
}

function refusalOf(text: string, { location }: Description): string {
  const isWritten = basename(location) === DESCRIPTOR_NAME;
  return `open question about ${text}${isWritten ? ` Delete the question from ${DESCRIPTOR_NAME} when it is answered there.` : ""}`;
}
