/** Labelled inputs choose from a list or set a number. */
import { html, noChange, nothing, type TemplateResult } from "lit-html";
import { Directive, directive, type PropertyPart } from "lit-html/directive.js";
import { setCommittedValue } from "lit-html/directive-helpers.js";
import { live } from "lit-html/directives/live.js";
import { shortestDecimal, shortText } from "../../src/float32/format.js";

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
  words = "",
): TemplateResult {
  return html`
    <label for=${id}>
      ${label}
      <select id=${id} data-words=${words} @change=${(event: Event) => pick((event.target as HTMLSelectElement).value as T)}>
        ${choices.map((choice) => {
          const { value: own, text } = typeof choice === "string" ? { value: choice, text: choice } : choice;
          return html`<option value=${own} .selected=${live(own === value)}>${text}</option>`;
        })}
      </select>
    </label>
  `;
}

/** A labelled box to check. */
export function check(id: string, label: string, checked: boolean, set: (checked: boolean) => void): TemplateResult {
  const toggle = ({ target }: Event) => set((target as HTMLInputElement).checked);
  return html`<label class="check" for=${id}>
    <input type="checkbox" id=${id} .checked=${live(checked)} @change=${toggle} /> ${label}
  </label>`;
}

/** Parts of the window that a sheet covers at most: as long as it is low, after a press, and by dragging. */
const SHEET = { low: 0.38, high: 0.7, least: 0.2, most: 0.8 } as const;

/** Pixels beyond which a pointer drags. */
const DRAGGED = 6;

/** Gives sheets another height, as a part of that of the window. */
function setSheet(part: number): void {
  const within = Math.max(SHEET.least, Math.min(SHEET.most, part));
  document.documentElement.style.setProperty("--sheet", `${(100 * within).toFixed(1)}dvh`);
}

/** Makes a low sheet high, and a high one low again. */
function growSheet({ currentTarget }: Event): void {
  const sheet = (currentTarget as Element).closest(".controls, .drawer");
  const part = (sheet?.getBoundingClientRect().height ?? 0) / window.innerHeight;
  setSheet(part < (SHEET.low + SHEET.high) / 2 ? SHEET.high : SHEET.low);
}

/** Draws a sheet up or down with the pointer; without a move, it is a press. */
function dragSheet(event: PointerEvent): void {
  const button = event.currentTarget as HTMLElement;
  const sheet = button.closest(".controls, .drawer");
  if (sheet === null) return;
  button.setPointerCapture(event.pointerId);
  const ended = new AbortController();
  let moved = false;
  const follow = ({ clientY }: PointerEvent) => {
    moved ||= Math.abs(clientY - event.clientY) > DRAGGED;
    if (moved) setSheet((sheet.getBoundingClientRect().bottom - clientY) / window.innerHeight);
  };
  const end = ({ type }: PointerEvent) => {
    ended.abort();
    if (!moved || type === "pointercancel") return;
    // What follows a drag is no press; some browsers let nothing follow.
    const drop = (click: Event) => click.stopImmediatePropagation();
    button.addEventListener("click", drop, { once: true, capture: true });
    setTimeout(() => button.removeEventListener("click", drop, true));
  };
  button.addEventListener("pointermove", follow, ended);
  for (const name of ["pointerup", "pointercancel"] as const) button.addEventListener(name, end, ended);
}

/** The bar of what lies over the page on a narrow window, by which it is closed and drawn up; shown only there. */
export function closeSheet(name: string, close: () => void): TemplateResult {
  return html`<div class="sheet-bar">
    <button type="button" class="fold-sheet" @click=${close}>Hide ${name}</button>
    <button type="button" class="grow-sheet" aria-label="Height of the sheet" @pointerdown=${dragSheet} @click=${growSheet}>⇕</button>
  </div>`;
}

/** The text of an input, left alone while the caller types: answers that arrive meanwhile render the page. */
class Typed extends Directive {
  override render(text: string): string {
    return text;
  }

  override update(part: PropertyPart, [text]: [string]): unknown {
    const input = part.element as HTMLInputElement;
    if (input.value === text || Object.hasOwn(input.dataset, "typing")) return noChange;
    // Lit would compare with what it has set before, not with what the input has.
    setCommittedValue(part);
    return text;
  }
}

/** Binds the text of an input as `Typed` does; it goes with `startTyping` for its `input` events. */
export const typed = directive(Typed);

/** Notes that the caller types into an input, until it has a new value or is left. */
export function startTyping({ target }: Event): void {
  const input = target as HTMLInputElement;
  input.dataset.typing = "";
  const end = () => delete input.dataset.typing;
  for (const event of ["change", "blur"]) input.addEventListener(event, end, { once: true, capture: true });
}

/** The event by which an input says that it has changed what was typed; its detail is a `Correction`. */
export const CORRECTED = "corrected";

/** A sentence, and the time of the view that it is about; null if it is about none. */
export interface Correction {
  readonly sentence: string;
  readonly time: number | null;
}

/** Says that an input takes another value than the one that was typed, or that the view is at another time. */
export function tellCorrection(input: HTMLElement, sentence: string, time: number | null = null): void {
  input.dispatchEvent(new CustomEvent<Correction>(CORRECTED, { bubbles: true, detail: { sentence, time } }));
}

/** A typed value moved inside its limits; a value outside is told. */
function within(input: HTMLInputElement, label: string, value: number, min?: number, max?: number): number {
  const inside = Math.max(min ?? value, Math.min(max ?? value, value));
  if (inside !== value) {
    const end = `${shortText(inside)}, the ${inside < value ? "largest" : "smallest"} value`;
    tellCorrection(input, `${label}: ${shortText(value)} is beyond ${end}, which is taken.`);
  }
  return inside;
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
        .value=${typed(shortestDecimal(value))}
        @input=${startTyping}
        @change=${(event: Event) => {
          const input = event.target as HTMLInputElement;
          const next = Number(input.value);
          if (input.value !== "" && Number.isFinite(next)) set(within(input, label, next, min, max));
          else input.value = shortestDecimal(value);
        }}
      />
    </label>
  `;
}

/** A slider. @param text the value in words, for readers of screens */
export function rangeInput(
  id: string,
  value: number,
  range: { readonly min: number; readonly max: number; readonly step: number },
  set: (value: number) => void,
  label?: string,
  text?: string,
): TemplateResult {
  return html`
    <input
      type="range"
      id=${id}
      aria-label=${label ?? nothing}
      aria-valuetext=${text ?? nothing}
      min=${range.min}
      max=${range.max}
      step=${range.step}
      .value=${live(String(value))}
      @input=${(event: Event) => set(Number((event.target as HTMLInputElement).value))}
    />
  `;
}

/** A slider and a field for its number. */
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
      ${rangeInput(id, value, range, (next) => set(Math.fround(next)), `${label} slider`)}
    </div>
  `;
}
