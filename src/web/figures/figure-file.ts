/** This file writes the slice as a separate figure, SVG or PNG, with axes, colour bar, caption, digest and link. */
import { quantityOf, unitOf } from "../../quantities.js";
import { describeOptions, describePlane, shownFormula, shownName } from "../state/queries.js";
import type { ViewStore } from "../state/view-store.js";
import type { ColourScale } from "./colour-scale.js";
import { barMarks, escapeXml, writeMarks } from "./marks.js";
import type { PlaneFigure, ShownPlane } from "./plane-figure.js";
import { coveredBy } from "./plane-samples.js";
import { saveFile } from "./save-file.js";
import { blendOf } from "./vectors.js";

const LINE = 18;
/** Enlargement of the pixels of a PNG over those of the page. */
const SHARPNESS = 2;

/** A figure to write: the plane that is shown, and the colours of its values. */
export interface FigureSource {
  readonly plane: PlaneFigure;
  readonly scale: ColourScale;
  readonly shown: ShownPlane | null;
}

/** The name of a file: dataset, quantity, plane and time. */
export function fileName({ state }: ShownPlane): string {
  const place = `${state.axis}${Number(state.at.toPrecision(5))}`;
  return `${state.dataset}-${shownName(state)}-${place}-t${Number(state.time.toPrecision(5))}`.replaceAll(
    /[^\w.-]/g,
    "_",
  );
}

/** The picture of a plane with its axes, as parts of an SVG document. */
function planePart(plane: PlaneFigure, { slice, state }: ShownPlane): string {
  const { window, place, marks, picture, overlay } = plane;
  const [left, right, bottom, top] = coveredBy(slice);
  const x = (across: number) => place.left + ((across - window[0]) / (window[1] - window[0])) * place.width;
  const y = (up: number) => place.top + ((window[3] - up) / (window[3] - window[2])) * place.height;
  const at = `x="${x(left)}" y="${y(top)}" width="${x(right) - x(left)}" height="${y(bottom) - y(top)}"`;
  const image = (canvas: HTMLCanvasElement | null, style: string, blend = "normal") =>
    canvas === null
      ? ""
      : `<image href="${canvas.toDataURL()}" ${at} preserveAspectRatio="none" image-rendering="${style}" style="mix-blend-mode:${blend}"/>`;
  return [
    `<clipPath id="plane"><rect x="${place.left}" y="${place.top}" width="${place.width}" height="${place.height}"/></clipPath>`,
    `<g clip-path="url(#plane)">`,
    `<rect x="${place.left}" y="${place.top}" width="${place.width}" height="${place.height}" fill="#9a9a9a"/>`,
    image(picture, "pixelated"),
    image(overlay, "auto", blendOf(state.overlay).replace("source-over", "normal")),
    "</g>",
    writeMarks(marks),
  ].join("\n");
}

/** The figure as an SVG document; null before there is a picture. */
function figureSvg(figure: FigureSource, store: ViewStore): string | null {
  const { plane, scale, shown } = figure;
  if (shown === null || plane.picture === null) return null;
  const quantity = quantityOf(shown.state.field);
  const unit = unitOf(store.facts, quantity.measure);
  const { width, height } = plane.size;
  const bar = { left: 62, top: height + 6, width: width - 90, height: 14 };
  const text = (line: number, content: string, weight = "normal") =>
    `<text x="16" y="${bar.top + 48 + line * LINE}" font-weight="${weight}">${escapeXml(content)}</text>`;
  const total = bar.top + 48 + 5 * LINE;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${total}" viewBox="0 0 ${width} ${total}"`,
    `  font-family="system-ui, sans-serif" font-size="12" color="#222" fill="#222">`,
    `<rect width="${width}" height="${total}" fill="#fff"/>`,
    planePart(plane, shown),
    `<image href="${scale.picture}" x="${bar.left}" y="${bar.top}" width="${bar.width}" height="${bar.height}" preserveAspectRatio="none"/>`,
    writeMarks(barMarks(scale, bar)),
    text(0, `${describePlane(shown.state)}${unit === "" ? "" : `, in ${unit}`}`, "bold"),
    text(1, `${describeOptions(shown.state)}; ${shownName(shown.state)} = ${shownFormula(shown.state)}`),
    text(2, `${store.facts.name}: ${store.facts.title}; digest ${store.facts.digest.slice(0, 16)}`),
    text(3, store.link),
    "</svg>",
    "",
  ].join("\n");
}

/** Draws an SVG document as a PNG. */
async function rasterise(document_: string, width: number, height: number): Promise<Blob | null> {
  const url = URL.createObjectURL(new Blob([document_], { type: "image/svg+xml" }));
  try {
    const image = new Image(width, height);
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = width * SHARPNESS;
    canvas.height = height * SHARPNESS;
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** Saves the slice that is shown as a file. */
export async function saveFigure(kind: "png" | "svg", figure: FigureSource, store: ViewStore): Promise<void> {
  const shown = figure.shown;
  const text = figureSvg(figure, store);
  if (shown === null || text === null) return;
  if (kind === "svg") {
    saveFile(`${fileName(shown)}.svg`, new Blob([text], { type: "image/svg+xml" }));
    return;
  }
  const [, width = "0", height = "0"] = /width="(\d+)" height="(\d+)"/.exec(text) ?? [];
  const png = await rasterise(text, Number(width), Number(height));
  if (png !== null) saveFile(`${fileName(shown)}.png`, png);
}
