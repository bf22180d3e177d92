/** This file writes a picture as a PDF of one page, with a title and a link to the view behind it. */

/** Points of a PDF for a pixel of the page. */
const POINTS = 0.75;

/** A text as a string of a PDF: ASCII, the rest as UTF-16. */
function pdfText(text: string): string {
  const units = Array.from({ length: text.length }, (_, i) => text.charCodeAt(i).toString(16).padStart(4, "0"));
  return `<feff${units.join("")}>`;
}

/** Red, green and blue of each pixel, compressed as PDF has it. */
async function pixelsOf(canvas: HTMLCanvasElement): Promise<Uint8Array> {
  const { data } = canvas.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height) ?? { data: [] };
  const colours = new Uint8Array((data.length / 4) * 3);
  for (let i = 0; i < data.length / 4; i++) {
    for (let c = 0; c < 3; c++) colours[3 * i + c] = data[4 * i + c] ?? 255;
  }
  const packed = new Blob([colours]).stream().pipeThrough(new CompressionStream("deflate"));
  return new Uint8Array(await new Response(packed).arrayBuffer());
}

/**
 * Writes a canvas as a PDF.
 *
 * @param size  of the page, in pixels of the screen
 * @param link  address that a click on the page opens
 */
export async function writePdf(
  canvas: HTMLCanvasElement,
  size: { readonly width: number; readonly height: number },
  title: string,
  link: string,
): Promise<Blob> {
  const [width, height] = [size.width * POINTS, size.height * POINTS];
  const address = new URL(link).href.replaceAll(/[()\\]/g, (character) => `\\${character}`);
  const drawing = `q ${width} 0 0 ${height} 0 0 cm /Picture Do Q`;
  const pixels = await pixelsOf(canvas);
  const image = `<< /Type /XObject /Subtype /Image /Width ${canvas.width} /Height ${canvas.height} /ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /FlateDecode /Length ${pixels.length} >>`;
  const objects: readonly (readonly (string | Uint8Array)[])[] = [
    ["<< /Type /Catalog /Pages 2 0 R >>"],
    ["<< /Type /Pages /Kids [3 0 R] /Count 1 >>"],
    [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${width} ${height}] /Resources << /XObject << /Picture 5 0 R >> >> /Contents 4 0 R /Annots [6 0 R] >>`,
    ],
    [`<< /Length ${drawing.length} >>\nstream\n${drawing}\nendstream`],
    [`${image}\nstream\n`, pixels, "\nendstream"],
    [
      `<< /Type /Annot /Subtype /Link /Rect [0 0 ${width} ${height}] /Border [0 0 0] /A << /S /URI /URI (${address}) >> >>`,
    ],
    [`<< /Title ${pdfText(title)} /Creator (fieldprobe) >>`],
  ];
  const encoder = new TextEncoder();
  const bytes: Uint8Array[] = [];
  let at = 0;
  const add = (part: string | Uint8Array) => {
    const encoded = typeof part === "string" ? encoder.encode(part) : part;
    bytes.push(encoded);
    at += encoded.length;
  };
  add("%PDF-1.4\n");
  const places = objects.map((parts, i) => {
    const place = at;
    add(`${i + 1} 0 obj\n`);
    for (const part of parts) add(part);
    add("\nendobj\n");
    return place;
  });
  const table = at;
  const entries = places.map((place) => `${String(place).padStart(10, "0")} 00000 n \n`);
  const count = objects.length + 1;
  add(`xref\n0 ${count}\n0000000000 65535 f \n${entries.join("")}`);
  add(`trailer\n<< /Size ${count} /Root 1 0 R /Info 7 0 R >>\nstartxref\n${table}\n%%EOF\n`);
  return new Blob(bytes as Uint8Array<ArrayBuffer>[], { type: "application/pdf" });
}
