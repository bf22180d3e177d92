/** JSONP: names of callbacks, and scripts that call them. */
import { setImmediate as nextTurn } from "node:timers/promises";

const LONGEST = 128;
const NAME = /^[A-Za-z_$][\w$]{0,63}(?:\.[A-Za-z_$][\w$]{0,63}|\[\d{1,5}\]){0,8}$/;

const RESERVED = new Set(
  (
    "arguments await break case catch class const continue debugger default delete do else enum eval export extends " +
    "false finally for function if implements import in instanceof interface let new null package private protected " +
    "public return static super switch this throw true try typeof var void while with yield"
  ).split(" "),
);

/** Dotted or indexed name without reserved words. Others are refused: a corrected name would call another function. */
export function isCallback(name: string): boolean {
  return name.length <= LONGEST && NAME.test(name) && name.split(/[.[\]]+/).every((part) => !RESERVED.has(part));
}

/** Nothing in the script can end a script element or a line. */
export function wrapJsonp(name: string, json: string): string {
  return `/**/${name}(${escapeLines(json)});`;
}

/** The same for a long text, a chunk per tick. */
export async function* wrapChunks(name: string, chunks: Iterable<Buffer>): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder();
  yield Buffer.from(`/**/${name}(`);
  for (const chunk of chunks) {
    await nextTurn();
    yield Buffer.from(escapeLines(decoder.decode(chunk, { stream: true })));
  }
  yield Buffer.from(");");
}

function escapeLines(json: string): string {
  return json.replaceAll("<", "\\u003c").replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}
