/**
 * This file writes what is shown as a separate figure: planes, 3-D view or chart with axes, bars, caption, digest, link
 * and citation, as SVG, PNG or PDF.
 */
import { shownName } from "../state/queries.js";
import type { ViewState } from "../state/view-state.js";
import type { ViewStore } from "../state/view-store.js";
import type { ColourScale } from "./colour-scale.js";
import { titleWithSigns } from "./formula.js";
import { tellCorrection } from "./inputs.js";
import { barMarks, escapeXml, type FigureDocument, writeMarks } from "./marks.js";
import { saveFile } from "./save-file.js";

const LINE = 17;
const MARGIN = 16;
/** Widest row of pictures, in pixels of the page; further ones begin another row. */
const WIDEST = 1600;
/** Enlargement of the pixels of a PNG over those of the page. */
const SHARPNESS = 2;
export const FIGURE_KINDS = ["png", "svg", "pdf"] as const;
export type FigureKind = (typeof FIGURE_KINDS)[number];

/** A picture of a figure, as parts of an SVG document. */
export interface FigurePart {
  readonly width: number;
  readonly height: number;
  readonly svg: string;
  /** The picture inside its margins, from side to side. */
  readonly across?: { readonly left: number; readonly width: number };
}

/** A colour bar with its name. */
export interface NamedBar {
  readonly scale: ColourScale;
  readonly name: string;
}

/** What a figure holds. */
export interface FigureContent {
  readonly name: string;
  readonly parts: readonly FigurePart[];
  readonly bars: readonly NamedBar[];
  readonly title: string;
  readonly notes: readonly string[];
}

/** The name of a file: dataset, quantity, plane and time. */
export function fileName({ state }: { readonly state: ViewState }): string {
  const place = `${state.axis}${Number(state.at.toPrecision(5))}`;
  return cleanName(`${state.dataset}-${shownName(state)}-${place}-t${Number(state.time.toPrecision(5))}`);
}

/** A name without characters that file systems refuse. */
export function cleanName(name: string): string {
  return name.replaceAll(/[^\w.-]/g, "_");
}

/** A canvas as a part of a figure. */
export function canvasPart(canvas: HTMLCanvasElement, width: number): FigurePart {
  const height = Math.round((width * canvas.height) / canvas.width);
  return { width, height, svg: `<image href="${canvas.toDataURL()}" width="${width}" height="${height}"/>` };
}

/** Room at the right end of a colour bar, for half of its last value and the arrow. */
const END_ROOM = 12;

/** A text in lines that fit a width. */
function wrapped(text: string, width: number, pen: CanvasRenderingContext2D | null): string[] {
  const lines: string[] = [];
  let line = "";
  const fits = (part: string) => (pen?.measureText(part).width ?? 7 * part.length) <= width;
  for (const word of text.split(/(?<=[\s&?/,;])/)) {
    if (line !== "" && !fits(line + word)) {
      lines.push(line);
      line = "";
    }
    line += word;
  }
  return [...lines, line].filter((part) => part !== "");
}

/** Lays parts in rows; their markup, and the size of all. */
function layParts(parts: FigureContent["parts"]): { placed: readonly string[]; width: number; height: number } {
  let [x, y, row] = [0, 0, 0];
  let width = 480;
  const placed = parts.map((part) => {
    if (x > 0 && x + part.width > WIDEST) [x, y, row] = [0, y + row, 0];
    const at = `<g transform="translate(${x} ${y})">${part.svg}</g>`;
    x += part.width;
    row = Math.max(row, part.height);
    width = Math.max(width, x);
    return at;
  });
  return { placed, width, height: y + row };
}

/** The colour bar at a height of a figure, as wide as the picture. */
function drawBar(
  { scale, name }: FigureContent["bars"][number],
  across: { readonly left: number; readonly width: number },
  top: number,
): string {
  // Its last value, which is in the middle below its end, has room too.
  const bar = { left: across.left, width: across.width - END_ROOM, top, height: 14 };
  return [
    `<image href="${scale.picture}" x="${bar.left}" y="${bar.top}" width="${bar.width}" height="${bar.height}" preserveAspectRatio="none"/>`,
    writeMarks(barMarks(scale, bar)),
    `<text x="${bar.left + bar.width / 2}" y="${bar.top + 46}" text-anchor="middle">${escapeXml(name)}</text>`,
  ].join("\n");
}

/** The lines below a figure of some width: its title, notes, and where it comes from. */
function captionLines({ title, notes }: FigureContent, { facts, link }: ViewStore, version: string, width: number) {
  const pen = document.createElement("canvas").getContext("2d");
  if (pen !== null) pen.font = "12px system-ui, sans-serif";
  const texts = [
    ...notes,
    `${facts.name}: ${titleWithSigns(facts.title)}; digest ${facts.digest.slice(0, 16)}`,
    ...(facts.source === "" ? [] : [facts.source]),
    link,
    `Drawn by fieldprobe ${version}; to be cited with the dataset (CITATION.cff).`,
  ];
  const fitting = (text: string, weight: string) =>
    wrapped(text, width - 2 * MARGIN, pen).map((line) => ({ text: line, weight }));
  return [...fitting(title, "bold"), ...texts.flatMap((text) => fitting(text, "normal"))];
}

/** The figure as an SVG document. */
export function figureDocument(content: FigureContent, store: ViewStore, version: string): FigureDocument {
  const { placed, width, height: below } = layParts(content.parts);
  const [first, ...others] = content.parts;
  const across = (others.length === 0 ? first?.across : undefined) ?? { left: 62, width: width - 90 };
  const drawnBars = content.bars.map((bar, i) => drawBar(bar, across, below + 6 + 52 * i));
  const top = below + 6 + 52 * content.bars.length;
  const lines = captionLines(content, store, version, width);
  const caption = lines.map(
    ({ text, weight }, i) =>
      `<text x="${MARGIN}" y="${top + 14 + i * LINE}" font-weight="${weight}" xml:space="preserve">${escapeXml(text)}</text>`,
  );
  const height = Math.ceil(top + 14 + lines.length * LINE);
  const svg = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`,
    `  font-family="system-ui, sans-serif" font-size="12" color="#222" fill="#222">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    ...placed,
    ...drawnBars,
    ...caption,
    "</svg>",
    "",
  ].join("\n");
  return { svg, width, height };
}

/** Draws an SVG document on a canvas at a multiple of its size. */
export async function rasterise({ svg, width, height }: FigureDocument, times: number): Promise<HTMLCanvasElement> {
  const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    const image = new Image(width, height);
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = 2 * Math.ceil((width * times) / 2);
    canvas.height = 2 * Math.ceil((height * times) / 2);
    canvas.getContext("2d")?.drawImage(image, 0, 0, width * times, height * times);
    return canvas;
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** A canvas as a PNG file. */
export function pngOf(canvas: HTMLCanvasElement): Promise<Blob> {
  return new Promise((resolve, reject) => {
    canvas.toBlob(
      (blob) => (blob === null ? reject(new Error("The browser made no PNG.")) : resolve(blob)),
      "image/png",
    );
  });
}

/** Saves a figure as a file, or says on the page why it cannot. */
export async function saveFigure(
  kind: FigureKind,
  content: FigureContent | null,
  store: ViewStore,
  version: string,
): Promise<void> {
  if (content === null) return;
  try {
    saveFile(`${content.name}.${kind}`, await figureFile(kind, content, store, version));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    tellCorrection(document.body, `The figure cannot be saved: ${reason}`);
  }
}

/** A figure as a file of a kind; what writes PDF is loaded for the first one. */
async function figureFile(kind: FigureKind, content: FigureContent, store: ViewStore, version: string): Promise<Blob> {
  const figure = figureDocument(content, store, version);
  if (kind === "svg") return new Blob([figure.svg], { type: "image/svg+xml" });
  if (kind === "png") return pngOf(await rasterise(figure, SHARPNESS));
  const { writePdf } = await import("./pdf-file.js");
  return writePdf(figure, content.title, store.link);
}
