/**
 * Runs the example calls of a document and puts their answers in place, so that a document can be compared with the
 * truth.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { stdoutOf } from "./run-command.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
export const SHOWN = "http://127.0.0.1:8080";
/** A block of shell or TypeScript and the block of its answer right below it. */
const EXAMPLE = /(```(sh|ts)\n([^`]*?)```\n```(?:text|json|xml|csv)\n)([^`]*?)(```\n)/g;

/** Cuts a command line into words as a POSIX shell does, as far as quotes and line continuations go; `|` is a word. */
export function shellWords(line: string): string[] {
  const words: string[] = [];
  const parts = /\\\n|\s+|"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\s"']+)/gs;
  let open = false;
  for (const [all, double, single, bare] of line.trim().matchAll(parts)) {
    if (all === "\\\n" || (double ?? single ?? bare) === undefined) {
      open = false;
      continue;
    }
    const text = single ?? bare ?? (double as string).replace(/\\(["\\$`])/g, "$1");
    if (open) words[words.length - 1] += text;
    else words.push(text);
    open = true;
  }
  return words;
}

function produced(words: readonly string[]): string {
  const [command, ...rest] = words;
  if (command === "echo") return `${rest.join(" ")}\n`;
  if (command === "printf" && rest.length === 1) return (rest[0] as string).replaceAll("\\n", "\n");
  throw new Error(`documents use echo and printf to produce input, not ${words.join(" ")}`);
}

/** Runs TypeScript without a type in the root of the repository, where `fieldprobe` names this package. */
async function node(code: string): Promise<string> {
  const words = ["--input-type=module", "--eval", code];
  return (await promisify(execFile)(process.execPath, words, { cwd: ROOT })).stdout;
}

/** What `fieldprobe` prints; a file takes the place of its standard input. */
async function printed(words: readonly string[], input: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "fieldprobe-test-"));
  const file = join(folder, "input.csv");
  writeFileSync(file, input);
  const text = stdoutOf(...words.map((word) => (word === "-" ? file : word)));
  return text.finally(() => rmSync(folder, { recursive: true }));
}

/** Does what curl does with a URL, `-H`, `-s`, `-G`, `--data` and `--data-urlencode`: the tests need nothing but Node. */
async function curl(words: readonly string[]): Promise<string> {
  const headers: Record<string, string> = {};
  let url: string | undefined;
  let body: string | undefined;
  const query = new URLSearchParams();
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as string;
    if (word === "-s" || word === "-sG") continue;
    if (word === "-H") {
      const [name, value] = (words[++i] as string).split(/:\s*/, 2);
      headers[name as string] = value as string;
    } else if (word === "--data") body = words[++i];
    else if (word === "--data-urlencode") {
      const [, name = "", value = ""] = /^([^=]+)=(.*)$/s.exec(words[++i] as string) ?? [];
      query.append(name, value);
    } else if (word.startsWith("-"))
      throw new Error(`documents use -s, -G, -H, --data and --data-urlencode of curl, not ${word}`);
    else url = word;
  }
  const address = query.size === 0 ? (url as string) : `${url}?${query}`;
  const response = await fetch(address, body === undefined ? { headers } : { method: "POST", headers, body });
  // Lines of CSV end in CR LF, which a document does not show.
  return (await response.text()).replaceAll("\r\n", "\n");
}

/** Runs one example against the service at `base` and resolves with what it prints. */
async function runExample(language: string, code: string, base: string): Promise<string> {
  const text = code.replaceAll(SHOWN, base);
  // The examples are TypeScript without a type in it, which is what the annotations of the client spare its users.
  if (language === "ts") return node(text);
  const words = shellWords(text);
  const bar = words.indexOf("|");
  const input = bar < 0 ? "" : produced(words.slice(0, bar));
  const command = words.slice(bar + 1);
  if (command[0] === "curl") return curl(command.slice(1));
  if (command[0] === "npx" && command[1] === "fieldprobe") return printed(command.slice(2), input);
  throw new Error(`documents call curl and npx fieldprobe, not ${command[0]}`);
}

/** The document with every answer replaced by that of the service at `base`, and the number of examples it holds. */
export async function withAnswers(text: string, base: string): Promise<{ text: string; examples: number }> {
  const examples = [...text.matchAll(EXAMPLE)];
  const answers: string[] = [];
  for (const [, , language = "", code = ""] of examples) answers.push(await runExample(language, code, base));
  let next = 0;
  const filled = text.replace(EXAMPLE, (_, head, __, ___, ____, tail) => {
    const answer = (answers[next++] as string).replaceAll(base, SHOWN);
    return `${head}${answer.endsWith("\n") ? answer : `${answer}\n`}${tail}`;
  });
  return { text: filled, examples: examples.length };
}
