/** A text as an argument that a shell takes unchanged. */
export const shellText = (text: string): string =>
  /[^\w./:@%+=,-]/.test(text) || text === "" ? `'${text.replaceAll("'", "'\\''")}'` : text;
