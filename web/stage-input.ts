/** Input over the stage: pointers, wheel and fingers become changes of the view. */
import { computed } from "@preact/signals-core";
import { setting } from "./controls.js";
import { along, rayOf, throughBox } from "./draw/camera.js";
import { type Pane, type Pane3d, type PlanePane, pixelOf, positionAt } from "./draw/layout.js";
import { surfaceLayer } from "./stage-layers.js";
import { panes, picked, pointer, type Stroke, stroke, swipe, tool } from "./stage-state.js";
import { centreAt, coordinateOf, type Dataset, isOnAxis, nodeOf, sizeOf, type Vec3, wrapped } from "./state/dataset.js";
import { exactNumber } from "./state/format.js";
import { MAX_BOXES, OUTSIDE, type View } from "./state/link.js";
import { PLANE_AXES, pixel } from "./state/picture-plan.js";
import { change, cross, dataset, ignoredLinkMembers, isDragging, saveLink, selectionOf, view } from "./state/view.js";
import { sampleIn } from "./state/volumes.js";

export function paneAt(x: number, y: number): Pane | null {
  const inside = ({ rect }: Pane) => x >= rect.x && x < rect.x + rect.width && y >= rect.y && y < rect.y + rect.height;
  return panes.value.find(inside) ?? null;
}

/** The position of the surface under a pixel of the pane of space, by the march over samples that the picture makes. */
export function pick(pane: Pane3d, x: number, y: number): Vec3 | null {
  const found = surfaceLayer(view.peek());
  const set = dataset.peek();
  if (found === null || set === null) return null;
  const { camera, low, high, level, side, fine } = found.layer.faint ?? found.layer;
  const { rect } = pane;
  const [u, v] = [((x - rect.x) / rect.width) * 2 - 1, 1 - ((y - rect.y) / rect.height) * 2];
  const ray = rayOf(camera, u, v, rect.width / rect.height);
  const span = throughBox(camera.eye, ray, low, high);
  if (span === null) return null;
  const step = Math.min(...set.axes.map(({ spacing }) => spacing)) / 2;
  const isInside = (t: number) => side * (sampleIn(fine, set, along(camera.eye, t, ray)) - level) > 0;
  const distance = firstInside(isInside, span, step);
  return distance === null ? null : wrappedIn(set, along(camera.eye, distance, ray));
}

/** The first distance along a ray that is inside of the surface, by steps and then by bisection; null if none is. */
function firstInside(isInside: (t: number) => boolean, [from, to]: readonly [number, number], step: number) {
  for (let t = from + 1e-4 * step; t < to; t += step) {
    if (!isInside(t)) continue;
    let [outside, inside] = [Math.max(from, t - step), t];
    for (let i = 0; i < 12; i++) {
      const middle = (outside + inside) / 2;
      if (isInside(middle)) inside = middle;
      else outside = middle;
    }
    return inside;
  }
  return null;
}

const wrappedIn = (set: Dataset, position: readonly number[]): Vec3 =>
  position.map((coordinate, a) => wrapped(set.axes[a], coordinate)) as unknown as Vec3;

interface Drag {
  readonly pane: Pane;
  readonly action: "cross" | "pan" | "turn" | "swipe" | "stroke";
  readonly from: readonly [number, number];
  readonly view: View;
  hasMoved: boolean;
}

interface Pinch {
  readonly pane: Pane;
  readonly distance: number;
  readonly middle: readonly [number, number];
  readonly view: View;
}

/** Pixels beside the line of a comparison within which it is grabbed, and beyond which a press becomes a drag. */
const SWIPE_REACH = 16;
const DRAG_START = 3;

/** The action of a press: the first that applies of moving the swipe line, turning, panning, drawing and the cross. */
function actionOf(event: PointerEvent, pane: Pane, x: number): Drag["action"] {
  const { show, compare } = view.peek();
  const line = swipe.peek() * pane.rect.width;
  if (show === "compare" && compare === "swipe" && Math.abs(x - line) < SWIPE_REACH) return "swipe";
  if (pane.kind === "3d") return "turn";
  if (event.button === 1 || event.button === 2 || event.shiftKey) return "pan";
  return tool.peek() !== "cross" || event.altKey ? "stroke" : "cross";
}

class StageInput {
  readonly #root: HTMLElement;
  readonly #fingers = new Map<number, readonly [number, number]>();
  #drag: Drag | null = null;
  #pinch: Pinch | null = null;
  #wheelTimer = 0;

  constructor(root: HTMLElement) {
    this.#root = root;
  }

  #pixelOf(event: MouseEvent): [number, number] {
    const { left, top } = this.#root.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  }

  /** Whether an event is over the picture, and not over a button or panel above it. */
  #isOverPicture({ target }: Event): boolean {
    return (
      target instanceof HTMLCanvasElement || target === this.#root || (target as Element).classList?.contains("pane")
    );
  }

  down(event: PointerEvent): void {
    if (!this.#isOverPicture(event)) return;
    const [x, y] = this.#pixelOf(event);
    const pane = paneAt(x, y);
    if (pane === null) return;
    this.#root.setPointerCapture(event.pointerId);
    this.#fingers.set(event.pointerId, [x, y]);
    if (this.#fingers.size === 2) {
      const [p, q] = [...this.#fingers.values()];
      const middle = [(p[0] + q[0]) / 2, (p[1] + q[1]) / 2] as const;
      this.#pinch = { distance: Math.hypot(p[0] - q[0], p[1] - q[1]), middle, view: view.peek(), pane };
      this.#drag = null;
      return;
    }
    const action = actionOf(event, pane, x);
    this.#drag = { pane, action, from: [x, y], view: view.peek(), hasMoved: false };
    isDragging.value = true;
    if (action === "cross") moveCross(pane as PlanePane, x, y);
    if (action === "stroke") drawStroke(pane as PlanePane, x, y, true);
  }

  move(event: PointerEvent): void {
    const [x, y] = this.#pixelOf(event);
    if (this.#fingers.has(event.pointerId)) this.#fingers.set(event.pointerId, [x, y]);
    if (this.#pinch !== null && this.#fingers.size === 2) this.#movePinch(this.#pinch);
    else if (this.#drag !== null) this.#moveDrag(this.#drag, x, y);
    pointer.value = this.#fingers.size === 0 ? [x, y] : null;
  }

  #movePinch({ pane, view: from, distance, middle }: Pinch): void {
    const [p, q] = [...this.#fingers.values()];
    const shift = [(p[0] + q[0]) / 2 - middle[0], (p[1] + q[1]) / 2 - middle[1]] as const;
    zoomAbout(pane, from, distance / Math.hypot(p[0] - q[0], p[1] - q[1]), middle, shift);
  }

  #moveDrag(drag: Drag, x: number, y: number): void {
    const [dx, dy] = [x - drag.from[0], y - drag.from[1]];
    if (Math.hypot(dx, dy) > DRAG_START) drag.hasMoved = true;
    if (drag.action === "cross") moveCross(drag.pane as PlanePane, x, y);
    else if (drag.action === "stroke") drawStroke(drag.pane as PlanePane, x, y, false);
    else if (drag.action === "swipe") swipe.value = Math.min(0.98, Math.max(0.02, x / drag.pane.rect.width));
    else if (drag.action === "pan") pan(drag.pane as PlanePane, drag.view, dx, dy);
    else if (drag.hasMoved) {
      const [longitude, latitude, distance] = drag.view.camera;
      change({ camera: [longitude - dx * 0.4, Math.min(88, Math.max(-88, latitude + dy * 0.4)), distance] }, "part");
    }
  }

  /** Ends a drag or a pinch; a press in space that did not move picks the surface there. */
  up(event: PointerEvent): void {
    this.#fingers.delete(event.pointerId);
    this.#pinch = null;
    if (this.#drag === null) return;
    const { pane, action, hasMoved } = this.#drag;
    this.#drag = null;
    isDragging.value = false;
    if (action === "turn" && !hasMoved) {
      const [x, y] = this.#pixelOf(event);
      const place = pick(pane as Pane3d, x, y);
      picked.value = place;
      if (place !== null) change({ cross: place });
      return;
    }
    if (action === "stroke" && stroke.peek() !== null) stroke.value = { ...(stroke.peek() as Stroke), isDone: true };
    saveLink(action === "cross" ? "place" : "view");
  }

  wheel(event: WheelEvent): void {
    if (!this.#isOverPicture(event)) return;
    event.preventDefault();
    const [x, y] = this.#pixelOf(event);
    const pane = paneAt(x, y);
    const factor = Math.exp(Math.sign(event.deltaY) * Math.min(0.3, Math.abs(event.deltaY) / 500));
    if (pane !== null) zoomAbout(pane, view.peek(), factor, [x, y], [0, 0]);
    clearTimeout(this.#wheelTimer);
    this.#wheelTimer = window.setTimeout(() => saveLink("view"), 250);
  }
}

export function listen(root: HTMLElement): void {
  const input = new StageInput(root);
  root.addEventListener("pointerdown", (event) => input.down(event));
  root.addEventListener("pointermove", (event) => input.move(event));
  root.addEventListener("pointerup", (event) => input.up(event));
  root.addEventListener("pointercancel", (event) => input.up(event));
  root.addEventListener("pointerleave", setting(pointer, null));
  root.addEventListener("contextmenu", (event) => event.preventDefault());
  root.addEventListener("wheel", (event) => input.wheel(event), { passive: false });
}

const MAX_POSITIONS = 400;

function isSecondAt(pane: PlanePane, x: number): boolean {
  const { show, compare } = view.value;
  return pane.second || (show === "compare" && compare === "swipe" && x > swipe.value * pane.rect.width);
}

/** Begins or extends a stroke: a ruler has two ends, dye has all positions that the pointer passed. */
function drawStroke(pane: PlanePane, x: number, y: number, isFirst: boolean): void {
  const { centre } = view.peek();
  if (centre === null) return;
  const place = positionAt(pane, x, y, centre, cross.peek(), pixel.peek());
  const before = stroke.peek();
  if (isFirst || before === null) {
    const now = tool.peek() === "cross" ? "ruler" : tool.peek();
    stroke.value = { tool: now, plane: pane.plane, second: isSecondAt(pane, x), places: [place, place], isDone: false };
    return;
  }
  const { places } = before;
  const next = before.tool === "ruler" ? [places[0], place] : [...places.slice(-MAX_POSITIONS), place];
  stroke.value = { ...before, places: next };
}

function moveCross(pane: PlanePane, x: number, y: number): void {
  const set = dataset.peek();
  const { centre } = view.peek();
  if (set === null || centre === null) return;
  const place = positionAt(pane, x, y, centre, cross.peek(), pixel.peek());
  change({ cross: wrappedIn(set, place) }, "part");
}

function pan(pane: PlanePane, from: View, dx: number, dy: number): void {
  if (from.centre === null) return;
  const [h, v] = PLANE_AXES[pane.plane];
  const centre = [...from.centre];
  centre[h] -= dx * pixel.peek();
  centre[v] += dy * pixel.peek();
  change({ centre: centre as unknown as Vec3 }, "part");
}

/** Zooms about a pixel, whose position in a plane stays; in space the distance of the eye changes. */
function zoomAbout(
  pane: Pane,
  from: View,
  factor: number,
  [x, y]: readonly [number, number],
  [dx, dy]: readonly [number, number],
): void {
  const set = dataset.peek();
  if (set === null || from.centre === null) return;
  if (pane.kind === "3d") {
    const [longitude, latitude, distance] = from.camera;
    change({ camera: [longitude, latitude, Math.min(8, Math.max(0.4, distance * factor))] }, "part");
    return;
  }
  const before = pixelOf(from, set, panes.peek());
  const size = sizeOf(set);
  const window = Math.min(MAX_BOXES * size, Math.max(size / 200, before * factor * pane.rect.height));
  const after = window / pane.rect.height;
  const [h, v] = PLANE_AXES[pane.plane];
  const centre = [...from.centre];
  centre[h] += (x - pane.rect.x - pane.rect.width / 2) * (before - after) - dx * after;
  centre[v] -= (y - pane.rect.y - pane.rect.height / 2) * (before - after) - dy * after;
  change({ centre: centre as unknown as Vec3, window }, "part");
}

/** The position in a plane under the pointer; null if there is none, or none in the box. */
export const hover = computed(() => {
  const [x, y] = pointer.value ?? [Number.NaN, Number.NaN];
  const pane = paneAt(x, y);
  const { centre } = view.value;
  if (pane === null || pane.kind === "3d" || centre === null) return null;
  const second = isSecondAt(pane, x);
  const place = positionAt(pane, x, y, centre, cross.value, pixel.value);
  const isInside = selectionOf(view.value, second)?.dataset.axes.every((axis, a) => isOnAxis(axis, place[a])) ?? false;
  return isInside ? { pane, place, second } : null;
});

export function step(axis: number, nodes: number): void {
  const set = dataset.peek();
  if (set === null) return;
  const [along, at] = [set.axes[axis], cross.peek()[axis]];
  const next = Math.round(nodeOf(along, at)) + nodes;
  const step = along.coordinates === undefined ? nodes * along.spacing : coordinateOf(along, next) - at;
  change({ cross: wrappedIn(set, cross.peek().with(axis, at + step)) }, "place");
}

/** Moves the crosshair to a place, and says which of its coordinates are outside of the box. */
export function goTo(set: Dataset, place: readonly number[]): void {
  const outside = set.axes.flatMap((axis, a) =>
    isOnAxis(axis, place[a]) ? [] : [`${axis.name} ${exactNumber(place[a])}`],
  );
  ignoredLinkMembers.value = outside.length === 0 ? "" : `${OUTSIDE}: ${outside.join(", ")}.`;
  change({ cross: wrappedIn(set, place) });
}

export const fit = (): void => change({ window: null });

export function centreHere(): void {
  const set = dataset.peek();
  if (set !== null) change({ centre: centreAt(set, cross.peek()) });
}
