/** This file draws like a canvas and writes SVG, so that lines and texts of an exported figure stay lines and texts. */
import { escapeXml } from "./marks.js";

/** What drawings over a plane ask of a canvas. */
export type LayerPen = Pick<
  CanvasRenderingContext2D,
  | "arc"
  | "beginPath"
  | "fill"
  | "fillStyle"
  | "fillText"
  | "font"
  | "globalAlpha"
  | "lineDashOffset"
  | "lineTo"
  | "lineWidth"
  | "measureText"
  | "moveTo"
  | "setLineDash"
  | "stroke"
  | "strokeStyle"
  | "strokeText"
  | "textAlign"
> & { readonly canvas: { readonly width: number; readonly height: number } };

/** The distance of the control points of a quarter of a circle from its ends, in radii. */
const QUARTER = 0.5523;
const ANCHORS: Readonly<Record<string, string>> = { left: "start", right: "end", center: "middle" };

const round = (value: number): string => String(Number(value.toFixed(2)));

/** A pen whose drawing is text; arcs are whole circles. */
export class SvgPen implements LayerPen {
  readonly canvas: { readonly width: number; readonly height: number };
  fillStyle: string | CanvasGradient | CanvasPattern = "#000";
  strokeStyle: string | CanvasGradient | CanvasPattern = "#000";
  font = "11px system-ui, sans-serif";
  globalAlpha = 1;
  lineWidth = 1;
  lineDashOffset = 0;
  textAlign: CanvasTextAlign = "left";
  #path = "";
  #dash: readonly number[] = [];
  readonly #parts: string[] = [];

  constructor(width: number, height: number) {
    this.canvas = { width, height };
  }

  /** Everything that has been drawn, as parts of an SVG document. */
  get svg(): string {
    return this.#parts.join("\n");
  }

  beginPath(): void {
    this.#path = "";
  }

  moveTo(x: number, y: number): void {
    this.#path += `M${round(x)} ${round(y)}`;
  }

  lineTo(x: number, y: number): void {
    this.#path += `L${round(x)} ${round(y)}`;
  }

  arc(x: number, y: number, radius: number): void {
    const reach = QUARTER * radius;
    this.moveTo(x + radius, y);
    for (const [cos, sin] of [
      [0, 1],
      [-1, 0],
      [0, -1],
      [1, 0],
    ] as const) {
      // From the quarter before, whose direction is (sin, -cos), to this one.
      const [fx, fy] = [x + radius * sin, y - radius * cos];
      const [tx, ty] = [x + radius * cos, y + radius * sin];
      const controls = [fx + reach * cos, fy + reach * sin, tx + reach * sin, ty - reach * cos];
      this.#path += `C${[...controls, tx, ty].map(round).join(" ")}`;
    }
  }

  stroke(): void {
    if (this.#path === "") return;
    const dash =
      this.#dash.length === 0
        ? ""
        : ` stroke-dasharray="${this.#dash.join(" ")}" stroke-dashoffset="${this.lineDashOffset}"`;
    this.#parts.push(
      `<path d="${this.#path}" fill="none" stroke="${this.strokeStyle}" stroke-width="${round(this.lineWidth)}"${dash}${this.#opacity}/>`,
    );
  }

  fill(): void {
    if (this.#path !== "") this.#parts.push(`<path d="${this.#path}" fill="${this.fillStyle}"${this.#opacity}/>`);
  }

  fillText(text: string, x: number, y: number): void {
    this.#text(text, x, y, `fill="${this.fillStyle}"`);
  }

  strokeText(text: string, x: number, y: number): void {
    this.#text(text, x, y, `fill="none" stroke="${this.strokeStyle}" stroke-width="${round(this.lineWidth)}"`);
  }

  setLineDash(dash: readonly number[]): void {
    this.#dash = dash;
  }

  /** The width of a text, estimated from its length: the canvas of a browser is not needed. */
  measureText(text: string): TextMetrics {
    return { width: 0.6 * Number.parseFloat(this.font) * text.length } as TextMetrics;
  }

  get #opacity(): string {
    return this.globalAlpha === 1 ? "" : ` opacity="${this.globalAlpha}"`;
  }

  #text(text: string, x: number, y: number, style: string): void {
    const anchor = ANCHORS[this.textAlign] ?? "start";
    this.#parts.push(
      `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}" font-size="${round(Number.parseFloat(this.font))}" ${style}>${escapeXml(text)}</text>`,
    );
  }
}
