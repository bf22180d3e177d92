/** A figure as PDF: vectors and embedded fonts by jsPDF and svg2pdf.js, loaded on demand. */
import { jsPDF } from "jspdf";
import { svg2pdf } from "svg2pdf.js";
import { MISSING_GLYPH } from "../state/format.js";
import { base64 } from "./figure.js";

const FONTS = [
  ["normal", new URL("../fonts/inter-Regular.ttf", import.meta.url).href],
  ["bold", new URL("../fonts/inter-SemiBold.ttf", import.meta.url).href],
] as const;

/** Writes an SVG whose units are points. Throws Error for text that its fonts cannot write. */
export async function pdfOf(svg: SVGSVGElement, title: string): Promise<Blob> {
  const [unwritten] = MISSING_GLYPH.exec(svg.textContent) ?? [];
  if (unwritten !== undefined) throw new Error(`The font of PDF has no ${unwritten}: save SVG or PNG.`);
  const { width, height } = svg.viewBox.baseVal;
  const pdf = new jsPDF({
    ...{ unit: "pt", format: [width, height], compress: true },
    orientation: width > height ? "landscape" : "portrait",
  });
  for (const [style, url] of FONTS) {
    const file = `inter-${style}.ttf`;
    pdf.addFileToVFS(file, base64(await (await fetch(url)).arrayBuffer()));
    pdf.addFont(file, "Inter", style);
  }
  pdf.setProperties({ title, creator: "fieldprobe" });
  const plain = svg.cloneNode(true) as SVGSVGElement;
  // PDF would paint the halo of a text over it.
  for (const one of plain.querySelectorAll("[paint-order]")) one.removeAttribute("stroke");
  await svg2pdf(plain, pdf, { x: 0, y: 0, width, height });
  return pdf.output("blob");
}
