/** The slice view lays out the picture of a plane with its heading, buttons, read-out, colour bar and table. */
import { html, nothing, type TemplateResult } from "lit-html";
import { ref } from "lit-html/directives/ref.js";
import { shortestFloat32, shortText } from "../../float32/format.js";
import { quantityOf } from "../../quantities.js";
import type { SampleAxis, Slice } from "../state/api.js";
import { unitOf } from "../state/facts.js";
import type { LatestRequest } from "../state/latest-request.js";
import { methodOf } from "../state/queries.js";
import { AXES, type ViewState } from "../state/view-state.js";
import type { ViewStore } from "../state/view-store.js";
import { colourBar } from "./colour-bar.js";
import type { ColourScale } from "./colour-scale.js";
import type { DataTable } from "./data-table.js";
import { WHOLE_PLANE } from "./plane-window.js";
import { type Cell, coordinateOf } from "./slice-canvas.js";
import { sliceTable } from "./slice-table.js";
import { statusBar } from "./status-bar.js";

/** A plane together with the view that asked for it; it is shown until the next one arrives. */
export interface ShownSlice {
  readonly slice: Slice;
  readonly state: ViewState;
}

/** Enlargement by one press of a button or a key. */
export const ZOOM_STEP = 1.6;

/** What the view shows. */
export interface SliceModel {
  readonly store: ViewStore;
  readonly request: LatestRequest<ShownSlice>;
  readonly scale: ColourScale;
  readonly cursor: Cell;
  readonly table: DataTable;
}

/** What the view reports to its controller. */
export interface SliceActions {
  readonly canvas: (element: HTMLCanvasElement | null) => void;
  readonly point: (event: PointerEvent) => void;
  readonly key: (event: KeyboardEvent) => void;
  readonly zoom: (factor: number) => void;
  readonly probe: () => void;
}

export function sliceView(model: SliceModel, actions: SliceActions): TemplateResult {
  const { store, request, scale, table } = model;
  const slice = request.value?.slice ?? null;
  const state = request.value?.state ?? store.state;
  const quantity = quantityOf(state.field);
  const unit = unitOf(store.facts, quantity.measure);
  return html`
    <figure class="slice" aria-labelledby="slice-title">
      <figcaption id="slice-title">
        ${quantity.title} at ${state.axis} = ${shortText(state.at)}, t = ${shortText(state.time)}
        <small>${methodOf(state)} in space, ${state.temporal} in time</small>
      </figcaption>
      <div class="slice-frame">
        <canvas
          id="slice"
          tabindex="0"
          role="application"
          aria-roledescription="slice"
          aria-label="Slice of ${quantity.title}. Arrow keys move the cursor, Enter probes, plus and minus zoom."
          aria-describedby="slice-readout"
          ${ref((element) => actions.canvas((element as HTMLCanvasElement | undefined) ?? null))}
          @pointermove=${actions.point}
          @click=${(event: PointerEvent) => {
            actions.point(event);
            actions.probe();
          }}
          @keydown=${actions.key}
        ></canvas>
        ${slice === null ? html`<p class="empty">No slice yet.</p>` : nothing}
      </div>
      <div class="slice-axes">
        <span>${slice === null ? "" : edges(slice, store.state.window)}</span>
        <span class="buttons">
          <button type="button" @click=${() => actions.zoom(ZOOM_STEP)} aria-label="Zoom in">+</button>
          <button type="button" @click=${() => actions.zoom(1 / ZOOM_STEP)} aria-label="Zoom out">−</button>
          <button type="button" @click=${() => store.set({ window: WHOLE_PLANE })}>Whole plane</button>
          <button type="button" @click=${actions.probe}>Probe here</button>
        </span>
      </div>
      <output id="slice-readout" aria-live="polite">
        ${request.value === null ? nothing : readout(request.value, model.cursor, unit)}
      </output>
      ${colourBar(scale, store.state.range, quantity.title, unit, slice !== null, (range) => store.set({ range }))}
      ${statusBar("slice", request)}
      ${table.view("Values of the slice", () => sliceTable(slice))}
    </figure>
  `;
}

function edges({ columns, rows }: Slice, [left, right, bottom, top]: readonly number[]): string {
  const edge = (axis: SampleAxis, fraction = 0) => shortText(axis.origin + fraction * axis.count * axis.spacing);
  const across = `${columns.axis} → ${edge(columns, left)} … ${edge(columns, right)}`;
  return `${across}, ${rows.axis} ↑ ${edge(rows, bottom)} … ${edge(rows, top)}`;
}

function readout({ slice, state }: ShownSlice, cell: Cell, unit: string): TemplateResult {
  const place: Record<string, number> = {
    [state.axis]: state.at,
    [slice.columns.axis]: coordinateOf(slice.columns, cell.column),
    [slice.rows.axis]: coordinateOf(slice.rows, cell.row),
  };
  const value = slice.values[cell.row * slice.columns.count + cell.column] ?? Number.NaN;
  return html`
    ${AXES.map((axis) => html`<span>${axis} <b data-axis=${axis}>${shortestFloat32(place[axis])}</b></span> `)}
    <span class="value">${state.field} <b data-value>${shortestFloat32(value)}</b> ${unit}</span>
  `;
}
