/** A question as a command of curl, as Python and as a command line: each gives the number that the page shows. */
import { type Question, textOf } from "../state/ask.js";

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const plainOrQuoted = (text: string): string => (/^[\w.,:/+-]+$/.test(text) ? text : quoted(text));

export function curlOf(question: Question, base: string): string {
  return `curl -s --json ${quoted(JSON.stringify(question))} ${plainOrQuoted(`${base}/api/ask`)}`;
}

function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (value === true) return "True";
  if (value === false) return "False";
  if (value === null) return "None";
  if (typeof value === "object") {
    const members = Object.entries(value as object).map(([name, one]) => `${JSON.stringify(name)}: ${literal(one)}`);
    return `{${members.join(", ")}}`;
  }
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

export function pythonOf({ dataset, call, ...members }: Question, base: string): string {
  const given = Object.entries(members).map(([name, value]) => `${name}=${literal(value)}`);
  const set = `ds = fieldprobe.connect(${JSON.stringify(base)})[${JSON.stringify(dataset)}]`;
  return `import fieldprobe\n\n${set}\nanswer = ds.${call}(${given.join(", ")})`;
}

export function commandOf({ dataset, call, what, ...members }: Question, base: string): string {
  const flags = Object.entries(members).map(
    ([name, value]) => `--${name.replaceAll("_", "-")} ${plainOrQuoted(textOf(value))}`,
  );
  const words = what === undefined ? [] : [plainOrQuoted(textOf(what))];
  // What begins with a minus would be read as a flag.
  const [before, behind] = /^'?-/.test(words[0] ?? "") ? [[], ["--", ...words]] : [words, []];
  const start = ["fieldprobe", call.replaceAll("_", "-"), plainOrQuoted(dataset)];
  return [...start, ...before, ...flags, "--url", base, ...behind].join(" ");
}
