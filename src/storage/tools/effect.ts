/** Refuses answers without effect: without such an answer, the same is read, and what it says is not what is read. */
import { RequestError, readOr } from "../../shared/errors.js";
import { type AnswerTexts, answersFrom } from "../recognise/answer-texts.js";
import type { Answers } from "../recognise/answers.js";
import { openLines } from "../recognise/draft.js";
import { type Recognised, recogniseOpen } from "../recognise/recognise.js";
import { withFiles } from "../united-file.js";

/** A description with its lines and reasons, or why there is none. */
const textOf = (read: () => Recognised | null): string =>
  readOr(
    () => JSON.stringify([read()].map((found) => [found?.written, found?.reasons, found?.warnings])),
    ({ message }) => message,
  );

type Reader = (answers: Answers) => Recognised | null;

/**
 * @param found what `read` has found; while questions are left, walls and cells may still have an effect
 * @param read all files; it is tried without answers that have no effect on the first file
 * @throws RequestError that names the flag
 */
export function requireEffect(path: string, texts: AnswerTexts, found: Recognised, read: Reader): void {
  const all = new Map(
    [...texts].map(([flag, said]) => [flag, flag === "despite" ? said.flatMap((one) => one.split(",")) : said]),
  );
  const early = openLines(found.descriptor.questions).length > 0 ? ["walls", "cells"] : [];
  const hasCells = Object.values(found.descriptor.axes).some(({ edges }) => edges !== undefined);
  const agreeing = ["walls none", "components x,y,z", ...(hasCells ? [] : ["cells none"])];
  const tried = [...all].flatMap(([flag, said]) => said.map((text) => ({ flag, text })));
  const without = tried
    .filter(({ flag, text }) => !early.includes(flag) && !agreeing.includes(`${flag} ${text}`))
    .map(({ flag, text }) => {
      const left = (all.get(flag) ?? []).filter((other) => other !== text);
      return { flag, text, others: answersFrom(new Map([...all].filter(([name]) => name !== flag)).set(flag, left)) };
    });
  if (without.length === 0) return;
  const idle = withFiles([path], (file) => {
    const whole = textOf(() => recogniseOpen(file, answersFrom(texts), "first"));
    return without.filter(({ others }) => textOf(() => recogniseOpen(file, others, "first")) === whole);
  });
  const one = idle.find(({ others }) => textOf(() => read(others)) === textOf(() => found));
  if (one === undefined) return;
  const message = `--${one.flag} ${one.text} has no effect: the same is read without it.`;
  throw new RequestError("Unsupported", message, { member: one.flag });
}
