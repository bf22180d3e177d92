/** What is shown, to take away: files of its numbers, and the very query in five languages. */
import { html, nothing, type TemplateResult } from "lit-html";
import type { CurveFigure } from "../figures/curve-figure.js";
import { choose } from "../figures/inputs.js";
import type { ParticlesFigure } from "../figures/particles-figure.js";
import { coordinateOf } from "../figures/slice-canvas.js";
import type { SliceFigure } from "../figures/slice-figure.js";
import type { ShownSlice } from "../figures/slice-view.js";
import { curl } from "../recipes/curl.js";
import { matlab } from "../recipes/matlab.js";
import { python } from "../recipes/python.js";
import type { Endpoint, Recipe } from "../recipes/recipe.js";
import { soapXml } from "../recipes/soap-xml.js";
import { typescript } from "../recipes/typescript.js";
import { addressOf } from "../state/api.js";
import type { Catalogue } from "../state/facts.js";
import { particleQuery, planeQuery, probeOperations, probeQuery, slicePathOf } from "../state/queries.js";
import { AXES, LANGUAGES, SUBJECTS, type ViewState } from "../state/view-state.js";
import type { ViewStore } from "../state/view-store.js";
import { copyText } from "./clipboard.js";
import type { ProbePanel, ShownProbe } from "./probe-panel.js";
import { download, toCsv, toJson, type ValueTable } from "./table-files.js";

/** The figures that can be taken away. */
export interface Figures {
  readonly slice: SliceFigure;
  readonly probe: ProbePanel;
  readonly profile: CurveFigure;
  readonly series: CurveFigure;
  readonly particles: ParticlesFigure;
}

const WRITERS: Readonly<
  Record<ViewState["language"], { name: string; write: (recipe: Recipe, endpoint: Endpoint) => string }>
> = {
  curl: { name: "curl", write: curl },
  soap: { name: "SOAP XML", write: soapXml },
  python: { name: "Python (zeep)", write: python },
  matlab: { name: "MATLAB", write: matlab },
  typescript: { name: "TypeScript", write: typescript },
};

const SUBJECT_NAMES: Readonly<Record<ViewState["subject"], string>> = {
  slice: "the slice",
  probe: "the probe",
  profile: "the line profile",
  series: "the time series",
  particles: "the particles",
};

/** Characters shown; all of them are copied. */
const SHOWN = 6_000;

export class ExportPanel {
  readonly #store: ViewStore;
  readonly #figures: Figures;
  readonly #catalogue: Catalogue;
  readonly #render: () => void;
  #note = "";

  constructor(store: ViewStore, figures: Figures, catalogue: Catalogue, render: () => void) {
    this.#store = store;
    this.#figures = figures;
    this.#catalogue = catalogue;
    this.#render = render;
  }

  view(): TemplateResult {
    const { state } = this.#store;
    const text = this.#text();
    const table = this.#table();
    return html`
      <section class="panel request" aria-labelledby="request-title">
        <h2 id="request-title">Take it away</h2>
        <div class="row">
          ${choose(
            "subject",
            "Of",
            state.subject,
            SUBJECTS.map((value) => ({ value, text: SUBJECT_NAMES[value] })),
            (subject) => this.#store.set({ subject }),
          )}
          ${choose(
            "language",
            "Copy as",
            state.language,
            LANGUAGES.map((value) => ({ value, text: WRITERS[value].name })),
            (language) => this.#store.set({ language }),
          )}
          <button type="button" id="copy-call" ?disabled=${text === null} @click=${() => this.#copy(text ?? "")}>Copy the request</button>
          <button type="button" id="save-csv" ?disabled=${table === null} @click=${() => table && download(`${table.name}.csv`, "text/csv", toCsv(table))}>
            CSV
          </button>
          <button
            type="button"
            id="save-json"
            ?disabled=${table === null}
            @click=${() => table && download(`${table.name}.json`, "application/json", toJson(table, this.#catalogue.version))}
          >
            JSON
          </button>
          <span role="status" class="note">${this.#note}</span>
        </div>
        ${
          text === null
            ? html`<p>Nothing to show yet.</p>`
            : html`<pre tabindex="0" role="region" aria-label="The query" id="call">${text.slice(0, SHOWN)}${text.length > SHOWN ? "\n… (copy for all)" : nothing}</pre>`
        }
      </section>
    `;
  }

  async #copy(text: string): Promise<void> {
    this.#note = (await copyText(text)) ? "Copied." : "The browser refused to copy.";
    this.#render();
  }

  /** The query as text, or null while there is none. */
  #text(): string | null {
    const recipe = this.#recipe();
    if (recipe === null) return null;
    const endpoint = { base: addressOf(""), soap: this.#catalogue.service, namespace: this.#catalogue.namespace };
    return WRITERS[this.#store.state.language].write(recipe, endpoint);
  }

  #recipe(): Recipe | null {
    const { state, facts } = this.#store;
    const { slice, profile, series } = this.#figures;
    switch (state.subject) {
      case "slice":
        return slice.request.value === null ? null : sliceRecipe(slice.request.value);
      case "probe": {
        const first = probeOperations(facts)[0];
        return first === undefined ? null : { query: probeQuery(state, first.operation, state.values) };
      }
      case "particles":
        return { query: particleQuery(state, facts), every: state.every };
      default: {
        const figure = state.subject === "profile" ? profile : series;
        return { query: figure.source.query(state) };
      }
    }
  }

  /** The numbers shown, or null while there are none. */
  #table(): ValueTable | null {
    const { state } = this.#store;
    const { slice, probe, profile, series, particles } = this.#figures;
    switch (state.subject) {
      case "slice":
        return slice.request.value === null ? null : sliceTable(slice.request.value);
      case "probe":
        return probe.request.value === null ? null : probeTable(probe.request.value);
      case "particles":
        return particles.request.value === null ? null : particleTable(particles);
      default: {
        const curve = (state.subject === "profile" ? profile : series).request.value;
        if (curve === null) return null;
        const rows = curve.x.map((x, i) => [Math.fround(x), curve.y[i]]);
        return { name: state.subject, columns: [curve.xName, curve.yName], rows, queries: [curve.query] };
      }
    }
  }
}

function particleTable(figure: ParticlesFigure): ValueTable {
  const { query, trajectories } = figure.request.value as NonNullable<typeof figure.request.value>;
  const { times, particles, positions } = trajectories;
  const rows = Array.from({ length: particles * times.length }, (_, i) => {
    const record = i % times.length;
    return [Math.floor(i / times.length), Math.fround(times[record]), ...positions.slice(3 * i, 3 * i + 3)];
  });
  return { name: "particles", columns: ["particle", "time", ...AXES], rows, queries: [query] };
}

function sliceRecipe({ slice, state }: ShownSlice): Recipe {
  return { query: planeQuery(state, slice), get: slicePathOf(state) };
}

function sliceTable({ slice, state }: ShownSlice): ValueTable {
  const { rows, columns, values } = slice;
  const table = Array.from(values, (value, i) => {
    const row = Math.floor(i / columns.count);
    const place: Record<string, number> = {
      [state.axis]: state.at,
      [rows.axis]: coordinateOf(rows, row),
      [columns.axis]: coordinateOf(columns, i - row * columns.count),
    };
    return [...AXES.map((axis) => place[axis]), value];
  });
  return { name: "slice", columns: [...AXES, state.field], rows: table, queries: [planeQuery(state, slice)] };
}

function probeTable({ found, state }: ShownProbe): ValueTable {
  const rows = [...found].flatMap(([operation, { components, values }]) =>
    [...values].flatMap(([method, numbers]) => components.map((name, i) => [operation, method, name, numbers[i]])),
  );
  const queries = [...found].flatMap(([operation, { values }]) =>
    [...values.keys()].map((method) => probeQuery(state, operation, method)),
  );
  return { name: "probe", columns: ["operation", "method", "component", "value"], rows, queries };
}
