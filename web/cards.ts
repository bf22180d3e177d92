/** Cards of charts in the panels Statistics and Point, and the one that fills the stage. */
import { computed, signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit-html";
import { ref } from "lit-html/directives/ref.js";
import { around } from "./cards/around.js";
import { budget } from "./cards/budget.js";
import type { CardContent, CardKind, Json } from "./cards/card.js";
import { conditional } from "./cards/conditional.js";
import { correlation } from "./cards/correlation.js";
import { joint } from "./cards/joint.js";
import { pdf } from "./cards/pdf.js";
import { profile } from "./cards/profile.js";
import { line, series } from "./cards/series.js";
import { spectrum } from "./cards/spectrum.js";
import { structureFunctions } from "./cards/structure-functions.js";
import { structures } from "./cards/structures.js";
import type { Chart } from "./chart.js";
import { choice, into, oneOf, setting, textField } from "./controls.js";
import { openShare } from "./export/share.js";
import { confirm, estimateOf, keyOf, wantedAnswer } from "./state/answers.js";
import { addressOf, type Question, Refusal, refusalFrom, rootOf, type Wanted } from "./state/ask.js";
import { type Dataset, frameOf, timeText } from "./state/dataset.js";
import { durationOf } from "./state/flow-map.js";
import { tidy } from "./state/format.js";
import { operand } from "./state/link.js";
import { quantitiesOf } from "./state/quantities.js";
import { store } from "./state/shown.js";
import { change, rested, view } from "./state/view.js";
import { setWants } from "./state/wants.js";

type Kind = string;
/** Kinds of Statistics in the order of their buttons, and kinds of Point, at the crosshair. */
const STATISTICS: Readonly<Record<Kind, CardKind>> = {
  ...{ pdf, spectrum, structure: structureFunctions, profile, qr: joint },
  ...{ correlation, conditional, around, structures, budget },
};
const AT_POINT: Readonly<Record<Kind, CardKind>> = { series, line };
const cardOf = (kind: Kind): CardKind => STATISTICS[kind] ?? AT_POINT[kind];
const isOffered = (set: Dataset, kind: Kind): boolean => cardOf(kind).isAvailable?.(set) ?? true;
/** Whether a card is of a flow map, whose values only the stage asks for. */
const isOfStage = (kind: Kind): boolean => !cardOf(kind).isOfFixedQuantity && durationOf(quantityFor(kind)) !== null;

const statisticsKind = signal<Kind>("pdf");
const crosshairKind = signal<Kind>("series");
/** The quantity that was chosen for statistics; null for the one shown in the stage. */
const chosenQuantity = choice<string | null>(null);
const moreTimes = choice<readonly number[]>([]);
const inStage = signal<Kind | null>(null);
export const isInStage = computed(() => inStage.value !== null);
export const library = signal<typeof import("./chart.js") | null>(null);
type Drawing = typeof import("./chart.js")["drawChart"];

export function loadCharts(): void {
  if (library.peek() === null) void import("./chart.js").then(into(library));
}

export function chooseCard(name: string): void {
  const found = Object.keys(STATISTICS).find((kind) => STATISTICS[kind].name === name);
  if (found !== undefined) statisticsKind.value = found;
}
export const cardNames = (set: Dataset): string[] => kindsOf(set).map((kind) => cardOf(kind).name);

const whatOf = (): string => chosenQuantity.value ?? rested.value.what ?? "";

const quantityFor = (kind: Kind): string => (Object.hasOwn(AT_POINT, kind) ? (rested.value.what ?? "") : whatOf());

const questionOf = (set: Dataset, kind: Kind, time: number): Question =>
  cardOf(kind).question(set, quantityFor(kind), time);

const titled = (set: Dataset, title: string, time: number, { time: requested }: Question) =>
  requested === "all" ? title : `${title}, t = ${timeText(set, time)}`;

function timesOf(set: Dataset, kind: Kind): number[] {
  const time = set.times[frameOf(rested.value.time, set)];
  return [time, ...(cardOf(kind).isOfOneTime ? [] : moreTimes.value.filter((other) => other !== time))];
}

export function wantCards(set: Dataset | null, tab: string): void {
  if (set === null || view.value.what === null) {
    setWants("cards", []);
    return;
  }
  const inTab = tab === "Statistics" ? chosenKind(set) : tab === "Point" ? crosshairKind.value : null;
  const shown = [inTab, inStage.value].filter((kind) => kind !== null);
  const kinds = [...new Set(shown)].filter((kind) => isOffered(set, kind) && !isOfStage(kind));
  if (kinds.length > 0) loadCharts();
  const wants = kinds.flatMap((kind) =>
    timesOf(set, kind).flatMap((time): Wanted<Json>[] => {
      const question = questionOf(set, kind, time);
      return estimateOf(set, question).waits
        ? []
        : [wantedAnswer<Json>(set, titled(set, cardOf(kind).name, time, question), question, 12)];
    }),
  );
  setWants("cards", wants);
}

type Arrived = readonly (readonly [time: number, answer: Json])[];
/** What a card shows of its answers; why it shows nothing, as of vectors. */
function contentOf(set: Dataset, kind: Kind, arrived: Arrived): CardContent | Refusal {
  const answers = arrived.map(
    ([time, answer]) => [time, answer, arrived.length > 1 ? `t ${timeText(set, time)}` : null] as const,
  );
  const [time] = answers[0];
  try {
    const content = cardOf(kind).content(set, quantityFor(kind), answers);
    return { ...content, title: titled(set, content.title, time, questionOf(set, kind, time)) };
  } catch (error) {
    return refusalFrom(error);
  }
}

const DRAWN = new WeakMap<Element, string>();

/** Draws a chart into an element that does not hold it yet, once the library is loaded. */
export function chartInto(chart: Chart, width: number, height: number, onBrush: Parameters<Drawing>[3] = null) {
  return (element: Element | undefined): void => {
    const key = JSON.stringify([chart, width, height]);
    const loaded = library.peek();
    if (element === undefined || loaded === null || DRAWN.get(element) === key) return;
    DRAWN.set(element, key);
    element.replaceChildren(loaded.drawChart(chart, width, height, onBrush));
    element.querySelector("svg")?.setAttribute("aria-hidden", "true");
  };
}

function waitingView(set: Dataset, question: Question): TemplateResult {
  const { seconds } = estimateOf(set, question);
  const about = seconds < 90 ? `${Math.max(1, Math.round(seconds))} s` : `${Math.round(seconds / 60)} min`;
  return html`<p class="quiet">${question.call} over ${question.time === "all" ? `${set.times.length} frames` : "one frame"} of ${set.axes.map(({ nodes }) => nodes).join(" × ")} nodes</p>
    <button class="primary" @click=${() => confirm(keyOf(set, question))}>Compute (about ${about})</button>`;
}

function cardView(set: Dataset, kind: Kind, width: number, height: number): TemplateResult {
  if (isOfStage(kind))
    return html`<p class="quiet">A flow map is shown in the stage only: choose another quantity.</p>`;
  const requested = timesOf(set, kind).map((time) => [time, questionOf(set, kind, time)] as const);
  const waiting = requested.find(([, question]) => estimateOf(set, question).waits);
  if (waiting !== undefined) return waitingView(set, waiting[1]);
  const entries = requested.map(([time, question]) => {
    const key = keyOf(set, question);
    return [time, key, store.entry<Json>(key)] as const;
  });
  const failed = entries.find(([, , { error }]) => error !== null);
  const arrived = entries.flatMap(([time, , { answer }]) => (answer === null ? [] : [[time, answer] as const]));
  if (failed !== undefined)
    return html`<p class="error">${failed[2].error?.message} <button class="plain" @click=${() => store.retry(failed[1])}>Retry</button></p>`;
  // Curves of other times are labelled relative to the curve of the time shown, which comes first.
  if (entries[0][2].answer === null || library.value === null)
    return html`<p class="quiet" role="status">Computing</p>`;
  const content = contentOf(set, kind, arrived);
  if (content instanceof Refusal) return html`<p class="error">${content.message}</p>`;
  const canBrush = cardOf(kind).canBrush?.() ?? false;
  const what = whatOf();
  const onBrush = (range: readonly [number, number] | null) => {
    const [low, high] = (range ?? []).map((end, _, [a, b]) => tidy(end, (b - a) / 200, 4));
    change({ brush: range === null ? null : `${operand(what)} >= ${low} && ${operand(what)} <= ${high}` });
  };
  return html`<div class="card-head"><h2>${content.title}</h2></div>
    <div class="card" role="img" aria-label=${`${content.title}: ${content.chart.curves.map(({ label }) => label).join(", ")}`} ${ref(chartInto(content.chart, width, height, canBrush ? onBrush : null))}></div>
    <div class="rows">${content.rows.map(([name, value]) => html`<span class="quiet">${name}</span><span>${value}</span>`)}</div>`;
}

function options(set: Dataset, now: Kind): TemplateResult {
  return html`<div class="chips">
    ${cardOf(now).options?.(set) ?? nothing}
    <button @click=${setting(inStage, inStage.value === now ? null : now)}>${inStage.value === now ? "Close" : "Fill the stage"}</button></div>`;
}

const kindsOf = (set: Dataset): Kind[] => Object.keys(STATISTICS).filter((kind) => isOffered(set, kind));

const chosenKind = (set: Dataset): Kind =>
  isOffered(set, statisticsKind.value) ? statisticsKind.value : kindsOf(set)[0];

const kindChips = (label: string, kinds: readonly Kind[], chosen: { value: Kind }) =>
  oneOf(label, Object.fromEntries(kinds.map((kind) => [kind, cardOf(kind).name])), chosen.value, into(chosen));

export function pointCard(set: Dataset): TemplateResult {
  const kinds = Object.keys(AT_POINT).filter((kind) => isOffered(set, kind));
  const now = kinds.includes(crosshairKind.value) ? crosshairKind.value : (kinds[0] as Kind);
  return html`<section>${kindChips("Through the crosshair", kinds, crosshairKind)}</section>
    <section>${inStage.value === now ? html`<p class="quiet">In the stage</p>` : cardView(set, now, 308, 200)}</section>
    ${options(set, now)}`;
}

export function statisticsPanel(set: Dataset): TemplateResult {
  const offered = quantitiesOf(set);
  const kinds = kindsOf(set);
  const now = chosenKind(set);
  const question = questionOf(set, now, timesOf(set, now)[0]);
  const { isOfFixedQuantity, isOfOneTime } = cardOf(now);
  return html`
    ${
      !isOfFixedQuantity
        ? html`<section>${textField(
            "Quantity of statistics",
            whatOf(),
            (text) => into(chosenQuantity)(text === rested.peek().what ? null : text),
            "quantities",
          )}<datalist id="quantities">${offered.map(({ what, title }) => html`<option value=${what}>${title}</option>`)}</datalist></section>`
        : nothing
    }
    ${kindChips("Statistics", kinds, statisticsKind)}
    <section>${inStage.value === now ? html`<p class="quiet">In the stage</p>` : cardView(set, now, 308, 240)}</section>
    ${options(set, now)}
    ${isOfOneTime ? nothing : timesView(set)}
    <section><h2>Reproduce</h2><div class="chips">
      <button @click=${() => openShare(titled(set, cardOf(now).name, timesOf(set, now)[0], question))}>Code</button>
      <a href=${rootOf() + addressOf(question)} target="_blank" rel="noreferrer">JSON</a>
      <a href=${rootOf() + addressOf({ ...question, format: "csv" })} download>CSV</a></div></section>`;
}

const timesView = (set: Dataset) =>
  html`<section><h2>Curves of other times</h2><div class="chips" role="group" aria-label="Times">${set.times
    .filter((_, i) => i % Math.ceil(set.times.length / 9) === 0)
    .map((time) => {
      const isOn = moreTimes.value.includes(time);
      const next = isOn ? moreTimes.value.filter((one) => one !== time) : [...moreTimes.value, time];
      return html`<button aria-pressed=${isOn ? "true" : "false"} @click=${setting(moreTimes, next)}>${timeText(set, time)}</button>`;
    })}</div></section>`;

/** The chart of the card that fills the stage, for figures; null without one, and until its answers have arrived. */
export function chartInStage(
  set: Dataset,
): { readonly title: string; draw(width: number, height: number): Element } | null {
  const kind = inStage.value;
  const loaded = library.value;
  if (kind === null || loaded === null) return null;
  const answers = timesOf(set, kind).flatMap((time) => {
    const { answer } = store.entry<Json>(keyOf(set, questionOf(set, kind, time)));
    return answer === null ? [] : [[time, answer] as const];
  });
  if (answers.length === 0) return null;
  const content = contentOf(set, kind, answers);
  if (content instanceof Refusal) return null;
  const { chart, title } = content;
  return { title, draw: (width, height) => loaded.drawChart(chart, width, height) };
}

export function cardInStage(set: Dataset | null, width: number, height: number): TemplateResult | typeof nothing {
  const kind = inStage.value;
  if (kind === null || set === null || view.value.what === null || !isOffered(set, kind)) return nothing;
  return html`<div class="card-full">${cardView(set, kind, width - 48, height - 180)}<div class="chips"><button class="plain" @click=${setting(inStage, null)}>Close</button></div></div>`;
}
