/** The dialog Export: data, figure, movie and code of what is shown. */
import { signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit-html";
import { ref } from "lit-html/directives/ref.js";
import { chartInStage, isInStage } from "./cards.js";
import { into, oneOf, setting } from "./controls.js";
import { partOf } from "./draw/bar.js";
import { PLANE_NAMES, type Rect } from "./draw/layout.js";
import { surfaceTable } from "./draw/maps.js";
import { surfaceMesh } from "./draw/surface-mesh.js";
import { dataPart } from "./export/data.js";
import { report, save } from "./export/download.js";
import { chartFigure, type FigurePane, figureSvg, pngOf, SIZES, type SizeName, svgFile } from "./export/figure.js";
import { opened } from "./export/jobs-list.js";
import { glbOf, vtpOf } from "./export/mesh.js";
import { movieOf } from "./export/movie.js";
import { codeViews } from "./export/share.js";
import { copy, say } from "./notify.js";
import { pathsPart } from "./particles.js";
import { speed, togglePlay } from "./playing.js";
import { brushTest, brushTitle, drawnLayer, surfaceLayer } from "./stage-layers.js";
import { dyeTrails, isolated, panes, stageSize, surfaceName, titles, trails } from "./stage-state.js";
import { askAtPoints, type Question } from "./state/ask.js";
import { frameOf, isCoarse, placeText, timeText, type Vec3 } from "./state/dataset.js";
import { durationOf } from "./state/flow-map.js";
import { exact, plainNumber } from "./state/format.js";
import { brushIn, type View } from "./state/link.js";
import { pixel, planOf } from "./state/picture-plan.js";
import { quantityOf } from "./state/quantities.js";
import { labelOf, nodesNote, refusals, shows3d, sidesOf, volumeShown } from "./state/shown.js";
import { change, cross, dataset, isDifference, isPlaying, selectionOf, view } from "./state/view.js";
import { sampleAt } from "./state/volumes.js";

const SUBJECTS = { data: "Data", figure: "Figure", movie: "Movie", code: "Code" } as const;
type Subject = keyof typeof SUBJECTS;

const subject = signal<Subject | null>(null);
const size = signal<SizeName>("178 mm");
/** The figure, with the caption of the view that it was made of; without a figure, why there is none. */
const figure = signal<{ readonly svg: SVGSVGElement | null; readonly caption: string } | null>(null);
const kind = signal<"turntable" | "time">("turntable");
const recording = signal<number | null>(null);

function choose(name: Subject): void {
  subject.value = name;
  if (name === "figure") drawFigure();
}

const settled = () => (globalThis as unknown as { stage: { settled(): Promise<void> } }).stage.settled();

function close(): void {
  subject.value = null;
  recording.value = null;
}

export function openExport(name: Subject): void {
  if (isPlaying.peek()) togglePlay();
  figure.value = null;
  choose(name);
}

/** The planes in the panes of the stage: a phone shows one of four. */
const planesInView = () => panes.value.flatMap((pane) => (pane.kind === "plane" ? [pane.plane] : []));

/** A part of the stage without what is written over it. */
function cutOf({ x, y, width, height }: Rect): HTMLCanvasElement {
  const below = document.querySelector<HTMLCanvasElement>(".stage > canvas") as HTMLCanvasElement;
  const [left, top, w, h] = [x, y, width, height].map((one) => (one * below.width) / below.clientWidth);
  const canvas = Object.assign(document.createElement("canvas"), { width: Math.round(w), height: Math.round(h) });
  canvas.getContext("2d")?.drawImage(below, left, top, w, h, 0, 0, canvas.width, canvas.height);
  return canvas;
}

/** The stage with what is written over it. */
function pictureOf(): HTMLCanvasElement {
  const [width, height] = stageSize.peek();
  const canvas = cutOf({ x: 0, y: 0, width, height });
  const wide = canvas.width / width;
  for (const one of document.querySelectorAll<HTMLCanvasElement>(".ink canvas")) {
    const [x, y, w, h] = [one.offsetLeft, one.offsetTop, one.offsetWidth, one.offsetHeight].map((n) => n * wide);
    canvas.getContext("2d")?.drawImage(one, x, y, w, h);
  }
  return canvas;
}

function figurePanes(): FigurePane[] {
  const now = view.peek();
  return panes.peek().flatMap((pane, index): FigurePane[] => {
    const title = titles.peek()[index]?.title ?? "";
    if (pane.kind === "3d") {
      const found = surfaceLayer(now);
      if (found === null) return [];
      const { range, map, colour, dataset: own } = found.layer;
      const bar = { range, map, label: quantityOf(colour.what).symbol, isLit: true };
      return [{ pane, dataset: own, title, picture: cutOf(pane.rect).toDataURL(), bar, isBrushed: null }];
    }
    const drawn = drawnLayer(pane, now, pane.second);
    if (drawn === null || typeof drawn === "string" || drawn.picture === null) return [];
    const { range, map, volume, picture, dataset: own } = drawn;
    const label = isDifference(now) ? "A − B" : quantityOf(volume.what).symbol;
    const side = now.show === "compare" && !isDifference(now) ? (pane.second ? "B  " : "A  ") : "";
    const bar = { range, map, label, isLit: false };
    return [{ pane, dataset: own, title: side + title, picture, bar, isBrushed: brushTest(drawn) }];
  });
}

/** A view of what is drawn: in space, no quantity but those of the surface. */
const drawnIn = (now: View): View => (now.show === "3d" ? { ...now, what: now.colour } : now);

let last: Promise<void> = Promise.resolve();
/** Makes the figure unless it is made, after one that is being made: the stage is light meanwhile. */
function drawFigure(): void {
  last = last.then(() => (figure.peek() === null ? makeFigure() : undefined)).catch(report);
}

/** Makes the figure on a light stage, since paper is white; pictures under a swipe line are put side by side. */
async function makeFigure(): Promise<void> {
  const before = view.peek();
  const set = dataset.peek();
  if (set === null) return;
  const chart = chartInStage(set);
  if (chart !== null) {
    figure.value = { svg: chartFigure(chart.draw, size.peek()), caption: captionOf("") };
    return;
  }
  const compare = before.compare === "swipe" ? "side" : before.compare;
  const stage = shows3d(before) ? "light" : before.stage;
  change({ stage, ...(before.show === "compare" ? { compare } : {}) }, "part");
  await settled();
  const shown = figurePanes();
  const leftOut = panes
    .peek()
    .filter((pane) => shown.every((one) => one.pane !== pane))
    .map((pane) => (pane.kind === "3d" ? "3-D" : `${PLANE_NAMES[pane.plane]}${pane.second ? " of B" : ""}`))
    .join(", ");
  const now = view.peek();
  const caption = captionOf(leftOut);
  const made = { centre: now.centre ?? [0, 0, 0], pixel: pixel.peek(), panes: shown };
  change({ stage: before.stage, compare: before.compare }, null);
  const notes = titles.peek().map((title) => title?.note ?? "");
  const why = [...refusals(set, drawnIn(now)).map(([name, { error }]) => name + error.message), ...notes].find(Boolean);
  figure.value =
    shown.length > 0
      ? { svg: figureSvg(made, size.peek()), caption }
      : { svg: null, caption: `There is no picture for a figure. ${why ?? ""}` };
}

const FIGURES = ["SVG", "PDF", "PNG"] as const;

async function saveFigure(kind: (typeof FIGURES)[number]): Promise<void> {
  await last;
  const { svg = null, caption = "" } = figure.peek() ?? {};
  if (svg === null) return;
  const name = `${view.peek().dataset}.${kind.toLowerCase()}`;
  if (kind === "SVG") save(new Blob([await svgFile(svg)], { type: "image/svg+xml" }), name);
  // A figure of 1080p has as many pixels; other figures have 300 an inch.
  else if (kind === "PNG") save(await pngOf(svg, size.peek() === "1080p" ? 4 / 3 : 300 / 72), name);
  else save(await (await import("./export/pdf.js")).pdfOf(svg, caption), name);
  say(`${name} saved`);
}

function captionOf(leftOut: string): string {
  const shown = selectionOf(view.value);
  const set = dataset.value;
  if (shown === null || set === null) return "";
  const card = chartInStage(set);
  if (card !== null) return `${card.title}. ${set.title || set.name}; manifest ${set.digest.slice(0, 12)}.`;
  const { surface, colour, show, compare } = view.value;
  const at = set.axes
    .flatMap((axis, a) =>
      planesInView().includes(axis.name) ? [`${axis.name} = ${placeText(axis, cross.value[a])}`] : [],
    )
    .join(", ");
  const second = show === "compare" ? selectionOf(view.value, true) : null;
  const when = `t = ${timeText(set, shown.time)}`;
  const compared = `${compare === "difference" ? "A − B of " : ""}A (${labelOf(view.value, false)}) and B (${labelOf(view.value, true)})`;
  const what = second === null ? `${quantityOf(shown.what).title}, ${when}, ${shown.method},` : compared;
  const asked = brushIn(view.value.brush);
  const brush = asked !== null && volumeShown(set, asked.what) !== null ? asked : null;
  const nodes = nodesNote(shown);
  const dimmed = brush === null ? "" : `, faint but for ${brushTitle(brush)}${nodes === "" ? "" : ` by ${nodes}`}`;
  const planes = planesInView().length > 0 ? `${what} in planes through ${at}${dimmed}` : "";
  const within = brush === null ? "" : `region of ${brushTitle(brush)} and, faintly, `;
  const space = panes.value.some(({ kind }) => kind === "3d")
    ? `${[dyeTrails.value.length > 0 ? "dye; " : "", trails.value.length > 0 ? "paths of particles; " : ""].join("")}${within}${surfaceName(`surface of ${quantityOf(surface.what).title} at ${plainNumber(surface.value ?? 0, 9)}`)}, coloured by ${quantityOf(colour).title.toLowerCase()}, ${nodes || when}`
    : "";
  const sets = [...new Set([set, second?.dataset ?? set])].map(
    ({ title, name, digest }) => `${title || name}; manifest ${digest.slice(0, 12)}`,
  );
  const text = [planes, space].filter((one) => one !== "").join("; ");
  const without = leftOut === "" ? "" : ` Left out, since there is no picture: ${leftOut}.`;
  return `${text[0]?.toUpperCase() ?? ""}${text.slice(1)}.${without} ${sets.join(". ")}.`;
}

async function record(): Promise<void> {
  const set = dataset.peek();
  const canvas = Object.assign(document.createElement("canvas"), { width: 1920, height: 1080 });
  const c = canvas.getContext("2d");
  if (set === null || c === null) return;
  const isOfTime = kind.peek() === "time";
  const movie = await movieOf(canvas, isOfTime ? speed.peek() : 30);
  const before = view.peek();
  let own = before;
  const n = isOfTime ? set.times.length : 90;
  const text = (): string => (own.show === "3d" ? `t = ${timeText(set, own.time ?? 0)}` : sidesOf(own));
  let [drawn, why] = [0, ""];
  try {
    for (let i = 0; i < n && recording.peek() !== null; i++) {
      recording.value = i / n;
      if (isOfTime) change({ time: set.times[i] }, "part");
      else change({ camera: [before.camera[0] + (360 * i) / n, before.camera[1], before.camera[2]] }, "part");
      own = view.peek();
      await settled();
      why = refusals(set, drawnIn(own))[0]?.[1].error.message ?? "";
      if (why !== "") break;
      const picture = pictureOf();
      const scale = Math.min(1920 / picture.width, 1080 / picture.height);
      const [w, h] = [picture.width * scale, picture.height * scale];
      c.fillStyle = "#0a0d12";
      c.fillRect(0, 0, 1920, 1080);
      c.drawImage(picture, (1920 - w) / 2, (1080 - h) / 2, w, h);
      Object.assign(c, { font: "26px Inter, sans-serif", fillStyle: "#e6ebf2", strokeStyle: "#0a0d12", lineWidth: 6 });
      c.strokeText(text(), 24, 1056);
      c.fillText(text(), 24, 1056);
      await movie.add();
      drawn++;
    }
  } finally {
    const { camera, time, dataset: name } = view.peek();
    // What was chosen meanwhile stays.
    if (String(camera) === String(own.camera) && time === own.time && name === own.dataset)
      change({ camera: before.camera, time: before.time }, null);
  }
  if (drawn > 0) save(await movie.end(), `${before.dataset}${movie.ending}`);
  const end = drawn > 0 ? `Movie of ${drawn} pictures saved` : "No picture was drawn: there is no movie";
  say([end, why].filter(Boolean).join(". "));
}

/** Saves the surface of the time shown, once it has arrived. Flow maps, of which each value is a path, are interpolated, and values where the service takes positions too coarsely. */
async function saveMesh(kind: "GLB" | "VTP"): Promise<void> {
  await settled();
  const now = view.peek();
  const found = surfaceLayer(now);
  const set = dataset.peek();
  const structure = isolated.peek()?.name;
  if (found === null || found.isPending || set === null) {
    say("The surface of this time has not arrived.");
    return;
  }
  const { fine, level, side, colour, range, map } = found.layer;
  const wrap = set.axes.map(({ periodic }) => periodic);
  const mesh = surfaceMesh(fine, level, side, wrap);
  const table = surfaceTable(map);
  const count = mesh.positions.length / 3;
  const frame = frameOf(now.time, set);
  const at = exact(set.times[frame]);
  const isLinear = durationOf(colour.what) !== null || set.axes.some(isCoarse);
  const name = isLinear ? `${colour.what}, linear between samples` : colour.what;
  const question = { dataset: set.name, call: "values", what: colour.what, frame, method: now.method };
  const values = isLinear
    ? Float32Array.from({ length: count }, (_, i) =>
        sampleAt(colour, set, mesh.positions.subarray(3 * i, 3 * i + 3) as unknown as Vec3),
      )
    : await askAtPoints(question, Float32Array.from(mesh.positions));
  const colours = new Uint8Array(4 * count);
  for (const [i, value] of values.entries()) {
    const at = 4 * Math.round(255 * Math.min(1, Math.max(0, partOf(range, value))));
    // Grey where there is no value, as on the stage.
    colours.set(Number.isNaN(value) ? [128, 128, 128, 255] : table.subarray(at, at + 4), 4 * i);
  }
  const { surface, method } = now;
  const about = {
    ...{ dataset: set.name, manifest: set.digest, time: at, surface, structure },
    ...{ samples: fine.dims, colour: name, method, ...(found.layer.faint === null ? {} : { region: now.brush }) },
  };
  const made = { ...mesh, colours, values, name };
  save(kind === "GLB" ? glbOf(made, about) : vtpOf(made), `${set.name}-surface.${kind.toLowerCase()}`);
}

function meshPart(): TemplateResult | typeof nothing {
  const now = view.value;
  const found = shows3d(now) ? surfaceLayer(now) : null;
  if (found === null) return nothing;
  const { what, value } = now.surface;
  const brush = found.layer.faint === null ? null : brushIn(now.brush);
  const surface = surfaceName(`Surface ${quantityOf(what).symbol} = ${plainNumber(value ?? 0, 9)}`);
  return html`<section><h3>${brush === null ? surface : `Region of ${brushTitle(brush)}`}, of ${found.samples}</h3>
    <div class="chips">${(["GLB", "VTP"] as const).map((kind) => html`<button @click=${() => saveMesh(kind).catch(report)}>${kind}</button>`)}</div></section>`;
}

function figurePart(): TemplateResult {
  const { svg = null, caption = "" } = figure.value ?? {};
  const sizes = Object.fromEntries(Object.keys(SIZES).map((name) => [name, name])) as Record<SizeName, string>;
  return html`<div class="two"><div class="panel"><section><h2>Size</h2>${oneOf("Size", sizes, size.value, (name) => {
    size.value = name;
    figure.value = null;
    drawFigure();
  })}</section>
    <section ?hidden=${svg === null}><h2>Caption</h2><p>${caption}</p><button class="plain" @click=${() => void copy(caption, "Caption")}>Copy caption</button></section>
    <div class="chips">${FIGURES.map((kind) => html`<button class="primary" ?disabled=${svg === null} @click=${() => saveFigure(kind).catch(report)}>${kind}</button>`)}</div></div>
    <div class="preview" role="img" aria-label="The figure">${svg ?? html`<p class="quiet" role="status">${caption || "Drawing"}</p>`}</div></div>`;
}

const MOVIES = { turntable: "Turntable", time: "Time" } as const;

function moviePart(): TemplateResult {
  const part = recording.value;
  return html`${oneOf("Movie", MOVIES, kind.value, into(kind))}
  <p class="quiet">1920 × 1080; each picture is drawn whole before it is recorded.</p>
  <div class="chips">${
    part === null
      ? html`<button class="primary" @click=${() => {
          recording.value = 0;
          void record().catch(report).finally(setting(recording, null));
        }}>Record</button>`
      : html`<progress max="1" .value=${part}></progress><button @click=${setting(recording, null)}>Stop</button>`
  }</div>`;
}

function codePart(): TemplateResult {
  const plot = '\n\nimport matplotlib.pyplot as plt\nanswer.plot()\nplt.savefig("figure.pdf")';
  const planes = planesShown();
  if (planes.length === 0) return html`<p class="quiet">No plane is shown. Share has the question of the surface.</p>`;
  return html`${planes.map(([name, one]) => html`<h3>Plane${name}</h3>${codeViews(one, plot)}`)}`;
}

/** Questions of the plane in view, of A and B of a comparison. */
function planesShown(): (readonly [name: string, Question])[] {
  const [plane] = planesInView();
  const sides = view.value.show === "compare" ? [": A", ": B"] : [""];
  if (plane === undefined) return [];
  return sides.flatMap((name, i) => {
    const plan = planOf(view.value, plane, i > 0);
    return plan === null ? [] : [[name, plan.question] as const];
  });
}

function bodyOf(now: Subject): TemplateResult {
  if (now === "figure") return figurePart();
  if (now !== "data") return now === "movie" ? moviePart() : codePart();
  const files = pathsPart();
  return html`${dataPart(planesShown())}${meshPart()}${files === nothing ? nothing : html`<section><h3>Paths of particles</h3>${files}</section>`}`;
}

export function exportDialog(): TemplateResult | typeof nothing {
  const now = subject.value;
  if (now === null || view.value.centre === null) return nothing;
  return html`<dialog class="sheet" aria-label="Export" ${ref(opened)} @close=${close}><header><h2>Export</h2>${oneOf("What to export", SUBJECTS, now, choose)}<button aria-label="Close" @click=${close}>×</button></header><div class="body">${isInStage.value && now !== "figure" ? html`<p class="quiet">Of the view behind the card, whose panel has its question.</p>` : nothing}${bodyOf(now)}</div></dialog>`;
}
