/** Points of .npy files: shape (n, 3), (n, 4) or (3,), any number type and byte order; and headers of such files. */

const MAGIC = [0x93, ...[..."NUMPY"].map((letter) => letter.charCodeAt(0))];

export function isNpy(bytes: Uint8Array): boolean {
  return MAGIC.every((byte, i) => bytes[i] === byte);
}

export interface NpyLayout {
  readonly start: number;
  readonly rows: number;
  /** Numbers of a row: 3, or 4 with a time. */
  readonly columns: number;
  /** The type of a number without its byte order, as `f4`. */
  readonly type: string;
  readonly width: number;
  readonly little: boolean;
  readonly columnMajor: boolean;
}

/** Reads the header, versions 1 to 3 (numpy.lib.format), of a file of `size` bytes. Throws Error. */
export function npyLayout(bytes: Uint8Array, size: number): NpyLayout {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const wide = (bytes[6] ?? 0) >= 2;
  const from = wide ? 12 : 10;
  if (bytes.length < from) throw new Error("the .npy header is cut short");
  const start = from + (wide ? view.getUint32(8, true) : view.getUint16(8, true));
  const header = new TextDecoder("latin1").decode(bytes.subarray(from, start));
  const descr = /'descr'\s*:\s*'([^']*)'/.exec(header)?.[1];
  const shapeText = /'shape'\s*:\s*\(([^)]*)\)/.exec(header)?.[1];
  const columnMajor = /'fortran_order'\s*:\s*True/.test(header);
  const [, byteOrder, type] = /^([<>|])(f[48]|[iu][1248])$/.exec(descr ?? "") ?? [];
  if (type === undefined)
    throw new Error(`the .npy array has type ${descr ?? "unknown"}; float32, float64 and integers are read`);
  const shape = (shapeText ?? "").split(",").filter((part) => part.trim() !== "");
  const [rows = Number.NaN, columns] = shape.length === 1 ? [1, Number(shape[0])] : shape.map(Number);
  if (shape.length > 2 || (columns !== 3 && columns !== 4) || !Number.isSafeInteger(rows) || !(rows >= 0))
    throw new Error(`the .npy array has shape (${shapeText ?? ""}); (n, 3) or (n, 4) is read`);
  const width = Number(type[1]);
  const rest = size - start - rows * columns * width;
  if (rest !== 0) throw new Error(rest < 0 ? "the .npy file is cut short" : `${rest} bytes follow the .npy array`);
  return { start, rows, columns, type, width, little: byteOrder !== ">", columnMajor };
}

/** Header of a .npy file, version 1.0. `numbers`: type, or a list `[('name', 'type'), ...]` of columns. */
export function npyHeader(shape: readonly number[], numbers = "<f4"): Uint8Array<ArrayBuffer> {
  const type = numbers.startsWith("[") ? numbers : `'${numbers}'`;
  const lengths = shape.length === 1 ? `${shape[0]},` : shape.join(", ");
  const dictionary = `{'descr': ${type}, 'fortran_order': False, 'shape': (${lengths}), }`;
  const length = Math.ceil((10 + dictionary.length + 1) / 64) * 64 - 10;
  const letters = [...`${dictionary.padEnd(length - 1)}\n`].map((letter) => letter.charCodeAt(0));
  return Uint8Array.from([...MAGIC, 1, 0, length & 255, length >> 8, ...letters]);
}

export function npyNumbers({ type, width, little }: NpyLayout, bytes: Uint8Array): (index: number) => number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const kind = { f: "Float", i: "Int", u: "Uint" }[type[0] as "f" | "i" | "u"];
  const read = `get${width === 8 && kind !== "Float" ? "Big" : ""}${kind}${8 * width}` as "getFloat64";
  return (index) => Number(view[read](width * index, little));
}

/** Rows of points: places rounded to float32, then times if a row has four numbers. Throws Error. */
export function readNpy(bytes: Uint8Array): { readonly rows: Float64Array<ArrayBuffer>; readonly width: number } {
  const layout = npyLayout(bytes, bytes.length);
  const { start, rows: count, columns: width, columnMajor } = layout;
  const read = npyNumbers(layout, bytes.subarray(start));
  const rows = new Float64Array(width * count);
  for (let i = 0; i < rows.length; i++) {
    const column = i % width;
    const value = read(columnMajor ? column * count + (i - column) / width : i);
    rows[i] = column < 3 ? Math.fround(value) : value;
  }
  return { rows, width };
}
