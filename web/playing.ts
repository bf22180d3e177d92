/** Plays the stored times, and steps through them. */
import { signal } from "@preact/signals-core";
import { frameOf, shortestOf } from "./state/dataset.js";
import { isLoadedOrFailed, planesOf } from "./state/shown.js";
import { change, dataset, isPlaying, saveLink, selectionOf, view } from "./state/view.js";

let playTimer = 0;
export const speed = signal(4);
let arrived = 0;

function playOn(): void {
  const set = dataset.peek();
  const now = view.peek();
  if (set === null || !isPlaying.peek()) return;
  const frame = frameOf(now.time, set);
  const next = (frame + 1) % set.times.length;
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

/** Shows the stored time before or after the one shown, from the ends the other end. */
export function stepTime(by: number): void {
  const { times } = dataset.peek() ?? { times: [] };
  const now = view.peek().time ?? times[0];
  const slack = 1e-6 * shortestOf(times);
  const [after, before] = [times.findIndex((t) => t > now + slack), times.findLastIndex((t) => t < now - slack)];
  if (times.length > 1) change({ time: times.at(by > 0 ? Math.max(0, after) : before) as number }, "time");
}
