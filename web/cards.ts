/** Statistics as cards: what each asks, and the chart that it makes of the answer. */
import { computed, signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit-html";
import { ref } from "lit-html/directives/ref.js";
import { around } from "./cards/around.js";
import { budget } from "./cards/budget.js";
import { type CardKind, type Facts, type Json, resultsOf } from "./cards/card.js";
import { conditional } from "./cards/conditional.js";
import { correlation } from "./cards/correlation.js";
import { line, series } from "./cards/series.js";
import { structures } from "./cards/structures.js";
import type { Curve } from "./chart.js";
import { openShare } from "./export/share.js";
import { confirm, estimateOf, keyOf, wantedAnswer } from "./state/answers.js";
import { addressOf, type Question, rootOf, type Wanted } from "./state/ask.js";
import { type Dataset, hasVelocity } from "./state/dataset.js";
import { plainNumber, shortNumber } from "./state/format.js";
import { change, frameOf, furtherWants, rested, store, view } from "./state/model.js";
import { quantitiesOf, quantityOf } from "./state/quantities.js";

/** Kinds of cards. */
const KINDS = {
  pdf: "PDF",
  spectrum: "Spectrum",
  structure: "Structure functions",
  profile: "Profile",
  qr: "Q–R",
} as const;
/** Kinds with a file of their own: those of Statistics, and those of Point, at the crosshair. */
const MORE: Readonly<Record<string, CardKind>> = { correlation, conditional, around, structures, budget };
const AT_POINT: Readonly<Record<string, CardKind>> = { series, line };
const moreOf = (one: Kind): CardKind | undefined => MORE[one] ?? AT_POINT[one];
type Kind = string;

const kind = signal<Kind>("pdf");
const pointKind = signal<Kind>("series");
/** The quantity of statistics; null is the one shown. */
const own = signal<string | null>(null);
const isLog = signal(true);
const isNormal = signal(false);
const isCompensated = signal(false);
/** Other times with a curve of their own. */
const moreTimes = signal<readonly number[]>([]);
/** The card that fills the stage. */
const big = signal<Kind | null>(null);
export const isBig = computed(() => big.value !== null);
const library = signal<typeof import("./chart.js") | null>(null);

/** Shows a kind of card in its tab. */
export function chooseCard(name: string): void {
  const found = [...Object.entries(KINDS), ...Object.entries(MORE).map(([key, one]) => [key, one.name] as const)];
  kind.value = found.find(([, own]) => own === name)?.[0] ?? kind.peek();
}
/** Names of the cards of Statistics. */
export const cardNames = (set: Dataset): string[] => kindsOf(set).map(nameOfKind);

const BINS = 160;

function whatOf(): string {
  return own.value ?? rested.value.what ?? "";
}

/** The axis along which profiles go: across walls, else y. */
const profileAxis = ({ axes }: Dataset) => axes.find(({ periodic }) => !periodic) ?? axes[1];

const isAtPoint = (of: Kind) => Object.hasOwn(AT_POINT, of);
const nameOfKind = (of: Kind): string => moreOf(of)?.name ?? KINDS[of as keyof typeof KINDS];
/** The quantity of a card: those of Point are of the quantity shown. */
const quantityFor = (of: Kind): string => (isAtPoint(of) ? (rested.value.what ?? "") : whatOf());

/** The question of a card at a time. */
function questionOf(set: Dataset, of: Kind, time: number): Question {
  const more = moreOf(of);
  if (more !== undefined) return more.question(set, quantityFor(of), time);
  const what = whatOf();
  const common = { dataset: set.name, time };
  switch (of) {
    case "pdf":
      return {
        ...common,
        call: "statistics",
        reduce: [
          { histogram: what, bins: BINS, range: "auto" },
          { moments: what, order: 4 },
        ],
      };
    case "spectrum":
      return { ...common, call: "spectrum" };
    case "structure":
      return { ...common, call: "structure_functions", orders: [2, 3] };
    case "profile": {
      const others = set.axes.filter((axis) => axis !== profileAxis(set)).map(({ name }) => name);
      return { ...common, call: "statistics", what: [what], over: others };
    }
    default:
      return {
        ...common,
        call: "statistics",
        reduce: [
          { moments: "Q", order: 2 },
          { joint: ["R", "Q"], bins: [120, 120], range: "auto" },
        ],
      };
  }
}

/** The name of a card's question, with its time if it is of one. */
const titleOf = (of: Kind, time: number, { time: requested }: Question) =>
  requested === "all" ? nameOfKind(of) : `${nameOfKind(of)}, t = ${plainNumber(time)}`;

/** Times of the curves of a card: the one shown first. */
function timesOf(set: Dataset, of: Kind): number[] {
  const time = set.times[frameOf(rested.value.time, set)];
  return [time, ...(moreOf(of)?.hasTimes === false ? [] : moreTimes.value.filter((one) => one !== time))];
}

/** States what the cards want that a tab, or the stage, shows. */
export function wantCards(set: Dataset | null, tab: string): void {
  const before = furtherWants.peek();
  const chosen = set === null ? kind.value : chosenKind(set);
  const shown = [...(tab === "Statistics" ? [chosen] : tab === "Point" ? [pointKind.value] : []), big.value];
  const kinds = [...new Set(shown.filter((one) => one !== null))].filter((one) => set !== null && hasKind(set, one));
  if (set === null || view.value.what === null || kinds.length === 0) {
    if (before.has("cards")) furtherWants.value = new Map([...before].filter(([name]) => name !== "cards"));
    return;
  }
  if (library.peek() === null)
    void import("./chart.js").then((loaded) => {
      library.value = loaded;
    });
  const wants = kinds.flatMap((of) =>
    timesOf(set, of).flatMap((time): Wanted<Json>[] => {
      const question = questionOf(set, of, time);
      return estimateOf(set, question).waits
        ? []
        : [wantedAnswer<Json>(set, titleOf(of, time, question), question, 12)];
    }),
  );
  const key = wants.map((one) => one.key).join();
  if ((before.get("cards") ?? []).map((one) => one.key).join() !== key)
    furtherWants.value = new Map(before).set("cards", wants);
}

interface Histogram {
  readonly edges: readonly number[];
  readonly weights: readonly number[];
  readonly weight: number;
}
interface Moments {
  readonly mean: number;
  readonly variance: number;
  readonly skewness: number;
  readonly flatness: number;
}
function pdfOf(answers: readonly (readonly [number, Json])[]): Facts {
  const what = whatOf();
  const { symbol } = quantityOf(what);
  const curves: Curve[] = [];
  const [first] = answers;
  const moments = resultsOf(first[1])[1] as Moments;
  for (const [time, answer] of answers) {
    const { edges, weights, weight } = resultsOf(answer)[0] as Histogram;
    const { mean, variance } = resultsOf(answer)[1] as Moments;
    const [shift, size] = isNormal.value ? [mean, Math.sqrt(variance)] : [0, 1];
    const points = weights.map((one, i): [number, number] => [
      ((edges[i] + edges[i + 1]) / 2 - shift) / size,
      (one * size) / (weight * (edges[i + 1] - edges[i])),
    ]);
    curves.push({ label: answers.length > 1 ? `t ${plainNumber(time)}` : symbol, points });
  }
  const { mean, variance } = moments;
  const size = Math.sqrt(variance);
  const [centre, wide] = isNormal.value ? [0, 1] : [mean, size];
  const all = curves.flatMap(({ points }) => points.filter(([, y]) => y > 0));
  const ys = all.map(([, y]) => y);
  const [low, high] = [Math.min(...ys), Math.max(...ys)];
  const xs = all.map(([x]) => x);
  const gauss = Array.from({ length: 121 }, (_, i): [number, number] => {
    const x = centre + ((i - 60) / 60) * 5 * wide;
    return [x, Math.exp(-(((x - centre) / wide) ** 2) / 2) / (wide * Math.sqrt(2 * Math.PI))];
  }).filter(([x, y]) => y >= low && x >= Math.min(...xs) && x <= Math.max(...xs));
  curves.push({ label: "Gaussian", points: gauss, isDashed: true });
  const brush = brushOf(what);
  return {
    title: `Probability density, all nodes, t = ${plainNumber(first[0])}`,
    chart: {
      x: { label: isNormal.value ? `(${symbol} − mean) / σ` : symbol },
      y: { label: "density", isLog: isLog.value, domain: isLog.value ? [low * 0.7, high * 1.6] : [0, high * 1.08] },
      curves,
      ...(brush === null || isNormal.value ? {} : { brush }),
    },
    rows: [
      ["Mean", shortNumber(Math.abs(mean) < 1e-9 * size ? 0 : mean)],
      ["Standard deviation", shortNumber(size)],
      ["Skewness", shortNumber(moments.skewness)],
      ["Flatness", shortNumber(moments.flatness)],
      ...(brush === null
        ? []
        : [
            [
              "Brushed",
              `${shortNumber(100 * insideOf(resultsOf(first[1])[0] as Histogram, brush), 2)} % of the volume`,
            ] as const,
          ]),
    ],
  };
}

/** The part of a histogram within a range. */
function insideOf({ edges, weights, weight }: Histogram, [low, high]: readonly [number, number]): number {
  let sum = 0;
  for (const [i, one] of weights.entries()) {
    const part = Math.min(edges[i + 1], high) - Math.max(edges[i], low);
    if (part > 0) sum += (one * part) / (edges[i + 1] - edges[i]);
  }
  return sum / weight;
}

function brushOf(what: string): readonly [number, number] | null {
  const { brush } = view.value;
  const found = /^(.+?) >= (-?[\d.e+-]+) && .+ <= (-?[\d.e+-]+)$/.exec(brush ?? "");
  return found === null || found[1] !== what ? null : [Number(found[2]), Number(found[3])];
}

function spectrumOf(set: Dataset, answers: readonly (readonly [number, Json])[]): Facts {
  const [[time, first]] = answers;
  const scales = (first.scales ?? {}) as Readonly<Record<string, number>>;
  const curves = answers.map(([at, answer], n): Curve => {
    const k = answer.k as readonly number[];
    const e = answer.E as readonly number[];
    const dissipation = ((answer.scales ?? {}) as Readonly<Record<string, number>>).dissipation;
    const factor = (one: number) => (isCompensated.value ? one ** (5 / 3) / (dissipation ** (2 / 3) || 1) : 1);
    return {
      label: answers.length > 1 ? `t ${plainNumber(at)}` : isCompensated.value ? "compensated by 5/3" : "E(k)",
      points: k
        .map((one, i): [number, number] => [one, e[i] * factor(one)])
        .filter(([one, y]) => one > 0 && y > 1e-9 && n >= 0),
    };
  });
  const [start] = curves[0].points;
  if (start !== undefined && !isCompensated.value) {
    const at = curves[0].points[Math.min(2, curves[0].points.length - 1)];
    curves.push({
      label: "slope −5/3",
      isDashed: true,
      points: [2, 4, 8, 16].map((k): [number, number] => [k, 2.2 * at[1] * (k / at[0]) ** (-5 / 3)]),
    });
  }
  const row = (name: string, key: string): readonly [string, string][] =>
    scales[key] === undefined ? [] : [[name, shortNumber(scales[key])]];
  return {
    title: `Energy spectrum, t = ${plainNumber(time)}`,
    chart: {
      x: { label: "wavenumber k", isLog: true },
      y: { label: isCompensated.value ? "compensated" : "E(k)", isLog: true },
      curves,
    },
    rows: [
      ...row("Kinetic energy", "energy"),
      ...row("rms velocity", "rms"),
      ...row("Dissipation ε", "dissipation"),
      ...row("Kolmogorov length η", "kolmogorov"),
      ...row("Taylor length λ", "taylor"),
      ...row("Integral length", "integral"),
      ...row("Re_λ", "Re_lambda"),
      ...row("k_max η", "resolution"),
      ...(set.viscosity === null ? [["Viscosity", "not stated"] as const] : []),
    ],
  };
}

interface Separation {
  readonly axis: string;
  readonly length: number;
  readonly longitudinal: Readonly<Record<string, number>>;
  readonly transverse: Readonly<Record<string, number>>;
}

function structureOf(answers: readonly (readonly [number, Json])[]): Facts {
  const curves: Curve[] = [];
  for (const [time, answer] of answers) {
    const all = answer.separations as readonly Separation[];
    const lengths = [...new Set(all.map(({ length }) => length))].sort((a, b) => a - b);
    const mean = (r: number, read: (one: Separation) => number) => {
      const some = all
        .filter(({ length }) => length === r)
        .map(read)
        .filter(Number.isFinite);
      return some.reduce((sum, one) => sum + one, 0) / some.length;
    };
    const suffix = answers.length > 1 ? `, t ${plainNumber(time)}` : "";
    curves.push(
      {
        label: `S₂ longitudinal${suffix}`,
        points: lengths.map((r): [number, number] => [r, mean(r, ({ longitudinal }) => longitudinal["2"])]),
      },
      {
        label: `S₂ transverse${suffix}`,
        points: lengths.map((r): [number, number] => [r, mean(r, ({ transverse }) => transverse["2"])]),
      },
      {
        label: `−S₃${suffix}`,
        points: lengths.map((r): [number, number] => [r, -mean(r, ({ longitudinal }) => longitudinal["3"])]),
      },
    );
  }
  return {
    title: `Structure functions, mean of axes, t = ${plainNumber(answers[0][0])}`,
    chart: { x: { label: "separation r", isLog: true }, y: { label: "moments of increments", isLog: true }, curves },
    rows: [],
  };
}

function profileOf(set: Dataset, answers: readonly (readonly [number, Json])[]): Facts {
  const axis = profileAxis(set);
  const { symbol } = quantityOf(whatOf());
  const curves = answers.map(([time, answer]): Curve => {
    const result = resultsOf(answer)[0] as {
      readonly coordinates: Readonly<Record<string, readonly number[]>>;
      readonly mean: readonly number[];
    };
    const along = result.coordinates[axis.name] ?? [];
    return {
      label: answers.length > 1 ? `t ${plainNumber(time)}` : symbol,
      points: along.map((one, i): [number, number] => [one, result.mean[i]]),
    };
  });
  const { points } = curves[0];
  const rows: (readonly [string, string])[] = [];
  const isWall = axis.faces?.[0] === "wall" && set.viscosity !== null && whatOf() === "u.x";
  if (isWall && set.viscosity !== null && points.length > 2) {
    const slope = (a: readonly [number, number], b: readonly [number, number]) =>
      Math.abs((b[1] - a[1]) / (b[0] - a[0]));
    const shear = set.viscosity * slope(points[0], points[1]);
    const friction = Math.sqrt(shear);
    rows.push(
      ["Friction velocity u_τ", shortNumber(friction)],
      ["Re_τ", shortNumber((friction * axis.length) / 2 / set.viscosity)],
    );
    if (isNormal.value) {
      const half = points.slice(1, Math.ceil(points.length / 2));
      const plus = half.map(([y, u]): [number, number] => [
        ((y - axis.first) * friction) / (set.viscosity ?? 1),
        u / friction,
      ]);
      const most = plus.at(-1)?.[0] ?? 100;
      const wall = [0.3, 1, 2, 4, 8, 11].map((y): [number, number] => [y, y]);
      const law = [8, 15, 30, 60, most]
        .filter((y) => y <= most)
        .map((y): [number, number] => [y, Math.log(y) / 0.41 + 5.2]);
      return {
        title: `Mean velocity in wall units, t = ${plainNumber(answers[0][0])}`,
        chart: {
          x: { label: "y⁺", isLog: true },
          y: { label: "u⁺" },
          curves: [
            { label: "u⁺", points: plus },
            { label: "u⁺ = y⁺", points: wall, isDashed: true },
            { label: "ln y⁺ / 0.41 + 5.2", points: law, isDashed: true },
          ],
        },
        rows,
      };
    }
  }
  return {
    title: `Profile of ${symbol} along ${axis.name}, t = ${plainNumber(answers[0][0])}`,
    chart: { x: { label: axis.name }, y: { label: symbol }, curves, zero: true },
    rows,
  };
}

function jointOf([time, answer]: readonly [number, Json]): Facts {
  const [moments, joint] = resultsOf(answer) as [Moments, { edges: [number[], number[]]; counts: number[][] }];
  const [ex, ey] = joint.edges;
  const size = Math.sqrt(moments.variance);
  // Most nodes are near zero: the middle of the table is shown, its tails are cut.
  const [low, high] = [-6 * size, 12 * size];
  const rows = ey
    .slice(0, -1)
    .map((one, j) => [one, j] as const)
    .filter(([one]) => one >= low && one <= high)
    .map(([, j]) => j);
  const wide = 6 * size ** 1.5;
  const columns = ex
    .slice(0, -1)
    .map((one, i) => [one, i] as const)
    .filter(([one]) => Math.abs(one) <= wide * 4)
    .map(([, i]) => i);
  const values = rows.flatMap((j) =>
    columns.map((i) => (joint.counts[i][j] > 0 ? Math.log10(joint.counts[i][j]) : Number.NaN)),
  );
  const x = [...columns.map((i) => ex[i]), ex[(columns.at(-1) ?? 0) + 1]];
  const y = [...rows.map((j) => ey[j]), ey[(rows.at(-1) ?? 0) + 1]];
  const line = Array.from({ length: 81 }, (_, i): [number, number] => {
    const q = -((i - 40) ** 2 / 1600) * Math.min(-low, -y[0] || 1);
    return [Math.sign(i - 40) * Math.sqrt((4 / 27) * -(q ** 3)), q];
  });
  return {
    title: `Joint density of R and Q, log of counts, t = ${plainNumber(time)}`,
    chart: {
      x: { label: "R", domain: [x[0], x.at(-1) as number] },
      y: { label: "Q", domain: [y[0], y.at(-1) as number] },
      curves: [
        {
          label: "27R² + 4Q³ = 0",
          points: line.filter(([r]) => r >= x[0] && r <= (x.at(-1) as number)),
          isDashed: true,
        },
      ],
      joint: { nx: columns.length, ny: rows.length, x, y, values },
    },
    rows: [["Standard deviation of Q", shortNumber(size)]],
  };
}

function factsOf(set: Dataset, of: Kind, answers: readonly (readonly [number, Json])[]): Facts {
  const more = moreOf(of);
  if (more !== undefined) return more.facts(set, quantityFor(of), answers);
  switch (of) {
    case "pdf":
      return pdfOf(answers);
    case "spectrum":
      return spectrumOf(set, answers);
    case "structure":
      return structureOf(answers);
    case "profile":
      return profileOf(set, answers);
    default:
      return jointOf(answers[0]);
  }
}

const DRAWN = new WeakMap<Element, string>();

/** A question too large to be asked at once, with what it would take. */
function waitingView(set: Dataset, question: Question): TemplateResult {
  const { seconds } = estimateOf(set, question);
  const about = seconds < 90 ? `${Math.max(1, Math.round(seconds))} s` : `${Math.round(seconds / 60)} min`;
  return html`<p class="quiet">${question.call} over ${question.time === "all" ? `${set.times.length} frames` : "one frame"} of ${set.axes.map(({ nodes }) => nodes).join(" × ")} nodes</p>
    <button class="primary" @click=${() => confirm(keyOf(set, question))}>Compute (about ${about})</button>`;
}

function cardView(set: Dataset, of: Kind, width: number, height: number): TemplateResult {
  const requested = timesOf(set, of).map((time) => [time, questionOf(set, of, time)] as const);
  const waiting = requested.find(([, question]) => estimateOf(set, question).waits);
  if (waiting !== undefined) return waitingView(set, waiting[1]);
  const entries = requested.map(([time, question]) => {
    const key = keyOf(set, question);
    return [time, key, store.entry<Json>(key)] as const;
  });
  const failed = entries.find(([, , { error }]) => error !== null);
  const there = entries.flatMap(([time, , { answer }]) => (answer === null ? [] : [[time, answer] as const]));
  if (failed !== undefined)
    return html`<p class="error">${failed[2].error?.message} <button class="plain" @click=${() => store.retry(failed[1])}>Retry</button></p>`;
  const loaded = library.value;
  // Curves of other times are labelled against that of the time shown, which comes first.
  if (entries[0][2].answer === null || loaded === null) return html`<p class="quiet" role="status">Computing</p>`;
  const facts = factsOf(set, of, there);
  const canBrush = of === "pdf" && !isNormal.value;
  const draw = (element: Element | undefined) => {
    if (!(element instanceof HTMLElement)) return;
    const key = JSON.stringify([facts.chart, width, height]);
    if (DRAWN.get(element) === key) return;
    DRAWN.set(element, key);
    const what = whatOf();
    const onBrush = (range: readonly [number, number] | null) =>
      change({
        brush:
          range === null
            ? null
            : `${what} >= ${Number(range[0].toPrecision(4))} && ${what} <= ${Number(range[1].toPrecision(4))}`,
      });
    element.replaceChildren(loaded.drawChart(facts.chart, width, height, canBrush ? onBrush : null));
    element.querySelector("svg")?.setAttribute("aria-hidden", "true");
  };
  return html`<div class="card-head"><h2>${facts.title}</h2></div>
    <div class="card" role="img" aria-label=${`${facts.title}: ${facts.chart.curves.map(({ label }) => label).join(", ")}`} ${ref(draw)}></div>
    <div class="rows">${facts.rows.map(([name, value]) => html`<span class="quiet">${name}</span><span>${value}</span>`)}</div>`;
}

const toggle = (label: string, on: { value: boolean }) =>
  html`<button aria-pressed=${on.value ? "true" : "false"} @click=${() => {
    on.value = !on.value;
  }}>${label}</button>`;

/** Choices of a card. */
function options(set: Dataset, now: Kind): TemplateResult {
  const isWall = now === "profile" && profileAxis(set).faces?.[0] === "wall";
  return html`<div class="chips">
    ${now === "pdf" ? html`${toggle("Log", isLog)}${toggle("By rms", isNormal)}` : nothing}
    ${now === "spectrum" ? toggle("Compensated", isCompensated) : nothing}
    ${isWall ? toggle("Wall units", isNormal) : nothing}
    ${moreOf(now)?.options?.(set) ?? nothing}
    ${view.value.brush !== null && now === "pdf" ? html`<button @click=${() => change({ brush: null })}>No brush</button>` : nothing}
    <button @click=${() => {
      big.value = big.peek() === now ? null : now;
    }}>${big.value === now ? "Close" : "Fill the stage"}</button></div>`;
}

/** Whether a dataset has what a kind of card needs. */
function hasKind(set: Dataset, of: Kind): boolean {
  return moreOf(of)?.has(set) ?? (hasVelocity(set) || of === "pdf" || of === "profile");
}
const kindsOf = (set: Dataset): Kind[] =>
  [...Object.keys(KINDS), ...Object.keys(MORE)].filter((of) => hasKind(set, of));

/** The kind that was chosen, or the first that the dataset has. */
const chosenKind = (set: Dataset): Kind => (hasKind(set, kind.value) ? kind.value : kindsOf(set)[0]);

/** Buttons that choose a kind. */
const kindChips = (label: string, kinds: readonly Kind[], chosen: { value: Kind }) =>
  html`<div class="chips" role="group" aria-label=${label}>${kinds.map(
    (one) =>
      html`<button aria-pressed=${chosen.value === one ? "true" : "false"} @click=${() => {
        chosen.value = one;
      }}>${nameOfKind(one)}</button>`,
  )}</div>`;

/** The card at the crosshair: a series, or values along a line. */
export function pointCard(set: Dataset): TemplateResult {
  const kinds = Object.keys(AT_POINT).filter((of) => hasKind(set, of));
  const now = kinds.includes(pointKind.value) ? pointKind.value : (kinds[0] as Kind);
  return html`<section>${kindChips("Through the crosshair", kinds, pointKind)}</section>
    <section>${big.value === now ? html`<p class="quiet">In the stage</p>` : cardView(set, now, 308, 200)}</section>
    ${options(set, now)}`;
}

export function statisticsPanel(set: Dataset): TemplateResult {
  const offered = quantitiesOf(set);
  const kinds = kindsOf(set);
  const now = chosenKind(set);
  const question = questionOf(set, now, timesOf(set, now)[0]);
  const hasQuantity = moreOf(now)?.hasQuantity ?? (now === "pdf" || now === "profile");
  const hasTimes = moreOf(now)?.hasTimes ?? true;
  return html`
    ${
      hasQuantity
        ? html`<section><input class="wide" type="text" list="quantities" spellcheck="false" aria-label="Quantity of statistics" .value=${whatOf()} @change=${(
            event: Event,
          ) => {
            const text = (event.target as HTMLInputElement).value.trim();
            own.value = text === "" || text === rested.peek().what ? null : text;
          }} /><datalist id="quantities">${offered.map(({ what, title }) => html`<option value=${what}>${title}</option>`)}</datalist></section>`
        : nothing
    }
    ${kindChips("Statistics", kinds, kind)}
    <section>${big.value === now ? html`<p class="quiet">In the stage</p>` : cardView(set, now, 308, 240)}</section>
    ${options(set, now)}
    ${hasTimes ? timesView(set) : nothing}
    <section><h2>Reproduce</h2><div class="chips">
      <button @click=${() => openShare(titleOf(now, timesOf(set, now)[0], question))}>Code</button>
      <a href=${rootOf() + addressOf(question)} target="_blank" rel="noreferrer">JSON</a>
      <a href=${rootOf() + addressOf({ ...question, format: "csv" })} download>CSV</a></div></section>`;
}

const timesView = (set: Dataset) =>
  html`<section><h2>Curves of other times</h2><div class="chips" role="group" aria-label="Times">${set.times
    .filter((_, i) => i % Math.ceil(set.times.length / 9) === 0)
    .map((time) => {
      const isOn = moreTimes.value.includes(time);
      return html`<button aria-pressed=${isOn ? "true" : "false"} @click=${() => {
        moreTimes.value = isOn ? moreTimes.peek().filter((one) => one !== time) : [...moreTimes.peek(), time];
      }}>${plainNumber(time)}</button>`;
    })}</div></section>`;

/** What the card that fills the stage shows, and what draws it; null if none does, or it is not there yet. */
export function chartInStage(
  set: Dataset,
): { readonly title: string; draw(width: number, height: number): Element } | null {
  const of = big.value;
  const loaded = library.value;
  if (of === null || loaded === null) return null;
  const answers = timesOf(set, of).flatMap((time) => {
    const { answer } = store.entry<Json>(keyOf(set, questionOf(set, of, time)));
    return answer === null ? [] : [[time, answer] as const];
  });
  if (answers.length === 0) return null;
  const { chart, title } = factsOf(set, of, answers);
  return { title, draw: (width, height) => loaded.drawChart(chart, width, height) };
}

/** A card that fills the stage. */
export function cardInStage(set: Dataset | null, width: number, height: number): TemplateResult | typeof nothing {
  const of = big.value;
  if (of === null || set === null || view.value.what === null || !hasKind(set, of)) return nothing;
  return html`<div class="card-full">${cardView(set, of, width - 48, height - 180)}<div class="chips"><button class="plain" @click=${() => {
    big.value = null;
  }}>Close</button></div></div>`;
}
