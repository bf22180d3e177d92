/** Adds the flags by which the user answers what a file does not say; the commands that read bare files share them. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { RequestError } from "../../shared/errors.js";
import { ANSWER_FLAGS, type AnswerTexts, answersFrom } from "../../storage/recognise/answer-texts.js";
import type { Answers } from "../../storage/recognise/answers.js";

export interface AnswerOptions {
  readonly yes?: boolean;
  readonly [flag: string]: unknown;
}

const memberOf = (flag: string) => flag.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());

/** Adds the flags to a command, except those that it has. `isHidden`: whether its help leaves them to `inspect`. */
export function withAnswers(command: Command, isHidden = false): Command {
  for (const { flag, value, about, repeats } of ANSWER_FLAGS) {
    if (command.options.some(({ long }) => long === `--${flag}`)) continue;
    const option = new Option(`--${flag} <${value}>`, about).argParser((text, before: string[] = []) => {
      const all = repeats ? [...before, text] : [text];
      try {
        answersFrom(new Map([[flag, all]]));
      } catch (error) {
        throw error instanceof RequestError ? new InvalidArgumentError(error.message.replace(`${flag}: `, "")) : error;
      }
      return all;
    });
    command.addOption(option.hideHelp(isHidden));
  }
  return command.option("--yes", "confirm: everything else is right as it is shown");
}

export function textsOf(flags: AnswerOptions): AnswerTexts {
  return new Map(
    ANSWER_FLAGS.flatMap(({ flag }) => {
      const texts = flags[memberOf(flag)] as readonly string[] | undefined;
      return Array.isArray(texts) ? [[flag, texts as readonly string[]] as const] : [];
    }),
  );
}

export function answersOf(flags: AnswerOptions): Answers {
  return { ...answersFrom(textsOf(flags)), ...(flags.yes === undefined ? {} : { yes: flags.yes }) };
}
