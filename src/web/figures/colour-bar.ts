/** The colour bar shows the values of a colour scale with ticks, and sets how its range follows the values. */
import { html, nothing, svg, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { shortText } from "../../float32/format.js";
import { SCALINGS, type ViewState } from "../state/view-state.js";
import type { ViewStore } from "../state/view-store.js";
import type { ColourScale, ValueRange } from "./colour-scale.js";
import { choose } from "./inputs.js";
import { barMarks, drawMarks } from "./marks.js";

/** The size of the bar in units of its own drawing, which is as wide as the page has room. */
const BAR = { left: 20, top: 2, width: 480, height: 14 };

const NAMES: Readonly<Record<ViewState["scaling"] | "fixed", string>> = {
  auto: "of the values",
  symmetric: "symmetric",
  percentile: "1 % to 99 %",
  log: "logarithmic",
  fixed: "fixed",
};

/** The bar alone with its ticks and a name. */
export function barLegend(scale: ColourScale, name: string): TemplateResult {
  const [low, high] = scale.range;
  const { left, top, width, height } = BAR;
  return html`
    <div class="colour-bar">
      <svg
        viewBox="0 0 520 40"
        role="img"
        aria-label="Colours of ${name} from ${shortText(low)} to ${shortText(high)}"
      >
        <image href=${scale.picture} x=${left} y=${top} width=${width} height=${height} preserveAspectRatio="none"></image>
        ${low < high ? svg`<g class="axes">${drawMarks(barMarks(scale, BAR))}</g>` : nothing}
      </svg>
      <p class="note bar-name">${name}</p>
    </div>
  `;
}

/** @param gaps whether some values are missing, which the legend then explains */
export function colourBar(
  scale: ColourScale,
  store: ViewStore,
  title: string,
  unit: string,
  gaps: boolean,
): TemplateResult {
  return html`
    <div>
      ${barLegend(scale, unit === "" ? title : `${title}, ${unit}`)}
      ${gaps ? html`<p class="note gap-legend"><i class="hatched"></i> no data</p>` : nothing}
      <div class="row">${rangeControls(scale.range, store)}</div>
    </div>
  `;
}

function rangeControls([low, high]: ValueRange, store: ViewStore): TemplateResult {
  const { range: fixed, scaling } = store.state;
  const edge = (index: 0 | 1) => (event: Event) => {
    const { value: text } = event.target as HTMLInputElement;
    const value = Math.fround(text === "" ? Number.NaN : Number(text));
    const next: ValueRange = index === 0 ? [value, high] : [low, value];
    store.set({ range: next[0] < next[1] ? next : [low, high] });
  };
  const end = (id: string, name: string, value: number, index: 0 | 1) => html`
    <label>
      ${name}
      <input type="number" id=${id} step="any" .value=${live(shortText(value))} ?disabled=${fixed === null} @change=${edge(index)} />
    </label>
  `;
  return html`
    ${choose(
      "scaling",
      "Range",
      fixed === null ? scaling : "fixed",
      [...SCALINGS, "fixed" as const].map((value) => ({ value, text: NAMES[value] })),
      (value) => {
        if (value !== "fixed") store.set({ range: null, scaling: value });
        else if (low < high) store.set({ range: [Math.fround(low), Math.fround(high)] });
        else store.set({});
      },
    )}
    ${end("range-low", "from", low, 0)} ${end("range-high", "to", high, 1)}
  `;
}
