/** Ride: the views follow a particle through time, next to the chart of a quantity along its path. */
import { effect } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit-html";
import { ref } from "lit-html/directives/ref.js";
import { chartInto, library, loadCharts } from "./cards.js";
import { choice, setting } from "./controls.js";
import { isBackwards } from "./dye.js";
import { keyOf, wantedAnswer } from "./state/answers.js";
import type { Question, Rows } from "./state/ask.js";
import { centreAt, type Dataset, hasVelocity, nearest, placeIn, shortestOf, timeText } from "./state/dataset.js";
import { columnOf, durationOf } from "./state/flow-map.js";
import { ONE_NUMBER_ONLY } from "./state/format.js";
import { quantityOf } from "./state/quantities.js";
import { valueText } from "./state/ranges.js";
import { store } from "./state/shown.js";
import { change, cross, dataset, view } from "./state/view.js";
import { setWants } from "./state/wants.js";

const [BETWEEN, MAX_RECORDS] = [10, 4000];
/** The quantity along the path: the one shown, or the speed, since no path has flow maps. */
const quantity = () => columnOf(durationOf(view.value.what ?? "") === null ? (view.value.what ?? "") : "norm(u)");
const mounted = choice<{ readonly at: readonly number[]; readonly time: number } | null>(null);

function questionsOf(set: Dataset): Question[] {
  const one = mounted.value;
  if (one === null) return [];
  const [first, last] = [set.times[0], set.times.at(-1) as number];
  const step = Number(Math.max(shortestOf(set.times) / BETWEEN, (last - first) / MAX_RECORDS).toPrecision(6));
  return [last, first]
    .filter((end) => Math.abs(end - one.time) > 1e-9 * (last - first))
    .map((end) => ({
      ...{ dataset: set.name, call: "paths", what: `${quantity()}, ride = u`, points: [one.at] },
      ...{ time: `${one.time}:${end}`, step, every: 1, open_faces: "stop", integrator: "dopri5" },
      method: view.value.method,
    }));
}

effect(() => {
  const set = dataset.value;
  const questions = set === null ? [] : questionsOf(set);
  if (questions.length > 0) loadCharts();
  const title = (question: Question) => `Particle that is ridden${isBackwards(question) ? ", backwards" : ""}`;
  setWants("ride", set === null ? [] : questions.map((question) => wantedAnswer(set, title(question), question, 8)));
});

/** The path in order of time: t, x, y, z, the quantity, and the velocity. */
function pathOf(set: Dataset): readonly (readonly number[])[] {
  const rows = questionsOf(set).flatMap((question) => store.entry<Rows>(keyOf(set, question)).answer?.rows ?? []);
  return (
    rows
      // Records after an exit or before a hole have a place and no velocity.
      .filter((row) => row[2] !== null && !row.slice(-3).includes(null))
      .map((row) => [...row.slice(1, 5), ...row.slice(-4)].map((one) => one ?? Number.NaN))
      .toSorted(([a], [b]) => a - b)
  );
}

/** The position on a path at a time, cubic between records by their velocities; null beyond its ends. */
export function placeAt(path: readonly (readonly number[])[], time: number): number[] | null {
  const slack = path.length === 0 ? 0 : 1e-6 * ((path.at(-1) as readonly number[])[0] - path[0][0]);
  const next = path.findIndex(([t]) => t >= time - slack / 1000);
  if (next < 0 || (next === 0 && path[0][0] > time + slack)) return null;
  const [a, b] = [path[Math.max(0, next - 1)], path[next]];
  const step = b[0] - a[0];
  const part = step > 0 ? Math.min(1, Math.max(0, (time - a[0]) / step)) : 1;
  return [1, 2, 3].map((i) => {
    const [rise, from, to] = [b[i] - a[i], step * a[i + 4], step * b[i + 4]];
    return a[i] + part * (from + part * (3 * rise - 2 * from - to + part * (from + to - 2 * rise)));
  });
}

effect(() => {
  const set = dataset.value;
  const { time } = view.value;
  if (set === null || time === null || mounted.value === null) return;
  const path = pathOf(set);
  const isWhole = questionsOf(set).every((question) => store.entry<Rows>(keyOf(set, question)).answer !== null);
  const [[first] = [time], [last] = [time]] = [path[0], path.at(-1)];
  // At times beyond the ends of its path a particle is at the nearer end, whichever time was shown before.
  const place = placeAt(path, isWhole ? Math.min(last, Math.max(first, time)) : time);
  if (place === null) return;
  const at = placeIn(set, place);
  if (String(cross.peek()) === String(at)) return;
  queueMicrotask(() => change({ cross: at, centre: centreAt(set, at) }, null));
});

function stripOf(set: Dataset, isPending: boolean): TemplateResult {
  const path = pathOf(set);
  if (library.value === null || isPending) return html`<p class="quiet" role="status">Following the particle</p>`;
  if (path.length === 0) return html`<p class="error">The particle cannot be followed: values are missing here.</p>`;
  const [what, { time }] = [quantity(), view.value];
  if (placeAt(path, time ?? 0) === null)
    return html`<p class="error">The particle is followed from t = ${timeText(set, path[0][0])} to ${timeText(set, (path.at(-1) as readonly number[])[0])} only: there it has left, or values are missing.</p>`;
  const { symbol } = quantityOf(what);
  const points = path.map((row): [number, number] => [row[0], row[4]]);
  const chart = { x: { label: "t" }, y: { label: symbol }, curves: [{ label: symbol, points }], mark: time ?? 0 };
  const times = path.map(([t]) => t);
  const now = path[nearest(times, time ?? 0)];
  return html`<div class="card" role="img" aria-label=${`${symbol} along the path of the particle`} ${ref(chartInto(chart, 308, 150))}></div>
    <div class="rows"><span class="quiet">${symbol} at t = ${timeText(set, now[0])}</span><span>${valueText({ dataset: set, what, time: now[0], method: "" }, now[4])}</span></div>`;
}

export function ridePart(set: Dataset): TemplateResult | typeof nothing {
  if (!hasVelocity(set) || set.times.length < 2) return nothing;
  const isOn = mounted.value !== null;
  const entries = questionsOf(set).map((question) => store.entry<Rows>(keyOf(set, question)));
  const isVector = entries.some(({ answer }) => (answer?.columns.length ?? 0) > 11);
  const failed = isVector ? { message: ONE_NUMBER_ONLY } : entries.find(({ error }) => error !== null)?.error;
  const isPending = entries.some(({ answer, error }) => answer === null && error === null);
  return html`<section><h2>Ride</h2><div class="chips">
      <button aria-pressed=${isOn ? "true" : "false"} @click=${setting(mounted, isOn ? null : { at: cross.value, time: view.value.time ?? set.times[0] })}>${isOn ? "Get off" : "Ride the particle at the crosshair"}</button></div>
    ${failed == null ? nothing : html`<p class="error">${failed.message}</p>`}
    ${
      isOn
        ? isVector || (failed != null && pathOf(set).length === 0)
          ? nothing
          : stripOf(set, isPending)
        : html`<p class="quiet">Play or move time: every view stays with the particle.</p>`
    }</section>`;
}
