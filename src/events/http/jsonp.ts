/** JSONP: names of callbacks, and scripts that call them. */

const MAX_LENGTH = 128;
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
  return name.length <= MAX_LENGTH && NAME.test(name) && name.split(/[.[\]]+/).every((part) => !RESERVED.has(part));
}

/** Script that calls `name` with the JSON of `parts`. Nothing in it can end a script element or a line. */
export function* wrapJsonp(name: string, parts: Iterable<string>): Generator<string> {
  yield `/**/${name}(`;
  for (const part of parts) {
    yield part.replaceAll("<", "\\u003c").replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
  }
  yield ");";
}
