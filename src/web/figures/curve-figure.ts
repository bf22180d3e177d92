/** A curve figure requests a quantity along a line or in time, and shows it as a plot and a table. */
import { html, type TemplateResult } from "lit-html";
import { ref } from "lit-html/directives/ref.js";
import { shortestFloat32 } from "../../float32/format.js";
import { quantityOf } from "../../quantities.js";
import { offers, unitOf } from "../state/facts.js";
import { LatestRequest } from "../state/latest-request.js";
import type { PointQuery } from "../state/point-query.js";
import type { ViewState } from "../state/view-state.js";
import type { ViewStore } from "../state/view-store.js";
import { columnTable, DataTable } from "./data-table.js";
import { Plot } from "./plot.js";
import { statusBar } from "./status-bar.js";

/** The source of a curve: its title, its query and its places. */
export interface CurveSource {
  readonly id: "profile" | "series";
  readonly title: (state: ViewState) => string;
  readonly xName: (state: ViewState) => string;
  readonly query: (state: ViewState) => PointQuery;
  /** Places along the curve. */
  readonly places: (state: ViewState, query: PointQuery) => number[];
  readonly mark: (state: ViewState) => number;
}

export interface CurveData {
  readonly x: readonly number[];
  readonly y: readonly number[];
  readonly xName: string;
  readonly yName: string;
  readonly query: PointQuery;
}

export class CurveFigure {
  readonly request: LatestRequest<CurveData>;
  readonly source: CurveSource;
  readonly #store: ViewStore;
  readonly #plot = new Plot();
  readonly #table: DataTable;
  #element: HTMLElement | null = null;
  #asked = "";

  constructor(source: CurveSource, store: ViewStore, render: () => void) {
    this.source = source;
    this.#store = store;
    this.#table = new DataTable(`${source.id}-table`);
    this.request = new LatestRequest(render);
  }

  refresh(): void {
    const { state, facts } = this.#store;
    const query = this.source.query(state);
    const key = JSON.stringify([state.field, query.operation, query.dataset, query.parameters, [...query.points]]);
    if (key === this.#asked) return;
    this.#asked = key;
    if (!offers(facts, query.operation)) {
      this.request.clear();
      return;
    }
    const quantity = quantityOf(state.field);
    const xName = this.source.xName(state);
    void this.request.run(async (signal) => {
      const records = await this.#store.api.records(query, signal);
      const size = records.components.length;
      const x = this.source.places(state, query);
      const y = x.map((_, i) => Math.fround(quantity.of(records.values, i * size)));
      return { x, y, xName, yName: quantity.name, query };
    });
  }

  invalidate(): void {
    this.#asked = "";
  }

  paint(): void {
    const curve = this.request.value;
    if (curve === null || this.#element === null) return;
    const { state, facts } = this.#store;
    const quantity = quantityOf(curve.yName as ViewState["field"]);
    const unit = (text: string) => (text === "" ? "" : ` (${text})`);
    this.#plot.draw(this.#element, {
      x: curve.x,
      y: curve.y,
      xLabel: curve.xName + unit(unitOf(facts, this.source.id === "series" ? "time" : "length")),
      yLabel: curve.yName + unit(unitOf(facts, quantity.measure)),
      mark: this.source.mark(state),
    });
  }

  view(extra: TemplateResult): TemplateResult {
    const { id } = this.source;
    const curve = this.request.value;
    const title = this.source.title(this.#store.state);
    return html`
      <section class="panel" aria-labelledby="${id}-title">
        <h2 id="${id}-title">${title}</h2>
        ${extra}
        <div
          class="plot"
          id=${id}
          role="img"
          aria-label=${`${title}: ${describe(curve)}`}
          ${ref((element) => {
            this.#element = (element as HTMLElement | undefined) ?? null;
          })}
        ></div>
        ${statusBar(id, this.request)}
        ${this.#table.view(title, () =>
          curve === null
            ? html`<p>No values yet.</p>`
            : columnTable(
                title,
                [curve.xName, curve.yName],
                curve.x.map((x, i) => [shortestFloat32(Math.fround(x)), shortestFloat32(curve.y[i])]),
              ),
        )}
      </section>
    `;
  }
}

function describe(curve: CurveData | null): string {
  if (curve === null) return "no values yet";
  const finite = curve.y.filter(Number.isFinite);
  return `${curve.y.length} values from ${shortestFloat32(Math.min(...finite))} to ${shortestFloat32(Math.max(...finite))}`;
}
