/** The parts of the page around the stage: bar, titles of panes, messages, and time line. */
import { signal } from "@preact/signals-core";
import { html, nothing, svg, type TemplateResult } from "lit-html";
import { ref } from "lit-html/directives/ref.js";
import { cardInStage, isInStage } from "./cards.js";
import { datasetItems, methodItems, openFind, openQuantities } from "./commands.js";
import { into, radios, rove, setting } from "./controls.js";
import { draftsDialog, emptyView } from "./drafts.js";
import { PLANE_NAMES } from "./draw/layout.js";
import { dyeNote, dyeView } from "./dye.js";
import { jobsDialog } from "./export/jobs-list.js";
import { openShare, shareDialog } from "./export/share.js";
import { exportDialog, openExport } from "./export.js";
import { openFinder } from "./finder.js";
import { inspector } from "./inspector.js";
import { trouble } from "./messages.js";
import { message } from "./notify.js";
import { speed, stepTime, togglePlay } from "./playing.js";
import { readout } from "./readout.js";
import { rulerView } from "./ruler.js";
import { drawnLayer } from "./stage-layers.js";
import { noGraphics, onePane, panes, stageSize, titles } from "./stage-state.js";
import { confirm, costOf, estimateOf, isConfirmed, keyOf, wantedAnswer } from "./state/answers.js";
import { addressOf, type Question, rootOf } from "./state/ask.js";
import { type Dataset, flatAxis, frameOf, hasVelocity, isStored, placeText, timeText } from "./state/dataset.js";
import { inSpan, plainNumber, shortNumber, ticksOf } from "./state/format.js";
import type { Show } from "./state/link.js";
import { hasDerivatives, type Quantity, quantitiesOf, quantityOf } from "./state/quantities.js";
import { rangeShown } from "./state/ranges.js";
import { labelOf, refusalOf, servedValue, store } from "./state/shown.js";
import {
  change,
  cross,
  dataset,
  datasets,
  isDifference,
  isDragging,
  isPlaying,
  rested,
  selectionOf,
  view,
} from "./state/view.js";
import { setWants } from "./state/wants.js";

const isWelcome = signal(location.search === "");

const MODES = { slice: "Slice", "3d": "3-D", four: "Four", compare: "Compare" };

/** Chooses an arrangement of panes; a comparison starts with another method. */
export function chooseShow(show: Show): void {
  const { b, method } = view.peek();
  const isNew = show === "compare" && Object.keys(b).length === 0;
  // Quantities with derivatives are compared with splines, which have derivatives of their own.
  const other = ["M1Q4", "Lag4", "nearest"].find((one) => one !== method && dataset.peek()?.methods.includes(one));
  change({ show, ...(isNew && other !== undefined ? { b: { method: other } } : {}) });
}

function nameOf(quantity: Quantity | null): string {
  if (quantity === null) return "…";
  return quantity.title === quantity.symbol ? quantity.symbol : `${quantity.title} ${quantity.symbol}`;
}

function bar(set: Dataset | null): TemplateResult {
  const now = view.value;
  const flat = set === null ? undefined : flatAxis(set);
  const quantity = now.what === null ? null : quantityOf(now.what);
  const name = set?.name ?? (datasets.value?.length === 0 ? "No dataset" : "Loading");
  return html`<header class="bar">
    <h1 aria-label="fieldprobe"><a class="name" href=${rootOf()}>fieldprobe</a></h1>
    <nav class="crumbs" aria-label="What is shown">
      <button aria-haspopup="dialog" aria-label=${`Dataset ${name}`} @click=${() => openFinder({ title: "Dataset", items: datasetItems() })}>${name}</button>
      <span class="slash" aria-hidden="true">/</span>
      <button aria-haspopup="dialog" aria-label=${`Quantity ${nameOf(quantity)}`} @click=${openQuantities}>${nameOf(quantity)}</button>
      <span class="slash" aria-hidden="true">/</span>
      <button class="method" aria-haspopup="dialog" aria-label=${`Method ${now.method}`} @click=${() => set !== null && openFinder({ title: "Method", items: methodItems(set) })}>${now.method}</button>
    </nav>
    <div class="modes" role="radiogroup" aria-label="View" @keydown=${rove}>
      ${radios(
        Object.entries(MODES)
          .filter(([mode]) => flat === undefined || mode === "slice" || mode === "compare")
          .map(([mode, text]) => [mode, text, now.show.split(":")[0] === mode] as const),
        (mode) => chooseShow((mode === "slice" ? `slice:${flat ?? "z"}` : mode) as Show),
      )}
    </div>
    <button class="find" aria-haspopup="dialog" aria-keyshortcuts="Control+K" @click=${openFind}>Find <kbd>Ctrl K</kbd></button>
    <button class="export" aria-haspopup="dialog" @click=${() => openExport("figure")}>Export</button>
    <button class="share" aria-haspopup="dialog" @click=${() => openShare()}>Share</button>
  </header>`;
}

function paneViews(): TemplateResult[] {
  const set = dataset.value;
  const now = view.value;
  if (set === null) return [];
  const at = rested.value.cross ?? cross.value;
  return panes.value.map((pane, index) => {
    const title = titles.value[index];
    const { x, y, width, height } = pane.rect;
    let label = `3-D view: surface of ${quantityOf(now.surface.what).symbol} coloured by ${quantityOf(now.colour).symbol}`;
    const shown = pane.kind === "plane" ? selectionOf(now, pane.second) : null;
    if (pane.kind === "plane" && shown !== null) {
      const isOfBoth = isDifference(now);
      const drawn = isOfBoth ? drawnLayer(pane, now, false) : { range: rangeShown(shown) };
      const range = drawn === null || typeof drawn === "string" ? null : drawn.range;
      const labels = isOfBoth ? [labelOf(now, false), labelOf(now, true)] : [labelOf(now, pane.second)];
      const symbol = now.show === "compare" ? labels.join(" − ") : quantityOf(shown.what).symbol;
      const ends = range === null ? [] : [range.low, range.high];
      const missing = refusalOf(now, pane.second) === null ? "loading" : "refused";
      const span = ends.map((one) => plainNumber(one, 9)).join(" to ") || (typeof drawn === "string" ? drawn : missing);
      const a = "xyz".indexOf(pane.plane);
      const [served, other] = [servedValue(pane.second)?.answer, isOfBoth ? servedValue(true)?.answer : 0];
      const value = served == null || other == null ? missing : inSpan(served - other, (ends[1] ?? 0) - (ends[0] ?? 0));
      label = `${PLANE_NAMES[pane.plane]} at ${pane.plane} = ${placeText(set.axes[a], at[a])}, ${symbol} ${span}, crosshair ${typeof drawn === "string" ? "none" : value}`;
    }
    return html`<div class="pane" role="group" aria-label=${label} ${ref((element) => element instanceof HTMLElement && Object.assign(element.style, { left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px` }))}>${title === undefined ? nothing : html`<p class=${title.isOnLight ? "title on-light" : "title"}><b>${title.title}</b>${[title.note, dyeNote(pane)].filter((one) => one !== "").map((note) => html`<small>${note}</small>`)}</p>${title.isPending ? html`<i class="pending"></i>` : nothing}`}</div>`;
  });
}

const STARTS: readonly (readonly [string, Parameters<typeof change>[0]])[] = [
  ["Vortices in 3-D", { show: "3d" }],
  ["Dissipation", { show: "slice:z", what: "2*ddot(S,S)", map: null }],
  ["Two methods compared", { show: "compare", what: "Q", map: null, b: { method: "M1Q4" } }],
];

function welcomeView(): TemplateResult | typeof nothing {
  const set = dataset.value;
  if (!isWelcome.value || set === null) return nothing;
  return html`<div class="welcome" role="note"><span>Turbulence you can probe: every number here is interpolated by the service.</span>
    ${(hasVelocity(set) && hasDerivatives(set) && flatAxis(set) === undefined ? STARTS : []).map(
      ([name, patch], i) =>
        html`<button class=${i > 0 ? "extra" : ""} @click=${() => {
          isWelcome.value = false;
          change(patch);
        }}>${name}</button>`,
    )}
    <button aria-label="Close" @click=${setting(isWelcome, false)}>×</button></div>`;
}

function plainPicture(): TemplateResult | typeof nothing {
  const shown = selectionOf(rested.value);
  if (noGraphics.value === null || shown === null) return nothing;
  const { dataset: set, what, time, method } = shown;
  const z = (rested.value.cross ?? cross.value)[2];
  const range = view.value.ranges.get(what);
  const question = {
    ...{ dataset: set.name, call: "grid", what, z, time, method, samples: 256, format: "png" },
    ...(range === undefined ? {} : { range: [range.low, range.high] }),
    map: range !== undefined && range.low < 0 && range.high > 0 ? "RdBu" : "inferno",
  };
  return html`<img class="plain-picture" src=${rootOf() + addressOf(question)} alt=${`${quantityOf(what).title}, xy plane at z = ${placeText(set.axes[2], z)}`} />`;
}

function switcher(): TemplateResult {
  const now = view.value;
  const one = onePane.value;
  return html`<div class="panes" role="radiogroup" aria-label="Pane" ?hidden=${one === null || now.show !== "four"} @keydown=${rove}>
    ${radios(
      (["z", "x", "y", "3d"] as const).map((name) => [name, name === "3d" ? "3-D" : PLANE_NAMES[name], one === name]),
      into(onePane),
    )}</div>`;
}

/** Most numbers that the curve of the time line may read without being requested by the user. */
const UNASKED = 2 ** 26;

function meanOf(set: Dataset): { readonly what: string; readonly name: string } {
  if (!hasVelocity(set))
    return { what: quantitiesOf(set)[0]?.what ?? "p", name: `mean ${quantitiesOf(set)[0]?.symbol ?? "p"}` };
  if (!hasDerivatives(set)) return { what: "dot(u,u)/2", name: "kinetic energy" };
  return { what: "dot(omega,omega)/2", name: "enstrophy" };
}

/** Means at all stored times; null at one without values. */
type Means = readonly (number | null)[];

function seriesQuestion(set: Dataset): Question | null {
  if (set.times.length < 2) return null;
  return { dataset: set.name, call: "statistics", what: [meanOf(set).what], time: "all", over: ["x", "y", "z"] };
}
const isUnasked = (set: Dataset, question: Question) =>
  costOf(set, question) > UNASKED && !isConfirmed(keyOf(set, question));

export function wantSeries(set: Dataset | null): void {
  const question = set === null ? null : seriesQuestion(set);
  const isWanted = set !== null && question !== null && !isUnasked(set, question);
  const title = "Curve of the time line";
  setWants("series", isWanted ? [{ ...wantedAnswer(set, title, question, 30), lasting: true }] : []);
}

function seriesOf(set: Dataset | null): { readonly curve: Means | null; readonly button: unknown } {
  const question = set === null ? null : seriesQuestion(set);
  if (set === null || question === null) return { curve: null, button: nothing };
  const { answer, isPending } = store.entry<{ results: { mean: Means }[] }>(keyOf(set, question));
  if (answer !== null) return { curve: answer.results[0]?.mean ?? [], button: nothing };
  const pending = isPending ? html`<span class="quiet" role="status">Computing</span>` : nothing;
  const minutes = Math.max(1, Math.round(estimateOf(set, question).seconds / 60));
  const button = html`<button @click=${() => confirm(keyOf(set, question))}>Compute (about ${minutes} min)</button>`;
  return { curve: null, button: isUnasked(set, question) ? button : pending };
}

function timeLine(set: Dataset | null): TemplateResult {
  const now = view.value;
  const times = set?.times ?? [0];
  const [first, last] = [times[0], times.at(-1) as number];
  const place = (time: number) => (last > first ? ((time - first) / (last - first)) * 1000 : 500);
  const time = now.time ?? first;
  const ticks = ticksOf(first, last, 6);
  const write = (one: number, how = plainNumber) => timeText({ times }, one, how);
  const { curve, button } = seriesOf(set);
  const stored = set === null || isStored(time, set);
  let path = "";
  if (curve !== null && curve.length === times.length) {
    const known = curve.filter((value) => value !== null);
    const [low, high] = [Math.min(...known), Math.max(...known)];
    const floor = low > 0 && low < 0.7 * high ? 0 : low - (high - low) * 0.2;
    const height = (value: number) => (34 - (28 * (value - floor)) / (high - floor || 1)).toFixed(1);
    const partTo = (i: number) => `${curve[i - 1] == null ? "M" : "L"}${place(times[i]).toFixed(1)}`;
    path = curve.map((value, i) => (value === null ? "" : `${partTo(i)} ${height(value)}`)).join("");
  }
  const move = (event: Event, how: "part" | "time") => {
    const wanted = Number((event.target as HTMLInputElement).value);
    change({ time: set === null ? wanted : set.times[frameOf(wanted, set)] }, how);
  };
  return html`<footer class="time">
    <button class="play" aria-label=${isPlaying.value ? "Pause" : "Play"} @click=${togglePlay}>
      <svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true"><path fill="currentColor" d=${isPlaying.value ? "M2 1h4v12H2zM8 1h4v12H8z" : "M3 1l10 6-10 6z"} /></svg></button>
    <span class="now">t ${write(time, shortNumber)}${stored ? "" : " *"}</span>
    <div class="track">
      <svg viewBox="0 0 1000 56" preserveAspectRatio="none" aria-hidden="true">
        <line x1="0" x2="1000" y1="36" y2="36" stroke="#2a3442" vector-effect="non-scaling-stroke" />
        ${times.map((one) => svg`<line x1=${place(one)} x2=${place(one)} y1="32" y2="40" stroke="#5a6675" vector-effect="non-scaling-stroke" />`)}
        ${path === "" ? nothing : svg`<path d=${path} fill="none" stroke="#4f8ff7" stroke-width="2" vector-effect="non-scaling-stroke" />`}
        <line x1=${place(time)} x2=${place(time)} y1="0" y2="42" stroke="#f4f6f8" stroke-width="2" vector-effect="non-scaling-stroke" />
      </svg>
      <svg aria-hidden="true">${ticks.map((tick) => svg`<text x=${`${place(tick) / 10}%`} y="53" fill="#98a4b3" font-size="11" text-anchor=${place(tick) < 10 ? "start" : place(tick) > 990 ? "end" : "middle"}>${write(tick)}</text>`)}</svg>
      <input type="range" aria-label="Time" aria-valuetext=${`t = ${write(time)}`} min=${first} max=${last} step="any" .value=${String(time)}
        @pointerdown=${setting(isDragging, true)} @pointerup=${setting(isDragging, false)}
        @input=${(event: Event) => move(event, "part")} @change=${(event: Event) => move(event, "time")} @keydown=${(
          event: KeyboardEvent,
        ) => {
          const step = { ArrowRight: 1, ArrowLeft: -1, ArrowUp: 1, ArrowDown: -1 }[event.key];
          if (step === undefined) return;
          event.preventDefault();
          event.stopPropagation();
          stepTime(step);
        }} />
    </div>
    <div class="more chips">${button}${curve === null ? nothing : html`<span class="quiet">${set === null ? "" : meanOf(set).name}</span>`}
      <button aria-label=${`${speed.value}/s, speed of play`} @click=${setting(speed, speed.value >= 16 ? 2 : speed.value * 2)}>${speed.value}/s</button></div>
  </footer>`;
}

export function overStage(): TemplateResult {
  return html`${plainPicture()}${paneViews()}${dyeView()}${rulerView()}${cardInStage(dataset.value, ...stageSize.value)}${isInStage.value ? nothing : readout()}${switcher()}${trouble()}${welcomeView()}${emptyView()}
    <p class="unseen" role="status" aria-live="polite">${message.value}</p>
    ${message.value === "" ? nothing : html`<div class="trouble" aria-hidden="true">${message.value}</div>`}`;
}

export const PARTS: Readonly<Record<string, () => TemplateResult | typeof nothing>> = {
  bar: () => bar(dataset.value),
  inspector: () => inspector(dataset.value),
  time: () => timeLine(dataset.value),
  dialogs: () => html`${exportDialog()}${shareDialog()}${jobsDialog()}${draftsDialog()}`,
};
