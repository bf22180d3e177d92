/** The figure of the panes shown: one raster picture per pane, everything else as vectors, on white. */
import { axisTicks, type Bar, barTicks, partOf } from "../draw/bar.js";
import type { Pane, PlanePane, Rect } from "../draw/layout.js";
import { colourTable, surfaceTable } from "../draw/maps.js";
import type { Dataset, Vec3 } from "../state/dataset.js";
import { PLANE_AXES } from "../state/picture-plan.js";
import { type Picture, pictureAt } from "../state/volumes.js";

/** Sizes of figures: width, height where it is fixed, and text, in points. */
export const SIZES = {
  "86 mm": { width: (86 / 25.4) * 72, height: null, text: 7 },
  "178 mm": { width: (178 / 25.4) * 72, height: null, text: 8 },
  Slide: { width: 720, height: 405, text: 12 },
  "1080p": { width: 1440, height: 810, text: 18 },
} as const;
export type SizeName = keyof typeof SIZES;

export interface FigurePane {
  readonly pane: Pane;
  readonly dataset: Dataset;
  readonly title: string;
  readonly bar: Bar;
  readonly picture: Picture | string;
  readonly isBrushed: ((across: number, up: number) => boolean) | null;
}

export interface Figure {
  readonly centre: Vec3;
  readonly pixel: number;
  readonly panes: readonly FigurePane[];
}

const SVG = "http://www.w3.org/2000/svg";
const INK = "#111111";
const FONT = "Inter";

type Attributes = Readonly<Record<string, string | number>>;
function element(name: string, attributes: Attributes, ...children: readonly (Element | string)[]): SVGElement {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes))
    made.setAttribute(key, typeof value === "number" ? String(Number(value.toFixed(3))) : value);
  made.append(...children);
  return made;
}

/** The colours of a plane as the address of a PNG, 300 pixels an inch. */
function rasterOf(
  picture: Picture,
  { bar: { range, map }, isBrushed }: FigurePane,
  [left, below, width, height]: readonly number[],
  columns: number,
  rows: number,
): string {
  const canvas = document.createElement("canvas");
  canvas.width = columns;
  canvas.height = rows;
  const c = canvas.getContext("2d") as CanvasRenderingContext2D;
  const image = c.createImageData(columns, rows);
  const table = colourTable(map);
  const brushed = new Uint8Array(columns * rows);
  for (let y = 0; y < rows; y++) {
    const v = below + height * (1 - (y + 0.5) / rows);
    for (let x = 0; x < columns; x++) {
      const h = left + (width * (x + 0.5)) / columns;
      const value = pictureAt(picture, h, v);
      const at = y * columns + x;
      if (!Number.isFinite(value)) continue;
      const own = isBrushed === null || isBrushed(h, v) ? 1 : 0;
      brushed[at] = own;
      const isEdge = (x > 0 && brushed[at - 1] !== own) || (y > 0 && brushed[at - columns] !== own);
      const colour = 4 * Math.round(255 * Math.min(1, Math.max(0, partOf(range, value))));
      // As in the view, what is not brushed is dimmed to 35 %, and what is brushed is outlined.
      for (let c = 0; c < 3; c++)
        image.data[4 * at + c] =
          isEdge && isBrushed !== null ? 17 : 255 + (own === 1 ? 1 : 0.35) * (table[colour + c] - 255);
      image.data[4 * at + 3] = 255;
    }
  }
  c.putImageData(image, 0, 0);
  return canvas.toDataURL("image/png");
}

const label = (text: string, x: number, y: number, size: number, more: Attributes = {}) =>
  element("text", { x, y, "font-family": FONT, "font-size": size, fill: INK, ...more }, text);

const DENSITY = 300 / 72;

/** What a pane shows along one of its sides: the start and the length, and those of the part in the box of an open axis. */
function spanOf({ centre, pixel }: Figure, { dataset, pane }: FigurePane, side: 0 | 1) {
  const a = PLANE_AXES[(pane as PlanePane).plane][side];
  const size = (side === 0 ? pane.rect.width : pane.rect.height) * pixel;
  const from = centre[a] - size / 2;
  const { periodic, first, last } = dataset.axes[a];
  const low = periodic ? from : Math.max(first, from);
  return { from, size, low, long: periodic ? size : Math.max(1e-12, Math.min(last, from + size) - low) };
}

/** The width of the longest of some texts. */
const widthOf = (texts: readonly string[], text: number) =>
  0.62 * text * Math.max(0, ...texts.map((one) => one.length));

/** A title in as many lines as its width needs, the last one above a pane. */
function linesOf(title: string, width: number, text: number): string[] {
  return title.split(/ +/).reduce<string[]>((lines, word) => {
    const longer = `${lines.at(-1)} ${word}`;
    return lines.length > 0 && widthOf([longer], text) <= width ? lines.with(-1, longer) : [...lines, word];
  }, []);
}

const titleOf = (title: string, x: number, y: number, width: number, text: number) =>
  linesOf(title, width, text)
    .toReversed()
    .map((line, i) => label(line, x, y - (0.5 + 1.2 * i) * text, text, { "font-weight": "bold" }));

function planePart(figure: Figure, shown: FigurePane, frame: Rect, text: number, margin: number): SVGElement {
  const { x, y, width, height } = frame;
  const { dataset } = shown;
  const group = element("g", {});
  const [h, v] = PLANE_AXES[(shown.pane as PlanePane).plane];
  const [across, up] = [spanOf(figure, shown, 0), spanOf(figure, shown, 1)];
  const { low: left, long: wide } = across;
  const { low: below, long: high } = up;
  const fx = x + ((left - across.from) / across.size) * width;
  const fw = (wide / across.size) * width;
  const fh = (high / up.size) * height;
  const fy = y + height - ((below - up.from) / up.size) * height - fh;
  if (typeof shown.picture !== "string") {
    const [columns, rows] = [fw, fh].map((side) => Math.max(1, Math.round(side * DENSITY)));
    const href = rasterOf(shown.picture, shown, [left, below, wide, high], columns, rows);
    group.append(element("image", { x: fx, y: fy, width: fw, height: fh, href, preserveAspectRatio: "none" }));
  }
  group.append(
    element("rect", { x: fx, y: fy, width: fw, height: fh, fill: "none", stroke: INK, "stroke-width": 0.5 }),
  );
  for (const [side, a] of [h, v].entries()) {
    const axis = dataset.axes[a];
    const [from, to] = side === 0 ? [left, left + wide] : [below, below + high];
    for (const { tick, text: name } of axisTicks(axis, from, to, (side === 0 ? fw : fh) / (6 * text))) {
      const part = (tick - from) / (to - from);
      const p = side === 0 ? fx + part * fw : fy + fh - part * fh;
      const line = { stroke: INK, "stroke-width": 0.5 };
      if (side === 0) {
        group.append(element("line", { x1: p, x2: p, y1: fy + fh, y2: fy + fh + 0.4 * text, ...line }));
        group.append(label(name, p, fy + fh + 1.4 * text, text, { "text-anchor": "middle" }));
      } else {
        group.append(element("line", { x1: fx - 0.4 * text, x2: fx, y1: p, y2: p, ...line }));
        group.append(label(name, fx - 0.6 * text, p + 0.35 * text, text, { "text-anchor": "end" }));
      }
    }
  }
  group.append(label("xyz"[h], fx + fw / 2, fy + fh + 2.6 * text, text, { "text-anchor": "middle" }));
  group.append(label("xyz"[v], x - margin + text, fy + fh / 2, text, { "text-anchor": "middle" }));
  group.append(...titleOf(shown.title, fx, fy, x + width - fx, text));
  return group;
}

function barPart({ range, map, label: name, isLit }: Bar, box: Rect, text: number): SVGElement {
  const { x, y, height } = box;
  const group = element("g", {});
  const table = isLit ? surfaceTable(map) : colourTable(map);
  const canvas = document.createElement("canvas");
  canvas.width = 1;
  canvas.height = 256;
  const c = canvas.getContext("2d") as CanvasRenderingContext2D;
  for (let i = 0; i < 256; i++) {
    const at = 4 * (255 - i);
    c.fillStyle = `rgb(${table[at]} ${table[at + 1]} ${table[at + 2]})`;
    c.fillRect(0, i, 1, 1);
  }
  group.append(element("image", { ...box, href: canvas.toDataURL("image/png"), preserveAspectRatio: "none" }));
  group.append(element("rect", { ...box, fill: "none", stroke: INK, "stroke-width": 0.5 }));
  let last = Number.POSITIVE_INFINITY;
  for (const { tick, text: number } of barTicks(range)) {
    const p = y + height * (1 - partOf(range, tick));
    if (last - p < 1.3 * text) continue;
    last = p;
    group.append(element("line", { x1: x + text, x2: x + 1.3 * text, y1: p, y2: p, stroke: INK, "stroke-width": 0.5 }));
    group.append(label(number, x + 1.6 * text, p + 0.35 * text, text));
  }
  group.append(label(name, x, y - 1.1 * text, text));
  return group;
}

/** A white sheet, its size in points. */
function sheet(width: number, height: number): SVGSVGElement {
  const [wide, high] = [width, height].map((one) => one.toFixed(3));
  const ground = element("rect", { x: 0, y: 0, width, height, fill: "#ffffff" });
  const size = { viewBox: `0 0 ${wide} ${high}`, width: `${wide}pt`, height: `${high}pt` };
  return element("svg", size, ground) as SVGSVGElement;
}

export function figureSvg(figure: Figure, name: SizeName): SVGSVGElement {
  const { width, height: fixed, text } = SIZES[name];
  const rows = [...new Set(figure.panes.map(({ pane }) => pane.rect.y))].map((y) =>
    figure.panes.filter(({ pane }) => pane.rect.y === y),
  );
  const columns = Math.max(...rows.map((row) => row.length));
  const ofPlanes = figure.panes.flatMap((shown) => {
    if (shown.pane.kind !== "plane") return [];
    const { low, long } = spanOf(figure, shown, 1);
    return axisTicks(shown.dataset.axes[PLANE_AXES[shown.pane.plane][1]], low, low + long, 12).map((one) => one.text);
  });
  const ofBars = figure.panes.flatMap(({ bar: { range } }) => barTicks(range).map((one) => one.text));
  const left = Math.max(4.2 * text, 2.2 * text + widthOf(ofPlanes, text));
  const names = figure.panes.map(({ bar }) => bar.label);
  const right = Math.max(5.5 * text, 2.6 * text + widthOf(ofBars, text), text + widthOf(names, text));
  const below = 3.2 * text;
  const aboveOf = (width: number) =>
    (0.8 + 1.2 * Math.max(...figure.panes.map(({ title }) => linesOf(title, width, text).length))) * text;
  const [{ pane }] = figure.panes;
  const aspect = pane.rect.height / pane.rect.width;
  let plot = (width - right) / columns - left;
  // Under a fixed height, panes are as wide as that leaves room for.
  if (fixed !== null) plot = Math.min(plot, (fixed / rows.length - aboveOf(plot) - below) / aspect);
  const above = aboveOf(plot);
  const tall = plot * aspect;
  const height = fixed ?? rows.length * (tall + above + below);
  const start = (width - right - columns * (plot + left)) / 2;
  const svg = sheet(width, height);
  const top = fixed === null ? 0 : (fixed - rows.length * (tall + above + below)) / 2;
  for (const [r, row] of rows.entries()) {
    const y = top + r * (tall + above + below) + above;
    for (const [i, shown] of row.entries()) {
      const frame = { x: start + i * (plot + left) + left, y, width: plot, height: tall };
      if (shown.pane.kind === "plane") svg.append(planePart(figure, shown, frame, text, left));
      else {
        svg.append(element("image", { ...frame, href: String(shown.picture), preserveAspectRatio: "none" }));
        svg.append(...titleOf(shown.title, frame.x, y, plot, text));
      }
    }
    // Planes of a row share one bar if theirs are equal; the pane of space has a bar of its own below.
    const own = row.filter(
      ({ pane: { kind } }) => kind === (r > 0 && row.at(-1)?.pane.kind === "3d" ? "3d" : row[0].pane.kind),
    );
    const bars = own.filter(
      ({ bar }, i) => own.findIndex((one) => JSON.stringify(one.bar) === JSON.stringify(bar)) === i,
    );
    const barX = start + columns * (plot + left) + 0.8 * text;
    const high = Math.min(tall / bars.length - (bars.length - 1) * 2 * text, 18 * text);
    for (const [i, { bar }] of bars.entries())
      svg.append(barPart(bar, { x: barX, y: y + (i * tall) / bars.length, width: text, height: high }, text));
  }
  return svg;
}

const CHART_TEXT = 12;

export function chartFigure(draw: (width: number, height: number) => Element, name: SizeName): SVGSVGElement {
  const { width, height: fixed, text } = SIZES[name];
  const height = fixed ?? 0.66 * width;
  const scale = text / CHART_TEXT;
  const chart = draw(Math.round(width / scale), Math.round(height / scale));
  for (const one of chart.querySelectorAll('[stroke="var(--ground)"]')) one.setAttribute("stroke", "#ffffff");
  for (const one of [chart, ...chart.querySelectorAll("[fill=currentColor], [stroke=currentColor]")])
    for (const kind of ["fill", "stroke"]) if (one.getAttribute(kind) === "currentColor") one.setAttribute(kind, INK);
  chart.querySelector("style")?.remove();
  for (const one of [chart, ...chart.querySelectorAll("[font-family]")]) one.setAttribute("font-family", FONT);
  chart.removeAttribute("style");
  chart.setAttribute("font-size", String(CHART_TEXT));
  const transform = `scale(${scale.toFixed(5)})`;
  const group = element("g", { transform }, ...(chart.childNodes as unknown as Element[]));
  for (const { name: key, value } of chart.attributes)
    if (/^(fill|font|text|stroke|color)/.test(key)) group.setAttribute(key, value);
  const svg = sheet(width, height);
  svg.append(group);
  return svg;
}

export const base64 = (bytes: ArrayBuffer) => {
  let text = "";
  for (const byte of new Uint8Array(bytes)) text += String.fromCharCode(byte);
  return btoa(text);
};
const FACES = [
  [400, new URL("../fonts/inter-Regular.woff2", import.meta.url).href],
  [600, new URL("../fonts/inter-SemiBold.woff2", import.meta.url).href],
] as const;

export async function svgFile(svg: SVGSVGElement): Promise<string> {
  const faces = await Promise.all(
    FACES.map(async ([weight, url]) => {
      const bytes = await (await fetch(url)).arrayBuffer();
      return `@font-face{font-family:${FONT};font-weight:${weight};src:url(data:font/woff2;base64,${base64(bytes)}) format("woff2")}`;
    }),
  );
  const text = new XMLSerializer().serializeToString(svg);
  return text.replace(/^(<svg[^>]*>)/, `$1<style>${faces.join("")}</style>`);
}

export async function pngOf(svg: SVGSVGElement, scale: number): Promise<Blob> {
  const url = URL.createObjectURL(new Blob([await svgFile(svg)], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    const { width, height } = svg.viewBox.baseVal;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/png"));
    if (blob === null) throw new Error("The browser has no memory for a picture of this size");
    return blob;
  } finally {
    URL.revokeObjectURL(url);
  }
}
