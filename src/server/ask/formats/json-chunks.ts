/** Writes large JSON answers chunk by chunk, so that no turn of the event loop is long. */

/** Approximate characters of a chunk, and members of a list that are written at once. */
const CHUNK_CHARACTERS = 32_768;
const TOGETHER = 1024;

/** The chunks of `JSON.stringify(value)`. `value`: plain data. */
export function* jsonChunks(value: unknown): Generator<Buffer, undefined> {
  let text = "";
  for (const part of partsOf(value)) {
    text += part;
    if (text.length < CHUNK_CHARACTERS) continue;
    yield Buffer.from(text);
    text = "";
  }
  yield Buffer.from(text);
}

function* partsOf(value: unknown): Generator<string> {
  if (typeof value !== "object" || value === null) yield JSON.stringify(value) ?? "null";
  else if (Array.isArray(value)) yield* partsOfList(value);
  else {
    let mark = "{";
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue;
      yield `${mark}${JSON.stringify(name)}:`;
      yield* partsOf(member);
      mark = ",";
    }
    yield mark === "{" ? "{}" : "}";
  }
}

function* partsOfList(list: readonly unknown[]): Generator<string> {
  yield "[";
  const isFlat = list.every((one) => typeof one !== "object" || one === null);
  const step = isFlat ? TOGETHER : 1;
  for (let from = 0; from < list.length; from += step) {
    if (from > 0) yield ",";
    if (isFlat) yield JSON.stringify(list.slice(from, from + step)).slice(1, -1);
    else yield* partsOf(list[from]);
  }
  yield "]";
}
