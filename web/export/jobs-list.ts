/** The list of jobs: their questions, progress and results. */
import { signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit-html";
import { ref } from "lit-html/directives/ref.js";
import { setting } from "../controls.js";
import { endJob, isOpen, type Job, jobs, readJobs, resultOf } from "../state/jobs.js";
import { report } from "./download.js";

const isShown = signal(false);
const isRead = signal(false);

export function openJobs(): void {
  isShown.value = true;
  readJobs().then(setting(isRead, true)).catch(report);
}

const STATES = { queued: "Waiting", running: "Running", done: "Done", failed: "Failed", cancelled: "Cancelled" };

function nameOf({ call }: Job): string {
  const [, dataset = "", name = ""] = /\/datasets\/([^/]+)\/([^/?]+)/.exec(call) ?? [];
  return `${name.replaceAll("_", " ")} of ${decodeURIComponent(dataset)}`;
}

function sizeOf(bytes: number): string {
  const unit = bytes < 1e3 ? 0 : bytes < 1e6 ? 1 : bytes < 1e9 ? 2 : 3;
  return `${Number((bytes / 1e3 ** unit).toPrecision(3))} ${["B", "kB", "MB", "GB"][unit]}`;
}

function row(job: Job): TemplateResult {
  const { state, progress, secondsLeft, problem, result } = job;
  const left = secondsLeft === null ? "" : `, ${Math.ceil(secondsLeft)} s left`;
  return html`<li data-job=${job.id}>
    <div class="card-head"><b>${nameOf(job)}</b><span class="quiet">${new Date(job.created).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })}</span><span class="quiet">${STATES[state]}${isOpen(job) ? ` ${Math.round(100 * progress)} %${left}` : ""}</span></div>
    ${isOpen(job) ? html`<progress max="1" .value=${progress} aria-label=${`Progress of ${nameOf(job)}`}></progress>` : nothing}
    ${problem === null ? nothing : html`<p class="error">${problem}</p>`}
    <div class="chips">${result === null ? nothing : html`<a href=${resultOf(job)} download=${result.name}>${result.name}, ${sizeOf(result.bytes)}</a>`}
      <button @click=${() => endJob(job).catch(report)}>${isOpen(job) ? "Cancel" : "Remove"}</button></div></li>`;
}

export const opened = (element: Element | undefined): void => {
  if (element instanceof HTMLDialogElement && !element.open)
    queueMicrotask(() => element.isConnected && !element.open && element.showModal());
};

export function jobsDialog(): TemplateResult | typeof nothing {
  if (!isShown.value) return nothing;
  const close = setting(isShown, false);
  return html`<dialog class="sheet" aria-label="Jobs" ${ref(opened)} @close=${close}>
    <header><h2>Jobs</h2><button aria-label="Close" @click=${close}>×</button></header>
    <div class="body"><ul class="jobs">${jobs.value.map(row)}</ul>
      ${isRead.value && jobs.value.length === 0 ? html`<p class="quiet">No jobs. Share asks any question as one.</p>` : nothing}</div></dialog>`;
}
