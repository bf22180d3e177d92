/** What the page asks the service for, by the view and its panels, and what answers settle in the view. */
import { effect, signal } from "@preact/signals-core";
import { AHEAD, type Wanted } from "./ask.js";
import { AXIS_NAMES, centreAt, type Dataset, frameOf, framesAround, hasVelocity } from "./dataset.js";
import { brushIn, type View } from "./link.js";
import { pixel, planOf, wantedPicture } from "./picture-plan.js";
import { firstQuantity, quantitiesOf } from "./quantities.js";
import { ENCLOSED_FRACTION, levelEnclosing, rangeAt } from "./ranges.js";
import { failureOf, planesOf, shows3d, store, volumeOf, wantedValue } from "./shown.js";
import { change, cross, dataset, isPlaying, rested, type Selection, selectionOf, view } from "./view.js";
import { placeOfLargest, stridesOf, wantedVolume } from "./volumes.js";

/** What cards and panels want beside the view, by the name of each. */
export const panelWants = signal<ReadonlyMap<string, readonly Wanted[]>>(new Map());

/** Sets the wants of a card or panel, unless they are the same as before. */
export function setWants(name: string, wants: readonly Wanted[]): void {
  const [before, after] = [panelWants.peek().get(name) ?? [], wants].map((some) => some.map(({ key }) => key).join());
  if (before !== after) panelWants.value = new Map(panelWants.peek()).set(name, wants);
}

/** Priorities of what a view shows: the lowest are asked first. Finer volumes come after coarse ones. */
const PRIORITY = { planes: 0, surface: 1, second: 1, colour: 2, brush: 3, streaks: 6, values: 15, pictures: 20 };
const FINER = 10;

/** Asks for what is wanted, whenever the view or the answers change; wants of one answer are one. */
effect(() => {
  const [set, now] = [dataset.value, view.value];
  if (set === null || selectionOf(now) === null) return;
  const [frame, isAtRest] = [frameOf(now.time, set), rested.value === now];
  const isStill = isAtRest && !isPlaying.value && now.cross !== null;
  const next = (isPlaying.value ? [1, 2] : isStill ? [1] : []).filter((step) => step % set.times.length > 0);
  const viewAfter = (step: number) => ({ ...now, time: set.times[(frame + step) % set.times.length] });
  const wants = [
    ...volumesOf(now, 0),
    ...(now.cross === null ? volumes(set, startQuantityOf(set), frame, PRIORITY.surface) : []),
    ...(isStill && now.centre !== null ? exactAnswers(now) : []),
    ...next.flatMap((step) => volumesOf(viewAfter(step), AHEAD + step)),
    ...[...panelWants.value.values()].flat(),
  ];
  const unique = new Map(wants.map((want) => [want.key, want] as const).toReversed());
  const isMoving = !isPlaying.value && (!isAtRest || now.cross === null);
  // The store changes signals, which an effect must not do while it reads them.
  queueMicrotask(() => store.want([...unique.values()], isMoving));
});

/** Selections of a view: of A, and of B in a comparison. */
const sidesIn = (now: View): Selection[] =>
  [selectionOf(now), now.show === "compare" ? selectionOf(now, true) : null].filter((side) => side !== null);

/** Volumes of all that a view shows. @param after what is added to their priorities */
function volumesOf(now: View, after: number): Wanted[] {
  const [a, b] = sidesIn(now);
  const [hasPlanes, has3d, brush] = [planesOf(now).length > 0, shows3d(now), brushIn(now.brush)];
  const at = ({ dataset: set, time }: Selection, what: string, priority: number) =>
    volumes(set, what, frameOf(time, set), after + priority);
  // Between stored times, a range that is not stated is that of both volumes around the time.
  const coloured = (what: string, priority: number) =>
    (now.ranges.has(what) ? [frameOf(now.time, a.dataset)] : framesAround(now.time, a.dataset)).flatMap((frame) =>
      volumes(a.dataset, what, frame, after + priority),
    );
  const hasStreaks = now.flow === "streaks" && hasPlanes && (after === 0 || isPlaying.value);
  const streaked = (now.compare === "side" ? sidesIn(now) : [a]).filter(
    (side) => hasStreaks && hasVelocity(side.dataset),
  );
  return [
    ...(hasPlanes ? coloured(a.what, PRIORITY.planes) : []),
    ...(has3d ? at(a, now.surface.what, PRIORITY.surface) : []),
    ...(has3d ? coloured(now.colour, PRIORITY.colour) : []),
    ...(b === undefined ? [] : at(b, b.what, PRIORITY.second)),
    ...streaked.flatMap((side, i) => AXIS_NAMES.flatMap((name) => at(side, `u.${name}`, PRIORITY.streaks + i))),
    ...(brush === null ? [] : sidesIn(now).flatMap((side) => at(side, brush.what, PRIORITY.brush))),
  ];
}

const volumes = (set: Dataset, what: string, frame: number, priority: number): Wanted[] =>
  stridesOf(set, what).map((stride, i) => wantedVolume(set, what, frame, stride, priority + FINER * i));

/** Pictures of the planes of a view, and values at the crosshair. */
function exactAnswers(now: View): Wanted[] {
  return sidesIn(now).flatMap((side, i) => [
    wantedValue(side, cross.value, PRIORITY.values + i),
    ...(pixel.value > 0 ? planesOf(now) : []).flatMap((plane): Wanted[] => {
      const plan = planOf(now, plane, i === 1);
      return plan === null ? [] : [wantedPicture(plan, plane, PRIORITY.pictures + i)];
    }),
  ]);
}

/** Settles what the view leaves open once volumes have arrived: the level of the surface, crosshair, centre, ranges. */
effect(() => {
  const [set, now] = [dataset.value, view.value];
  if (set === null || now.what === null || now.time === null) return;
  const frame = frameOf(now.time, set);
  const patch: { -readonly [K in keyof View]?: View[K] } = {};
  const surface = volumeOf(set, now.surface.what, frame);
  if (surface !== null && now.surface.value === null)
    patch.surface = { what: now.surface.what, value: levelEnclosing(surface, ENCLOSED_FRACTION, set) };
  const start = startQuantityOf(set);
  const instead = failureOf(set, start, frame) === null ? null : volumeOf(set, now.what, frame);
  const strongest = volumeOf(set, start, frame) ?? instead;
  const place = now.cross ?? (strongest && placeOfLargest(strongest, set));
  if (place !== null && now.cross === null) patch.cross = place;
  if (place !== null && now.centre === null) patch.centre = centreAt(set, place);
  const found = [now.what, now.colour].flatMap((what) => {
    const range = now.ranges.has(what) ? null : rangeAt(now.time, what, set);
    return range === null ? [] : [[what, { ...range, isUsual: true }] as const];
  });
  if (found.length > 0) patch.ranges = new Map([...now.ranges, ...found]);
  if (Object.keys(patch).length > 0) queueMicrotask(() => change(patch, null));
});

/** The quantity whose largest value is where the crosshair starts: that of vortices, if the dataset has one. */
const startQuantityOf = (set: Dataset) =>
  quantitiesOf(set).some(({ what }) => what === "Q") ? "Q" : firstQuantity(set);
