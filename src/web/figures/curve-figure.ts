/** A quantity along a line or in time: a plot, its table, and what was asked for it. */
import { html, type TemplateResult } from "lit-html";
import { ref } from "lit-html/directives/ref.js";
import { quantityOf } from "../../quantities.js";
import { floatText } from "../float-text.js";
import { standingBar } from "../panels/standing-bar.js";
import { fetchRecords } from "../state/api.js";
import type { Call } from "../state/call.js";
import { offers, unitOf } from "../state/facts.js";
import { Latest } from "../state/latest.js";
import type { Store } from "../state/page-store.js";
import type { ViewState } from "../state/view-state.js";
import { columnTable, dataTable } from "./data-table.js";
import { Plot } from "./plot.js";

/** What one curve is of. */
export interface CurveSource {
  readonly id: "profile" | "series";
  readonly title: (state: ViewState) => string;
  readonly xName: (state: ViewState) => string;
  readonly call: (state: ViewState) => Call;
  /** Places along the curve. */
  readonly places: (state: ViewState, call: Call) => number[];
  readonly mark: (state: ViewState) => number;
}

export interface CurveData {
  readonly x: readonly number[];
  readonly y: readonly number[];
  readonly xName: string;
  readonly yName: string;
  readonly call: Call;
}

export class CurveFigure {
  readonly latest: Latest<CurveData>;
  readonly source: CurveSource;
  readonly #store: Store;
  readonly #plot = new Plot();
  #element: HTMLElement | null = null;
  #asked = "";

  constructor(source: CurveSource, store: Store, render: () => void) {
    this.source = source;
    this.#store = store;
    this.latest = new Latest(render);
  }

  refresh(): void {
    const { state, facts } = this.#store;
    const call = this.source.call(state);
    const key = JSON.stringify([state.field, call.operation, call.dataset, call.parameters, [...call.points]]);
    if (key === this.#asked) return;
    this.#asked = key;
    if (!offers(facts, call.operation)) {
      this.latest.clear();
      return;
    }
    const quantity = quantityOf(state.field);
    const xName = this.source.xName(state);
    void this.latest.run(async (signal) => {
      const records = await fetchRecords(call, signal);
      const size = records.components.length;
      const x = this.source.places(state, call);
      const y = x.map((_, i) => Math.fround(quantity.of(records.values, i * size)));
      return { x, y, xName, yName: quantity.name, call };
    });
  }

  invalidate(): void {
    this.#asked = "";
  }

  paint(): void {
    const curve = this.latest.value;
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
    const curve = this.latest.value;
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
        ${standingBar(id, this.latest)}
        ${dataTable(`${id}-table`, title, () =>
          curve === null
            ? html`<p>No values yet.</p>`
            : columnTable(
                title,
                [curve.xName, curve.yName],
                curve.x.map((x, i) => [floatText(Math.fround(x)), floatText(curve.y[i] as number)]),
              ),
        )}
      </section>
    `;
  }
}

function describe(curve: CurveData | null): string {
  if (curve === null) return "no values yet";
  const finite = curve.y.filter(Number.isFinite);
  return `${curve.y.length} values from ${floatText(Math.min(...finite))} to ${floatText(Math.max(...finite))}`;
}
