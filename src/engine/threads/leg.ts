/** Which records of a particle fall into a part of its steps. */

/**
 * Records `first .. end - 1` that steps `from + 1 .. to` make; step 0 counts as made by the part that starts there.
 *
 * @param every record after so many steps; undefined: only the last step is one
 */
export function legRecords(
  steps: number,
  every: number | undefined,
  { from, to }: { readonly from: number; readonly to: number },
): { readonly first: number; readonly end: number } {
  const last = to === steps;
  if (every === undefined) return { first: 0, end: last ? 1 : 0 };
  const first = from === 0 ? 0 : Math.floor(from / every) + 1;
  return { first, end: last ? Math.ceil(steps / every) + 1 : Math.floor(to / every) + 1 };
}
