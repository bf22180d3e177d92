/** This file reads points from text with three columns, or from a NumPy file of shape (n, 3). */

/** The most points that are read. */
const MOST_POINTS = 100_000;

/**
 * Reads lines of x, y and z, separated by commas, semicolons or blanks; lines of other text at the top are skipped.
 *
 * @throws Error naming the first line that has no three numbers
 */
export function readPointText(text: string): Float32Array {
  const numbers: number[] = [];
  for (const [i, line] of text.split(/\r\n|\r|\n/).entries()) {
    const trimmed = line.trim();
    if (trimmed === "" || trimmed.startsWith("#")) continue;
    const parts = trimmed.split(/[\s,;]+/);
    const [x, y, z] = parts.map(Number);
    if (parts.length < 3 || ![x, y, z].every(Number.isFinite)) {
      if (numbers.length === 0 && /[a-z]/i.test(trimmed)) continue;
      throw new Error(`Line ${i + 1} does not have three numbers: "${trimmed.slice(0, 40)}".`);
    }
    numbers.push(x, y, z);
  }
  return checked(Float32Array.from(numbers));
}

/**
 * Reads a NumPy file of little-endian float32 or float64 in C order.
 *
 * @throws Error where it is another file
 */
export function readPointArray(bytes: ArrayBuffer): Float32Array {
  const view = new DataView(bytes);
  const latin = new TextDecoder("latin1");
  if (bytes.byteLength < 12 || latin.decode(bytes.slice(1, 6)) !== "NUMPY") throw new Error("This is no NumPy file.");
  const long = view.getUint8(6) >= 2;
  const start = long ? 12 : 10;
  const length = long ? view.getUint32(8, true) : view.getUint16(8, true);
  const header = latin.decode(bytes.slice(start, start + length));
  const [, kind] = /'descr': '<(f[48])'/.exec(header) ?? [];
  const [, rows, columns] = /'shape': \((\d+), (\d+)\)/.exec(header) ?? [];
  if (kind === undefined || columns !== "3" || !header.includes("'fortran_order': False")) {
    throw new Error("The array must be float32 or float64 of shape (n, 3) in C order.");
  }
  const data = bytes.slice(start + length, start + length + Number(rows) * 3 * Number(kind[1]));
  const values = kind === "f4" ? new Float32Array(data) : Float32Array.from(new Float64Array(data));
  if (values.length !== 3 * Number(rows)) throw new Error("The file ends before its array does.");
  return checked(values);
}

function checked(points: Float32Array): Float32Array {
  if (points.length === 0) throw new Error("There are no points.");
  if (points.length > 3 * MOST_POINTS) throw new Error(`There are more than ${MOST_POINTS} points.`);
  return points;
}
