/** What is shown, to take away: files of its numbers, and the very call in five languages. */
import { html, nothing, type TemplateResult } from "lit-html";
import type { CurveFigure } from "../figures/curve-figure.js";
import type { ParticlesFigure } from "../figures/particles-figure.js";
import { coordinateOf } from "../figures/slice-canvas.js";
import type { ShownSlice, SliceFigure } from "../figures/slice-figure.js";
import { curl } from "../recipes/curl.js";
import { matlab } from "../recipes/matlab.js";
import { python } from "../recipes/python.js";
import type { Endpoint, Recipe } from "../recipes/recipe.js";
import { soapXml } from "../recipes/soap-xml.js";
import { typescript } from "../recipes/typescript.js";
import { addressOf } from "../state/api.js";
import type { Catalogue } from "../state/facts.js";
import type { Store } from "../state/page-store.js";
import { particleCall, probeCall, probeOperations, sliceCall, sliceQuery } from "../state/queries.js";
import { AXES, LANGUAGES, SUBJECTS, type ViewState } from "../state/view-state.js";
import { choose } from "./controls.js";
import { copyText } from "./copy-text.js";
import { download, type ExportedTable, toCsv, toJson } from "./exports.js";
import type { ProbePanel, ShownProbe } from "./probe-panel.js";

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

export class RequestPanel {
  readonly #store: Store;
  readonly #figures: Figures;
  readonly #catalogue: Catalogue;
  readonly #render: () => void;
  #note = "";

  constructor(store: Store, figures: Figures, catalogue: Catalogue, render: () => void) {
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
            (value) => this.#store.set({ subject: value as ViewState["subject"] }),
          )}
          ${choose(
            "language",
            "Copy as",
            state.language,
            LANGUAGES.map((value) => ({ value, text: WRITERS[value].name })),
            (value) => this.#store.set({ language: value as ViewState["language"] }),
          )}
          <button type="button" id="copy-call" ?disabled=${text === null} @click=${() => this.#copy(text ?? "")}>Copy the call</button>
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
            : html`<pre tabindex="0" role="region" aria-label="The call" id="call">${text.slice(0, SHOWN)}${text.length > SHOWN ? "\n… (copy for all)" : nothing}</pre>`
        }
      </section>
    `;
  }

  async #copy(text: string): Promise<void> {
    this.#note = (await copyText(text)) ? "Copied." : "The browser refused to copy.";
    this.#render();
  }

  /** The call as text, or null while there is none. */
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
        return slice.latest.value === null ? null : sliceRecipe(slice.latest.value);
      case "probe": {
        const first = probeOperations(facts)[0];
        return first === undefined ? null : { call: probeCall(state, first.operation, state.values) };
      }
      case "particles":
        return { call: particleCall(state, facts), every: state.every };
      default: {
        const figure = state.subject === "profile" ? profile : series;
        return { call: figure.source.call(state) };
      }
    }
  }

  /** The numbers shown, or null while there are none. */
  #table(): ExportedTable | null {
    const { state } = this.#store;
    const { slice, probe, profile, series, particles } = this.#figures;
    switch (state.subject) {
      case "slice":
        return slice.latest.value === null ? null : sliceTable(slice.latest.value);
      case "probe":
        return probe.latest.value === null ? null : probeTable(probe.latest.value);
      case "particles":
        return particles.latest.value === null ? null : particleTable(particles);
      default: {
        const curve = (state.subject === "profile" ? profile : series).latest.value;
        if (curve === null) return null;
        const rows = curve.x.map((x, i) => [Math.fround(x), curve.y[i] as number]);
        return { name: state.subject, columns: [curve.xName, curve.yName], rows, calls: [curve.call] };
      }
    }
  }
}

function particleTable(figure: ParticlesFigure): ExportedTable {
  const { call, trajectories } = figure.latest.value as NonNullable<typeof figure.latest.value>;
  const { times, particles, positions } = trajectories;
  const rows = Array.from({ length: particles * times.length }, (_, i) => {
    const record = i % times.length;
    return [Math.floor(i / times.length), Math.fround(times[record] as number), ...positions.slice(3 * i, 3 * i + 3)];
  });
  return { name: "particles", columns: ["particle", "time", ...AXES], rows, calls: [call] };
}

function sliceRecipe({ slice, state }: ShownSlice): Recipe {
  return { call: sliceCall(state, slice), get: sliceQuery(state) };
}

function sliceTable({ slice, state }: ShownSlice): ExportedTable {
  const { rows, columns, values } = slice;
  const table = Array.from(values, (value, i) => {
    const row = Math.floor(i / columns.count);
    const place: Record<string, number> = {
      [state.axis]: state.at,
      [rows.axis]: coordinateOf(rows, row),
      [columns.axis]: coordinateOf(columns, i - row * columns.count),
    };
    return [...AXES.map((axis) => place[axis] as number), value];
  });
  return { name: "slice", columns: [...AXES, state.field], rows: table, calls: [sliceCall(state, slice)] };
}

function probeTable({ found, state }: ShownProbe): ExportedTable {
  const rows = [...found].flatMap(([operation, { components, values }]) =>
    [...values].flatMap(([method, numbers]) =>
      components.map((name, i) => [operation, method, name, numbers[i] as number]),
    ),
  );
  const calls = [...found].flatMap(([operation, { values }]) =>
    [...values.keys()].map((method) => probeCall(state, operation, method)),
  );
  return { name: "probe", columns: ["operation", "method", "component", "value"], rows, calls };
}
