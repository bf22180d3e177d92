/** Keeping runs of one piece of work apart. */

/**
 * Wraps `work` so that it never runs twice at a time. Calls during a run share the next one, which begins after it: what
 * they have changed before is seen by it, and an older outcome never comes after a newer one.
 */
export function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  const begin = (): Promise<void> => {
    next = null;
    running = work().finally(() => {
      running = null;
    });
    return running;
  };
  return () => {
    if (next === null && running === null) return begin();
    next ??= (running as Promise<void>).then(begin, begin);
    return next;
  };
}
