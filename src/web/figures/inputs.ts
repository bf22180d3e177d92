/** Labelled inputs choose from a list or set a number. */
import { html, nothing, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { shortestFloat32 } from "../../float32/format.js";

/** A value of a select with the text that names it. */
interface Choice<T extends string> {
  readonly value: T;
  readonly text: string;
}

/** A labelled select. */
export function choose<T extends string>(
  id: string,
  label: string,
  value: T,
  choices: readonly (T | Choice<T>)[],
  pick: (value: T) => void,
): TemplateResult {
  return html`
    <label for=${id}>
      ${label}
      <select id=${id} @change=${(event: Event) => pick((event.target as HTMLSelectElement).value as T)}>
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
        .value=${live(shortestFloat32(Math.fround(value)))}
        @change=${(event: Event) => {
          const input = event.target as HTMLInputElement;
          const next = Number(input.value);
          if (input.value !== "" && Number.isFinite(next)) set(Math.max(min ?? next, Math.min(max ?? next, next)));
          else input.value = shortestFloat32(Math.fround(value));
        }}
      />
    </label>
  `;
}

/** A slider with its number beside it. */
export function slider(
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
