/** The jobs panel lists one's jobs with their progress, saves their results and ends them. */
import { html, nothing, type TemplateResult } from "lit-html";
import { saveFile } from "../figures/save-file.js";
import type { JobEntry } from "../state/api.js";
import type { ViewStore } from "../state/view-store.js";

/** Milliseconds between two looks while a job waits or runs. */
const LOOK_MS = 2_000;

const isOpen = ({ state }: JobEntry): boolean => state === "queued" || state === "running";

export class JobsPanel {
  readonly #store: ViewStore;
  readonly #render: () => void;
  #jobs: readonly JobEntry[] | null = null;
  #problem = "";
  #shown = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(store: ViewStore, render: () => void) {
    this.#store = store;
    this.#render = render;
  }

  view(): TemplateResult {
    return html`
      <section class="panel jobs" aria-labelledby="jobs-title">
        <h2 id="jobs-title">Jobs</h2>
        <details
          class="data"
          id="jobs"
          @toggle=${(event: Event) => {
            this.#shown = (event.target as HTMLDetailsElement).open;
            void this.#look();
          }}
        >
          <summary>Calls with any number of points, which the service runs in idle time</summary>
          ${this.#problem === "" ? nothing : html`<p class="note" role="alert">${this.#problem}</p>`}
          ${this.#jobs?.length === 0 ? html`<p class="note">You have no jobs; docs/jobs.md says how to start one.</p>` : nothing}
          <ul>
            ${this.#jobs?.map((job) => this.#row(job))}
          </ul>
        </details>
      </section>
    `;
  }

  #row(job: JobEntry): TemplateResult {
    const { id, state, call, progress, secondsLeft, problem, result } = job;
    const left = secondsLeft === null ? "" : `, ${Math.ceil(secondsLeft)} s left`;
    return html`
      <li data-job=${id}>
        <code>${call.split("?")[0]}</code> ${state}${left}
        ${isOpen(job) ? html`<progress max="1" value=${progress} aria-label="Part that is done"></progress>` : nothing}
        ${problem === null ? nothing : html`<span class="note">${problem}</span>`}
        ${
          result === null
            ? nothing
            : html`<button type="button" @click=${() => this.#act(() => this.#save(job))}>
                Save ${result.name.split(".").at(-1)}, ${(result.bytes / 1e6).toFixed(1)} MB
              </button>`
        }
        <button type="button" @click=${() => this.#act(() => this.#store.api.endJob(id))}>
          ${isOpen(job) ? "Cancel" : "Delete"}
        </button>
      </li>
    `;
  }

  async #save({ id, result }: JobEntry): Promise<void> {
    if (result !== null) saveFile(result.name, await this.#store.api.jobResult(id));
  }

  async #act(action: () => Promise<void>): Promise<void> {
    await action().catch((error: Error) => {
      this.#problem = error.message;
    });
    await this.#look();
  }

  /** Asks for the jobs while they are shown, and again as long as one of them has not ended. */
  async #look(): Promise<void> {
    clearTimeout(this.#timer);
    if (!this.#shown) return;
    try {
      this.#jobs = await this.#store.api.jobs();
      this.#problem = "";
    } catch (error) {
      this.#problem = (error as Error).message;
    }
    if (this.#jobs?.some(isOpen)) this.#timer = setTimeout(() => void this.#look(), LOOK_MS);
    this.#render();
  }
}
