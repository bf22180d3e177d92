/** How a figure stands: a bar with a cancel button for slow work, or what went wrong and a button to try again. */
import { html, nothing, type TemplateResult } from "lit-html";
import type { Latest } from "../state/latest.js";

export function standingBar(
  name: string,
  latest: Latest<unknown>,
  again: () => void = () => latest.again(),
): TemplateResult | typeof nothing {
  const { slow, error } = latest.standing;
  if (error !== null) {
    return html`
      <div class="error">
        <p role="alert">${error}</p>
        <button type="button" @click=${again} aria-label="Try again: the ${name}">Try again</button>
      </div>
    `;
  }
  if (!slow) return nothing;
  return html`
    <p class="slow">
      <progress aria-label="The ${name} is being computed"></progress>
      <button type="button" @click=${() => latest.cancel()}>Cancel the ${name}</button>
    </p>
  `;
}
