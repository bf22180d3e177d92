/** Refuses answers without effect: without such an answer, the same is read. */
import { RequestError, readOr } from "../../shared/errors.js";
import { type AnswerTexts, answersFrom } from "../recognise/answer-texts.js";
import type { Answers } from "../recognise/answers.js";
import { type Recognised, recogniseOpen } from "../recognise/recognise.js";
import { withFiles } from "../united-file.js";

/** A description with its lines and reasons, or why there is none. */
const textOf = (read: () => Recognised | null): string =>
  readOr(
    () => JSON.stringify([read()].map((found) => [found?.written, found?.reasons, found?.warnings])),
    ({ message }) => message,
  );

/**
 * @param read all files; it is tried without answers that have no effect on the first file
 * @throws RequestError that names the flag
 */
export function requireEffect(path: string, texts: AnswerTexts, read: (answers: Answers) => Recognised | null): void {
  const all = new Map(
    [...texts].map(([flag, said]) => [flag, flag === "despite" ? said.flatMap((one) => one.split(",")) : said]),
  );
  const answers = answersFrom(texts);
  const without = [...all].flatMap(([flag, said]) =>
    said.map((text) => {
      const left = said.filter((other) => other !== text);
      const others = answersFrom(new Map([...all].filter(([name]) => name !== flag)).set(flag, left));
      return { flag, text, others };
    }),
  );
  if (without.length === 0) return;
  const idle = withFiles([path], (file) => {
    const whole = textOf(() => recogniseOpen(file, answers, "first"));
    return without.filter(({ others }) => textOf(() => recogniseOpen(file, others, "first")) === whole);
  });
  const one = idle.find(({ others }) => textOf(() => read(others)) === textOf(() => read(answers)));
  if (one === undefined) return;
  const { flag, text } = one;
  throw new RequestError("Unsupported", `--${flag} ${text} has no effect: the same is read without it.`, {
    member: flag,
  });
}
