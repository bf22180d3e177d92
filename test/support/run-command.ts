/** Runs a command of the command line in this process: what it prints, and how it ends. */
import { type Command, CommanderError } from "commander";
import { vi } from "vitest";
import { MisuseError } from "../../src/cli/input/arguments.js";
import { failureText } from "../../src/cli/output/failure.js";

export interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Parses the words and runs the command, one at a time. */
export async function runCommand(command: Command, words: readonly string[]): Promise<Outcome> {
  const texts = { out: "", err: "" };
  const noteIn = (name: keyof typeof texts) =>
    ((text: string | Uint8Array) => {
      texts[name] += typeof text === "string" ? text : Buffer.from(text).toString();
      return true;
    }) as typeof process.stdout.write;
  const spies = [
    vi.spyOn(process.stdout, "write").mockImplementation(noteIn("out")),
    vi.spyOn(process.stderr, "write").mockImplementation(noteIn("err")),
  ];
  let code = 0;
  try {
    await command
      .exitOverride()
      .configureOutput({
        outputError: (text, write) =>
          write(text.replace(/^error: /, "fieldprobe: ").replace(/\n\(Did you/, " (did you")),
      })
      .parseAsync([...words], { from: "user" });
  } catch (error) {
    code = error instanceof MisuseError || error instanceof CommanderError ? 2 : 1;
    if (!(error instanceof CommanderError)) texts.err += `fieldprobe: ${failureText(error)}\n`;
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return { code, ...texts };
}
