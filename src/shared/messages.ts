/** Parts of messages. */

/** A text as an argument that a shell takes unchanged. */
export const shellText = (text: string): string =>
  /[^\w./:@%+=,-]/.test(text) || text === "" ? `'${text.replaceAll("'", "'\\''")}'` : text;

/** The first texts, and how many more there are. */
export function shortList(texts: readonly string[], most = 3, separator: ", " | "; " = "; "): string {
  const more = texts.length - most;
  const rest = more > 0 ? `${separator === "; " ? ";" : ""} and ${more} more` : "";
  return texts.slice(0, most).join(separator) + rest;
}
