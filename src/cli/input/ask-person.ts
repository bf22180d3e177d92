/** Asks the user at the terminal about the open and red lines of a draft, one after another. */
import { createInterface } from "node:readline/promises";
import { Command, CommanderError } from "commander";
import { claimText } from "../../storage/dataset/dataset.js";
import { flagOf, openLines } from "../../storage/recognise/draft.js";
import type { Recognised } from "../../storage/recognise/recognise.js";
import { withAnswers } from "./answer-flags.js";

export async function isAgreed(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const text = await terminal.question(`${question} [y/N] `).finally(() => terminal.close());
  return /^y(es)?$/i.test(text.trim());
}

/** Returns the flags, or null if the draft is not confirmed. @param draw shows the draft that the flags so far make */
export async function answerAtTerminal<Flags extends object>(
  draft: Recognised,
  flags: Flags,
  draw: (flags: Flags) => Recognised,
): Promise<Flags | null> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  let [found, said] = [draft, flags];
  try {
    for (;;) {
      const [line] = openLines(found.descriptor.questions);
      if (line === undefined) {
        const right = await terminal.question("Is everything right as it is shown? [y/N] ");
        return /^y(es)?$/i.test(right.trim()) ? said : null;
      }
      const flag = flagOf(line);
      const isOverride = flag.startsWith("--despite ");
      const more = isOverride
        ? "y overrides the file, "
        : line.red === true
          ? `--despite ${line.about} overrides, `
          : "";
      process.stdout.write(`\n${claimText(line)}\n`);
      const text = (await terminal.question(`${flag} (${more}empty to stop): `)).trim();
      if (text === "") return null;
      const own = isOverride && /^y(es)?$/i.test(text) ? flag : text;
      const next = parsed(own.startsWith("--") ? own.split(/\s+/) : [flag, text], said);
      if (typeof next === "string") process.stdout.write(`${next}\n`);
      else {
        said = next;
        found = draw(said);
      }
    }
  } finally {
    terminal.close();
  }
}

function parsed<Flags extends object>(words: readonly string[], before: Flags, isMore = true): Flags | string {
  const command = withAnswers(new Command("answer"))
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  // A flag that may be repeated adds to what was said before, or replaces it.
  for (const [flag, value] of Object.entries(isMore ? before : {})) command.setOptionValue(flag, value);
  try {
    command.parse([...words], { from: "user" });
    return { ...before, ...command.opts() };
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return isMore && error.message.includes("more than once") ? parsed(words, before, false) : error.message;
  }
}
