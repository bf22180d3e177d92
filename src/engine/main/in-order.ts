/** Runs tasks concurrently and takes their results in the order of the tasks, so that sums are reproducible. */

/**
 * Runs `total` tasks, `lanes` at a time; stops early once `isOver`.
 *
 * @param start begins a task
 * @param take  receives the result of each, in their order
 */
export async function inOrder<T>(
  total: number,
  lanes: number,
  isOver: () => boolean,
  start: (index: number) => Promise<T>,
  take: (result: T) => void,
): Promise<void> {
  const waiting = new Map<number, { readonly result: T }>();
  let [next, taken] = [0, 0];
  const lane = async (): Promise<void> => {
    while (next < total && !isOver()) {
      const index = next++;
      waiting.set(index, { result: await start(index) });
      for (let ready = waiting.get(taken); ready !== undefined; ready = waiting.get(taken)) {
        take(ready.result);
        waiting.delete(taken++);
      }
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}
