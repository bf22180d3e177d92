/** Finds the name that a mistyped one was meant to be. */

/**
 * The name with the fewest changes of letters (inserted, left out, replaced) from `text`, three at most; null if there
 * is none.
 */
export function nearest(text: string, names: readonly string[]): string | null {
  const wanted = text.toLowerCase();
  const near = names
    .map((name) => ({ name, changes: changesBetween(wanted, name.toLowerCase()) }))
    .filter(({ changes }) => changes <= 3)
    .sort((a, b) => a.changes - b.changes);
  return near[0]?.name ?? null;
}

/** The Levenshtein distance of two texts. Source: Wagner and Fischer, Journal of the ACM 21 (1974). */
function changesBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const replaced = (row[j] as number) + (a[i] === b[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] as number) + 1, (next[j] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}
