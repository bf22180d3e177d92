/** The colour bar shows the values of a colour scale with ticks, and sets how its range follows the values. */
import { html, nothing, svg, type TemplateResult } from "lit-html";
import { shortText } from "../../src/float32/format.js";
import type { ValueRange } from "../state/shown-quantity.js";
import { SCALINGS, SHAPES, type ViewState } from "../state/view-state.js";
import type { ViewStore } from "../state/view-store.js";
import { type ColourScale, positionOn } from "./colour-scale.js";
import { choose, startTyping, tellCorrection, typed } from "./inputs.js";
import { BAR_TICKS, barTicks } from "./marks.js";

/** The bar as percentages of the width that the page has for it, with a margin for the texts at its ends. */
const BAR = { left: 4, width: 92 };

/** Names of the rules of ranges. */
export const RANGE_RULES: Readonly<Record<ViewState["scaling"] | "fixed", string>> = {
  auto: "of all times",
  picture: "of this picture",
  percentile: "1 % to 99 % of this picture",
  fixed: "fixed",
};

const SHAPE_NAMES: Readonly<Record<ViewState["shape"], string>> = {
  linear: "linear",
  symmetric: "symmetric about 0",
  log: "logarithmic",
};

/**
 * The bar alone with its ticks and a name.
 *
 * @param gaps whether some values are missing, which the legend then explains
 * @param rule the values that the range is taken from, in words
 */
export function barLegend(scale: ColourScale, name: string, gaps = false, rule = ""): TemplateResult {
  const [low, high] = scale.range;
  const { left, width } = BAR;
  return html`
    <div class="colour-bar">
      <svg height="36" role="img" aria-label="Colours of ${name} from ${shortText(low)} to ${shortText(high)}">
        <image href=${scale.picture} x="${left}%" y="1" width="${width}%" height="14" preserveAspectRatio="none"></image>
        ${beyondMarks(scale)} ${linearPart(scale)}
        <g class="axes">${low < high ? barTicks(scale, BAR_TICKS).map(({ part, text }) => tick(left + width * part, text)) : nothing}</g>
      </svg>
      <div class="bar-names">
        <p class="note bar-name">${name}</p>
        ${scale.linear > 0 ? html`<p class="note" id="linear-part">linear between ±${shortText(Number(scale.linear.toPrecision(2)))}</p>` : nothing}
        ${rule === "" ? nothing : html`<p class="note range-rule">range ${rule}</p>`}
        ${gaps ? html`<p class="note gap-legend"><i class="hatched"></i> no data</p>` : nothing}
      </div>
    </div>
  `;
}

/** Arrows at the ends of the bar for values beyond the range, which have the colour of the end. */
function beyondMarks({ beyond: [below, above] }: ColourScale): TemplateResult {
  const mark = (x: number, text: string, title: string) =>
    svg`<text class="beyond" x="${x}%" y="13" text-anchor="middle">${text}<title>${title}</title></text>`;
  return svg`
    ${below ? mark(BAR.left / 2, "◀", "Some values are below this range.") : nothing}
    ${above ? mark(100 - BAR.left / 2, "▶", "Some values are above this range.") : nothing}
  `;
}

/** A frame around the part of a logarithmic bar that is linear. */
function linearPart(scale: ColourScale): TemplateResult | typeof nothing {
  if (scale.linear === 0) return nothing;
  const [from, to] = [-scale.linear, scale.linear].map((value) => BAR.left + BAR.width * positionOn(scale, value));
  return svg`<rect class="linear-part" x="${from}%" y="0.5" width="${(to as number) - (from as number)}%" height="15"></rect>`;
}

/** Characters of a text that has room on both sides of an end of the bar. */
const SHORT = 5;

/** A tick of the bar at a percentage of the width; a long text at an end lies towards the middle. */
function tick(at: number, text: string): TemplateResult {
  const side = text.length <= SHORT ? 0 : at <= BAR.left ? -1 : at >= BAR.left + BAR.width ? 1 : 0;
  const [place, anchor] = side === 0 ? [at, "middle"] : side < 0 ? [at / 2, "start"] : [(at + 100) / 2, "end"];
  return svg`
    <line x1="${at}%" y1="15" x2="${at}%" y2="20"></line>
    <text x="${place}%" y="33" text-anchor=${anchor}>${text}</text>
  `;
}

/** The controls of the range of a scale. */
export function rangeControls([low, high]: ValueRange, store: ViewStore): TemplateResult {
  const { range: fixed, scaling, shape } = store.state;
  const edge = (index: 0 | 1) => (event: Event) => {
    const input = event.target as HTMLInputElement;
    const value = Math.fround(input.value === "" ? Number.NaN : Number(input.value));
    const next: ValueRange = index === 0 ? [value, high] : [low, value];
    if (next[0] > next[1])
      tellCorrection(input, "The low end of the range was above the high end, so they are swapped.");
    const [from, to] = next[0] > next[1] ? next.toReversed() : next;
    store.set({ range: from < to ? [from, to] : [low, high] });
  };
  const end = (id: string, name: string, value: number, index: 0 | 1) => html`
    <label>
      ${name}
      <input type="number" id=${id} step="any" .value=${typed(shortText(value))} @input=${startTyping} ?disabled=${fixed === null} @change=${edge(index)} />
    </label>
  `;
  return html`<div class="row ranges">
    ${choose(
      "scaling",
      "Range",
      fixed === null ? scaling : "fixed",
      [...SCALINGS, "fixed" as const].map((value) => ({ value, text: RANGE_RULES[value] })),
      (value) => {
        if (value !== "fixed") store.set({ range: null, scaling: value });
        else if (low < high) store.set({ range: [Math.fround(low), Math.fround(high)] });
        else store.set({});
      },
    )}
    ${end("range-low", "from", low, 0)} ${end("range-high", "to", high, 1)}
    ${choose(
      "shape",
      "Scale",
      shape,
      SHAPES.map((value) => ({ value, text: SHAPE_NAMES[value] })),
      (value) => store.set({ shape: value }),
    )}
  </div>`;
}
