/** The slice: canvas, cursor by pointer and keys, zoom, read-out, colour bar, table. */
import { html, nothing, type TemplateResult } from "lit-html";
import { ref } from "lit-html/directives/ref.js";
import { quantityOf } from "../../quantities.js";
import { floatText, shortText } from "../float-text.js";
import { standingBar } from "../panels/standing-bar.js";
import { fetchSlice, type Ruler, type Slice } from "../state/api.js";
import { offers, unitOf } from "../state/facts.js";
import { Latest } from "../state/latest.js";
import type { Store } from "../state/page-store.js";
import { methodOf, sliceQuery } from "../state/queries.js";
import { AXES, type ViewState } from "../state/view-state.js";
import { colourBar } from "./colour-bar.js";
import { type ColourMap, colourMap, rangeFor } from "./colour-map.js";
import { dataTable } from "./data-table.js";
import { type Cell, cellAt, coordinateOf, drawSlice, paintPlane, type Window } from "./slice-canvas.js";
import { sliceTable } from "./slice-table.js";

const ZOOM = 1.6;

function clampWindow(centre: readonly [number, number], width: number, height: number): Window {
  const [w, h] = [Math.min(1, width), Math.min(1, height)];
  const left = Math.max(0, Math.min(1 - w, centre[0] - w / 2));
  const bottom = Math.max(0, Math.min(1 - h, centre[1] - h / 2));
  return [left, left + w, bottom, bottom + h].map(Math.fround) as unknown as Window;
}

/** A plane together with what was asked for it: while another is on its way, what is shown stays true. */
export interface ShownSlice {
  readonly slice: Slice;
  readonly state: ViewState;
}

export class SliceFigure {
  readonly latest: Latest<ShownSlice>;
  readonly #store: Store;
  readonly #render: () => void;
  #cursor: Cell = { row: 0, column: 0 };
  #placed = false;
  #canvas: HTMLCanvasElement | null = null;
  #picture: HTMLCanvasElement | null = null;
  #painted = "";
  #asked = "";

  constructor(store: Store, render: () => void) {
    this.#store = store;
    this.#render = render;
    this.latest = new Latest(() => {
      this.#painted = "";
      render();
    });
  }

  /** The plane as a picture, for the 3-D view. */
  get picture(): HTMLCanvasElement | null {
    return this.#picture;
  }

  /** Asks again if the state asks for another plane. */
  refresh(): void {
    const { state, facts } = this.#store;
    const path = sliceQuery(state);
    if (path === this.#asked) return;
    this.#asked = path;
    if (offers(facts, quantityOf(state.field).operation)) {
      void this.latest.run(async (signal) => ({ slice: await fetchSlice(path, signal), state }));
    } else this.latest.clear();
  }

  /** Forces the next refresh to ask, e.g. with another token. */
  invalidate(): void {
    this.#asked = "";
  }

  get map(): ColourMap {
    const { field } = this.latest.value?.state ?? this.#store.state;
    return colourMap(this.#store.state.map, quantityOf(field).signed);
  }

  get range(): readonly [number, number] {
    const slice = this.latest.value?.slice;
    return rangeFor(this.map, this.#store.state.range, slice?.low ?? 0, slice?.high ?? 0);
  }

  /** Paints what the last rendering laid out. */
  paint(): void {
    const slice = this.latest.value?.slice ?? null;
    const canvas = this.#canvas;
    if (slice === null) canvas?.getContext("2d")?.clearRect(0, 0, canvas.width, canvas.height);
    if (slice === null || canvas === null) return;
    const { state } = this.#store;
    if (!this.#placed) this.#placeCursor(slice);
    this.#cursor = {
      row: Math.min(this.#cursor.row, slice.rows.count - 1),
      column: Math.min(this.#cursor.column, slice.columns.count - 1),
    };
    const side = Math.round(canvas.clientWidth * Math.min(2, window.devicePixelRatio));
    const height = Math.round(side * this.#aspect(slice));
    if (side > 0 && (canvas.width !== side || canvas.height !== height)) {
      canvas.width = side;
      canvas.height = height;
    }
    const { map, range } = this;
    const key = `${map.name} ${range}`;
    if (this.#picture === null || this.#painted !== key) {
      this.#picture = paintPlane(slice, map, range);
      this.#painted = key;
    }
    const place = (ruler: Ruler) =>
      ((state.probe[AXES.indexOf(ruler.axis)] as number) - ruler.origin) / (ruler.spacing || 1);
    drawSlice(canvas, this.#picture, {
      slice,
      map,
      range,
      window: state.window,
      cursor: this.#cursor,
      probe: { column: place(slice.columns), row: place(slice.rows) },
    });
  }

  view(): TemplateResult {
    const { facts } = this.#store;
    const slice = this.latest.value?.slice ?? null;
    const state = this.latest.value?.state ?? this.#store.state;
    const quantity = quantityOf(state.field);
    const unit = unitOf(facts, quantity.measure);
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
            ${ref((element) => {
              this.#canvas = (element as HTMLCanvasElement | undefined) ?? null;
            })}
            @pointermove=${(event: PointerEvent) => this.#follow(event)}
            @click=${(event: PointerEvent) => {
              this.#follow(event);
              this.#probe();
            }}
            @keydown=${(event: KeyboardEvent) => this.#key(event)}
          ></canvas>
          ${slice === null ? html`<p class="empty">${offers(facts, quantity.operation) ? "No slice yet." : "This dataset has nothing to slice."}</p>` : nothing}
        </div>
        <div class="slice-axes">
          <span>${this.#edges(slice)}</span>
          <span class="buttons">
            <button type="button" @click=${() => this.#zoom(ZOOM)} aria-label="Zoom in">+</button>
            <button type="button" @click=${() => this.#zoom(1 / ZOOM)} aria-label="Zoom out">−</button>
            <button type="button" @click=${() => this.#store.set({ window: [0, 1, 0, 1] })}>Whole plane</button>
            <button type="button" @click=${() => this.#probe()}>Probe here</button>
          </span>
        </div>
        <output id="slice-readout" aria-live="polite">${this.#readout(slice, unit)}</output>
        ${colourBar(this.map, this.range, this.#store.state.range, quantity.title, unit, slice !== null, (range) =>
          this.#store.set({ range }),
        )}
        ${standingBar("slice", this.latest)}
        ${dataTable("slice-table", "Values of the slice", () => sliceTable(slice))}
      </figure>
    `;
  }

  #aspect(slice: Slice): number {
    const width = slice.columns.count * slice.columns.spacing;
    const height = slice.rows.count * slice.rows.spacing;
    return Math.max(0.25, Math.min(2, height / width || 1));
  }

  #edges(slice: Slice | null): string {
    if (slice === null) return "";
    const [left, right, bottom, top] = this.#store.state.window;
    const edge = (ruler: Ruler, fraction: number) => shortText(ruler.origin + fraction * ruler.count * ruler.spacing);
    const { columns, rows } = slice;
    return `${columns.axis} → ${edge(columns, left)} … ${edge(columns, right)}, ${rows.axis} ↑ ${edge(rows, bottom)} … ${edge(rows, top)}`;
  }

  #readout(slice: Slice | null, unit: string): TemplateResult | typeof nothing {
    if (slice === null) return nothing;
    const state = this.latest.value?.state ?? this.#store.state;
    const cell = this.#cursor;
    const place: Record<string, number> = {
      [state.axis]: state.at,
      [slice.columns.axis]: coordinateOf(slice.columns, cell.column),
      [slice.rows.axis]: coordinateOf(slice.rows, cell.row),
    };
    const value = slice.values[cell.row * slice.columns.count + cell.column] ?? Number.NaN;
    return html`
      ${AXES.map((axis) => html`<span>${axis} <b data-axis=${axis}>${floatText(place[axis] as number)}</b></span> `)}
      <span class="value">${state.field} <b data-value>${floatText(value)}</b> ${unit}</span>
    `;
  }

  #placeCursor(slice: Slice): void {
    const { probe } = this.#store.state;
    const index = (ruler: Ruler) =>
      Math.max(
        0,
        Math.min(
          ruler.count - 1,
          Math.round(((probe[AXES.indexOf(ruler.axis)] as number) - ruler.origin) / ruler.spacing),
        ),
      );
    this.#cursor = { row: index(slice.rows), column: index(slice.columns) };
    this.#placed = true;
    queueMicrotask(this.#render);
  }

  #follow(event: PointerEvent): void {
    const slice = this.latest.value?.slice ?? null;
    const canvas = this.#canvas;
    if (slice === null || canvas === null) return;
    const box = canvas.getBoundingClientRect();
    const across = (event.clientX - box.left) / box.width;
    const down = (event.clientY - box.top) / box.height;
    this.#move(cellAt(slice, this.#store.state.window, across, down));
  }

  #move(cell: Cell): void {
    this.#cursor = cell;
    this.#render();
  }

  #key(event: KeyboardEvent): void {
    const slice = this.latest.value?.slice ?? null;
    if (slice === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = event.shiftKey ? 10 : 1;
    const moves: Readonly<Record<string, readonly [number, number]>> = {
      ArrowLeft: [0, -step],
      ArrowRight: [0, step],
      ArrowUp: [step, 0],
      ArrowDown: [-step, 0],
      PageUp: [10, 0],
      PageDown: [-10, 0],
      Home: [0, -slice.columns.count],
      End: [0, slice.columns.count],
    };
    const move = Object.hasOwn(moves, event.key) ? moves[event.key] : undefined;
    if (move !== undefined) {
      const [rows, columns] = move;
      const cell = {
        row: Math.max(0, Math.min(slice.rows.count - 1, this.#cursor.row + rows)),
        column: Math.max(0, Math.min(slice.columns.count - 1, this.#cursor.column + columns)),
      };
      this.#reveal(slice, cell);
      this.#move(cell);
    } else if (event.key === "Enter" || event.key === " ") this.#probe();
    else if (event.key === "+" || event.key === "=") this.#zoom(ZOOM);
    else if (event.key === "-") this.#zoom(1 / ZOOM);
    else if (event.key === "0") this.#store.set({ window: [0, 1, 0, 1] });
    else return;
    event.preventDefault();
  }

  /** Moves the window so that a cell is inside. */
  #reveal(slice: Slice, cell: Cell): void {
    const [left, right, bottom, top] = this.#store.state.window;
    const across = (cell.column + 0.5) / slice.columns.count;
    const up = (cell.row + 0.5) / slice.rows.count;
    if (across > left && across < right && up > bottom && up < top) return;
    this.#store.set({ window: clampWindow([across, up], right - left, top - bottom) });
  }

  #zoom(factor: number): void {
    const slice = this.latest.value?.slice ?? null;
    if (slice === null) return;
    const [left, right, bottom, top] = this.#store.state.window;
    const smallest = 4 / Math.max(slice.columns.count, slice.rows.count);
    const width = Math.max(smallest, (right - left) / factor);
    const height = Math.max(smallest, (top - bottom) / factor);
    const centre = [
      (this.#cursor.column + 0.5) / slice.columns.count,
      (this.#cursor.row + 0.5) / slice.rows.count,
    ] as const;
    this.#store.set({ window: clampWindow(centre, width, height) });
  }

  #probe(): void {
    const shown = this.latest.value;
    if (shown === null) return;
    const { slice, state } = shown;
    const probe = [...state.probe] as [number, number, number];
    probe[AXES.indexOf(state.axis)] = state.at;
    probe[AXES.indexOf(slice.columns.axis)] = coordinateOf(slice.columns, this.#cursor.column);
    probe[AXES.indexOf(slice.rows.axis)] = coordinateOf(slice.rows, this.#cursor.row);
    this.#store.set({ probe });
  }
}
