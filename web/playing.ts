/** Plays the stored times, and steps through them. */
import { signal } from "@preact/signals-core";
import { change, dataset, failureOf, frameOf, isPlaying, planesOf, saveLink, view, volumeOf } from "./state/model.js";

let playTimer = 0;
/** Stored times played a second. */
export const speed = signal(4);
let arrived = 0;

/** Moves to the next stored time once its picture has arrived. */
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
  const isThere = needed.every((what) => volumeOf(set, what, next) !== null || failureOf(set, what, next) !== null);
  if (isThere && performance.now() - arrived >= 1000 / speed.peek() - 8) {
    arrived = performance.now();
    change({ time: set.times[next] }, "drag");
  }
  playTimer = window.setTimeout(playOn, 16);
}

export function togglePlay(): void {
  isPlaying.value = !isPlaying.peek();
  clearTimeout(playTimer);
  if (isPlaying.peek()) playOn();
  else saveLink("replace");
}

/** Moves to a neighbouring stored time. */
export function stepTime(by: number): void {
  const set = dataset.peek();
  if (set === null) return;
  const n = set.times.length;
  change({ time: set.times[(frameOf(view.peek().time, set) + by + n) % n] }, "replace");
}
