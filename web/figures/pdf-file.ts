/**
 * This file writes a figure as a PDF of one page, with a title and a link to the view behind it: lines and texts as
 * such, pictures as pictures. It reads the elements that figures consist of, not every SVG document.
 */
import type { FigureDocument } from "./marks.js";

/** Points of a PDF for a pixel of the page. */
const POINTS = 0.75;
/** Enlargement of texts that no font of every PDF reader has, which become pictures. */
const SHARP = 4;
/** The font of the page that has the widths of the PDF's Helvetica. */
const HELVETICA = "Helvetica, Arial, 'Liberation Sans', sans-serif";

/** Signs of formulas that Helvetica has, at codes which its usual encoding leaves free from 1 on, with their names. */
const FORMULA = {
  "−": "minus",
  "∂": "partialdiff",
  "√": "radical",
  "≤": "lessequal",
  "≥": "greaterequal",
  "≠": "notequal",
  "∑": "summation",
};
/** Signs of Helvetica beyond ISO 8859-1, with their codes. */
const LATIN: Readonly<Record<string, number>> = {
  ...Object.fromEntries(Object.keys(FORMULA).map((sign, i) => [sign, i + 1])),
  ...{ "€": 0x80, "…": 0x85, "‘": 0x91, "’": 0x92, "“": 0x93, "”": 0x94, "•": 0x95, "–": 0x96, "—": 0x97 },
};
/** Signs of the font Symbol with their codes: Greek by the letters that stand for it, then others. */
const GREEK = "αaβbχcδdεeφfγgηhιiκkλlμmνnοoπpθqρrσsτtυuωwξxψyζzΔDΓGΛLΩWΠPΣSΦFΨYΘQΞX";
const SYMBOLS: Readonly<Record<string, number>> = {
  ...Object.fromEntries(
    Array.from({ length: GREEK.length / 2 }, (_, i) => [GREEK[2 * i], GREEK.charCodeAt(2 * i + 1)]),
  ),
  ...{ "′": 0xa2, "∞": 0xa5, "→": 0xae, "″": 0xb2, "∝": 0xb5, "≡": 0xba, "≈": 0xbb, "⊗": 0xc4, "⊕": 0xc5, "∈": 0xce },
  ...{ "∇": 0xd1, "⟨": 0xe1, "⟩": 0xf1, "∫": 0xf2 },
};

/** An element of a figure. */
export interface SvgElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: SvgElement[];
  text: string;
}

const ENTITIES: Readonly<Record<string, string>> = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&amp;": "&" };

function plain(text: string): string {
  return text.replaceAll(/&(?:lt|gt|quot|amp);/g, (entity) => ENTITIES[entity] ?? entity);
}

/**
 * Reads SVG as figures are written: every attribute in double quotes, no comments. The content policy of the page keeps
 * its parser from scripts.
 */
export function readSvg(svg: string): SvgElement {
  const root: SvgElement = { name: "", attributes: new Map(), children: [], text: "" };
  const open = [root];
  for (const [, end, name = "", list = "", closed, text] of svg.matchAll(
    /<(\/?)(\w+)((?:\s+[\w:-]+="[^"]*")*)\s*(\/?)>|([^<]+)/g,
  )) {
    const parent = open.at(-1) as SvgElement;
    if (text !== undefined) parent.text += plain(text);
    else if (end === "/") open.pop();
    else {
      const attributes = new Map(
        [...list.matchAll(/([\w:-]+)="([^"]*)"/g)].map(([, key = "", value = ""]) => [key, plain(value)]),
      );
      const element = { name, attributes, children: [], text: "" };
      parent.children.push(element);
      if (closed !== "/") open.push(element);
    }
  }
  return root.children[0] ?? root;
}

/** The first element with an id; undefined if there is none. */
function findById(element: SvgElement, id: string): SvgElement | undefined {
  if (element.attributes.get("id") === id) return element;
  for (const child of element.children) {
    const found = findById(child, id);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A part of a text in one font: F of the Latin alphabet, S of symbols, or null: a picture. */
interface Run {
  readonly font: "F" | "S" | null;
  readonly text: string;
  readonly codes: readonly number[];
}

/** A text in parts of one font each. */
export function runsOf(text: string): readonly Run[] {
  const runs: { font: Run["font"]; text: string; codes: number[] }[] = [];
  for (const sign of text) {
    const code = sign.codePointAt(0) as number;
    const latin = (code >= 0x20 && code < 0x7f) || (code >= 0xa0 && code <= 0xff) ? code : LATIN[sign];
    const font = latin !== undefined ? "F" : SYMBOLS[sign] !== undefined ? "S" : null;
    let last = runs.at(-1);
    if (last?.font !== font) {
      last = { font, text: "", codes: [] };
      runs.push(last);
    }
    last.text += sign;
    last.codes.push(latin ?? SYMBOLS[sign] ?? 0);
  }
  return runs;
}

/** A text as a string of a PDF: UTF-16. */
function pdfText(text: string): string {
  const units = Array.from({ length: text.length }, (_, i) => text.charCodeAt(i).toString(16).padStart(4, "0"));
  return `<feff${units.join("")}>`;
}

const number = (value: number): string => String(Number(value.toFixed(3)));
const hex = (codes: readonly number[]): string =>
  `<${codes.map((code) => code.toString(16).padStart(2, "0")).join("")}>`;

/** Red, green, blue and opacity of a colour, each from 0 to 1; null for none. */
function colourOf(text: string | undefined): readonly [number, number, number, number] | null {
  if (text === undefined || text === "none") return null;
  if (text === "currentColor") return colourOf("#222");
  const [, digits] = /^#([\da-f]+)$/i.exec(text) ?? [];
  if (digits !== undefined) {
    const step = digits.length === 3 ? 1 : 2;
    const [r = 0, g = 0, b = 0] = [0, 1, 2].map((i) => {
      const part = digits.slice(i * step, (i + 1) * step);
      return Number.parseInt(part.repeat(2 / step), 16) / 255;
    });
    return [r, g, b, 1];
  }
  const [r = 0, g = 0, b = 0, alpha = 1] = (text.match(/[\d.]+/g) ?? []).map(Number);
  return [r / 255, g / 255, b / 255, alpha];
}

async function deflated(bytes: Uint8Array): Promise<Uint8Array> {
  const packed = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(new CompressionStream("deflate"));
  return new Uint8Array(await new Response(packed).arrayBuffer());
}

/** Objects of a PDF, which are numbered from 1. */
class PdfObjects {
  readonly #objects: (readonly (string | Uint8Array)[])[] = [];

  /** The objects so far. */
  get count(): number {
    return this.#objects.length;
  }

  add(...parts: readonly (string | Uint8Array)[]): number {
    return this.#objects.push(parts);
  }

  /** Adds bytes with the entries that describe them, compressed. */
  async addStream(entries: string, bytes: Uint8Array): Promise<number> {
    const packed = await deflated(bytes);
    const head = `<< ${entries} /Filter /FlateDecode /Length ${packed.length} >>\nstream\n`;
    return this.add(head, packed, "\nendstream");
  }

  /** The file whose catalogue and title are these objects. */
  file(catalogue: number, info: number): Blob {
    const encoder = new TextEncoder();
    const bytes: Uint8Array[] = [];
    let at = 0;
    const write = (part: string | Uint8Array) => {
      const encoded = typeof part === "string" ? encoder.encode(part) : part;
      bytes.push(encoded);
      at += encoded.length;
    };
    write("%PDF-1.4\n");
    const places = this.#objects.map((parts, i) => {
      const place = at;
      for (const part of [`${i + 1} 0 obj\n`, ...parts, "\nendobj\n"]) write(part);
      return place;
    });
    const table = at;
    const entries = places.map((place) => `${String(place).padStart(10, "0")} 00000 n \n`);
    const count = places.length + 1;
    write(`xref\n0 ${count}\n0000000000 65535 f \n${entries.join("")}`);
    write(`trailer\n<< /Size ${count} /Root ${catalogue} 0 R /Info ${info} 0 R >>\nstartxref\n${table}\n%%EOF\n`);
    return new Blob(bytes as Uint8Array<ArrayBuffer>[], { type: "application/pdf" });
  }
}

/** The content of a page, with the pictures and the states of drawing that it uses. */
class PageContent {
  readonly #objects: PdfObjects;
  readonly #root: SvgElement;
  readonly #ops: string[] = [];
  readonly #pictures = new Map<string, { readonly name: string; readonly id: number }>();
  readonly #states = new Map<string, string>();
  readonly #pen = document.createElement("canvas").getContext("2d");

  constructor(objects: PdfObjects, root: SvgElement) {
    this.#objects = objects;
    this.#root = root;
  }

  get text(): string {
    return this.#ops.join("\n");
  }

  /** Adds the fonts, and names them, the pictures and the states. */
  resources(): string {
    const pictures = [...this.#pictures.values()].map(({ name, id }) => `/${name} ${id} 0 R`);
    const states = [...this.#states].map(([entries, name]) => `/${name} << ${entries} >>`);
    const font = (name: string, base: string, encoding: string) =>
      `/${name} ${this.#objects.add(`<< /Type /Font /Subtype /Type1 /BaseFont /${base} ${encoding} >>`)} 0 R`;
    const names = Object.values(FORMULA).map((name) => `/${name}`);
    const latin = `/Encoding << /Type /Encoding /BaseEncoding /WinAnsiEncoding /Differences [1 ${names.join(" ")}] >>`;
    const fonts = [font("F", "Helvetica", latin), font("B", "Helvetica-Bold", latin), font("S", "Symbol", "")];
    return `<< /Font << ${fonts.join(" ")} >> /XObject << ${pictures.join(" ")} >> /ExtGState << ${states.join(" ")} >> >>`;
  }

  async draw(element: SvgElement): Promise<void> {
    if (element.name === "clipPath") return;
    this.#ops.push("q");
    this.#transform(element.attributes.get("transform") ?? "");
    const clip = /#([\w-]+)/.exec(element.attributes.get("clip-path") ?? "")?.[1];
    const shape = clip === undefined ? undefined : findById(this.#root, clip)?.children[0];
    if (shape !== undefined) this.#ops.push(this.#rectangle(shape), "W n");
    await this.#drawOwn(element);
    for (const child of element.children) await this.draw(child);
    this.#ops.push("Q");
  }

  async #drawOwn(element: SvgElement): Promise<void> {
    const of = (name: string) => Number(element.attributes.get(name) ?? 0);
    if (element.name === "rect") this.#paint(element, this.#rectangle(element), "#000");
    else if (element.name === "path") this.#paint(element, this.#path(element.attributes.get("d") ?? ""), "#000");
    else if (element.name === "line") {
      const [x1, y1, x2, y2] = ["x1", "y1", "x2", "y2"].map((name) => number(of(name)));
      this.#paint(element, `${x1} ${y1} m ${x2} ${y2} l`, "none");
    } else if (element.name === "image") await this.#image(element);
    else if (element.name === "text") await this.#text(element);
  }

  #transform(text: string): void {
    for (const [, name, list = ""] of text.matchAll(/(\w+)\(([^)]*)\)/g)) {
      const [a = 0, b = 0, c = 0] = list.split(/[\s,]+/).map(Number);
      if (name === "translate") this.#ops.push(`1 0 0 1 ${number(a)} ${number(b)} cm`);
      else if (name === "scale") this.#ops.push(`${a} 0 0 ${a} 0 0 cm`);
      else if (name === "rotate") {
        const [cos, sin] = [Math.cos((a * Math.PI) / 180), Math.sin((a * Math.PI) / 180)].map(number);
        this.#ops.push(`1 0 0 1 ${b} ${c} cm ${cos} ${sin} ${-Number(sin)} ${cos} 0 0 cm 1 0 0 1 ${-b} ${-c} cm`);
      }
    }
  }

  #rectangle(element: SvgElement): string {
    const sides = ["x", "y", "width", "height"].map((name) => number(Number(element.attributes.get(name) ?? 0)));
    return `${sides.join(" ")} re`;
  }

  /** A path of absolute moves, lines and Bézier curves. */
  #path(d: string): string {
    const operators: Readonly<Record<string, string>> = { M: "m", L: "l", C: "c" };
    return [...d.matchAll(/([MLC])([^MLC]*)/g)]
      .map(
        ([, name = "", list = ""]) =>
          `${list
            .trim()
            .split(/[\s,]+/)
            .join(" ")} ${operators[name]}`,
      )
      .join("\n");
  }

  /** Fills and strokes a shape as its element says. */
  #paint(element: SvgElement, shape: string, usual: string): void {
    const opacity = Number(element.attributes.get("opacity") ?? 1);
    const fill = colourOf(element.attributes.get("fill") ?? usual);
    const stroke = colourOf(element.attributes.get("stroke"));
    if (fill === null && stroke === null) return;
    this.#colours(fill, stroke, opacity);
    if (stroke !== null) {
      const dash = (element.attributes.get("stroke-dasharray") ?? "").split(/[\s,]+/).filter(Boolean);
      this.#ops.push(`${element.attributes.get("stroke-width") ?? 1} w`);
      if (dash.length > 0) this.#ops.push(`[${dash.join(" ")}] ${element.attributes.get("stroke-dashoffset") ?? 0} d`);
    }
    this.#ops.push(shape, fill === null ? "S" : stroke === null ? "f" : "B");
  }

  #colours(fill: ReturnType<typeof colourOf>, stroke: ReturnType<typeof colourOf>, opacity: number): void {
    const [ca, CA] = [fill, stroke].map((colour) => number((colour?.[3] ?? 1) * opacity));
    if (ca !== "1" || CA !== "1") this.#state(`/ca ${ca} /CA ${CA}`);
    if (fill !== null) this.#ops.push(`${fill.slice(0, 3).map(number).join(" ")} rg`);
    if (stroke !== null) this.#ops.push(`${stroke.slice(0, 3).map(number).join(" ")} RG`);
  }

  #state(entries: string): void {
    const name = this.#states.get(entries) ?? `G${this.#states.size}`;
    this.#states.set(entries, name);
    this.#ops.push(`/${name} gs`);
  }

  async #image(element: SvgElement): Promise<void> {
    const [x, y, width, height] = ["x", "y", "width", "height"].map((name) =>
      Number(element.attributes.get(name) ?? 0),
    );
    const smooth = element.attributes.get("image-rendering") !== "pixelated";
    await this.#place(element.attributes.get("href") ?? "", smooth, x, y, width, height);
  }

  /** Places a picture, whose rows run downwards as everything here does. */
  async #place(href: string, smooth: boolean, x: number, y: number, width: number, height: number): Promise<void> {
    const known = this.#pictures.get(href);
    const name = known?.name ?? `P${this.#pictures.size}`;
    if (known === undefined) this.#pictures.set(href, { name, id: await this.#addPicture(href, smooth) });
    this.#ops.push(`${number(width)} 0 0 ${number(-height)} ${number(x)} ${number(y + height)} cm /${name} Do`);
  }

  async #addPicture(href: string, smooth: boolean): Promise<number> {
    const image = new Image();
    image.src = href;
    await image.decode();
    const [width, height] = [image.naturalWidth, image.naturalHeight];
    const canvas = Object.assign(document.createElement("canvas"), { width, height });
    const pen = canvas.getContext("2d");
    pen?.drawImage(image, 0, 0);
    const { data } = pen?.getImageData(0, 0, width, height) ?? { data: new Uint8ClampedArray(4 * width * height) };
    const colours = new Uint8Array(3 * width * height);
    const opacity = new Uint8Array(width * height);
    for (let i = 0; i < opacity.length; i++) {
      for (let c = 0; c < 3; c++) colours[3 * i + c] = data[4 * i + c] ?? 0;
      opacity[i] = data[4 * i + 3] ?? 255;
    }
    const size = `/Type /XObject /Subtype /Image /Width ${width} /Height ${height} /BitsPerComponent 8 /Interpolate ${smooth}`;
    const mask = opacity.every((value) => value === 255)
      ? ""
      : `/SMask ${await this.#objects.addStream(`${size} /ColorSpace /DeviceGray`, opacity)} 0 R`;
    return this.#objects.addStream(`${size} /ColorSpace /DeviceRGB ${mask}`, colours);
  }

  async #text(element: SvgElement): Promise<void> {
    const size = Number(element.attributes.get("font-size") ?? 12);
    const bold = element.attributes.get("font-weight") === "bold";
    const runs = runsOf(element.text);
    const widths = runs.map(({ font, text }) => this.#width(text, font === null, size, bold));
    const whole = widths.reduce((sum, width) => sum + width, 0);
    const anchor = { middle: whole / 2, end: whole }[element.attributes.get("text-anchor") ?? ""] ?? 0;
    let x = Number(element.attributes.get("x") ?? 0) - anchor;
    const y = Number(element.attributes.get("y") ?? 0);
    const stroke = colourOf(element.attributes.get("stroke"));
    const fill = colourOf(element.attributes.get("fill") ?? "#222");
    this.#colours(fill, stroke, 1);
    this.#ops.push(`${element.attributes.get("stroke-width") ?? 1} w ${fill === null ? 1 : 0} Tr`);
    for (const [i, { font, text, codes }] of runs.entries()) {
      const width = widths[i] as number;
      if (font !== null) {
        const name = font === "F" && bold ? "B" : font;
        this.#ops.push(`BT /${name} ${size} Tf 1 0 0 -1 ${number(x)} ${number(y)} Tm ${hex(codes)} Tj ET`);
      } else if (fill !== null) {
        this.#ops.push("q");
        await this.#place(this.#drawn(text, size, bold, width), true, x, y - size, width, 1.4 * size);
        this.#ops.push("Q");
      }
      x += width;
    }
  }

  #width(text: string, drawn: boolean, size: number, bold: boolean): number {
    if (this.#pen === null) return 0.55 * size * text.length;
    this.#pen.font = `${bold ? "bold " : ""}${size}px ${drawn ? "system-ui, sans-serif" : HELVETICA}`;
    return Math.max(0.1, this.#pen.measureText(text).width);
  }

  /** A text as a picture of its width, from one font size above its line on. */
  #drawn(text: string, size: number, bold: boolean, width: number): string {
    const canvas = document.createElement("canvas");
    canvas.width = Math.max(1, Math.ceil(SHARP * width));
    canvas.height = Math.ceil(SHARP * 1.4 * size);
    const pen = canvas.getContext("2d");
    if (pen === null) return canvas.toDataURL();
    pen.font = `${bold ? "bold " : ""}${SHARP * size}px system-ui, sans-serif`;
    pen.fillStyle = "#222";
    pen.fillText(text, 0, SHARP * size);
    return canvas.toDataURL();
  }
}

/**
 * Writes a figure as a PDF.
 *
 * @param figure the figure as SVG, sizes in pixels of the page
 * @param link   address that a click on the page opens
 */
export async function writePdf(figure: FigureDocument, title: string, link: string): Promise<Blob> {
  const [width, height] = [figure.width * POINTS, figure.height * POINTS];
  const objects = new PdfObjects();
  const root = readSvg(figure.svg);
  const page = new PageContent(objects, root);
  await page.draw(root);
  // Pixels downwards become points upwards.
  const drawing = `${POINTS} 0 0 ${-POINTS} 0 ${height} cm\n${page.text}`;
  const content = await objects.addStream("", new TextEncoder().encode(drawing));
  const address = new URL(link).href.replaceAll(/[()\\]/g, (character) => `\\${character}`);
  const annotation = `<< /Type /Annot /Subtype /Link /Rect [0 0 ${width} ${height}] /Border [0 0 0] /A << /S /URI /URI (${address}) >> >>`;
  const resources = page.resources();
  const pages = objects.add(`<< /Type /Pages /Kids [${objects.count + 2} 0 R] /Count 1 >>`);
  objects.add(
    `<< /Type /Page /Parent ${pages} 0 R /MediaBox [0 0 ${width} ${height}] /Resources ${resources} /Contents ${content} 0 R /Annots [${annotation}] >>`,
  );
  const catalogue = objects.add(`<< /Type /Catalog /Pages ${pages} 0 R >>`);
  return objects.file(catalogue, objects.add(`<< /Title ${pdfText(title)} /Creator (fieldprobe) >>`));
}
