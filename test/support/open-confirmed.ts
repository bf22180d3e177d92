/** Opens a source as the command line does after a person has confirmed what it is taken for. */
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { confirmationOf } from "../../src/storage/catalog/confirmation.js";
import { openSource } from "../../src/storage/catalog/source.js";
import { type Dataset, SUBJECTS } from "../../src/storage/dataset/dataset.js";
import type { Answers } from "../../src/storage/recognise/answers.js";
import { isComplete, recognise } from "../../src/storage/recognise/recognise.js";

/**
 * Opens a source whose draft has no open line, or none that `answers` leave, but for the ends of its axes: of these
 * the person says that they are neither periodic nor walls. @throws DataError as `openSource`
 */
export function openConfirmed(path: string, chunkBytes: number, answers: Answers = {}): Dataset {
  return withEnds(answers, (said) => openSource(path, chunkBytes, { ...said, yes: true }));
}

function withEnds<T>(answers: Answers, run: (answers: Answers) => T): T {
  try {
    return run(answers);
  } catch (error) {
    const { message } = error as Error;
    if (answers.walls === undefined && message.includes("open question about faces"))
      return withEnds({ ...answers, walls: [] }, run);
    if (answers.periodic === undefined && message.includes("open question about periodicity"))
      return withEnds({ ...answers, periodic: [] }, run);
    throw error;
  }
}

/** Writes the confirmation of a file beside it, as if a person had answered what the draft proposes. @returns the file */
export function confirmFile(path: string, answers: Answers = {}): string {
  const found = recognise(path, answers);
  if (found === null) throw new Error(`${path} is not recognised`);
  const { questions: _, ...written } = found.written;
  const draft = { ...found, written };
  const target = join(dirname(path), `${found.written.name}.dataset.json`);
  writeFileSync(target, confirmationOf(draft, [], dirname(path), false));
  return path;
}

/** Confirms a file as its draft proposes, unless its format states everything. */
export function confirmIfAsked(path: string): void {
  const found = recognise(path);
  if (found === null || !isComplete(found)) confirmFile(path);
}

/** Opens a file as its draft proposes, whatever is open. */
export function openProposed(path: string, chunkBytes: number): Dataset {
  return openSource(confirmFile(path), chunkBytes);
}

/** Opens a source in spite of every red line. */
export function openDespite(path: string, chunkBytes: number, answers: Answers = {}): Dataset {
  return openConfirmed(path, chunkBytes, { ...answers, despite: SUBJECTS });
}
