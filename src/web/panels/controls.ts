/** The controls: dataset, quantity, plane, time, options. */
import { html, nothing, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { DERIVATIVES, INTERPOLATIONS } from "../../operations.js";
import { quantityOf } from "../../quantities.js";
import { COLOUR_MAPS } from "../figures/colour-map.js";
import { floatText } from "../float-text.js";
import { axisOf, type Catalogue, endOf } from "../state/facts.js";
import type { Store } from "../state/page-store.js";
import { AXES, quantitiesOf, RESOLUTIONS, type ViewState } from "../state/view-state.js";

interface Choice {
  readonly value: string;
  readonly text: string;
}

/** A labelled select. */
export function choose(
  id: string,
  label: string,
  value: string,
  choices: readonly (string | Choice)[],
  pick: (value: string) => void,
): TemplateResult {
  return html`
    <label for=${id}>
      ${label}
      <select id=${id} @change=${(event: Event) => pick((event.target as HTMLSelectElement).value)}>
        ${choices.map((choice) => {
          const { value: own, text } = typeof choice === "string" ? { value: choice, text: choice } : choice;
          return html`<option value=${own} .selected=${live(own === value)}>${text}</option>`;
        })}
      </select>
    </label>
  `;
}

/** A labelled number with limits. */
export function number(
  id: string,
  label: string,
  value: number,
  limits: { readonly min?: number; readonly max?: number; readonly step?: number | "any" },
  set: (value: number) => void,
): TemplateResult {
  const { min, max, step = "any" } = limits;
  return html`
    <label for=${id}>
      ${label}
      <input
        type="number"
        id=${id}
        min=${min ?? nothing}
        max=${max ?? nothing}
        step=${step}
        .value=${live(floatText(Math.fround(value)))}
        @change=${(event: Event) => {
          const input = event.target as HTMLInputElement;
          const next = Number(input.value);
          if (input.value !== "" && Number.isFinite(next)) set(Math.max(min ?? next, Math.min(max ?? next, next)));
          else input.value = floatText(Math.fround(value));
        }}
      />
    </label>
  `;
}

/** A slider with its number beside it; both say the same value. */
function slider(
  id: string,
  label: string,
  value: number,
  range: { readonly min: number; readonly max: number; readonly step: number },
  set: (value: number) => void,
): TemplateResult {
  return html`
    <div class="slider">
      ${number(`${id}-number`, label, value, { min: range.min, max: range.max }, (next) => set(Math.fround(next)))}
      <input
        type="range"
        id=${id}
        aria-label="${label} slider"
        min=${range.min}
        max=${range.max}
        step=${range.step}
        .value=${live(String(value))}
        @input=${(event: Event) => set(Math.fround(Number((event.target as HTMLInputElement).value)))}
      />
    </div>
  `;
}

export function controls(store: Store, catalogue: Catalogue, enter: (dataset: string) => void): TemplateResult {
  const { state, facts } = store;
  const set = (patch: Partial<ViewState>) => store.set(patch);
  const axis = axisOf(facts, state.axis);
  const { times } = facts;
  const step = times.count > 1 ? (times.last - times.first) / (times.count - 1) / 20 : 1;
  const derived = (quantityOf(state.field).methods as readonly string[]).includes("Fd4Lag4");
  return html`
    <form class="controls" aria-label="What is shown" @submit=${(event: Event) => event.preventDefault()}>
      ${choose(
        "dataset",
        "Dataset",
        state.dataset,
        catalogue.datasets.map(({ name, title }) => ({ value: name, text: `${name}: ${title}` })),
        enter,
      )}
      ${choose(
        "field",
        "Quantity",
        state.field,
        quantitiesOf(facts).map(({ name, title }) => ({ value: name, text: title })),
        (value) => set({ field: value as ViewState["field"], range: null }),
      )}
      ${choose("axis", "Plane across", state.axis, AXES, (value) => {
        const next = axisOf(facts, value);
        set({ axis: value as ViewState["axis"], at: Math.fround(next.first + next.length / 2), window: [0, 1, 0, 1] });
      })}
      ${slider(
        "at",
        `Position ${state.axis}`,
        state.at,
        { min: axis.first, max: endOf(axis), step: axis.length / 256 },
        (at) => set({ at }),
      )}
      ${
        times.count > 1
          ? slider("time", "Time", state.time, { min: times.first, max: times.last, step }, (time) => set({ time }))
          : html`<p>A single time: ${floatText(Math.fround(times.first))}</p>`
      }
      <fieldset>
        <legend>Method</legend>
        ${choose("values", "Values", state.values, INTERPOLATIONS, (value) => set({ values: value as ViewState["values"] }))}
        ${choose("derivatives", "Derivatives", state.derivatives, DERIVATIVES, (value) =>
          set({ derivatives: value as ViewState["derivatives"] }),
        )}
        ${choose("temporal", "In time", state.temporal, ["PCHIP", "None"], (value) =>
          set({ temporal: value as ViewState["temporal"] }),
        )}
        <p id="method" class="method">
          ${state.field}: <b>${derived ? state.derivatives : state.values}</b> in space, <b>${state.temporal}</b> in time
        </p>
      </fieldset>
      ${choose("map", "Colours", state.map, ["auto", ...COLOUR_MAPS], (map) => set({ map }))}
      ${choose("nodes", "Samples a side", state.nodes, RESOLUTIONS, (value) => set({ nodes: value as ViewState["nodes"] }))}
    </form>
  `;
}
