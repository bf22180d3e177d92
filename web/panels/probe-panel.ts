/** The probe panel shows everything at one point, by every method, with the differences of the methods. */

import { html, nothing, type TemplateResult } from "lit-html";
import { shortestFloat32, shortText } from "../../src/float32/format.js";
import { formulaText, QUANTITIES, type Quantity, unitOf } from "../../src/shared/quantities.js";
import { valueText } from "../figures/data-table.js";
import { number } from "../figures/inputs.js";
import { statusBar } from "../figures/status-bar.js";
import { valuesOf } from "../state/api.js";
import { axisOf, endOf } from "../state/facts.js";
import { LatestRequest } from "../state/latest-request.js";
import { AXES } from "../state/plane-geometry.js";
import { methodOf, pinName, probeComponents, probeOperations, probeQuery } from "../state/queries.js";
import { questionKey } from "../state/question-key.js";
import { quantityValues } from "../state/shown-quantity.js";
import { MOST_PINS, type ViewState } from "../state/view-state.js";
import type { ViewStore } from "../state/view-store.js";

/** Components of one call by method: numbers, or the text of a refusal. */
export type ByMethod = ReadonlyMap<string, Float32Array | string>;

/** The records at the probe with the view that asked for them; they are shown until the next ones arrive. */
export interface ShownProbe {
  readonly found: ReadonlyMap<string, ByMethod>;
  readonly state: ViewState;
}

/** Quantities that the tables of components list already. */
const STORED: readonly string[] = ["ux", "uy", "uz", "p", "bx", "by", "bz", "ax", "ay", "az", "density", "temperature"];

export class ProbePanel {
  readonly request: LatestRequest<ShownProbe>;
  readonly #store: ViewStore;
  #asked = "";

  constructor(store: ViewStore, render: () => void) {
    this.#store = store;
    this.request = new LatestRequest(render);
  }

  /** Requests everything at the probe in one batch, unless it is known. */
  refresh(): void {
    const { state, facts, api } = this.#store;
    const wanted = probeOperations(state, facts).flatMap(({ call, methods }) => {
      return methods.map((method) => ({ call, method, query: probeQuery(state, call, method) }));
    });
    const key = questionKey(facts, [], wanted);
    if (key === this.#asked) return;
    this.#asked = key;
    if (wanted.length === 0) {
      this.request.clear();
      return;
    }
    void this.request.run(async (signal) => {
      const results = await api.batch(
        wanted.map(({ query }) => query),
        signal,
      );
      const found = new Map<string, Map<string, Float32Array | string>>();
      for (const [i, { call, method }] of wanted.entries()) {
        const result = results[i];
        const entry = "problem" in result ? result.problem.detail : (valuesOf(result) ?? "");
        const methods = found.get(call) ?? new Map<string, Float32Array | string>();
        found.set(call, methods.set(method, entry));
      }
      return { found, state };
    });
  }

  invalidate(): void {
    this.#asked = "";
  }

  view(): TemplateResult {
    const { state } = this.#store;
    const shown = this.request.value;
    return html`
      <section class="panel probe" aria-labelledby="probe-title">
        <h2 id="probe-title">Probe</h2>
        <div class="row">
          ${this.#place()}
          <span class="note">t = ${shortText((shown?.state ?? state).time)}, in time ${(shown?.state ?? state).temporal}</span>
        </div>
        ${this.#pins()} ${statusBar("probe", this.request)}
        ${
          shown === null
            ? nothing
            : html`
                ${this.#derived(shown)}
                <details class="data" id="probe-tables" open>
                  <summary>All components by every method</summary>
                  <div class="tables">
                    ${[...shown.found].map(([call, methods]) => methodTable(call, methods))}
                  </div>
                </details>
              `
        }
      </section>
    `;
  }

  /** The probes that are kept, each to be gone to or let go, and the button that keeps another. */
  #pins(): TemplateResult {
    const { probe, pins } = this.#store.state;
    const known = pins.some((pin) => pin.every((value, i) => value === probe[i]));
    const keep = () => this.#store.set({ pins: [...pins, probe], curves: "probes" });
    const drop = (index: number) => {
      const left = pins.filter((_, i) => i !== index);
      this.#store.set({ pins: left, ...(left.length === 0 ? { curves: "one" } : {}) });
    };
    return html`
      <div class="row pins">
        <button type="button" id="keep-probe" ?disabled=${known || pins.length >= MOST_PINS} @click=${keep}>
          Keep this probe
        </button>
        ${pins.map((pin, i) => {
          const place = `(${pin.map(shortText).join(", ")})`;
          const name = pinName(i);
          return html`
            <span class="pin">
              <b>${name}</b>
              <button type="button" class="link" id="pin-${name}" @click=${() => this.#store.set({ probe: pin })}>${place}</button>
              <button type="button" id="drop-${name}" aria-label="Let probe ${name} go" @click=${() => drop(i)}>×</button>
            </span>
          `;
        })}
        ${pins.length === 0 ? html`<span class="note">to compare its curves with those of other places</span>` : nothing}
      </div>
    `;
  }

  /** The coordinates as numbers to change. */
  #place(): readonly TemplateResult[] {
    const { state, facts } = this.#store;
    return AXES.map((name, index) => {
      const axis = axisOf(facts, name);
      return number(`probe-${name}`, name, state.probe[index], { min: axis.first, max: endOf(axis) }, (value) => {
        const probe = [...state.probe] as [number, number, number];
        probe[index] = Math.fround(value);
        this.#store.set({ probe });
      });
    });
  }

  /** Derived quantities by the options that the values were asked with. */
  #derived({ found, state }: ShownProbe): TemplateResult {
    const { viscosity } = this.#store.facts;
    const rows = QUANTITIES.flatMap((quantity: Quantity) => {
      if (quantity.needsViscosity === true && viscosity == null) return [];
      const method = methodOf({ ...state, field: quantity.name });
      const values = method === null ? undefined : found.get(quantity.operation)?.get(method);
      if (values === undefined || typeof values === "string") return [];
      return [
        { quantity, method, value: Math.fround(quantityValues(quantity.name, values, values.length, viscosity)[0]) },
      ];
    }).filter(({ quantity }) => !STORED.includes(quantity.name));
    return html`
      <dl class="derived">
        ${rows.map(
          ({ quantity, method, value }) => html`
            <div title=${formulaText(quantity)}>
              <dt>${quantity.title} <small>${method}</small></dt>
              <dd data-probe=${quantity.name}>${valueText(value)} ${Number.isNaN(value) ? nothing : unitOf(this.#store.facts, quantity.measure)}</dd>
            </div>
          `,
        )}
      </dl>
    `;
  }
}

/** A table of components over methods: values by the first method, the one in use, differences by the others. */
function methodTable(call: string, found: ByMethod): TemplateResult {
  const known = [...found.keys()];
  const [used] = known;
  const methods = [used, ...known.filter((method) => method !== used)];
  const reference = found.get(used);
  const cell = (method: string, name: string, index: number) => {
    const values = found.get(method);
    if (values === undefined || typeof values === "string") return html`<td title=${values ?? ""}>refused</td>`;
    const value = values[index];
    if (method === used || reference === undefined || typeof reference === "string") {
      return html`<td class=${method === used ? "chosen" : ""} data-probe=${name} data-method=${method}>${valueText(value)}</td>`;
    }
    return html`<td data-probe=${name} data-method=${method} title=${shortestFloat32(value)}>${signed(value - reference[index])}</td>`;
  };
  return html`
    <div class="method-table">
      <h3>${call}: ${used}, and what other methods differ by</h3>
      <div class="scroll" tabindex="0" role="region" aria-label="${call} by method">
      <table class="methods">
        <thead>
          <tr>
            <th scope="col">component</th>
            ${methods.map((method) => html`<th scope="col" class=${method === used ? "chosen" : ""}>${method}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${probeComponents(call, typeof reference === "object" ? reference.length : 0).map(
            (name, index) =>
              html`<tr><th scope="row">${name}</th>${methods.map((method) => cell(method, name, index))}</tr>`,
          )}
        </tbody>
      </table>
      </div>
    </div>
  `;
}

function signed(value: number): string {
  if (!Number.isFinite(value)) return "no data";
  return `${value < 0 ? "−" : "+"}${Math.abs(value).toExponential(1)}`;
}
