/** How a figure stands: a bar with a cancel button for slow work, or what went wrong. */
import { html, nothing, type TemplateResult } from "lit-html";
import type { Latest } from "./latest.js";

export function standingBar(name: string, latest: Latest<unknown>): TemplateResult | typeof nothing {
  const { slow, error } = latest.standing;
  if (error !== null) return html`<p class="error" role="alert">${error}</p>`;
  if (!slow) return nothing;
  return html`
    <p class="slow">
      <progress aria-label="The ${name} is being computed"></progress>
      <button type="button" @click=${() => latest.cancel()}>Cancel the ${name}</button>
    </p>
  `;
}
