/** An outage is a time in which the service cannot be reached: one line says so, and the page reconnects by itself. */
import { html, nothing, type TemplateResult } from "lit-html";
import type { ApiClient } from "./api.js";
import type { LatestRequest } from "./latest-request.js";

/** Waits between attempts to reconnect, longer each time. */
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 15_000;

export class Outage {
  readonly #api: ApiClient;
  readonly #again: () => void;
  readonly #render: () => void;
  #out = false;
  #wait = FIRST_WAIT_MS;

  /** @param again requests everything once more when the service is back */
  constructor(api: ApiClient, again: () => void, render: () => void) {
    this.#api = api;
    this.#again = again;
    this.#render = render;
  }

  /** Notes whether a request has failed because the service cannot be reached. */
  watch(requests: readonly LatestRequest<unknown>[]): void {
    if (this.#out || !requests.some(({ status }) => status.code === "Network")) return;
    this.#out = true;
    this.#wait = FIRST_WAIT_MS;
    this.#retry();
  }

  view(): TemplateResult | typeof nothing {
    if (!this.#out) return nothing;
    return html`
      <div class="error" id="outage">
        <p role="alert">The service cannot be reached; what is shown is from before. The page reconnects by itself.</p>
        <button type="button" @click=${() => void this.#attempt()}>Try now</button>
      </div>
    `;
  }

  #retry(): void {
    setTimeout(() => void this.#attempt(), this.#wait);
    this.#wait = Math.min(LONGEST_WAIT_MS, 2 * this.#wait);
  }

  async #attempt(): Promise<void> {
    if (!this.#out) return;
    try {
      await this.#api.catalogue();
    } catch {
      this.#retry();
      return;
    }
    this.#out = false;
    this.#again();
    this.#render();
  }
}
