/** The controls choose dataset, quantity, plane, time and methods. */
import { html, noChange, nothing, type TemplateResult } from "lit-html";
import { shortestDecimal, shortestFloat32, withoutNoise } from "../../src/float32/format.js";
import { COLOUR_MAPS } from "../../src/shared/colour-map.js";
import { HESSIANS, VALUES } from "../../src/shared/operations.js";
import { rangeControls } from "../figures/colour-bar.js";
import { formulaOf, titleWithSigns } from "../figures/formula.js";
import { choose, closeSheet, number, slider, startTyping, tellCorrection, typed } from "../figures/inputs.js";
import { linearTicks } from "../figures/ticks.js";
import {
  axisOf,
  type Catalogue,
  canStretch,
  type DatasetFacts,
  endOf,
  flatAxis,
  knownMethods,
  offers,
} from "../state/facts.js";
import { AXES, fittingSide, USUAL_SAMPLES } from "../state/plane-geometry.js";
import { comparedStill, methodOf, methodText, optionText, otherMethods } from "../state/queries.js";
import { listedTitle, quantitiesOf, quantityOf, type ValueRange } from "../state/shown-quantity.js";
import {
  COMPARISONS,
  LAYOUTS,
  OVERLAYS,
  RESOLUTIONS,
  TEMPORAL,
  type ViewState,
  withPlace,
} from "../state/view-state.js";
import type { ViewStore } from "../state/view-store.js";

/**
 * The form of everything that is shown.
 *
 * @param enter shows another dataset
 * @param fold  folds the form away, from inside it where it lies over the page
 */
export function controls(
  store: ViewStore,
  catalogue: Catalogue,
  range: ValueRange,
  enter: (dataset: string) => void,
  fold: () => void,
): TemplateResult {
  const { state, facts } = store;
  const quantities = quantitiesOf(facts);
  return html`
    <form class="controls" id="controls" aria-label="View" @submit=${(event: Event) => event.preventDefault()}>
      ${closeSheet("controls", fold)}
      ${choose(
        "dataset",
        "Dataset",
        state.dataset,
        catalogue.datasets.map(({ name }) => name),
        enter,
      )}
      ${facts.title === "" ? nothing : html`<p class="note" id="dataset-title">${titleWithSigns(facts.title)}</p>`}
      ${choose(
        "field",
        "Quantity",
        state.field,
        quantities.map((quantity) => ({ value: quantity.name, text: listedTitle(facts, quantity) })),
        (field) => store.set({ field, range: null, ...comparedStill({ ...state, field }, facts) }),
      )}
      <p class="note formula" title=${quantityOf(state.field).formula}>${formulaOf(quantityOf(state.field).formula)}</p>
      ${methodOf(state) === null ? filterControl(store) : nothing} ${planeControls(store)}
      ${group(
        "Colours",
        html`
          ${rangeControls(range, store)}
          ${choose("map", "Colour map", state.map, ["auto", ...COLOUR_MAPS], (map) => store.set({ map }))}
          ${contourControl(store, range)}
          ${choose(
            "nodes",
            "Samples per side",
            state.nodes,
            RESOLUTIONS.map((value) => ({ value, text: samplingText(value, facts) })),
            (nodes) => store.set({ nodes }),
          )}
        `,
      )}
      ${group("Flow over the picture", overlayControl(store))} ${group("Compare", compareControls(store), state.compare !== "none")}
      ${group("Interpolation", methodControls(store))}
    </form>
  `;
}

/** Controls that open on demand, and by themselves once they are `active`, which their name then says. */
function group(title: string, content: unknown, active = false): TemplateResult | typeof nothing {
  return content === nothing
    ? nothing
    : html`<details class="group" ?open=${active || noChange}>
        <summary>${title}${active ? html` <small>on</small>` : nothing}</summary>
        <div class="stack">${content}</div>
      </details>`;
}

/** Round values of contours, about. */
const CONTOURS = 8;

/** The values of contours, typed or round ones. */
function contourControl(store: ViewStore, [low, high]: ValueRange): TemplateResult {
  const { contours } = store.state;
  const round = () => linearTicks(low, high, CONTOURS).map(({ value }) => Number(value.toPrecision(6)));
  const take = (event: Event) => {
    const input = event.target as HTMLInputElement;
    const values = input.value
      .split(/[\s,;]+/)
      .filter(Boolean)
      .map(Number);
    if (values.every(Number.isFinite)) store.set({ contours: values });
    else tellCorrection(input, "Contours are numbers with commas or blanks between them; the old ones stay.");
    input.value = store.state.contours.join(", ");
  };
  return html`
    <label for="contours">
      Contours at
      <input id="contours" autocomplete="off" placeholder="none" .value=${typed(contours.join(", "))} @input=${startTyping} @change=${take} />
    </label>
    <div class="row">
      <button type="button" id="round-contours" @click=${() => store.set({ contours: round() })}>Round values</button>
      <button type="button" id="no-contours" ?disabled=${contours.length === 0} @click=${() => store.set({ contours: [] })}>None</button>
    </div>
  `;
}

/** A sampling in words. */
function samplingText(value: ViewState["nodes"], facts: DatasetFacts): string {
  if (value === "grid") return "at the nodes";
  return value === "auto" ? `automatic (${fittingSide(facts, USUAL_SAMPLES)})` : value;
}

/** The width of the box of filtered quantities. */
function filterControl(store: ViewStore): TemplateResult {
  const { state, facts } = store;
  const spacing = Math.max(...facts.axes.map((axis) => axis.spacing));
  const range = {
    min: Number((2 * spacing).toPrecision(4)),
    max: Number((16 * spacing).toPrecision(4)),
    step: spacing / 4,
  };
  return slider("filter", "Filter width", state.filter, range, (filter) => store.set({ filter }));
}

/** Velocity over the picture: none, streamlines, arrows, or how much it stretches. */
function overlayControl(store: ViewStore): TemplateResult | typeof nothing {
  if (!offers(store.facts, "GetVelocity")) return nothing;
  const names = {
    ...{ none: "none", streamlines: "streaks along it (LIC)", lines: "streamlines from places pointed at" },
    arrows: "arrows",
    ftle: "stretching (FTLE) instead, over the time of the particles",
  } as const;
  const { overlay: before } = store.state;
  const choices = OVERLAYS.filter((value) => value !== "ftle" || canStretch(store.facts)).map((value) => ({
    value,
    text: names[value],
  }));
  // Neither range nor contours of a quantity are those of the stretching.
  const other = (overlay: ViewState["overlay"]) =>
    (overlay === "ftle") === (before === "ftle") ? {} : { range: null, contours: [] };
  return choose("overlay", "Velocity overlay", before, choices, (overlay) => store.set({ overlay, ...other(overlay) }));
}

/** The other side of a comparison of pictures. */
function compareControls(store: ViewStore): TemplateResult {
  const { state, facts } = store;
  const methods = otherMethods(state, facts);
  const kinds = COMPARISONS.filter(
    (kind) => (kind !== "method" || methods.length > 0) && (kind !== "time" || facts.times.count > 1),
  );
  const names = { none: "nothing", method: "another method", time: "another time" } as const;
  const last = withoutNoise(facts.times.last);
  const others = {
    none: {},
    method: { otherMethod: methods[0] ?? state.otherMethod },
    // A time is not compared with itself.
    time:
      state.otherTime === state.time ? { otherTime: state.time < last ? last : withoutNoise(facts.times.first) } : {},
  };
  return html`
    ${choose(
      "compare",
      "Compare with",
      state.compare,
      kinds.map((value) => ({ value, text: names[value] })),
      (compare) => store.set({ compare, range: null, ...others[compare] }),
      "error difference accuracy",
    )}
    ${
      state.compare === "method"
        ? choose("otherMethod", "Method", state.otherMethod, named(methods), (otherMethod) =>
            store.set({ otherMethod }),
          )
        : nothing
    }
    ${
      state.compare === "time"
        ? number("otherTime", "Time", state.otherTime, { min: facts.times.first, max: facts.times.last }, (time) =>
            store.set({ otherTime: withoutNoise(time) }),
          )
        : nothing
    }
  `;
}

/** Methods with their names in words. */
function named<T extends string>(methods: readonly T[]): { value: T; text: string }[] {
  return methods.map((value) => ({ value, text: `${value}: ${methodText(value)}` }));
}

/** Layout, axis, position and time of the plane. */
function planeControls(store: ViewStore): TemplateResult {
  const { state, facts } = store;
  const { times } = facts;
  const axis = axisOf(facts, state.axis);
  const layouts = { one: "one plane", three: "three planes" } as const;
  const moveTo = (at: number) => {
    if (state.layout === "one") store.set({ at });
    else store.set({ probe: withPlace(state.probe, state.axis, at) });
  };
  const { at } = state;
  const flat = flatAxis(facts);
  return html`
    ${
      flat !== null
        ? nothing
        : choose(
            "layout",
            "Layout",
            state.layout,
            LAYOUTS.map((value) => ({ value, text: layouts[value] })),
            // The plane that is shown stays; of three, it is the one through the probe.
            (layout) =>
              store.set(layout === "three" ? { layout, probe: withPlace(state.probe, state.axis, at) } : { layout }),
          )
    }
    ${choose(
      "axis",
      "Slice normal to",
      state.axis,
      AXES.filter((name) => name === (flat ?? name)),
      (name) => {
        const next = axisOf(facts, name);
        store.set({ axis: name, at: Math.fround(next.first + next.length / 2), window: null });
      },
    )}
    ${
      flat !== null
        ? html`<p class="note">At ${state.axis} = ${shortestFloat32(Math.fround(axis.first))}, the only plane</p>`
        : slider(
            "at",
            `Position along ${state.axis}`,
            at,
            { min: axis.first, max: endOf(axis), step: axis.length / 256 },
            moveTo,
          )
    }
    ${
      times.count > 1
        ? number("time-number", "Time", state.time, { min: times.first, max: times.last }, (time) =>
            store.set({ time: withoutNoise(time) }),
          )
        : html`<p class="note">A single time: ${shortestDecimal(times.first)}</p>`
    }
  `;
}

/** Spatial and temporal options that fit the dataset. */
function methodControls(store: ViewStore): TemplateResult {
  const { state, facts } = store;
  const known = knownMethods(facts);
  const values = VALUES.filter((method) => known.has(method));
  const derivatives = HESSIANS.filter((method) => known.has(method));
  return html`
      ${choose("values", "Of values", state.values, named(values), (value) => store.set({ values: value }))}
      ${
        derivatives.length === 0
          ? nothing
          : choose("derivatives", "Of derivatives", state.derivatives, named(derivatives), (value) =>
              store.set({ derivatives: value }),
            )
      }
      ${choose("temporal", "In time", state.temporal, TEMPORAL, (temporal) => store.set({ temporal }))}
      <p id="method" class="method">${quantityOf(state.field).title}: <b>${optionText(state)}</b></p>
  `;
}
