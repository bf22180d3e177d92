/** Export: data, figure, movie and code of what is shown. */
import { signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit-html";
import { ref } from "lit-html/directives/ref.js";
import { curlOf } from "./cards.js";
import { copy, say } from "./notify.js";
import { addressOf, type Question, rootOf } from "./state/ask.js";
import { plainNumber } from "./state/format.js";
import { change, cross, dataset, PLANE_AXES, pixel, planesOf, plannedPicture, shownOf, view } from "./state/model.js";
import { quantityOf } from "./state/quantities.js";

const SUBJECTS = ["data", "figure", "movie", "code"] as const;
type Subject = (typeof SUBJECTS)[number];
const NAMES: Readonly<Record<Subject, string>> = { data: "Data", figure: "Figure", movie: "Movie", code: "Code" };

const subject = signal<Subject | null>(null);
const size = signal<"86 mm" | "178 mm" | "1080p">("178 mm");
const kind = signal<"turntable" | "time">("turntable");
const recording = signal<number | null>(null);

export function openExport(name: string): void {
  subject.value = SUBJECTS.find((one) => one === name) ?? "figure";
}

/** The plane or point that is shown as a question. */
function questionShown(): Question | null {
  const shown = shownOf(view.value);
  const { centre } = view.value;
  if (shown === null || centre === null) return null;
  const [plane = "z"] = planesOf(view.value);
  return plannedPicture(shown, plane, cross.value, centre, pixel.value || 0.01).question;
}

/** A literal of Python. */
function python(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`;
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

/** A question in Python, by the package of this project. */
export function pythonOf({ dataset: name, call, what, ...members }: Question, base: string): string {
  const rest = Object.entries(members).map(([key, value]) => `, ${key}=${python(value)}`);
  return `import fieldprobe\n\nds = fieldprobe.connect(${JSON.stringify(base)})[${JSON.stringify(name)}]\nanswer = ds.${call}(${python(what)}${rest.join("")})`;
}

/** A question as a command line. */
export function commandOf({ dataset: name, call, what, ...members }: Question, base: string): string {
  const quoted = (text: string) => (/^[\w.,:/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  const flags = Object.entries(members).map(
    ([key, value]) => ` --${key.replaceAll("_", "-")} ${quoted(String(value))}`,
  );
  return `fieldprobe ${call} ${quoted(name)} ${quoted(String(what))}${flags.join("")} --url ${base}`;
}

const baseOf = () => rootOf().replace(/\/$/, "");

/** The picture of the stage with what lies over it, as it is on the screen. */
function pictureOf(scale = 1): HTMLCanvasElement | null {
  const [below, above] = document.querySelectorAll<HTMLCanvasElement>(".stage > canvas");
  if (below === undefined || above === undefined) return null;
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(below.width * scale);
  canvas.height = Math.round(below.height * scale);
  const c = canvas.getContext("2d");
  if (c === null) return null;
  c.imageSmoothingQuality = "high";
  for (const one of [below, above]) c.drawImage(one, 0, 0, canvas.width, canvas.height);
  return canvas;
}

function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Pixels of a figure: 300 a inch on paper. */
const WIDTHS = { "86 mm": 1016, "178 mm": 2102, "1080p": 1920 } as const;

function saveFigure(): void {
  const now = pictureOf();
  if (now === null) return;
  const canvas = pictureOf(WIDTHS[size.peek()] / now.width);
  canvas?.toBlob((blob) => {
    if (blob !== null) save(blob, `${view.peek().dataset}.png`);
  }, "image/png");
}

/** The text that belongs below the figure. */
export function captionOf(): string {
  const shown = shownOf(view.value);
  const set = dataset.value;
  if (shown === null || set === null) return "";
  const { surface, colour, show } = view.value;
  const at = cross.value.map((one, a) => `${"xyz"[a]} = ${plainNumber(one)}`).join(", ");
  const planes = planesOf(view.value).length > 0 ? `${quantityOf(shown.what).title} in planes through ${at}` : "";
  const space =
    show === "four" || show === "3d"
      ? `surface of ${quantityOf(surface.what).title} at ${plainNumber(surface.value ?? 0)}, coloured by ${quantityOf(colour).title.toLowerCase()}`
      : "";
  const text = [planes, space].filter((one) => one !== "").join("; ");
  return `${text[0]?.toUpperCase() ?? ""}${text.slice(1)}; t = ${plainNumber(shown.time)}. ${set.title}; interpolation ${shown.method}; manifest ${set.digest.slice(0, 12)}.`;
}

const FRAMES = 90;

/** Records the stage while it turns or time plays. */
async function record(): Promise<void> {
  const set = dataset.peek();
  if (set === null) return;
  const canvas = document.createElement("canvas");
  canvas.width = 1920;
  canvas.height = 1080;
  const c = canvas.getContext("2d");
  const types = ["video/mp4;codecs=avc1", "video/webm;codecs=vp9", "video/webm"];
  const type = types.find((one) => MediaRecorder.isTypeSupported(one)) ?? "video/webm";
  const recorder = new MediaRecorder(canvas.captureStream(30), { mimeType: type, videoBitsPerSecond: 12_000_000 });
  const parts: Blob[] = [];
  recorder.ondataavailable = ({ data }) => parts.push(data);
  const done = new Promise((resolve) => {
    recorder.onstop = resolve;
  });
  recorder.start();
  const before = view.peek();
  const n = kind.peek() === "time" ? set.times.length : FRAMES;
  for (let i = 0; i < n && recording.peek() !== null; i++) {
    recording.value = i / n;
    if (kind.peek() === "time") change({ time: set.times[i] }, "drag");
    else change({ camera: [before.camera[0] + (360 * i) / n, before.camera[1], before.camera[2]] }, "drag");
    await (globalThis as unknown as { stage: { settled(): Promise<void> } }).stage.settled();
    const picture = pictureOf();
    if (picture === null || c === null) continue;
    const scale = Math.min(1920 / picture.width, 1080 / picture.height);
    const [w, h] = [picture.width * scale, picture.height * scale];
    c.fillStyle = "#0a0d12";
    c.fillRect(0, 0, 1920, 1080);
    c.drawImage(picture, (1920 - w) / 2, (1080 - h) / 2, w, h);
    await new Promise((next) => setTimeout(next, 34));
  }
  recorder.stop();
  await done;
  change(before, "replace");
  recording.value = null;
  save(new Blob(parts, { type }), `${before.dataset}.${type.includes("mp4") ? "mp4" : "webm"}`);
  say("Movie saved");
}

function dataPart(question: Question): TemplateResult {
  const link = (name: string, form: string, of: Question) =>
    html`<a href=${rootOf() + addressOf({ ...of, format: form })} download>${name}</a>`;
  const { dataset: name, what, time } = question;
  const nodes: Question = { dataset: name, call: "nodes", what, time };
  return html`<section><h2>Plane shown</h2><div class="chips">${link("CSV", "csv", question)}${link("NumPy", "npy", question)}${link("NetCDF", "nc", question)}${link("HDF5", "h5", question)}${link("Zarr", "zarr", question)}${link("JSON", "json", question)}</div></section>
    <section><h2>All nodes at this time</h2><div class="chips">${link("HDF5", "h5", nodes)}${link("NetCDF", "nc", nodes)}${link("NumPy", "npy", nodes)}${link("Zarr", "zarr", nodes)}</div></section>`;
}

function figurePart(): TemplateResult {
  const draw = (element: Element | undefined) => {
    if (!(element instanceof HTMLElement) || element.childElementCount > 0) return;
    const picture = pictureOf();
    if (picture !== null) element.append(picture);
  };
  const caption = captionOf();
  return html`<div class="two"><div class="panel"><section><h2>Width</h2><div class="chips" role="group" aria-label="Width">${(
    Object.keys(WIDTHS) as (keyof typeof WIDTHS)[]
  ).map(
    (name) =>
      html`<button aria-pressed=${size.value === name ? "true" : "false"} @click=${() => {
        size.value = name;
      }}>${name}</button>`,
  )}</div></section>
    <section><h2>Caption</h2><p>${caption}</p><button class="plain" @click=${() => void copy(caption, "Caption")}>Copy caption</button></section>
    <div class="chips"><button class="primary" @click=${saveFigure}>Save PNG</button></div></div>
    <div class="preview" ${ref(draw)}></div></div>`;
}

function moviePart(): TemplateResult {
  const part = recording.value;
  return html`<div class="chips" role="group" aria-label="Movie">${(["turntable", "time"] as const).map(
    (name) =>
      html`<button aria-pressed=${kind.value === name ? "true" : "false"} @click=${() => {
        kind.value = name;
      }}>${{ turntable: "Turntable", time: "Time" }[name]}</button>`,
  )}</div>
  <p class="quiet">1920 × 1080; each picture is drawn whole before it is recorded.</p>
  <div class="chips">${
    part === null
      ? html`<button class="primary" @click=${() => {
          recording.value = 0;
          void record();
        }}>Record</button>`
      : html`<progress max="1" .value=${part}></progress><button @click=${() => {
          recording.value = null;
        }}>Stop</button>`
  }</div>`;
}

function codePart(question: Question): TemplateResult {
  const [a, b] = PLANE_AXES[planesOf(view.value)[0] ?? "z"].map((axis) => "xyz"[axis]);
  const plot = `\n\nimport matplotlib.pyplot as plt\nanswer.plot()\nplt.xlabel(${JSON.stringify(a)})\nplt.ylabel(${JSON.stringify(b)})\nplt.savefig("figure.pdf")`;
  const texts = [
    ["curl", curlOf(question)],
    ["Python", pythonOf(question, baseOf()) + plot],
    ["Command line", commandOf(question, baseOf())],
  ] as const;
  return html`${texts.map(
    ([name, text]) =>
      html`<section><div class="card-head"><h2>${name}</h2><button class="plain" @click=${() => void copy(text, name)}>Copy</button></div><pre>${text}</pre></section>`,
  )}`;
}

function bodyOf(now: Subject, question: Question): TemplateResult {
  if (now === "data") return dataPart(question);
  if (now === "figure") return figurePart();
  return now === "movie" ? moviePart() : codePart(question);
}

/** The dialog. */
export function exportDialog(): TemplateResult | typeof nothing {
  const now = subject.value;
  const question = questionShown();
  if (now === null || question === null) return nothing;
  const open = (element: Element | undefined) => {
    if (element instanceof HTMLDialogElement && !element.open)
      queueMicrotask(() => element.isConnected && !element.open && element.showModal());
  };
  return html`<dialog class="sheet" aria-label="Export" ${ref(open)} @close=${() => {
    subject.value = null;
  }}><header><h2>Export</h2><div class="chips" role="group" aria-label="What to export">${SUBJECTS.map(
    (name) =>
      html`<button aria-pressed=${name === now ? "true" : "false"} @click=${() => {
        subject.value = name;
      }}>${NAMES[name]}</button>`,
  )}</div><button aria-label="Close" @click=${() => {
    subject.value = null;
  }}>×</button></header><div class="body">${bodyOf(now, question)}</div></dialog>`;
}
