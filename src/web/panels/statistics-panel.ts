/** The statistics panel shows moments, extremes, the density of the values and spectra of the plane that is shown. */
import { html, nothing, type TemplateResult } from "lit-html";
import { ref } from "lit-html/directives/ref.js";
import { shortText } from "../../float32/format.js";
import { quantityOf, unitOf } from "../../quantities.js";
import { fileName } from "../figures/figure-file.js";
import type { ShownPlane } from "../figures/plane-figure.js";
import { pointOf } from "../figures/plane-samples.js";
import {
  type Density,
  densityOf,
  inertialLine,
  momentsOf,
  type PlaneStatistics,
  type Spectrum,
  spectrumOf,
} from "../figures/plane-statistics.js";
import { Plot } from "../figures/plot.js";
import { saveFile } from "../figures/save-file.js";
import type { SliceFigure } from "../figures/slice-figure.js";
import { axisOf } from "../state/facts.js";
import { isWhole, wholePlane } from "../state/plane-geometry.js";
import { describePlane, shownName } from "../state/queries.js";
import type { ViewStore } from "../state/view-store.js";
import { toCsv } from "./table-files.js";

/** Everything computed of one plane. */
interface Computed {
  readonly shown: ShownPlane;
  readonly moments: PlaneStatistics;
  readonly density: Density;
  readonly spectra: readonly { readonly axis: string; readonly spectrum: Spectrum }[];
}

export class StatisticsPanel {
  readonly #store: ViewStore;
  readonly #slice: SliceFigure;
  readonly #render: () => void;
  readonly #plots = new Map<string, { readonly plot: Plot; element: HTMLElement | null }>();
  #open = false;
  #computed: Computed | null = null;

  constructor(store: ViewStore, slice: SliceFigure, render: () => void) {
    this.#store = store;
    this.#slice = slice;
    this.#render = render;
  }

  view(): TemplateResult {
    return html`
      <section class="panel statistics" aria-labelledby="statistics-title">
        <h2 id="statistics-title">Statistics of the plane</h2>
        <details
          class="data"
          id="statistics"
          ?open=${this.#open}
          @toggle=${(event: Event) => {
            this.#open = (event.target as HTMLDetailsElement).open;
            this.#render();
          }}
        >
          <summary>Mean, rms, extremes, density of the values, energy spectra</summary>
          ${this.#open ? this.#body() : nothing}
        </details>
      </section>
    `;
  }

  /** Draws the charts that the last rendering laid out. */
  paint(): void {
    if (!this.#open) return;
    const computed = this.#compute();
    if (computed === null) return;
    const { density, spectra, shown } = computed;
    const { measure } = quantityOf(shown.state.field);
    const name = shownName(shown.state);
    const unit = unitOf(this.#store.facts, measure);
    this.#draw("density", {
      x: density.places,
      curves: [
        { name: "density", y: density.density },
        { name: "Gaussian", y: density.gaussian, dashed: true },
      ],
      xLabel: unit === "" ? name : `${name} (${unit})`,
      yLabel: "density",
      mark: null,
    });
    for (const { axis, spectrum } of spectra) {
      this.#draw(`spectrum-${axis}`, {
        x: spectrum.wave,
        curves: [
          { name: `E along ${axis}`, y: spectrum.energy },
          { name: "slope −5/3", y: inertialLine(spectrum), dashed: true },
        ],
        xLabel: `wave number along ${axis}`,
        yLabel: "energy",
        mark: null,
        log: true,
      });
    }
  }

  #draw(id: string, curves: Parameters<Plot["draw"]>[1]): void {
    const chart = this.#plots.get(id);
    if (chart?.element == null || curves.x.length === 0) return;
    // The curves of one plane are the same records until another plane is shown.
    chart.plot.draw(chart.element, this.#kept(id, curves));
  }

  readonly #last = new Map<string, Parameters<Plot["draw"]>[1]>();

  #kept(id: string, curves: Parameters<Plot["draw"]>[1]): Parameters<Plot["draw"]>[1] {
    const before = this.#last.get(id);
    if (before !== undefined && before.x === curves.x && before.xLabel === curves.xLabel) return before;
    this.#last.set(id, curves);
    return curves;
  }

  #compute(): Computed | null {
    const { shown } = this.#slice;
    if (shown === null) return null;
    if (this.#computed?.shown === shown) return this.#computed;
    const moments = momentsOf(shown.slice.values);
    const { facts } = this.#store;
    const { axis, window } = shown.state;
    const whole = window === null || isWhole(wholePlane(facts, axis), window);
    const spectra = (["columns", "rows"] as const).flatMap((side) => {
      const name = shown.slice[side].axis;
      const spectrum = whole && axisOf(facts, name).periodic ? spectrumOf(shown.slice, side) : null;
      return spectrum === null ? [] : [{ axis: name, spectrum }];
    });
    this.#computed = { shown, moments, density: densityOf(shown.slice, moments), spectra };
    return this.#computed;
  }

  #body(): TemplateResult {
    const computed = this.#compute();
    if (computed === null) return html`<p>No values yet.</p>`;
    const { shown, moments, density, spectra } = computed;
    const unit = unitOf(this.#store.facts, quantityOf(shown.state.field).measure);
    const item = (id: string, name: string, text: string) =>
      html`<div><dt>${name}</dt><dd data-stat=${id}>${text}</dd></div>`;
    return html`
      <p class="note">${describePlane(shown.state)}</p>
      <dl>
        ${item("mean", "Mean", `${shortText(moments.mean)} ${unit}`)}
        ${item("rms", "rms of the deviations", `${shortText(moments.rms)} ${unit}`)}
        ${item("skewness", "Skewness", shortText(moments.skewness))}
        ${item("flatness", "Flatness", shortText(moments.flatness))}
        ${this.#extreme("lowest", "Smallest", shown, moments.lowest, unit)}
        ${this.#extreme("highest", "Largest", shown, moments.highest, unit)}
        ${moments.finite < moments.count ? item("missing", "Without data", `${moments.count - moments.finite} of ${moments.count}`) : nothing}
      </dl>
      <h3>Density of the values</h3>
      ${this.#chart("density", "Density of the values, with a Gaussian of the same mean and rms")}
      ${csvButton("density", () => densityCsv(density), `${fileName(shown)}-density.csv`)}
      <h3>Energy spectra along the sides</h3>
      ${spectra.length === 0 ? html`<p class="note">A spectrum needs a whole periodic side without missing values.</p>` : nothing}
      ${spectra.map(
        ({ axis, spectrum }) => html`
          ${this.#chart(`spectrum-${axis}`, `Energy spectrum along ${axis}, with a slope of -5/3`)}
          ${csvButton(`spectrum-${axis}`, () => spectrumCsv(spectrum), `${fileName(shown)}-spectrum-${axis}.csv`)}
        `,
      )}
      ${csvButton("moments", () => momentsCsv(moments), `${fileName(shown)}-moments.csv`)}
    `;
  }

  #chart(id: string, label: string): TemplateResult {
    const chart = this.#plots.get(id) ?? { plot: new Plot(), element: null };
    this.#plots.set(id, chart);
    return html`<div
      class="plot"
      id=${id}
      role="img"
      aria-label=${label}
      ${ref((element) => {
        chart.element = (element as HTMLElement | undefined) ?? null;
      })}
    ></div>`;
  }

  /** An extreme with its place, which a click makes the probe. */
  #extreme(id: string, name: string, { slice, state }: ShownPlane, index: number, unit: string): TemplateResult {
    if (index < 0) return html`<div><dt>${name}</dt><dd>no data</dd></div>`;
    const row = Math.floor(index / slice.columns.count);
    const cell = { row, column: index - row * slice.columns.count };
    const probe = pointOf(slice, state, cell, this.#store.facts);
    return html`
      <div>
        <dt>${name}</dt>
        <dd data-stat=${id}>
          ${shortText(slice.values[index])} ${unit} at
          <button type="button" class="link" id="go-${id}" @click=${() => this.#store.set({ probe })}>
            (${probe.map(shortText).join(", ")})
          </button>
        </dd>
      </div>
    `;
  }
}

function csvButton(id: string, text: () => string, name: string): TemplateResult {
  const save = () => saveFile(name, new Blob([text()], { type: "text/csv" }));
  return html`<p><button type="button" id="csv-${id}" @click=${save}>CSV of the ${id.replace("-", " along ")}</button></p>`;
}

function columnsCsv(columns: readonly string[], rows: readonly (readonly (number | string)[])[]): string {
  return toCsv({
    name: "",
    columns,
    rows: rows.map((row) => row.map((cell) => (typeof cell === "number" ? Math.fround(cell) : cell))),
    queries: [],
  });
}

function densityCsv({ places, density, gaussian }: Density): string {
  return columnsCsv(
    ["value", "density", "gaussian"],
    places.map((place, i) => [place, density[i], gaussian[i]]),
  );
}

function spectrumCsv({ wave, energy }: Spectrum): string {
  return columnsCsv(
    ["wavenumber", "energy"],
    wave.map((k, i) => [k, energy[i]]),
  );
}

function momentsCsv({ mean, rms, skewness, flatness, finite, count }: PlaneStatistics): string {
  return columnsCsv(["statistic", "value"], Object.entries({ mean, rms, skewness, flatness, finite, count }));
}
