/** Runs the program in this process: what it prints, and how it ends. */
import { vi } from "vitest";
import { runProgram } from "../../src/cli/program.js";

export interface Outcome {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one command, e.g. `["check", "data"]`. One runs at a time. */
export async function fieldprobe(...words: readonly string[]): Promise<Outcome> {
  const texts = { stdout: "", stderr: "" };
  const noteIn = (name: keyof typeof texts) =>
    ((text: string | Uint8Array) => {
      texts[name] += typeof text === "string" ? text : Buffer.from(text).toString();
      return true;
    }) as typeof process.stdout.write;
  const spies = [
    vi.spyOn(process.stdout, "write").mockImplementation(noteIn("stdout")),
    vi.spyOn(process.stderr, "write").mockImplementation(noteIn("stderr")),
  ];
  try {
    await runProgram(words);
    return { status: Number(process.exitCode ?? 0), ...texts };
  } finally {
    process.exitCode = undefined;
    for (const spy of spies) spy.mockRestore();
  }
}

/** The standard output of a command that does not fail. */
export async function stdoutOf(...words: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await fieldprobe(...words);
  if (status !== 0) throw new Error(`fieldprobe ${words.join(" ")} ended with ${status}: ${stderr}`);
  return stdout;
}
