/** Plays the stored times, and steps through them. */
import { signal } from "@preact/signals-core";
import { type Dataset, frameOf, shortestOf } from "./state/dataset.js";
import { isLoadedOrFailed, planesOf } from "./state/shown.js";
import { change, dataset, isPlaying, saveLink, selectionOf, view } from "./state/view.js";

let playTimer = 0;
export const speed = signal(4);
let arrived = 0;

function playOn(): void {
  const set = dataset.peek();
  const now = view.peek();
  if (set === null || !isPlaying.peek()) return;
  const next = frameOf(storedBeside(set, now.time, 1), set);
  const needed = [
    ...(planesOf(now).length > 0 ? [now.what as string] : []),
    ...(now.show === "four" || now.show === "3d" ? [now.surface.what, now.colour] : []),
  ];
  const second = now.show === "compare" ? selectionOf({ ...now, time: set.times[next] }, true) : null;
  const isReady =
    needed.every((what) => isLoadedOrFailed(set, what, next)) &&
    (second === null || isLoadedOrFailed(second.dataset, second.what, frameOf(second.time, second.dataset)));
  if (isReady && performance.now() - arrived >= 1000 / speed.peek() - 8) {
    arrived = performance.now();
    change({ time: set.times[next] }, "part");
  }
  playTimer = window.setTimeout(playOn, 16);
}

export function togglePlay(): void {
  isPlaying.value = !isPlaying.peek();
  clearTimeout(playTimer);
  if (isPlaying.peek()) playOn();
  else saveLink("time");
}

/** The stored time before or after one, from the ends the other end. */
function storedBeside({ times }: Dataset, time: number | null, by: number): number {
  const now = time ?? times[0];
  const slack = 1e-6 * shortestOf(times);
  const [after, before] = [times.findIndex((t) => t > now + slack), times.findLastIndex((t) => t < now - slack)];
  return times.at(by > 0 ? Math.max(0, after) : before) as number;
}

/** Shows the stored time before or after the one shown. */
export function stepTime(by: number): void {
  const set = dataset.peek();
  if (set !== null && set.times.length > 1) change({ time: storedBeside(set, view.peek().time, by) }, "time");
}
