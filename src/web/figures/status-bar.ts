/** The status bar shows the progress of a slow request with a cancel button, or its error with a button to try again. */
import { html, nothing, type TemplateResult } from "lit-html";
import type { LatestRequest } from "../state/latest-request.js";

export function statusBar(
  name: string,
  request: LatestRequest<unknown>,
  again: () => void = () => request.again(),
): TemplateResult | typeof nothing {
  const { slow, error } = request.status;
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
      <button type="button" @click=${() => request.cancel()}>Cancel the ${name}</button>
    </p>
  `;
}
