/** Controls that several panels have: lists of choices, and handlers that set a signal. */
import { html, type TemplateResult } from "lit-html";

/** A list of values with their texts, which shows the chosen value also if it is not offered. */
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

/** A handler that sets a signal to a value. */
export function setting<T>(to: { value: T }, value: NoInfer<T>): () => void {
  return () => {
    to.value = value;
  };
}
