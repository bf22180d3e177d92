/** State of the stage that links do not hold, as signals: hover, picked surface, strokes, sizes and titles of panes. */
import { computed, signal } from "@preact/signals-core";
import { type Pane, panesOf } from "./draw/layout.js";
import type { Vec3 } from "./state/dataset.js";
import type { Plane } from "./state/link.js";
import { view } from "./state/model.js";

/** The place under the pointer; what the picture shows there is read when it is written, never kept. */
export interface Hover {
  readonly place: Vec3;
  /** Whether B of a comparison is there. */
  readonly second: boolean;
}

export const hover = signal<Hover | null>(null);
export const stageSize = signal<readonly [number, number]>([0, 0]);
/** The pane that a narrow stage shows of four. */
export const onePane = signal<Plane | "3d" | null>(null);
/** What stands at the top of a pane. */
export interface PaneTitle {
  readonly title: string;
  readonly note: string;
  readonly isPending: boolean;
  /** Whether what is below it is light. */
  readonly isOnLight: boolean;
}
export const titles = signal<readonly (PaneTitle | undefined)[]>([]);
/** Where the line of a comparison stands, as part of the width. */
export const swipe = signal(0.5);
/** Segments that panels add to space: trails of particles. */
export const trails = signal<Float32Array>(new Float32Array(0));
/** Segments of dye, which glow. */
export const dyeTrails = signal<Float32Array>(new Float32Array(0));
/** The place of the surface that was clicked. */
export const picked = signal<Vec3 | null>(null);
/** The structure that is shown alone: its label among those of all nodes, x fastest. */
export const isolated = signal<{ readonly key: string; readonly label: number; readonly labels: Int32Array } | null>(
  null,
);
/** What a drag in a plane does. */
export type Tool = "cross" | "ruler" | "dye";
export const tool = signal<Tool>("cross");
/** A stroke that was drawn in a plane by a tool; its places are not wrapped. */
export interface Stroke {
  readonly tool: Tool;
  readonly plane: Plane;
  readonly places: readonly Vec3[];
  readonly isDone: boolean;
}
export const stroke = signal<Stroke | null>(null);
export const noGraphics = signal<string | null>(null);

export const panes = computed<readonly Pane[]>(() => {
  const [width, height] = stageSize.value;
  return panesOf(view.value, width, height, onePane.value);
});

export const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
