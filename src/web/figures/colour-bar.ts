/** The colour bar shows the values of a colour scale, with units, and lets the caller fix its range. */
import { html, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { ref } from "lit-html/directives/ref.js";
import { shortText } from "../../float32/format.js";
import type { ColourScale, ValueRange } from "./colour-scale.js";

function paint(canvas: HTMLCanvasElement, scale: ColourScale): void {
  if (canvas.dataset.map === scale.name) return;
  canvas.dataset.map = scale.name;
  const image = new ImageData(256, 1);
  new Uint32Array(image.data.buffer).set(scale.pixels);
  canvas.getContext("2d")?.putImageData(image, 0, 0);
}

/**
 * @param fixed   the range as set, or null where it follows the values
 * @param known   whether there are values yet
 * @param setRange fixes the range, or lets it follow the values
 */
export function colourBar(
  scale: ColourScale,
  fixed: ValueRange | null,
  title: string,
  unit: string,
  known: boolean,
  setRange: (range: ValueRange | null) => void,
): TemplateResult {
  const [low, high] = scale.range;
  const edge = (index: 0 | 1) => (event: Event) => {
    const { value: text } = event.target as HTMLInputElement;
    const value = Math.fround(text === "" ? Number.NaN : Number(text));
    const next: ValueRange = index === 0 ? [value, high] : [low, value];
    setRange(next[0] < next[1] ? next : [low, high]);
  };
  return html`
    <div class="colour-bar">
      <canvas
        width="256"
        height="1"
        role="img"
        aria-label="Colours of ${title} from ${shortText(low)} to ${shortText(high)} ${unit}"
        ${ref((element) => {
          if (element !== undefined) paint(element as HTMLCanvasElement, scale);
        })}
      ></canvas>
      <div class="ticks">
        <span>${shortText(low)}</span><span>${shortText((low + high) / 2)}</span><span>${shortText(high)} ${unit}</span>
      </div>
      <div class="row">
        <label class="check">
          <input
            type="checkbox"
            id="range-fixed"
            .checked=${live(fixed !== null)}
            ?disabled=${!known}
            @change=${(event: Event) => setRange((event.target as HTMLInputElement).checked && low < high ? [Math.fround(low), Math.fround(high)] : null)}
          />
          Fixed range
        </label>
        <label>from <input type="number" id="range-low" step="any" .value=${live(shortText(low))} ?disabled=${fixed === null} @change=${edge(0)} /></label>
        <label>to <input type="number" id="range-high" step="any" .value=${live(shortText(high))} ?disabled=${fixed === null} @change=${edge(1)} /></label>
      </div>
    </div>
  `;
}
