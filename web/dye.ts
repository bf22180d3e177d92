/** Dye: tracers along a stroke in a plane, followed forwards and backwards, drawn as glowing trails. */
import { effect, signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit-html";
import { ref } from "lit-html/directives/ref.js";
import { setting } from "./controls.js";
import { boxAbout, pixelsAt } from "./draw/layout.js";
import { dyeTrails, isCalm, panes, stageSize, stroke, tool } from "./stage-state.js";
import { keyOf, wantedAnswer } from "./state/answers.js";
import type { Question, Rows } from "./state/ask.js";
import { type Dataset, hasVelocity, nearestImage, type Vec3, wrapped } from "./state/dataset.js";
import { dataset, PLANE_AXES, pixel, setWants, store, view } from "./state/model.js";

/** Number of tracers of a stroke, and of records of each in one direction. */
const TRACERS = 2000;
const RECORDS = 20;
/** The questions of the last stroke of dye; empty before the first. */
const poured = signal<readonly Question[]>([]);

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
      return Number(wrapped(set.axes[a], place).toPrecision(7));
    });
  });
}

function questionsOf(set: Dataset, places: readonly Vec3[]): Question[] {
  const now = view.peek().time ?? set.times[0];
  const [first, last] = [set.times[0], set.times.at(-1) as number];
  const far = (last - first) / 4;
  const width = 1.5 * Math.min(...set.axes.filter(({ nodes }) => nodes > 1).map(({ spacing }) => spacing));
  const points = tracersOf(set, places, TRACERS, width);
  return [Math.min(last, now + far), Math.max(first, now - far)]
    .filter((end) => Math.abs(end - now) > 1e-9)
    .map((end) => ({
      ...{ dataset: set.name, call: "paths", points, time: `${now}:${Number(end.toPrecision(9))}`, method: "Lag4" },
      ...{ step: Number((Math.abs(end - now) / (2 * RECORDS)).toPrecision(6)), every: 2, open_faces: "stop" },
    }));
}

/** Whether particles go back in time: at an end of the stored times there is one direction only. */
const isBackwards = ({ time }: Question): boolean => {
  const [from, to] = String(time).split(":").map(Number);
  return to < from;
};

/** Requests the paths of a stroke once it is done. */
effect(() => {
  const one = stroke.value;
  const set = dataset.peek();
  if (one?.tool !== "dye" || !one.isDone || set === null) return;
  poured.value = questionsOf(set, one.places);
});

effect(() => {
  const set = dataset.value;
  const questions = set === null ? [] : poured.value.filter(({ dataset: name }) => name === set.name);
  const title = (question: Question) => (isBackwards(question) ? "Dye backwards" : "Dye forwards");
  setWants(
    "dye",
    set === null ? [] : questions.map((question) => wantedAnswer<Rows>(set, title(question), question, 8)),
  );
});

/** The trails of a direction: positions of each tracer in order, missing after it has left the box. */
function trailsIn(set: Dataset): readonly (readonly (readonly (number | null)[])[])[][] {
  return poured.value.map((question) => {
    const rows = store.entry<Rows>(keyOf(set, question)).answer?.rows ?? [];
    const all: (readonly (number | null)[])[][] = [];
    for (const row of rows) {
      const particle = row[0] as number;
      all[particle] ??= [];
      all[particle].push(row);
    }
    return all.filter((one) => one !== undefined);
  });
}

const FORWARD = [1, 0.62, 0.25] as const;
const BACKWARD = [0.3, 0.72, 1] as const;

/** Trails in space, brightest at the stroke. */
effect(() => {
  const set = dataset.value;
  const { centre } = view.value;
  if (set === null || centre === null || poured.value.length === 0) {
    if (dyeTrails.peek().length > 0) dyeTrails.value = new Float32Array(0);
    return;
  }
  const { low } = boxAbout(set, centre);
  const numbers: number[] = [];
  for (const [direction, trails] of trailsIn(set).entries()) {
    const tone = isBackwards(poured.value[direction]) ? BACKWARD : FORWARD;
    for (const trail of trails) {
      for (let i = 1; i < trail.length; i++) {
        const ends = [trail[i - 1], trail[i]].map((row) =>
          set.axes.map(({ periodic, length }, a) => {
            const place = row[a + 2] as number;
            return periodic ? low[a] + ((((place - low[a]) % length) + length) % length) : place;
          }),
        );
        if (ends[0].some((one, a) => !(Math.abs(one - ends[1][a]) < set.axes[a].length / 2))) continue;
        const age = i / RECORDS;
        numbers.push(...ends[0], ...ends[1], ...tone, 0.5 * (1 - age) ** 1.5 + 0.04);
      }
    }
  }
  dyeTrails.value = Float32Array.from(numbers);
});

/** Draws trails near the planes on a canvas over the panes. */
function draw(canvas: HTMLCanvasElement, set: Dataset, centre: Vec3, cross: Vec3): void {
  const [width, height] = stageSize.peek();
  canvas.width = width;
  canvas.height = height;
  const c = canvas.getContext("2d");
  if (c === null) return;
  c.globalCompositeOperation = "lighter";
  c.lineWidth = 1.2;
  const all = trailsIn(set);
  for (const pane of panes.peek()) {
    if (pane.kind !== "plane") continue;
    const { rect, plane } = pane;
    const [h, v] = PLANE_AXES[plane];
    const normal = "xyz".indexOf(plane);
    const { across, up } = pixelsAt(pane, centre, pixel.peek());
    const near = 4 * set.axes[normal].spacing;
    c.save();
    c.beginPath();
    c.rect(rect.x, rect.y, rect.width, rect.height);
    c.clip();
    for (const [direction, trails] of all.entries()) {
      const tone = (isBackwards(poured.peek()[direction]) ? BACKWARD : FORWARD)
        .map((one) => Math.round(255 * one))
        .join(" ");
      for (let i = 1; i <= RECORDS; i++) {
        c.strokeStyle = `rgb(${tone} / ${(0.3 * (1 - i / (RECORDS + 1)) ** 1.5).toFixed(3)})`;
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

const DRAWN = new WeakMap<Element, string>();

/** The trails over the planes, and the stroke while it is drawn. */
export function dyeView(): TemplateResult | typeof nothing {
  const set = dataset.value;
  const now = view.value;
  const { centre, cross } = now;
  if (set === null || centre === null || cross === null || poured.value.length === 0) return strokeView();
  const there = poured.value.map((question) => store.entry<Rows>(keyOf(set, question)).answer !== null);
  const begun = poured.value.map(({ time, points }) => [time, (points as number[][])[0]]);
  const key = JSON.stringify([there, begun, centre, cross, pixel.value, panes.value]);
  const paint = (element: Element | undefined) => {
    if (!(element instanceof HTMLCanvasElement) || DRAWN.get(element) === key) return;
    DRAWN.set(element, key);
    draw(element, set, centre, cross);
  };
  return html`<canvas class=${isCalm ? "dye" : "dye moving"} aria-hidden="true" ${ref(paint)}></canvas>${strokeView()}`;
}

function strokeView(): TemplateResult | typeof nothing {
  const one = stroke.value;
  const { centre } = view.value;
  const pane = panes.value.find((each) => each.kind === "plane" && each.plane === one?.plane);
  if (one?.tool !== "dye" || one.isDone || centre === null || pane?.kind !== "plane") return nothing;
  const { across, up } = pixelsAt(pane, centre, pixel.value);
  const [h, v] = PLANE_AXES[pane.plane];
  const points = one.places.map((place) => `${across(place[h]).toFixed(1)},${up(place[v]).toFixed(1)}`).join(" ");
  return html`<svg class="ruler" aria-hidden="true"><polyline points=${points} /></svg>`;
}

export function dyePart(set: Dataset): TemplateResult | typeof nothing {
  if (!hasVelocity(set) || set.times.length < 2) return nothing;
  const isOn = tool.value === "dye";
  const entries = poured.value.map((question) => store.entry<Rows>(keyOf(set, question)));
  const failed = entries.find(({ error }) => error !== null)?.error;
  return html`<section><h2>Dye</h2><div class="chips">
      <button aria-pressed=${isOn ? "true" : "false"} @click=${setting(tool, isOn ? "cross" : "dye")}>Draw with dye</button>
      ${
        poured.value.length === 0
          ? nothing
          : html`<button @click=${() => {
              poured.value = [];
              stroke.value = null;
            }}>Wash away</button>`
      }</div>
    <p class="quiet">Drag in a plane: ${TRACERS} tracers go with the flow, orange forwards and blue backwards in time.</p>
    ${failed == null ? nothing : html`<p class="error">${failed.message}</p>`}
    ${entries.some(({ isPending }) => isPending) ? html`<p class="quiet" role="status">Following ${TRACERS} tracers</p>` : nothing}</section>`;
}
