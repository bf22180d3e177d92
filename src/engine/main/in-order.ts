/** Runs tasks concurrently and takes their results in the order of the tasks, so that sums are reproducible. */
import { setImmediate } from "node:timers/promises";

/** Runs `total` tasks, `lanes` at a time, until `isOver`, and hands their results in order to `take`, one in a turn. */
export async function inOrder<T>(
  total: number,
  lanes: number,
  isOver: () => boolean,
  start: (index: number) => Promise<T>,
  take: (result: T) => void,
): Promise<void> {
  const waiting = new Map<number, { readonly result: T }>();
  let [next, taken, turn] = [0, 0, Promise.resolve()];
  const lane = async (): Promise<void> => {
    while (next < total && !isOver()) {
      const index = next++;
      waiting.set(index, { result: await start(index) });
      for (let ready = waiting.get(taken); ready !== undefined; ready = waiting.get(taken)) {
        waiting.delete(taken++);
        take(ready.result);
        turn = turn.then(() => setImmediate());
        await turn;
      }
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}
