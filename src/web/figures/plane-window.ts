/** This file zooms and moves the window of a slice that is shown. */

/** Left, right, bottom and top in fractions of the plane. */
export type PlaneWindow = readonly [number, number, number, number];

export const WHOLE_PLANE: PlaneWindow = [0, 1, 0, 1];

/** The window of a size nearest to a centre that lies inside the plane. */
export function clampWindow(centre: readonly [number, number], width: number, height: number): PlaneWindow {
  const [w, h] = [Math.min(1, width), Math.min(1, height)];
  const left = Math.max(0, Math.min(1 - w, centre[0] - w / 2));
  const bottom = Math.max(0, Math.min(1 - h, centre[1] - h / 2));
  return [left, left + w, bottom, bottom + h].map(Math.fround) as unknown as PlaneWindow;
}

/** The window enlarged `factor` times about a centre, no side smaller than `smallest`. */
export function zoomWindow(
  [left, right, bottom, top]: PlaneWindow,
  factor: number,
  centre: readonly [number, number],
  smallest: number,
): PlaneWindow {
  const width = Math.max(smallest, (right - left) / factor);
  return clampWindow(centre, width, Math.max(smallest, (top - bottom) / factor));
}

/** The window moved so that a point is inside. */
export function revealPoint(window: PlaneWindow, point: readonly [number, number]): PlaneWindow {
  const [left, right, bottom, top] = window;
  const [across, up] = point;
  if (across > left && across < right && up > bottom && up < top) return window;
  return clampWindow(point, right - left, top - bottom);
}
