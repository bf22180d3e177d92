/** The slice figure requests a plane, keeps its cursor, and turns pointer and keys into zoom and probe. */
import type { TemplateResult } from "lit-html";
import { quantityOf } from "../../quantities.js";
import type { SampleAxis, Slice } from "../state/api.js";
import { offers } from "../state/facts.js";
import { LatestRequest } from "../state/latest-request.js";
import { slicePathOf } from "../state/queries.js";
import { AXES } from "../state/view-state.js";
import type { ViewStore } from "../state/view-store.js";
import { type ColourScale, mapName, mapPixels, rangeFor } from "./colour-scale.js";
import { DataTable } from "./data-table.js";
import { revealPoint, WHOLE_PLANE, zoomWindow } from "./plane-window.js";
import { type Cell, cellAt, coordinateOf, drawSlice, paintPlane } from "./slice-canvas.js";
import { type ShownSlice, type SliceActions, sliceView, ZOOM_STEP } from "./slice-view.js";

/** Rows and columns that a key moves the cursor by, for a step and a plane of so many columns. */
const MOVES: Readonly<Record<string, (step: number, columns: number) => readonly [number, number]>> = {
  ArrowLeft: (step) => [0, -step],
  ArrowRight: (step) => [0, step],
  ArrowUp: (step) => [step, 0],
  ArrowDown: (step) => [-step, 0],
  PageUp: () => [10, 0],
  PageDown: () => [-10, 0],
  Home: (_step, columns) => [0, -columns],
  End: (_step, columns) => [0, columns],
};

function clamp(value: number, count: number): number {
  return Math.max(0, Math.min(count - 1, value));
}

/** The cell of a slice nearest to a point. */
function cellOf({ rows, columns }: Slice, point: readonly number[]): Cell {
  const index = ({ axis, origin, spacing, count }: SampleAxis) =>
    clamp(Math.round((point[AXES.indexOf(axis)] - origin) / spacing), count);
  return { row: index(rows), column: index(columns) };
}

/** The middle of a cell in fractions of the plane. */
function middleOf({ rows, columns }: Slice, { row, column }: Cell): readonly [number, number] {
  return [(column + 0.5) / columns.count, (row + 0.5) / rows.count];
}

export class SliceFigure {
  readonly request: LatestRequest<ShownSlice>;
  readonly #store: ViewStore;
  readonly #render: () => void;
  readonly #table = new DataTable("slice-table");
  readonly #actions: SliceActions = {
    canvas: (element) => {
      this.#canvas = element;
    },
    point: (event) => this.#follow(event),
    key: (event) => this.#key(event),
    zoom: (factor) => this.#zoom(factor),
    probe: () => this.#probe(),
  };
  #cursor: Cell | null = null;
  #canvas: HTMLCanvasElement | null = null;
  #picture: HTMLCanvasElement | null = null;
  #scale: ColourScale | null = null;
  #painted: readonly [ShownSlice, ColourScale] | null = null;
  #asked = "";

  constructor(store: ViewStore, render: () => void) {
    this.#store = store;
    this.#render = render;
    this.request = new LatestRequest(render);
  }

  /** The plane as a picture, for the 3-D view. */
  get picture(): HTMLCanvasElement | null {
    return this.#picture;
  }

  /** Requests the plane of the view if it is another one. */
  refresh(): void {
    const { state, facts, api } = this.#store;
    const path = slicePathOf(state);
    if (path === this.#asked) return;
    this.#asked = path;
    if (offers(facts, quantityOf(state.field).operation)) {
      void this.request.run(async (signal) => ({ slice: await api.slice(path, signal), state }));
    } else this.request.clear();
  }

  /** Makes the next refresh request again, for example with another token. */
  invalidate(): void {
    this.#asked = "";
  }

  /** Paints the canvas that the last rendering laid out. */
  paint(): void {
    const shown = this.request.value;
    const canvas = this.#canvas;
    if (canvas === null) return;
    if (shown === null) {
      canvas.getContext("2d")?.clearRect(0, 0, canvas.width, canvas.height);
      return;
    }
    const { slice } = shown;
    const { state } = this.#store;
    const width = Math.round(canvas.clientWidth * Math.min(2, window.devicePixelRatio));
    const height = Math.round(width * aspectOf(slice));
    if (width > 0 && (canvas.width !== width || canvas.height !== height)) Object.assign(canvas, { width, height });
    const scale = this.#colours();
    if (this.#picture === null || this.#painted?.[0] !== shown || this.#painted[1] !== scale) {
      this.#picture = paintPlane(slice, scale);
      this.#painted = [shown, scale];
    }
    const place = ({ axis, origin, spacing }: SampleAxis) =>
      (state.probe[AXES.indexOf(axis)] - origin) / (spacing || 1);
    drawSlice(canvas, this.#picture, {
      slice,
      window: state.window,
      cursor: this.#cell(slice),
      probe: { column: place(slice.columns), row: place(slice.rows) },
    });
  }

  view(): TemplateResult {
    const slice = this.request.value?.slice;
    const cursor = slice === undefined ? { row: 0, column: 0 } : this.#cell(slice);
    const model = { store: this.#store, request: this.request, scale: this.#colours(), cursor, table: this.#table };
    return sliceView(model, this.#actions);
  }

  /** The cursor inside a slice; it begins at the probe. */
  #cell(slice: Slice): Cell {
    const { row, column } = this.#cursor ?? cellOf(slice, this.#store.state.probe);
    return { row: clamp(row, slice.rows.count), column: clamp(column, slice.columns.count) };
  }

  /** The colour scale of the plane shown; the same record until map or range change. */
  #colours(): ColourScale {
    const shown = this.request.value;
    const { map, range: fixed } = this.#store.state;
    const name = mapName(map, quantityOf((shown?.state ?? this.#store.state).field).signed);
    const range = rangeFor(name, fixed, shown?.slice.low ?? 0, shown?.slice.high ?? 0);
    const known = this.#scale;
    if (known?.name === name && known.range[0] === range[0] && known.range[1] === range[1]) return known;
    this.#scale = { name, range, pixels: known?.name === name ? known.pixels : mapPixels(name) };
    return this.#scale;
  }

  #follow(event: PointerEvent): void {
    const slice = this.request.value?.slice;
    if (slice === undefined || this.#canvas === null) return;
    const box = this.#canvas.getBoundingClientRect();
    const across = (event.clientX - box.left) / box.width;
    const down = (event.clientY - box.top) / box.height;
    this.#move(cellAt(slice, this.#store.state.window, across, down));
  }

  #move(cell: Cell): void {
    this.#cursor = cell;
    this.#render();
  }

  #key(event: KeyboardEvent): void {
    const slice = this.request.value?.slice;
    if (slice === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    if (Object.hasOwn(MOVES, event.key)) {
      const [rows, columns] = MOVES[event.key](event.shiftKey ? 10 : 1, slice.columns.count);
      const { row, column } = this.#cell(slice);
      const cell = { row: clamp(row + rows, slice.rows.count), column: clamp(column + columns, slice.columns.count) };
      const window = revealPoint(this.#store.state.window, middleOf(slice, cell));
      if (window !== this.#store.state.window) this.#store.set({ window });
      this.#move(cell);
    } else if (event.key === "Enter" || event.key === " ") this.#probe();
    else if (event.key === "+" || event.key === "=") this.#zoom(ZOOM_STEP);
    else if (event.key === "-") this.#zoom(1 / ZOOM_STEP);
    else if (event.key === "0") this.#store.set({ window: WHOLE_PLANE });
    else return;
    event.preventDefault();
  }

  #zoom(factor: number): void {
    const slice = this.request.value?.slice;
    if (slice === undefined) return;
    const smallest = 4 / Math.max(slice.columns.count, slice.rows.count);
    const centre = middleOf(slice, this.#cell(slice));
    this.#store.set({ window: zoomWindow(this.#store.state.window, factor, centre, smallest) });
  }

  #probe(): void {
    const shown = this.request.value;
    if (shown === null) return;
    const { slice, state } = shown;
    const { row, column } = this.#cell(slice);
    const probe = [...state.probe] as [number, number, number];
    probe[AXES.indexOf(state.axis)] = state.at;
    probe[AXES.indexOf(slice.columns.axis)] = coordinateOf(slice.columns, column);
    probe[AXES.indexOf(slice.rows.axis)] = coordinateOf(slice.rows, row);
    this.#store.set({ probe });
  }
}

function aspectOf({ rows, columns }: Slice): number {
  const ratio = (rows.count * rows.spacing) / (columns.count * columns.spacing);
  return Math.max(0.25, Math.min(2, ratio || 1));
}
