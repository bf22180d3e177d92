/** The inspector: the panels Look, Point, Statistics and Particles. */
import { signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit-html";
import { ref } from "lit-html/directives/ref.js";
import { statisticsPanel } from "./cards.js";
import { numberField, oneOf, rove, select, setting } from "./controls.js";
import { colourTable } from "./draw/maps.js";
import { openShare } from "./export/share.js";
import { openExport } from "./export.js";
import { copy } from "./notify.js";
import { particlesPanel } from "./particles.js";
import { pointPanel } from "./point.js";
import { centreHere, fit } from "./stage-input.js";
import { mapOf } from "./stage-layers.js";
import { type Dataset, flatAxis, timeText } from "./state/dataset.js";
import { exactNumber, plainNumber, tidy } from "./state/format.js";
import { MAP_NAMES, type MapName, type Range } from "./state/link.js";
import { quantitiesOf, quantityOf } from "./state/quantities.js";
import { defaultRange, levelEnclosing, rangeOf } from "./state/ranges.js";
import { planesOf, volumeShown } from "./state/shown.js";
import { change, dataset, selectionOf, view } from "./state/view.js";

export const TABS = ["Look", "Point", "Statistics", "Particles"] as const;
export type Tab = (typeof TABS)[number];
export const tab = signal<Tab>("Look");
const stop = signal<"low" | "half" | "full">("low");

export function showTab(name: Tab): void {
  tab.value = name;
  if (stop.peek() === "low") stop.value = "half";
}

function swatch(name: MapName): TemplateResult {
  const table = colourTable(name);
  const stops = Array.from({ length: 18 }, (_, i) => `rgb(${table.subarray(60 * i, 60 * i + 3).join(" ")})`);
  const paint = (element: Element | undefined) => {
    if (element instanceof HTMLElement) element.style.background = `linear-gradient(to right, ${stops.join()})`;
  };
  return html`<canvas width="50" height="10" aria-hidden="true" ${ref(paint)}></canvas>`;
}

function setRange(what: string, range: Range): void {
  if (!(range.low < range.high)) return;
  const scale = range.scale === "log" && range.low <= 0 ? "linear" : range.scale;
  change({ ranges: new Map(view.peek().ranges).set(what, { ...range, scale, isUsual: false }) });
}

function rangeOfPart(set: Dataset, what: string): TemplateResult {
  const now = view.value;
  const volume = volumeShown(set, what);
  const range = rangeOf(now, what, volume, set);
  const span = volume === null ? 0 : volume.high - volume.low;
  const linear = Math.max(Math.abs(range.low), Math.abs(range.high)) / 50;
  const scales: (readonly [string, string])[] = [["linear", "linear"]];
  if (range.low > 0) scales.push(["log", "logarithmic"]);
  if (range.low < 0) scales.push(["symlog", "logarithmic, both signs"]);
  return html`<div class="rows">
    <span>From, to</span><span>${numberField("Lowest colour", range.low, (low) => setRange(what, { ...range, low }))} ${numberField("Highest colour", range.high, (high) => setRange(what, { ...range, high }))}</span>
    <span>Scale</span>${select("Scale", scales, range.scale.split(":")[0], (scale) => {
      const next = scale === "symlog" ? `symlog:${Number(linear.toPrecision(2))}` : (scale as Range["scale"]);
      setRange(what, { ...range, scale: next as Range["scale"] });
    })}
  </div>
  <div class="chips"><button @click=${() => volume !== null && setRange(what, defaultRange(volume, what, set))}>99.9 % of the volume</button>
    <button @click=${() => volume !== null && setRange(what, { low: tidy(volume.low, span, 4), high: tidy(volume.high, span, 4), scale: "linear" })}>Minimum to maximum</button></div>`;
}

const symbolsOf = (set: Dataset) => quantitiesOf(set).map(({ what, symbol }) => [what, symbol] as const);

function surfacePart(set: Dataset): TemplateResult {
  const now = view.value;
  const { what, value } = now.surface;
  const volume = volumeShown(set, what);
  const offered = symbolsOf(set);
  return html`<section><h2>Surface</h2><div class="rows">
    <span>Quantity</span>${select("Quantity of the surface", offered, what, (next) => change({ surface: { what: next, value: null } }))}
    <span>Value</span>${numberField("Value of the surface", value ?? 0, (next) => change({ surface: { what, value: next } }))}
    <span>Coloured by</span>${select("Colour of the surface", offered, now.colour, (next) => change({ colour: next }))}
  </div>
  <p class="quiet">Part of the volume inside</p>
  <div class="chips" role="group" aria-label="Part of the volume inside">${[0.01, 0.02, 0.05, 0.1, 0.2].map(
    (part) =>
      html`<button @click=${() => volume !== null && change({ surface: { what, value: levelEnclosing(volume, part, set) } })}>${plainNumber(part * 100)} %</button>`,
  )}</div></section>`;
}

const PLANES = { "slice:z": "xy", "slice:x": "zy", "slice:y": "xz" } as const;

function lookPanel(set: Dataset): TemplateResult {
  const now = view.value;
  const what = now.what as string;
  const range = rangeOf(now, what, volumeShown(set, what), set);
  const used = mapOf(now, range, what);
  const quantity = quantityOf(what);
  return html`
    ${
      planesOf(now).length === 0 || (now.show === "compare" && now.compare === "difference")
        ? nothing
        : html`<section><h2>${quantity.title} ${quantity.title === quantity.symbol ? "" : quantity.symbol}</h2>${rangeOfPart(set, what)}</section>
    <section><h2>Colours</h2><div class="chips" role="group" aria-label="Colours">${MAP_NAMES.map(
      (name) =>
        html`<button class="map" aria-pressed=${used === name ? "true" : "false"} @click=${() => change({ map: name })}>${swatch(name)}${name}</button>`,
    )}</div></section>`
    }
    ${now.show === "four" || now.show === "3d" ? surfacePart(set) : nothing}
    ${
      now.show.startsWith("slice") && flatAxis(set) === undefined
        ? html`<section><h2>Plane</h2>${oneOf("Plane", PLANES, now.show as keyof typeof PLANES, (show) => change({ show }))}</section>`
        : nothing
    }
    ${now.show === "compare" ? comparePart() : nothing}
    <section><h2>View</h2><div class="chips">
      <button @click=${fit}>Fit</button><button @click=${centreHere}>Centre here</button>
      <button aria-pressed=${now.stage === "light" ? "true" : "false"} @click=${() => change({ stage: now.stage === "light" ? "dark" : "light" })}>Light stage</button>
      <button class="narrow" @click=${() => openExport("figure")}>Export</button><button class="narrow" @click=${() => openShare()}>Share</button>
    </div></section>
    <section><h2>Dataset</h2><p>${set.title}</p>
      <p class="quiet">${set.axes.map(({ nodes }) => nodes).join(" × ")} nodes, ${set.times.length} ${set.times.length === 1 ? "time" : "times"}${set.guards > 0 ? ` (${set.guards} more snapshots at the ends, for interpolation in time)` : ""}${set.viscosity === null ? "" : `, ν = ${plainNumber(set.viscosity)}`}</p>
      ${set.source === "" ? nothing : html`<p class="quiet">${set.source}</p>`}
      ${set.warnings.map((one) => html`<p class="error">${one}</p>`)}
      <button class="plain" @click=${() => void copy(set.digest, "Manifest")}>Copy manifest</button></section>`;
}

const COMPARISONS = { swipe: "Swipe", side: "Side by side", difference: "A − B" } as const;

function comparePart(): TemplateResult | typeof nothing {
  const now = view.value;
  const second = selectionOf(now, true);
  if (second === null) return nothing;
  const { dataset: set, what, time, method } = second;
  const methods = set.methods.map((name) => [name, name] as const);
  const times = set.times.map((one) => [exactNumber(one), timeText(set, one)] as const);
  const choose = (patch: typeof now.b) => change({ b: { ...now.b, ...patch } });
  return html`<section><h2>B${set === dataset.value ? "" : `, ${set.name},`} differs in</h2><div class="rows">
    <span>Method</span>${select("Method of B", methods, method, (next) => choose({ method: next }))}
    <span>Time</span>${select("Time of B", times, exactNumber(time), (next) => choose({ time: Number(next) }))}
    <span>Quantity</span>${select("Quantity of B", symbolsOf(set), what, (next) => choose({ what: next }))}</div>
    ${oneOf("How to compare", COMPARISONS, now.compare, (how) => change({ compare: how }))}</section>`;
}

const PANELS = { Look: lookPanel, Point: pointPanel, Statistics: statisticsPanel, Particles: particlesPanel };

export function inspector(set: Dataset | null): TemplateResult {
  const stops = ["low", "half", "full"] as const;
  return html`<aside class="inspector" data-stop=${stop.value} aria-label="Inspector">
    <button class="handle" aria-label="Sheet larger or smaller" @click=${setting(stop, stops[(stops.indexOf(stop.value) + 1) % 3])}></button>
    <div class="tabs" role="tablist" aria-label="Inspector" @keydown=${rove}>${TABS.map(
      (
        name,
      ) => html`<button role="tab" id=${`tab-${name}`} aria-controls="panel" aria-selected=${tab.value === name ? "true" : "false"} tabindex=${tab.value === name ? 0 : -1}
        @click=${() => showTab(name)}>${name}</button>`,
    )}</div>
    <div class="panel" id="panel" role="tabpanel" aria-labelledby=${`tab-${tab.value}`} tabindex="0">${set === null || view.value.what === null ? nothing : PANELS[tab.value](set)}</div>
  </aside>`;
}
