/**
 * The status bar shows the progress of a slow request with a cancel button, or its error with a button to try again.
 */
import { html, nothing, type TemplateResult } from "lit-html";
import type { LatestRequest } from "../state/latest-request.js";

/** An offer that fits if a limit was passed: in words, and how it is chosen. */
export interface Fitting {
  readonly text: string;
  readonly choose: () => void;
}

/** Limits of the service on the points of a request, and on what they cost. */
const POINT_LIMITS: readonly (string | null)[] = [
  "query.points",
  "token.points",
  "query.particleSteps",
  "query.filterSamples",
];

/** @param fitting what would fit if a limit was passed that admits `most` points; null if nothing does */
export function statusBar(
  name: string,
  request: LatestRequest<unknown>,
  again: () => void = () => request.again(),
  fitting: (most: number | null) => Fitting | null = () => null,
): TemplateResult | typeof nothing {
  const { slow, error, limit, most } = request.status;
  if (error !== null) {
    const fits = POINT_LIMITS.includes(limit) ? fitting(most) : null;
    return html`
      <div class="error">
        <p role="alert">${error}${limit === null ? nothing : html` – the limit <b>${limit}</b>. `}${fits?.text}</p>
        ${
          fits === null
            ? html`<button type="button" @click=${again} aria-label="Try again: the ${name}">Try again</button>`
            : html`<button type="button" @click=${fits.choose} aria-label="Take what fits: the ${name}">Take what fits</button>`
        }
      </div>
    `;
  }
  if (!slow) return nothing;
  return html`
    <p class="slow">
      <span>The ${name} is on its way</span>
      <progress aria-label="The ${name} is being computed"></progress>
      <button type="button" @click=${() => request.cancel()}>Cancel the ${name}</button>
    </p>
  `;
}
