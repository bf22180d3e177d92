/** State of the stage that links do not hold, as signals: hover, picked surface, strokes, sizes and titles of panes. */
import { computed, signal } from "@preact/signals-core";
import { type Pane, panesOf } from "./draw/layout.js";
import type { Vec3 } from "./state/dataset.js";
import type { Plane } from "./state/link.js";
import { view } from "./state/model.js";

/** The position under the pointer; its value is read from the picture whenever it is shown. */
export interface Hover {
  readonly place: Vec3;
  /** Whether it is in B of a comparison. */
  readonly second: boolean;
}

export const hover = signal<Hover | null>(null);
export const stageSize = signal<readonly [number, number]>([0, 0]);
/** The pane that a narrow stage shows of four. */
export const onePane = signal<Plane | "3d" | null>(null);
/** The title at the top of a pane. */
export interface PaneTitle {
  readonly title: string;
  readonly note: string;
  readonly isPending: boolean;
  readonly isOnLight: boolean;
}
export const titles = signal<readonly (PaneTitle | undefined)[]>([]);
/** Position of the line of a comparison, as a fraction of the width. */
export const swipe = signal(0.5);
/** Trails of particles in space, as segments. */
export const trails = signal<Float32Array>(new Float32Array(0));
/** Trails of dye in space, as segments. */
export const dyeTrails = signal<Float32Array>(new Float32Array(0));
/** The position on the surface that was clicked. */
export const picked = signal<Vec3 | null>(null);
/** The structure that is shown alone: its label, and the labels of all nodes, x fastest. */
export const isolated = signal<{ readonly key: string; readonly label: number; readonly labels: Int32Array } | null>(
  null,
);
/** The effect of a drag in a plane. */
export type Tool = "cross" | "ruler" | "dye";
export const tool = signal<Tool>("cross");
/** A stroke of a tool in a plane; its positions are not wrapped into the box. */
export interface Stroke {
  readonly tool: Tool;
  readonly plane: Plane;
  readonly places: readonly Vec3[];
  readonly isDone: boolean;
}
export const stroke = signal<Stroke | null>(null);
/** The reason why there is no WebGL2; null if there is. */
export const noGraphics = signal<string | null>(null);

export const panes = computed<readonly Pane[]>(() => {
  const [width, height] = stageSize.value;
  return panesOf(view.value, width, height, onePane.value);
});

export const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
