/** Plays the stored times, and steps through them. */
import { signal } from "@preact/signals-core";
import { change, dataset, frameOf, isPlaying, isThere, planesOf, saveLink, shownOf, view } from "./state/model.js";

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
  const second = now.show === "compare" ? shownOf({ ...now, time: set.times[next] }, true) : null;
  const isReady =
    needed.every((what) => isThere(set, what, next)) &&
    (second === null || isThere(second.dataset, second.what, frameOf(second.time, second.dataset)));
  if (isReady && performance.now() - arrived >= 1000 / speed.peek() - 8) {
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

export function stepTime(by: number): void {
  const set = dataset.peek();
  if (set === null) return;
  const n = set.times.length;
  change({ time: set.times[(frameOf(view.peek().time, set) + by + n) % n] }, "replace");
}
