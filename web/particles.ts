/** Particles: paths that the service computes, drawn as trails in space. */
import { computed, effect, signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit-html";
import { choice, into, numberField, oneOf, select, setting, toggle } from "./controls.js";
import { boxAbout } from "./draw/layout.js";
import { colourTable } from "./draw/maps.js";
import { dyePart, segmentIn } from "./dye.js";
import { save, saveAnswer } from "./export/download.js";
import { vtpOfPaths } from "./export/mesh.js";
import { openShare } from "./export/share.js";
import { ridePart } from "./ride.js";
import { trails } from "./stage-state.js";
import { keyOf, wantedAnswer } from "./state/answers.js";
import type { Question, Rows } from "./state/ask.js";
import { type Dataset, hasVelocity, isOnAxis, roundedOn, shortestOf, timeText, wrapped } from "./state/dataset.js";
import { shortNumber } from "./state/format.js";
import { pointsIn } from "./state/points.js";
import { store } from "./state/shown.js";
import { change, cross, dataset, view } from "./state/view.js";
import { setWants } from "./state/wants.js";

const MOST = 5000;
const count = signal(200);
const radius = signal(0.1);
const from = signal<"crosshair" | "box" | "points">("crosshair");
const pasted = signal("");
const INTEGRATORS = ["dopri5", "rk4", "heun"] as const;
const integrator = signal<string>("dopri5");
const isBackwards = signal(false);
const problem = signal<string | null>(null);
const released = choice<Question | null>(null);

/** Points in a ball about the crosshair, always the same, less those outside of the grid. */
function ball(set: Dataset): number[][] {
  const size = radius.peek() * Math.min(...set.axes.flatMap(({ length, nodes }) => (nodes > 1 ? [length] : [])));
  const at = cross.peek();
  return Array.from({ length: count.peek() }, (_, i) => {
    const z = 1 - (2 * (i + 0.5)) / count.peek();
    const angle = i * Math.PI * (3 - Math.sqrt(5));
    const r = size * Math.cbrt(((i * 7919) % count.peek()) / count.peek() + 0.5 / count.peek());
    const flat = Math.sqrt(1 - z * z);
    return [at[0] + r * flat * Math.cos(angle), at[1] + r * flat * Math.sin(angle), at[2] + r * z];
  })
    .filter((place) => place.every((one, a) => set.axes[a].nodes === 1 || isOnAxis(set.axes[a], one)))
    .map((place) => place.map((one, a) => roundedOn(set.axes[a], wrapped(set.axes[a], one))));
}

function release(set: Dataset): void {
  const own = from.peek() === "points" ? pointsIn(pasted.peek(), MOST) : null;
  problem.value = own?.problem ?? null;
  if (problem.peek() !== null) return;
  const points = own?.points ?? (from.peek() === "box" ? { random: count.peek(), seed: 1 } : ball(set));
  const ends = [set.times[0], set.times.at(-1) as number];
  const [start, end] = isBackwards.peek() ? ends.toReversed() : ends;
  if (view.peek().time === end) change({ time: start }, "time");
  const begin = view.peek().time ?? start;
  const length = Math.abs(end - begin);
  // There are 60 records. dopri5 chooses its steps; others take four or more between two stored times.
  const every = integrator.peek() === "dopri5" ? 1 : Math.max(1, Math.ceil(length / 15 / shortestOf(set.times)));
  released.value = {
    ...{ dataset: set.name, call: "paths", what: "norm(u)", points, time: `${begin}:${end}` },
    ...{ step: Number((length / 60 / every).toPrecision(6)), every, open_faces: "stop", integrator: integrator.peek() },
    method: view.peek().method,
  };
}

effect(() => {
  const set = dataset.value;
  const question = released.value;
  setWants("paths", set !== null && question !== null ? [wantedAnswer(set, "Paths", question, 8)] : []);
});

const entry = computed(() => {
  const [set, question] = [dataset.value, released.value];
  return set === null || question === null ? null : store.entry<Rows>(keyOf(set, question));
});
const paths = computed(() => entry.value?.answer ?? null);

/** Sets the trails as segments within the box shown, brightest at their ends. */
effect(() => {
  const set = dataset.value;
  const rows = paths.value;
  const { centre } = view.value;
  if (set === null || rows === null || centre === null) {
    if (trails.peek().length > 0) trails.value = new Float32Array(0);
    return;
  }
  const { low } = boxAbout(set, centre);
  const table = colourTable("batlow");
  const speeds = rows.rows.map((row) => row.at(-1) ?? 0);
  const most = Math.max(...speeds.slice(0, 100_000), 1e-12);
  const times = rows.rows.map((row) => row[1] as number);
  const [first, last] = [times[0], times.at(-1) as number];
  const numbers: number[] = [];
  for (let i = 1; i < rows.rows.length; i++) {
    const [a, b] = [rows.rows[i - 1], rows.rows[i]];
    const ends = a[0] === b[0] ? segmentIn(set, low, a, b) : null;
    if (ends === null) continue;
    const colour = 4 * Math.round(80 + 175 * Math.min(1, speeds[i] / most));
    const age = last === first ? 1 : (times[i] - first) / (last - first);
    numbers.push(...ends, ...[0, 1, 2].map((c) => table[colour + c] / 255), 0.15 + 0.85 * age ** 2);
  }
  trails.value = Float32Array.from(numbers);
});

const PLACES = { crosshair: "Around the crosshair", box: "Anywhere in the box", points: "At points" } as const;

export function particlesPanel(set: Dataset): TemplateResult {
  if (!hasVelocity(set)) return html`<p class="quiet">This dataset has no velocity.</p>`;
  const question = released.value;
  const rows = paths.value;
  const integrators = INTEGRATORS.map((name) => [name, name] as const);
  return html`<section><h2>Release</h2>${oneOf("Where", PLACES, from.value, into(from))}
    <textarea ?hidden=${from.value !== "points"} class="wide" rows="5" spellcheck="false" aria-label="Points" placeholder="x, y, z in each line" .value=${pasted.value}
      @input=${(event: Event) => into(pasted)((event.target as HTMLTextAreaElement).value)}></textarea>
    <div class="rows">${
      from.value === "points"
        ? nothing
        : html`<span>Particles</span>${numberField("Particles", count.value, (value) => into(count)(Math.min(MOST, Math.max(1, Math.round(value)))))}`
    }
    ${
      from.value !== "crosshair"
        ? nothing
        : html`<span>Radius, of the box</span>${numberField("Radius", radius.value, (value) => into(radius)(Math.max(0, value)))}`
    }
    <span>Integrator</span>${select("Integrator", integrators, integrator.value, into(integrator))}</div>
    <div class="chips">${toggle("Backwards in time", isBackwards)}</div></section>
    <div class="chips"><button class="primary" @click=${() => release(set)}>Release</button>
      ${question === null ? nothing : html`<button @click=${setting(released, null)}>Clear</button>`}</div>
    ${problem.value === null ? nothing : html`<p class="error">${problem.value}</p>`}
    ${entry.value?.error ? html`<p class="error">${entry.value.error.message}</p>` : nothing}
    ${entry.value?.isPending ? html`<p class="quiet" role="status">Following particles</p>` : nothing}
    ${
      rows === null || question === null
        ? nothing
        : html`<section><h2>Paths</h2>${summary(set, rows, question)}
      ${pathsPart()}<div class="chips"><button @click=${() => openShare("Paths")}>Code</button></div></section>`
    }
    ${dyePart(set)}${ridePart(set)}`;
}

/** Paths as files; nothing without paths. */
export function pathsPart(): TemplateResult | typeof nothing {
  const [rows, question] = [paths.value, released.value];
  if (rows === null || question === null) return nothing;
  return html`<div class="chips">${(["csv", "nc"] as const).map((format) => html`<button @click=${() => saveAnswer({ ...question, format }, `paths.${format}`)}>${{ csv: "CSV", nc: "NetCDF" }[format]}</button>`)}
    <button @click=${() => save(vtpOfPaths(rows), "paths.vtp")}>VTP</button></div>`;
}

function summary(set: Dataset, { rows }: Rows, question: Question): TemplateResult {
  const ends = rows.filter((row, i) => rows[i + 1]?.[0] !== row[0]);
  const left = ends.filter((row) => row[5] !== null).length;
  const lost = ends.filter((row) => row[5] === null && row[2] === null).length;
  const speeds = rows.flatMap((row) => row.at(-1) ?? []);
  const mean = speeds.reduce((sum, one) => sum + one, 0) / speeds.length;
  return html`<div class="rows"><span class="quiet">Particles</span><span>${ends.length}</span>
    <span class="quiet">Time</span><span>${String(question.time)
      .split(":")
      .map((one) => timeText(set, Number(one)))
      .join(" to ")}</span>
    <span class="quiet">Mean speed</span><span>${shortNumber(mean)}</span>
    <span class="quiet">Left the box</span><span>${left}</span>
    ${lost === 0 ? nothing : html`<span class="quiet">Lost where values are missing</span><span>${lost}</span>`}</div>`;
}
