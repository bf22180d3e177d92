/** Controls that several panels have: lists, buttons, fields, and handlers that set a signal. */
import { computed, effect, type Signal, signal } from "@preact/signals-core";
import { html, type TemplateResult } from "lit-html";
import { exactNumber } from "./state/format.js";
import { dataset } from "./state/view.js";

export function select(
  label: string,
  offered: readonly (readonly [value: string, text: string])[],
  chosen: string,
  choose: (value: string) => void,
): TemplateResult {
  const all = offered.some(([value]) => value === chosen) ? offered : [...offered, [chosen, chosen] as const];
  return html`<select aria-label=${label} @change=${(event: Event) => choose((event.target as HTMLSelectElement).value)}>${all.map(
    ([value, text]) => html`<option value=${value} .selected=${value === chosen}>${text}</option>`,
  )}</select>`;
}

export function oneOf<T extends string>(
  label: string,
  offered: Readonly<Record<T, string>>,
  chosen: T,
  choose: (value: T) => void,
): TemplateResult {
  return html`<div class="chips" role="group" aria-label=${label}>${(Object.entries(offered) as [T, string][]).map(
    ([value, text]) =>
      html`<button aria-pressed=${value === chosen ? "true" : "false"} @click=${() => choose(value)}>${text}</button>`,
  )}</div>`;
}

/** Buttons of a radio group that `rove` moves in. */
export const radios = <T extends string>(
  offered: readonly (readonly [value: T, text: string, isOn: boolean])[],
  choose: (value: T) => void,
): TemplateResult[] =>
  offered.map(
    ([value, text, isOn]) =>
      html`<button role="radio" aria-checked=${isOn ? "true" : "false"} tabindex=${isOn ? 0 : -1} @click=${() => choose(value)}>${text}</button>`,
  );

export const toggle = (label: string, on: { value: boolean }): TemplateResult =>
  html`<button aria-pressed=${on.value ? "true" : "false"} @click=${setting(on, !on.value)}>${label}</button>`;

/** A field of a number, which it shows as it is in force; what is no number is not set. */
export function numberField(label: string, value: number, set: (value: number) => void): TemplateResult {
  return html`<input class="number" inputmode="decimal" aria-label=${label} .value=${exactNumber(value)}
    @change=${({ target }: Event) => {
      const field = target as HTMLInputElement;
      const next = field.value.trim() === "" ? Number.NaN : Number(field.value.replace("−", "-"));
      field.value = exactNumber(value);
      if (Number.isFinite(next)) set(next);
    }} />`;
}

/** A field of a text, null once it is emptied; `list`: the id of the texts that it offers. */
export function textField(label: string, value: string, set: (text: string | null) => void, list = ""): TemplateResult {
  return html`<input class="wide" type="text" list=${list} spellcheck="false" aria-label=${label} .value=${value}
    @change=${({ target }: Event) => set((target as HTMLInputElement).value.trim() || null)} />`;
}

export function into<T>(to: { value: T }): (value: T) => void {
  return (value) => {
    to.value = value;
  };
}

export const setting =
  <T>(to: { value: T }, value: NoInfer<T>): (() => void) =>
  () =>
    into(to)(value);

/** Moves the focus by arrow keys within a group that is one tab stop. */
export function rove(event: KeyboardEvent): void {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  const group = event.currentTarget as HTMLElement;
  const buttons = [...group.querySelectorAll<HTMLButtonElement>("button")];
  const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
  const next = buttons[(at + step + buttons.length) % buttons.length];
  event.preventDefault();
  event.stopPropagation();
  next?.focus();
  next?.click();
}

const datasetName = computed(() => dataset.value?.name);
/** A choice that is forgotten when another dataset is shown. */
export function choice<T>(usual: T): Signal<T> {
  const made = signal(usual);
  effect(() => {
    if (datasetName.value !== undefined) made.value = usual;
  });
  return made;
}

/** Runs a function once, and another one when a signal that it has read changes. Returns the end of that. */
export function onceThen(run: () => void, changed: () => void): () => void {
  let isFirst = true;
  return effect(() => {
    if (isFirst) run();
    else changed();
    isFirst = false;
  });
}
