/** State of the stage that links do not hold, as signals: hover, picked surface, strokes, sizes and titles of panes. */
import { computed, signal } from "@preact/signals-core";
import { choice } from "./controls.js";
import { type Pane, type PlanePane, panesOf } from "./draw/layout.js";
import type { Vec3 } from "./state/dataset.js";
import type { Plane } from "./state/link.js";
import { view } from "./state/view.js";

/** The pixel of the stage under the pointer; what is there is looked up whenever it is shown. */
export const pointer = signal<readonly [x: number, y: number] | null>(null);
export const stageSize = signal<readonly [number, number]>([0, 0]);
export const onePane = signal<Plane | "3d" | null>(null);
export interface PaneTitle {
  readonly title: string;
  readonly note: string;
  readonly isPending: boolean;
  readonly isOnLight: boolean;
}
export const titles = signal<readonly (PaneTitle | undefined)[]>([]);
/** Position of the line of a comparison, as a fraction of the width. */
export const swipe = signal(0.5);
export const trails = signal<Float32Array>(new Float32Array(0));
export const dyeTrails = signal<Float32Array>(new Float32Array(0));
export const picked = choice<Vec3 | null>(null);
/** The structure that is shown alone: its name, its label, and the labels of all nodes, x fastest. */
export const isolated = signal<{
  readonly key: string;
  readonly name: string;
  readonly label: number;
  readonly labels: Int32Array;
} | null>(null);
/** The name of the surface that is drawn: all of it, or the structure that is shown alone. */
export const surfaceName = (name: string): string =>
  isolated.value === null ? name : `${isolated.value.name} of ${name}`;
export type Tool = "cross" | "ruler" | "dye";
export const tool = signal<Tool>("cross");
/** A stroke of a tool in a plane; its positions are not wrapped into the box. */
export interface Stroke {
  readonly tool: Tool;
  readonly plane: Plane;
  readonly second: boolean;
  readonly places: readonly Vec3[];
  readonly isDone: boolean;
}
export const stroke = choice<Stroke | null>(null);
export const noGraphics = signal<string | null>(null);

export const panes = computed<readonly Pane[]>(() => {
  const [width, height] = stageSize.value;
  return panesOf(view.value, width, height, onePane.value);
});

/** The pane of a stroke: one pane under a swipe line has both sides. */
export const paneOf = ({ plane, second }: Stroke): PlanePane | undefined =>
  panes.value.find(
    (pane): pane is PlanePane =>
      pane.kind === "plane" && pane.plane === plane && pane.second === (second && view.value.compare === "side"),
  );

export const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
