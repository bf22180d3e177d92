/** The dialog Add data: files that wait for confirmation, the format recognised for each, and its open questions. */
import { signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit-html";
import { keyed } from "lit-html/directives/keyed.js";
import { ref } from "lit-html/directives/ref.js";
import { repeat } from "lit-html/directives/repeat.js";
import { into, setting } from "./controls.js";
import { opened } from "./export/jobs-list.js";
import { copy, say } from "./notify.js";
import { jsonOf, refusalFrom, send } from "./state/ask.js";
import type { Listed } from "./state/dataset.js";
import { EMPTY } from "./state/link.js";
import { datasets, open } from "./state/view.js";

interface Line {
  readonly about: string;
  /** Whether the answer contradicts the file and was given by name. */
  readonly red: boolean;
  readonly question: string;
  readonly answer: string | null;
  /** The name of the answer that the line sets. */
  readonly flag: string;
}
type Lists = "problems" | "why" | "mind" | "assumed" | "look" | "unused";
interface Draft extends Readonly<Record<Lists, readonly string[]>> {
  readonly id: string;
  readonly file: string;
  readonly files: number;
  readonly name: string;
  readonly producer: string;
  readonly what: readonly { readonly label: string; readonly text: string }[];
  readonly open: readonly Line[];
  readonly notes: readonly Line[];
  readonly answers: Readonly<Record<string, string | readonly string[]>>;
  readonly series: boolean;
  readonly shown: string;
  readonly picture: boolean;
  readonly mayConfirm: boolean;
  readonly command: string;
}
interface Waiting {
  readonly manage: boolean;
  readonly waiting: number;
  readonly drafts: readonly (Pick<Draft, "id" | "file" | "files"> & { readonly why: string })[];
}

export const waiting = signal<Waiting | null>(null);
const isShown = signal(false);
const draft = signal<Draft | null>(null);
const pending = signal(0);
const picture = signal<string | null>(null);
const failure = signal("");
const twoMinutes = () => AbortSignal.timeout(120_000);

export async function readWaiting(): Promise<void> {
  try {
    waiting.value = (await (await send("api/drafts", {}, twoMinutes())).json()) as Waiting;
  } catch {
    waiting.value = null;
  }
}

export const confirmable = (): number => (waiting.value?.manage ? waiting.value.waiting : 0);

const pathOf = (id: string) => `api/drafts/${encodeURIComponent(id)}`;

const report = (error: unknown): void => into(failure)(refusalFrom(error).message);

let last: Promise<void> = Promise.resolve();
/** Runs steps after those that were begun before: each answer about a draft holds the ones before it. */
function run(steps: () => Promise<void>): void {
  failure.value = "";
  pending.value++;
  last = last
    .then(steps)
    .catch(report)
    .finally(() => pending.value--);
}

/** Shows a draft, and its slice unless another draft or answer has followed by then. */
async function readDraft(id: string, init: RequestInit = {}): Promise<void> {
  const next = (await (await send(pathOf(id), init, twoMinutes())).json()) as Draft;
  draft.value = next;
  if (picture.peek() !== null) URL.revokeObjectURL(picture.peek() as string);
  picture.value = null;
  const show = async (answer: Response) => {
    const slice = await answer.blob();
    if (draft.peek() === next) picture.value = URL.createObjectURL(slice);
  };
  if (next.picture)
    void send(`${pathOf(next.id)}?format=png`, {}, twoMinutes())
      .then(show)
      .catch(report);
}

export function openDrafts(wanted = draft.peek()?.id): void {
  isShown.value = true;
  run(async () => {
    await readWaiting();
    const id = wanted ?? waiting.peek()?.drafts[0]?.id;
    if (id === undefined) draft.value = null;
    else await readDraft(id);
  });
}

function answer(id: string, body: object): void {
  run(() => readDraft(id, jsonOf(body, "PATCH")));
}

function confirm({ id, shown }: Draft): void {
  run(async () => {
    const request = send(`${pathOf(id)}/confirm`, jsonOf({ shown }), twoMinutes());
    // What is refused because it has changed is shown anew.
    const answer = await request.catch((error: unknown) => readDraft(id).then(() => Promise.reject(error)));
    const { dataset } = (await answer.json()) as { dataset: string };
    draft.value = null;
    isShown.value = false;
    const list = (await (await send("api/datasets", {}, twoMinutes())).json()) as { datasets: readonly Listed[] };
    datasets.value = list.datasets;
    await open({ ...EMPTY, dataset }, "choice");
    say(`${dataset} is served. To withdraw it, delete ${dataset}.dataset.json beside its file.`);
    await readWaiting();
  });
}

const bullets = (title: string, texts: readonly string[], style = "") =>
  texts.length === 0
    ? nothing
    : html`<section>${title === "" ? nothing : html`<h3>${title}</h3>`}<ul class=${style}>${texts.map((text) => html`<li>${text}</li>`)}</ul></section>`;

/** Keys of lines, kept while their questions change: neither text nor focus moves from one field to another. */
function keysOf(lines: readonly Line[]): string[] {
  const names = lines.map(({ flag, about }) => `${flag} ${about}`);
  return names.map((name, i) => `${name} ${names.slice(0, i).filter((other) => other === name).length}`);
}

/** The answer in a typed text: of the line's own flag, or of one that it names, as `--spacing 0.1`; null without a value. */
export function answerIn(text: string, flag: string): Readonly<Record<string, string | null>> {
  const named = /^--([a-z-]+)(?:[ =]+(.+))?$/.exec(text.trim());
  if (named !== null) return { [named[1]]: named[2]?.trim() ?? null };
  return { [flag]: text.trim() === "" ? null : text.trim() };
}

function lineView({ id, answers }: Draft, { about, red, question, answer: known, flag }: Line): TemplateResult {
  const given = answers[flag];
  const despite = [answers.despite ?? []].flat();
  const hasField = /^[a-z-]+$/.test(flag);
  return html`<section class=${red ? "error" : ""}><p>${question}</p>${known === null ? nothing : html`<p class="quiet">${known}</p>`}
    <input type="text" ?hidden=${!hasField} class="wide" spellcheck="false" placeholder=${flag} aria-label=${`${flag}: ${question}`}
      .value=${[given ?? []].flat().join(", ")} @change=${(event: Event) =>
        answer(id, answerIn((event.target as HTMLInputElement).value, flag))} />
    <div class="chips" ?hidden=${!red}><button @click=${() => answer(id, { despite: [...despite, about] })}>Serve it despite this</button></div></section>`;
}

function draftView(one: Draft): TemplateResult {
  const { id, what, problems, why, mind, assumed, look, unused, files, series, mayConfirm, command } = one;
  const notes = one.notes.map(({ question }) => question);
  const keys = keysOf(one.open);
  const given = Object.keys(one.answers);
  const doubts = look.filter((text) => text.includes("probably wrong"));
  const others = look.filter((text) => !doubts.includes(text));
  return html`<div class="panel">
    <h3>${one.file}: ${one.producer}</h3>
    <div class="rows"><span>Name of the dataset</span><input type="text" aria-label="Name of the dataset" .value=${one.name} @change=${(
      event: Event,
    ) => answer(id, { name: (event.target as HTMLInputElement).value.trim() || null })} />
      ${what.map(({ label, text }) => html`<span class="quiet">${label}</span><span>${text}</span>`)}</div>
    ${bullets("It cannot be served", problems, "error")}${bullets("Mind", [...doubts, ...mind], "error")}
    <h3 ?hidden=${one.open.length === 0}>Open</h3>${repeat(
      one.open,
      (_, i) => keys[i],
      (line) => lineView(one, line),
    )}
    ${picture.value === null ? nothing : html`<img class="slice" src=${picture.value} alt="Middle plane of the first field" />`}
    ${bullets("Look", others)}${bullets("Why", why)}${bullets("Assumed", assumed)}${bullets("Notes", notes)}
    <input type="text" class="wide" spellcheck="false" placeholder="Another answer, such as --length 6.2832,6.2832,3.1416" aria-label="Another answer" @change=${(
      event: Event,
    ) => {
      const field = event.target as HTMLInputElement;
      answer(id, answerIn(field.value, "another answer"));
      field.value = "";
    }} />
    <details ?open=${unused.length > 0 && unused.length <= 40}><summary>Not used (${unused.length})</summary>${bullets("", unused, "quiet")}</details>
    <div class="chips"><button ?hidden=${files < 2} aria-pressed=${series ? "true" : "false"} @click=${() => answer(id, { series: !series })}>All ${files} files as one dataset</button>
      <button ?hidden=${given.length === 0} @click=${() => answer(id, Object.fromEntries(given.map((flag) => [flag, null])))}>Take answers back</button>
      <button class="primary" ?disabled=${!mayConfirm || pending.value > 0} @click=${() => confirm(one)}>Confirm</button>
      <span class="quiet" ?hidden=${mayConfirm}>${problems.length > 0 ? "What cannot be served cannot be confirmed." : "Answer what is open first."}</span></div>
    <section><div class="card-head"><h3>The same by command line</h3><button class="plain" @click=${() => void copy(command, "Command")}>Copy</button></div><pre role="group" tabindex="0" aria-label="Command">${command}</pre></section>
  </div>`;
}

function fileButtons(): TemplateResult {
  return html`<div class="chips files" role="group" aria-label="Files that wait">${(waiting.value?.drafts ?? []).map(
    ({ id, file, files, why }) =>
      html`<button aria-pressed=${draft.value?.id === id ? "true" : "false"} @click=${() => openDrafts(id)}>${file}${files > 1 ? ` (${files})` : ""}:
        ${why.replace(/: fieldprobe inspect .*/, "")}</button>`,
  )}</div>`;
}

export function emptyView(): TemplateResult | typeof nothing {
  if (datasets.value?.length !== 0) return nothing;
  const count = waiting.value?.waiting ?? 0;
  const who = confirmable() === 0 ? ", by fieldprobe inspect on its machine or by a token that may manage data" : "";
  return html`<section class="empty" aria-label="No dataset"><h2>The service has no dataset yet.</h2>
    <p>${count === 0 ? "Put an HDF5 or NetCDF-4 file or a Zarr store into a data folder, and reload this page after half a minute" : `${count} ${count === 1 ? "file waits" : "files wait"} to be confirmed${who}`}.</p>${fileButtons()}</section>`;
}

export function draftsDialog(): TemplateResult | typeof nothing {
  if (!isShown.value) return nothing;
  const close = setting(isShown, false);
  return html`<dialog class="sheet" aria-label="Add data" ${ref(opened)} @close=${close}>
    <header><h2>Add data</h2><span class="quiet" role="status">${pending.value > 0 ? "Reading" : ""}</span><button aria-label="Close" @click=${close}>×</button></header>
    <div class="body two"><div>${confirmable() > 0 ? fileButtons() : html`<p class="quiet">Nothing waits. Files in the data folders appear here until they are confirmed.</p>`}</div>
      <div>${failure.value === "" ? nothing : html`<p class="error" role="alert">${failure.value}</p>`}${draft.value === null ? nothing : keyed(draft.value.id, draftView(draft.value))}</div>
    </div></dialog>`;
}
