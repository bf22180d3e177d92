/** The probe: everything at one point, by every method, with what the methods differ by. */
import { html, nothing, type TemplateResult } from "lit-html";
import { shortestFloat32, shortText } from "../../float32/format.js";
import type { OperationName } from "../../operations.js";
import { QUANTITIES } from "../../quantities.js";
import { number } from "../figures/inputs.js";
import { statusBar } from "../figures/status-bar.js";
import { axisOf, endOf, unitOf } from "../state/facts.js";
import { LatestRequest } from "../state/latest-request.js";
import { probeOperations, probeQuery } from "../state/queries.js";
import { AXES, type ViewState } from "../state/view-state.js";
import type { ViewStore } from "../state/view-store.js";

/** Components by method. */
export type ByMethod = ReadonlyMap<string, Float32Array>;

/** What the probe found: operation -> component names and values by method. */
export type Probed = ReadonlyMap<OperationName, { readonly components: readonly string[]; readonly values: ByMethod }>;

/** What was found together with what was asked: while another point is on its way, what is shown stays true. */
export interface ShownProbe {
  readonly found: Probed;
  readonly state: ViewState;
}

export class ProbePanel {
  readonly request: LatestRequest<ShownProbe>;
  readonly #store: ViewStore;
  #asked = "";

  constructor(store: ViewStore, render: () => void) {
    this.#store = store;
    this.request = new LatestRequest(render);
  }

  refresh(): void {
    const { state, facts } = this.#store;
    const key = [state.dataset, state.probe, state.time, state.temporal].join(" ");
    if (key === this.#asked) return;
    this.#asked = key;
    void this.request.run(async (signal) => {
      const operations = probeOperations(facts);
      const found = await Promise.all(
        operations.map(async ({ operation, methods }) => {
          const answers = await Promise.all(
            methods.map(
              async (method) =>
                [method, await this.#store.api.records(probeQuery(state, operation, method), signal)] as const,
            ),
          );
          const components = answers[0]?.[1].components ?? [];
          const values = new Map(answers.map(([method, records]) => [method, records.values]));
          return [operation, { components, values }] as const;
        }),
      );
      return { found: new Map(found), state };
    });
  }

  invalidate(): void {
    this.#asked = "";
  }

  view(): TemplateResult {
    const { state, facts } = this.#store;
    const shown = this.request.value;
    return html`
      <section class="panel probe" aria-labelledby="probe-title">
        <h2 id="probe-title">Probe</h2>
        <div class="row">
          ${AXES.map((name, index) => {
            const axis = axisOf(facts, name);
            return number(`probe-${name}`, name, state.probe[index], { min: axis.first, max: endOf(axis) }, (value) => {
              const probe = [...state.probe] as [number, number, number];
              probe[index] = Math.fround(value);
              this.#store.set({ probe });
            });
          })}
          <span class="note">t = ${shortText((shown?.state ?? state).time)}, in time ${(shown?.state ?? state).temporal}</span>
        </div>
        ${statusBar("probe", this.request)}
        ${
          shown === null
            ? nothing
            : html`
                ${this.#derived(shown.found)}
                <div class="tables">
                  ${[...shown.found].map(([operation, { components, values }]) => this.#table(operation, components, values))}
                </div>
              `
        }
      </section>
    `;
  }

  /** Derived quantities by the derivative option in use. */
  #derived(found: Probed): TemplateResult | typeof nothing {
    const { state, facts } = this.#store;
    const rows = QUANTITIES.flatMap((quantity) => {
      const method = (quantity.methods as readonly string[]).includes(state.values) ? state.values : state.derivatives;
      const values = found.get(quantity.operation)?.values.get(method);
      if (values === undefined) return [];
      return [{ quantity, method, value: Math.fround(quantity.of(values, 0)) }];
    }).filter(({ quantity }) => !["ux", "uy", "uz", "p"].includes(quantity.name));
    return html`
      <dl class="derived">
        ${rows.map(
          ({ quantity, method, value }) => html`
            <div>
              <dt>${quantity.title} <small>${method}</small></dt>
              <dd data-probe=${quantity.name}>${shortestFloat32(value)} ${unitOf(facts, quantity.measure)}</dd>
            </div>
          `,
        )}
      </dl>
    `;
  }

  #table(operation: OperationName, components: readonly string[], values: ByMethod): TemplateResult {
    const { state } = this.#store;
    const known = [...values.keys()];
    const chosen = known.includes(state.values) ? state.values : state.derivatives;
    const methods = [chosen, ...known.filter((method) => method !== chosen)];
    const reference = values.get(chosen);
    return html`
      <div class="scroll" tabindex="0" role="region" aria-label="${operation} by method">
        <table class="methods">
          <caption>${operation}: ${chosen}, and what other methods differ by</caption>
          <thead>
            <tr>
              <th scope="col">component</th>
              ${methods.map((method) => html`<th scope="col" class=${method === chosen ? "chosen" : ""}>${method}</th>`)}
            </tr>
          </thead>
          <tbody>
            ${components.map(
              (name, index) => html`
                <tr>
                  <th scope="row">${name}</th>
                  ${methods.map((method) => {
                    const value = values.get(method)?.[index] ?? Number.NaN;
                    if (method === chosen) {
                      return html`<td class="chosen" data-probe=${name} data-method=${method}>${shortestFloat32(value)}</td>`;
                    }
                    const difference = value - (reference?.[index] ?? Number.NaN);
                    return html`<td data-probe=${name} data-method=${method} title=${shortestFloat32(value)}>${signed(difference)}</td>`;
                  })}
                </tr>
              `,
            )}
          </tbody>
        </table>
      </div>
    `;
  }
}

function signed(value: number): string {
  if (!Number.isFinite(value)) return "NaN";
  return `${value < 0 ? "−" : "+"}${Math.abs(value).toExponential(1)}`;
}
