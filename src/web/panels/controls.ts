/** The controls choose dataset, quantity, plane, time and methods. */
import { html, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { COLOUR_MAPS } from "../../colour-map.js";
import { shortestFloat32 } from "../../float32/format.js";
import { DERIVATIVES, INTERPOLATIONS } from "../../operations.js";
import { choose, number } from "../figures/inputs.js";
import { WHOLE_PLANE } from "../figures/plane-window.js";
import { axisOf, type Catalogue, endOf } from "../state/facts.js";
import { methodOf } from "../state/queries.js";
import { AXES, quantitiesOf, RESOLUTIONS, TEMPORAL } from "../state/view-state.js";
import type { ViewStore } from "../state/view-store.js";

/** A slider with its number beside it. */
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

/** The form of everything that is shown. */
export function controls(store: ViewStore, catalogue: Catalogue, enter: (dataset: string) => void): TemplateResult {
  const { state, facts } = store;
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
        (field) => store.set({ field, range: null }),
      )}
      ${planeControls(store)} ${methodControls(store)}
      ${choose("map", "Colours", state.map, ["auto", ...COLOUR_MAPS], (map) => store.set({ map }))}
      ${choose("nodes", "Samples a side", state.nodes, RESOLUTIONS, (nodes) => store.set({ nodes }))}
    </form>
  `;
}

/** Axis, position and time of the plane. */
function planeControls(store: ViewStore): TemplateResult {
  const { state, facts } = store;
  const { times } = facts;
  const axis = axisOf(facts, state.axis);
  const step = times.count > 1 ? (times.last - times.first) / (times.count - 1) / 20 : 1;
  return html`
    ${choose("axis", "Plane across", state.axis, AXES, (name) => {
      const next = axisOf(facts, name);
      store.set({ axis: name, at: Math.fround(next.first + next.length / 2), window: WHOLE_PLANE });
    })}
    ${slider(
      "at",
      `Position ${state.axis}`,
      state.at,
      { min: axis.first, max: endOf(axis), step: axis.length / 256 },
      (at) => store.set({ at }),
    )}
    ${
      times.count > 1
        ? slider("time", "Time", state.time, { min: times.first, max: times.last, step }, (time) => store.set({ time }))
        : html`<p>A single time: ${shortestFloat32(Math.fround(times.first))}</p>`
    }
  `;
}

/** Spatial and temporal options. */
function methodControls(store: ViewStore): TemplateResult {
  const { state } = store;
  return html`
    <fieldset>
      <legend>Method</legend>
      ${choose("values", "Values", state.values, INTERPOLATIONS, (values) => store.set({ values }))}
      ${choose("derivatives", "Derivatives", state.derivatives, DERIVATIVES, (derivatives) => store.set({ derivatives }))}
      ${choose("temporal", "In time", state.temporal, TEMPORAL, (temporal) => store.set({ temporal }))}
      <p id="method" class="method">
        ${state.field}: <b>${methodOf(state)}</b> in space, <b>${state.temporal}</b> in time
      </p>
    </fieldset>
  `;
}
