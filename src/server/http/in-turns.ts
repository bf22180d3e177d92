/** Long loops in short turns, so that one caller's work never holds up the event loop. */
import { setImmediate } from "node:timers/promises";

/** Elements that a turn may treat: a few milliseconds of simple work. */
const TURN = 65_536;

/** Calls `treat` with consecutive ranges of `0 .. count - 1`, one a turn of the event loop. */
export async function inTurns(count: number, treat: (from: number, to: number) => void): Promise<void> {
  for (let from = 0; from < count; from += TURN) {
    if (from > 0) await setImmediate();
    treat(from, Math.min(count, from + TURN));
  }
}
