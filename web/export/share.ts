/** The dialog Share: the link, and each question of what is shown as curl, command line and Python, or run as a job. */
import { signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit-html";
import { ref } from "lit-html/directives/ref.js";
import { into, oneOf, select, setting } from "../controls.js";
import { PLANE_NAMES } from "../draw/layout.js";
import { copy } from "../notify.js";
import { dyeTrails, isolated, trails } from "../stage-state.js";
import { type Question, replaced, rootOf, type Shared } from "../state/ask.js";
import { frameOf } from "../state/dataset.js";
import { startJob } from "../state/jobs.js";
import { pixel, planOf } from "../state/picture-plan.js";
import { quantityOf } from "../state/quantities.js";
import { nodesNote, planesOf, shows3d, valueQuestion } from "../state/shown.js";
import { cross, dataset, saveLink, selectionOf, view } from "../state/view.js";
import { panelWants } from "../state/wants.js";
import { commandOf, curlOf, pythonOf } from "./code.js";
import { report } from "./download.js";
import { opened, openJobs } from "./jobs-list.js";

const isShown = signal(false);
const chosen = signal<string | null>(null);
const jobForm = signal("json");

export function openShare(title: string | null = null): void {
  saveLink(null);
  chosen.value = title;
  isShown.value = true;
}

function leftOut(): string {
  const shown = {
    "the structure alone": isolated.value !== null,
    dye: dyeTrails.value.length > 0,
    paths: trails.value.length > 0,
  };
  const names = Object.entries(shown).flatMap(([name, is]) => (is ? [name] : []));
  return names.length === 0 ? "" : `, without ${names.join(", ")}`;
}

const FORMS = ["json", "csv", "npz", "nc"].map((form) => [form, form] as const);

export function questionsShown(): readonly Shared[] {
  const now = view.value;
  const shown = selectionOf(now);
  if (shown === null || now.centre === null) return [];
  const { symbol } = quantityOf(shown.what);
  const found: Shared[] = [{ title: `${symbol} at the crosshair`, question: valueQuestion(shown, cross.value) }];
  const second = now.show === "compare" ? selectionOf(now, true) : null;
  if (second !== null) found.push({ title: "B at the crosshair", question: valueQuestion(second, cross.value) });
  for (const plane of pixel.value > 0 ? planesOf(now) : [])
    for (const [i, plan] of [planOf(now, plane), second && planOf(now, plane, true)].entries())
      if (plan !== null)
        found.push({ title: `${["Plane", "B, plane"][i]} ${PLANE_NAMES[plane]}`, question: plan.question });
  const time = shown.dataset.times[frameOf(now.time, shown.dataset)];
  if (shows3d(now)) {
    const { what } = now.surface;
    const question = { dataset: shown.dataset.name, call: "nodes", what, time };
    const note = nodesNote(shown);
    found.push({ title: `Surface of ${quantityOf(what).symbol}${note === "" ? "" : `, ${note}`}`, question });
  }
  for (const wants of panelWants.value.values()) found.push(...wants.flatMap(({ shared = [] }) => shared));
  // Questions are chosen by their titles.
  const same = (title: string, i: number) => found.slice(0, i).filter((one) => one.title === title).length;
  return found.map((one, i) =>
    same(one.title, i) === 0 ? one : { ...one, title: `${one.title} (${same(one.title, i) + 1})` },
  );
}

export const baseOf = (): string => rootOf().replace(/\/$/, "");

/** A question as curl, command line and Python. `tail` follows the Python. */
export function codeViews(question: Question, tail = ""): TemplateResult {
  const texts = [
    ["curl", curlOf(question, baseOf())],
    ["Command line", commandOf(question, baseOf())],
    ["Python", pythonOf(question, baseOf()) + tail],
  ] as const;
  return html`${texts.map(
    ([name, text]) =>
      html`<section class="code"><div class="card-head"><h3>${name}</h3><button class="plain" aria-label=${`Copy ${name}`} @click=${() => void copy(text, name)}>Copy</button></div><pre role="group" tabindex="0" aria-label=${name}>${text}</pre></section>`,
  )}`;
}

async function submit(question: Question): Promise<void> {
  await startJob(question, jobForm.peek());
  openJobs();
  isShown.value = false;
}

export function shareDialog(): TemplateResult | typeof nothing {
  const set = dataset.value;
  const questions = isShown.value ? questionsShown() : [];
  const now = questions.find(({ title }) => title === chosen.value) ?? questions[0];
  if (set === null || now === undefined) return nothing;
  const close = setting(isShown, false);
  return html`<dialog class="sheet" aria-label="Share" ${ref(opened)} @close=${close}>
    <header><h2>Share</h2><button aria-label="Close" @click=${close}>×</button></header>
    <div class="body">
      <section><h3>Link</h3><div class="line"><input class="wide" type="text" readonly aria-label="Link" .value=${location.href} />
        <button class="primary" @click=${() => void copy(location.href, "Link")}>Copy link</button></div>
        <p class="quiet">${replaced.value === "" ? `It reopens to the same picture and numbers${leftOut()}.` : "The data were replaced: it opens with the numbers of others."} Manifest ${set.digest.slice(0, 12)}.</p></section>
      <section><h3>Question</h3>${oneOf("Question", Object.fromEntries(questions.map(({ title }) => [title, title])), now.title, into(chosen))}</section>
      ${codeViews(now.question)}
      <section class="line">${select("Form of the result", FORMS, jobForm.value, into(jobForm))}
        <button class="plain" @click=${() => submit(now.question).catch(report)}>Run as a job</button>
        <button class="plain" @click=${openJobs}>Jobs</button></section>
    </div></dialog>`;
}
