/** Dye: tracers along a stroke in a plane, followed forwards and backwards, drawn as glowing trails. */
import { effect, untracked } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit-html";
import { guard } from "lit-html/directives/guard.js";
import { ref } from "lit-html/directives/ref.js";
import { choice, setting } from "./controls.js";
import { boxAbout, localIn, type Pane, pixelsAt } from "./draw/layout.js";
import { clipTo } from "./draw/overlay.js";
import { dyeTrails, isCalm, paneOf, panes, stageSize, stroke, swipe, tool } from "./stage-state.js";
import { keyOf, wantedAnswer } from "./state/answers.js";
import type { Question, Rows } from "./state/ask.js";
import { type Dataset, hasVelocity, nearestImage, roundedOn, timeText, type Vec3, wrapped } from "./state/dataset.js";
import { exactNumber } from "./state/format.js";
import { PLANE_AXES, pixel } from "./state/picture-plan.js";
import { store } from "./state/shown.js";
import { dataset, type Selection, selectionOf, view } from "./state/view.js";
import { setWants } from "./state/wants.js";

const TRACERS = 2000;
const RECORDS = 20;
/** A stroke of dye: its questions, and the dataset and time that it was drawn in. */
interface Pour {
  readonly of: Selection;
  readonly questions: readonly Question[];
}
const dye = choice<Pour | null>(null);

/** Start positions along a stroke: equally spaced, scattered about it by a golden sequence, so always the same. */
export function tracersOf(set: Dataset, places: readonly Vec3[], count: number, width: number): number[][] {
  const lengths = places.map((place, i) =>
    i === 0 ? 0 : Math.hypot(...place.map((one, a) => one - places[i - 1][a])),
  );
  const total = lengths.reduce((sum, one) => sum + one, 0);
  let [at, before] = [1, 0];
  return Array.from({ length: count }, (_, i) => {
    const along = ((i + 0.5) / count) * total;
    while (at < places.length - 1 && before + lengths[at] < along) before += lengths[at++];
    const part = lengths[at] > 0 ? (along - before) / lengths[at] : 0;
    return places[at].map((one, a) => {
      const scatter = ((i * [0.618034, 0.754878, 0.56984][a]) % 1) - 0.5;
      const place = places[at - 1][a] + part * (one - places[at - 1][a]) + width * scatter;
      return roundedOn(set.axes[a], wrapped(set.axes[a], place));
    });
  });
}

function questionsOf({ dataset: set, time: now }: Selection, places: readonly Vec3[]): Question[] {
  const [first, last] = [set.times[0], set.times.at(-1) as number];
  const far = (last - first) / 4;
  const width = 1.5 * Math.min(...set.axes.filter(({ nodes }) => nodes > 1).map(({ spacing }) => spacing));
  const points = tracersOf(set, places, TRACERS, width);
  return [Math.min(last, now + far), Math.max(first, now - far)]
    .filter((end) => Math.abs(end - now) > 1e-9 * (last - first))
    .map((end) => ({
      ...{ dataset: set.name, call: "paths", points, time: `${now}:${exactNumber(end)}` },
      ...{ step: Number((Math.abs(end - now) / RECORDS).toPrecision(6)), every: 1, open_faces: "stop" },
      ...{ method: set.plainMethod, integrator: "dopri5", tolerance: Number((width / 1500).toPrecision(2)) },
    }));
}

/** Whether particles go back in time: at an end of the stored times there is one direction only. */
export const isBackwards = ({ time }: Question): boolean => {
  const [from, to] = String(time).split(":").map(Number);
  return to < from;
};

effect(() => {
  const drawn = stroke.value;
  const shown = untracked(() => selectionOf(view.value, drawn?.second));
  if (drawn?.tool === "dye" && drawn.isDone && shown !== null)
    dye.value = { of: shown, questions: questionsOf(shown, drawn.places) };
});

effect(() => {
  const pour = dye.value;
  const title = (question: Question) => (isBackwards(question) ? "Dye backwards" : "Dye forwards");
  setWants("dye", pour?.questions.map((question) => wantedAnswer(pour.of.dataset, title(question), question, 8)) ?? []);
});

const entriesOf = ({ of, questions }: Pour) =>
  questions.map((question) => store.entry<Rows>(keyOf(of.dataset, question)));

const FORWARD = [1, 0.62, 0.25] as const;
const BACKWARD = [0.3, 0.72, 1] as const;

/** Tone and trails of each direction: positions of each tracer in order, missing after it has left the box. */
function trailsOf(pour: Pour) {
  return entriesOf(pour).map(({ answer }, direction) => {
    const trails: (readonly (number | null)[])[][] = [];
    for (const row of answer?.rows ?? []) {
      trails[row[0] as number] ??= [];
      trails[row[0] as number].push(row);
    }
    const tone = isBackwards(pour.questions[direction]) ? BACKWARD : FORWARD;
    return { tone, trails: trails.filter((one) => one !== undefined) };
  });
}

/** The part of the width of a pane that shows the dataset of the dye, and in a comparison its time; null if none does. */
export function dyeRange(pane: Pane, of: Selection): readonly [from: number, to: number] | null {
  const now = view.value;
  const isCompared = now.show === "compare";
  const [a, b] = [false, isCompared].map((second) => {
    const shown = selectionOf(now, second);
    return shown?.dataset === of.dataset && (!isCompared || shown.time === of.time);
  });
  if (isCompared && now.compare === "side") return (pane.kind === "plane" && pane.second ? b : a) ? [0, 1] : null;
  if (a && b) return [0, 1];
  const isHalf = (a || b) && isCompared && now.compare === "swipe";
  return isHalf ? [a ? 0 : swipe.value, b ? 1 : swipe.value] : null;
}

/** The name of the dye in a pane, with the time that it was drawn at; empty without dye. */
export function dyeNote(pane: Pane): string {
  const shown = dye.value?.of;
  if (shown === undefined || dyeRange(pane, shown) === null) return "";
  return `dye from t = ${timeText(shown.dataset, shown.time)}`;
}

/** The ends of a segment of a path in the box shown, for shaders; null where it passes a seam, or has no position. */
export function segmentIn(set: Dataset, low: Vec3, ...rows: Rows["rows"]): number[] | null {
  const ends = rows.map((row) =>
    set.axes.map((axis, a) => {
      const place = row[a + 2] ?? Number.NaN;
      return axis.periodic ? wrapped({ ...axis, first: low[a] }, place) : place;
    }),
  );
  const isWhole = ends[0].every((one, a) => Math.abs(one - ends[1][a]) < set.axes[a].length / 2);
  return isWhole ? ends.flatMap(localIn(set)) : null;
}

effect(() => {
  const set = dataset.value;
  const { centre } = view.value;
  const pour = dye.value;
  if (set === null || centre === null || pour?.of.dataset !== set) {
    if (dyeTrails.peek().length > 0) dyeTrails.value = new Float32Array(0);
    return;
  }
  const { low } = boxAbout(set, centre);
  const numbers: number[] = [];
  for (const { tone, trails } of trailsOf(pour))
    for (const trail of trails)
      for (let i = 1; i < trail.length; i++) {
        const ends = segmentIn(set, low, trail[i - 1], trail[i]);
        if (ends !== null) numbers.push(...ends, ...tone, 0.5 * (1 - i / RECORDS) ** 1.5 + 0.04);
      }
  dyeTrails.value = Float32Array.from(numbers);
});

function drawTrails(canvas: HTMLCanvasElement, pour: Pour, centre: Vec3, cross: Vec3): void {
  const [width, height] = stageSize.peek();
  canvas.width = width;
  canvas.height = height;
  const c = canvas.getContext("2d");
  if (c === null) return;
  c.globalCompositeOperation = "lighter";
  c.lineWidth = 1.2;
  const set = pour.of.dataset;
  const all = trailsOf(pour);
  for (const pane of panes.peek()) {
    const part = dyeRange(pane, pour.of);
    if (pane.kind !== "plane" || part === null) continue;
    const { rect, plane } = pane;
    const [h, v] = PLANE_AXES[plane];
    const normal = "xyz".indexOf(plane);
    const { across, up } = pixelsAt(pane, centre, pixel.peek());
    const near = 4 * set.axes[normal].spacing;
    clipTo(c, { ...rect, x: rect.x + part[0] * rect.width, width: (part[1] - part[0]) * rect.width });
    for (const { tone, trails } of all) {
      const bytes = tone.map((one) => Math.round(255 * one)).join(" ");
      for (let i = 1; i <= RECORDS; i++) {
        c.strokeStyle = `rgb(${bytes} / ${(0.3 * (1 - i / (RECORDS + 1)) ** 1.5).toFixed(3)})`;
        c.beginPath();
        for (const trail of trails) {
          const [a, b] = [trail[i - 1], trail[i]];
          if (a === undefined || b === undefined || b[2] === null) continue;
          const off = nearestImage(set.axes[normal], b[normal + 2] as number, cross[normal]) - cross[normal];
          if (Math.abs(off) > near) continue;
          // Positions of trails are not wrapped: both ends are moved by the same number of periods.
          const shift = [h, v].map(
            (axis) => nearestImage(set.axes[axis], b[axis + 2] as number, centre[axis]) - (b[axis + 2] as number),
          );
          c.moveTo(across((a[h + 2] as number) + shift[0]), up((a[v + 2] as number) + shift[1]));
          c.lineTo(across((b[h + 2] as number) + shift[0]), up((b[v + 2] as number) + shift[1]));
        }
        c.stroke();
      }
    }
    c.restore();
  }
}

export function dyeView(): TemplateResult | typeof nothing {
  const { centre, cross } = view.value;
  const pour = dye.value;
  if (centre === null || cross === null || pour === null) return strokeView();
  const hasAnswers = entriesOf(pour).map(({ answer }) => answer !== null);
  const ranges = panes.value.map((pane) => [pane, dyeRange(pane, pour.of)]);
  const key = JSON.stringify([hasAnswers, centre, cross, pixel.value, ranges]);
  const paint = (element: Element | undefined) => {
    if (element instanceof HTMLCanvasElement) drawTrails(element, pour, centre, cross);
  };
  const canvas = () => html`<canvas class=${isCalm ? "dye" : "dye moving"} aria-hidden="true" ${ref(paint)}></canvas>`;
  return html`${guard([key, pour], canvas)}${strokeView()}`;
}

function strokeView(): TemplateResult | typeof nothing {
  const drawn = stroke.value;
  const { centre } = view.value;
  const pane = drawn === null ? undefined : paneOf(drawn);
  if (drawn?.tool !== "dye" || drawn.isDone || centre === null || pane === undefined) return nothing;
  const { across, up } = pixelsAt(pane, centre, pixel.value);
  const [h, v] = PLANE_AXES[pane.plane];
  const points = drawn.places.map((place) => `${across(place[h]).toFixed(1)},${up(place[v]).toFixed(1)}`).join(" ");
  return html`<svg class="ruler" aria-hidden="true"><polyline points=${points} /></svg>`;
}

export function dyePart(set: Dataset): TemplateResult | typeof nothing {
  if (!hasVelocity(set) || set.times.length < 2) return nothing;
  const entries = dye.value === null ? [] : entriesOf(dye.value);
  const failed = entries.find(({ error }) => error !== null)?.error;
  return html`<section><h2>Dye</h2><div class="chips">
      <button aria-pressed=${tool.value === "dye" ? "true" : "false"} @click=${setting(tool, tool.value === "dye" ? "cross" : "dye")}>Draw with dye</button>
      ${dye.value === null ? nothing : html`<button @click=${setting(dye, null)}>Wash away</button>`}</div>
    <p class="quiet">Drag in a plane: ${TRACERS} tracers go with the flow, orange forwards and blue backwards in time.</p>
    ${failed == null ? nothing : html`<p class="error">${failed.message}</p>`}
    ${entries.some(({ isPending }) => isPending) ? html`<p class="quiet" role="status">Following ${TRACERS} tracers</p>` : nothing}</section>`;
}
