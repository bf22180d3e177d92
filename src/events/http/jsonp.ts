/** JSONP checks the name of a callback and writes the script that calls it. */
import { setImmediate as nextTurn } from "node:timers/promises";

const LONGEST = 128;
const NAME = /^[A-Za-z_$][\w$]{0,63}(?:\.[A-Za-z_$][\w$]{0,63}|\[\d{1,5}\]){0,8}$/;

/** Words that name no variable (ECMA-262, strict code included). */
const RESERVED = new Set(
  (
    "arguments await break case catch class const continue debugger default delete do else enum eval export extends " +
    "false finally for function if implements import in instanceof interface let new null package private protected " +
    "public return static super switch this throw true try typeof var void while with yield"
  ).split(" "),
);

/**
 * True for a dotted or indexed name without reserved words. Other names are refused, not corrected: a corrected name
 * would call another function.
 */
export function isCallback(name: string): boolean {
  return name.length <= LONGEST && NAME.test(name) && name.split(/[.[\]]+/).every((part) => !RESERVED.has(part));
}

/** A script that calls `name` with a JSON text; nothing in it can end a script element or a line. */
export function wrapJsonp(name: string, json: string): string {
  return `/**/${name}(${escapeLines(json)});`;
}

/** The same for a long JSON text in passages of UTF-8, one per tick. */
export async function* wrapPassages(name: string, passages: Iterable<Buffer>): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder();
  yield Buffer.from(`/**/${name}(`);
  for (const passage of passages) {
    await nextTurn();
    yield Buffer.from(escapeLines(decoder.decode(passage, { stream: true })));
  }
  yield Buffer.from(");");
}

function escapeLines(json: string): string {
  return json.replaceAll("<", "\\u003c").replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}
