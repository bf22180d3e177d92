/** A curve figure requests a quantity along a line or in time, by one or several options, and shows plot and table. */

import { html, type TemplateResult } from "lit-html";
import { createRef, ref } from "lit-html/directives/ref.js";
import { shortestDecimal, shortestFloat32, shortText } from "../../src/float32/format.js";
import { unitOf } from "../../src/shared/quantities.js";
import { ApiError, type BatchResult, valuesOf } from "../state/api.js";
import { offers } from "../state/facts.js";
import { LatestRequest } from "../state/latest-request.js";
import type { PointQuery } from "../state/point-query.js";
import type { NamedQuery } from "../state/queries.js";
import { questionKey } from "../state/question-key.js";
import { quantityOf, quantityValues, unitOfQuantity } from "../state/shown-quantity.js";
import type { ViewState } from "../state/view-state.js";
import type { ViewStore } from "../state/view-store.js";
import { columnTable, DataTable } from "./data-table.js";
import { Plot, type PlottedCurves } from "./plot.js";
import { statusBar } from "./status-bar.js";

/** The source of a curve figure: its title, its queries and its places. */
export interface CurveSource {
  readonly id: "profile" | "series";
  readonly title: (state: ViewState) => string;
  readonly xName: (state: ViewState) => string;
  readonly queries: (state: ViewState) => readonly NamedQuery[];
  /** Places of the values of a query along the curve. */
  readonly places: (state: ViewState, query: PointQuery) => number[];
  readonly mark: (state: ViewState) => number;
  /** Called when the caller clicks into the plot. */
  readonly pick: (state: ViewState, x: number) => void;
}

/** Curves together with the view that asked for them; they are shown until the next ones arrive. */
export interface ShownCurves {
  readonly state: ViewState;
  readonly x: readonly number[];
  readonly curves: readonly { readonly name: string; readonly y: readonly number[] }[];
  readonly queries: readonly PointQuery[];
  /** Refusals of the service, by the name of the curve. */
  readonly refusals: readonly string[];
}

export class CurveFigure {
  readonly request: LatestRequest<ShownCurves>;
  readonly source: CurveSource;
  readonly #store: ViewStore;
  readonly #plot = new Plot();
  readonly #table: DataTable;
  readonly #element = createRef<HTMLElement>();
  #asked = "";

  constructor(source: CurveSource, store: ViewStore, render: () => void) {
    this.source = source;
    this.#store = store;
    this.#table = new DataTable(`${source.id}-table`);
    this.request = new LatestRequest(render);
  }

  refresh(): void {
    const { state, facts, api } = this.#store;
    const isOffered = offers(facts, quantityOf(state.field).operation);
    const named = isOffered ? this.source.queries(state) : [];
    const key = questionKey(facts, [state.field], named);
    if (key === this.#asked) return;
    this.#asked = key;
    if (!isOffered) {
      this.request.clear();
      return;
    }
    void this.request.run(async (signal) => {
      const results = await api.batch(
        named.map(({ query }) => query),
        signal,
      );
      return this.#assemble(state, named, results);
    });
  }

  #assemble(state: ViewState, named: readonly NamedQuery[], results: readonly BatchResult[]): ShownCurves {
    const { viscosity } = this.#store.facts;
    const x = this.source.places(state, named[0].query);
    const curves = named.flatMap(({ name }, i) => {
      const values = valuesOf(results[i]);
      if (values === null) return [];
      const found = quantityValues(state.field, values, values.length / x.length, viscosity);
      return [{ name, y: x.map((_, k) => Math.fround(found[k])) }];
    });
    const refusals = named.flatMap(({ name }, i) => {
      const result = results[i];
      return "problem" in result ? [`${name}: ${result.problem.detail}`] : [];
    });
    if (curves.length === 0) throw refusalOf(results, refusals);
    return { state, x, curves, queries: named.map(({ query }) => query), refusals };
  }

  invalidate(): void {
    this.#asked = "";
  }

  paint(): void {
    const element = this.#element.value;
    const curves = this.plotted;
    if (curves !== null && element !== undefined) this.#plot.draw(element, curves);
  }

  /** The curves as the plot has them; null before there are any. */
  get plotted(): PlottedCurves | null {
    const shown = this.request.value;
    if (shown === null) return null;
    const { facts } = this.#store;
    const { state } = shown;
    const unit = (text: string) => (text === "" ? "" : ` (${text})`);
    return {
      x: shown.x,
      curves: shown.curves,
      ordered: state.curves === "times",
      xLabel: this.source.xName(state) + unit(unitOf(facts, this.source.id === "series" ? "time" : "length")),
      yLabel: quantityOf(state.field).title + unit(unitOfQuantity(facts, state.field)),
      mark: this.source.mark(this.#store.state),
      pick: (x) => this.source.pick(state, x),
    };
  }

  /** Lays out heading, plot and table; all of them speak of the curves that are shown. */
  view(extra: TemplateResult): TemplateResult {
    const { id } = this.source;
    const shown = this.request.value;
    const title = this.source.title(shown?.state ?? this.#store.state);
    return html`
      <section class="panel" aria-labelledby="${id}-title">
        <h2 id="${id}-title">${title}</h2>
        ${extra}
        <div
          class="plot"
          id=${id}
          role="img"
          aria-label=${`${title}: ${describe(shown)}`}
          ${ref(this.#element)}
        ></div>
        ${shown?.refusals.map((text) => html`<p class="note">${text}</p>`)}
        ${statusBar(id, this.request)}
        ${this.#table.view(title, () =>
          shown === null
            ? html`<p>No values yet.</p>`
            : columnTable(
                title,
                [this.source.xName(shown.state), ...columnNames(shown, quantityOf(shown.state.field).title)],
                shown.x.map((x, i) => [
                  shortestDecimal(x),
                  ...shown.curves.map(({ y }) => (Number.isFinite(y[i]) ? shortestFloat32(y[i]) : "no data")),
                ]),
              ),
        )}
      </section>
    `;
  }
}

/** The error of curves that were all refused, with the limit that the first of them passed. */
function refusalOf([first]: readonly BatchResult[], refusals: readonly string[]): ApiError {
  const { code, limit } = "problem" in first ? first.problem : { code: "Internal", limit: undefined };
  return new ApiError(0, code, refusals.join(" "), limit ?? null);
}

/** The names of the curves as columns of a table. @param quantity the name of the quantity in it */
export function columnNames({ curves }: ShownCurves, quantity: string): string[] {
  return curves.length === 1 ? [quantity] : curves.map(({ name }) => `${quantity} ${name}`);
}

function describe(shown: ShownCurves | null): string {
  if (shown === null) return "no values yet";
  const all = shown.curves.flatMap(({ y }) => y);
  const finite = all.filter(Number.isFinite);
  const missing = all.length === finite.length ? "" : `, ${all.length - finite.length} without data`;
  if (finite.length === 0) return `${all.length} places without data`;
  return `${all.length} values from ${shortText(Math.min(...finite))} to ${shortText(Math.max(...finite))}${missing}`;
}
