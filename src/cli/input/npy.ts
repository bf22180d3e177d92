/** Reads points from .npy files of NumPy: shape (n, 3) or (3,), float32 or float64, either byte order. */

const MAGIC = Buffer.from("\x93NUMPY", "latin1");

/** Whether the bytes begin as a .npy file does. */
export function isNpy(bytes: Buffer): boolean {
  return bytes.subarray(0, MAGIC.length).equals(MAGIC);
}

/**
 * Reads points from the bytes of a .npy file, format versions 1 to 3.
 *
 * @returns x, y, z, x, y, z, ...
 * @throws Error that says what the array is and what it has to be
 * Source: the format description in numpy.lib.format.
 */
export function readNpy(bytes: Buffer): Float32Array {
  const wide = (bytes[6] ?? 0) >= 2;
  const start = wide ? 12 : 10;
  if (bytes.length < start) throw new Error("the .npy header is cut short");
  const end = start + (wide ? bytes.readUInt32LE(8) : bytes.readUInt16LE(8));
  const header = bytes.toString("latin1", start, end);
  const descr = /'descr'\s*:\s*'([^']*)'/.exec(header)?.[1];
  const shapeText = /'shape'\s*:\s*\(([^)]*)\)/.exec(header)?.[1];
  const columnMajor = /'fortran_order'\s*:\s*True/.test(header);
  const type = /^([<>])f([48])$/.exec(descr ?? "");
  if (!type) throw new Error(`the .npy array has type ${descr ?? "unknown"}; float32 and float64 are read`);
  const shape = (shapeText ?? "").split(",").filter((part) => part.trim() !== "");
  const [rows = Number.NaN, columns] = shape.length === 1 ? [1, Number(shape[0])] : shape.map(Number);
  if (shape.length > 2 || columns !== 3 || !Number.isSafeInteger(rows) || !(rows >= 0)) {
    throw new Error(`the .npy array has shape (${shapeText ?? ""}); (n, 3) is read`);
  }
  const width = Number(type[2]);
  if (bytes.length < end + 3 * rows * width) throw new Error("the .npy file is cut short");
  const view = new DataView(bytes.buffer, bytes.byteOffset + end);
  const little = type[1] === "<";
  const points = new Float32Array(3 * rows);
  for (let i = 0; i < 3 * rows; i++) {
    const at = width * (columnMajor ? (i % 3) * rows + Math.floor(i / 3) : i);
    points[i] = width === 4 ? view.getFloat32(at, little) : view.getFloat64(at, little);
  }
  return points;
}
