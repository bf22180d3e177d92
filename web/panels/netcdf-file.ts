/** This file writes a plane of values that the page has computed as NetCDF, in its classic format. */

/** Values along an axis, or of a variable over two axes. */
export interface NetcdfVariable {
  readonly name: string;
  /** Names of its dimensions, the last fastest; none for a single number. */
  readonly over: readonly string[];
  readonly values: Float32Array | Float64Array;
  readonly attributes: Readonly<Record<string, string>>;
}

/** Tags of the lists of a header, and types of numbers. */
const [DIMENSIONS, VARIABLES, ATTRIBUTES] = [10, 11, 12];
const [TEXT, FLOAT, DOUBLE] = [2, 5, 6];

/** Bytes of integers, names and lists, each padded to four bytes. */
const whole = (value: number): number[] => [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255];
const padded = (bytes: readonly number[]): number[] => [...bytes, ...new Array((4 - (bytes.length % 4)) % 4).fill(0)];
const text = (value: string): number[] => {
  const bytes = [...new TextEncoder().encode(value)];
  return [...whole(bytes.length), ...padded(bytes)];
};
const list = (tag: number, items: readonly number[][]): number[] =>
  items.length === 0 ? [...whole(0), ...whole(0)] : [...whole(tag), ...whole(items.length), ...items.flat()];
const attributesOf = (attributes: NetcdfVariable["attributes"]): number[] =>
  list(
    ATTRIBUTES,
    Object.entries(attributes).map(([name, value]) => [...text(name), ...whole(TEXT), ...text(value)]),
  );

/** Bytes of the values of a variable in the file. */
const sizeOf = ({ values }: NetcdfVariable): number => 4 * Math.ceil(values.byteLength / 4);

/**
 * Writes variables with their dimensions, whose lengths are those of the variables of the same name.
 *
 * Source: the NetCDF classic format specification, CDF-1.
 */
export function writeNetcdf(variables: readonly NetcdfVariable[], about: NetcdfVariable["attributes"]): Uint8Array {
  const dimensions = variables.filter(({ name, over }) => over.length === 1 && over[0] === name);
  const lengths = dimensions.map(({ name, values }) => [...text(name), ...whole(values.length)]);
  const header = (begins: readonly number[]): number[] => [
    ...[..."CDF"].map((letter) => letter.charCodeAt(0)),
    1,
    ...whole(0),
    ...list(DIMENSIONS, lengths),
    ...attributesOf(about),
    ...list(
      VARIABLES,
      variables.map((variable, i) => [
        ...text(variable.name),
        ...whole(variable.over.length),
        ...variable.over.flatMap((name) => whole(dimensions.findIndex((dimension) => dimension.name === name))),
        ...attributesOf(variable.attributes),
        ...whole(variable.values instanceof Float32Array ? FLOAT : DOUBLE),
        ...whole(sizeOf(variable)),
        ...whole(begins[i] ?? 0),
      ]),
    ),
  ];
  let at = header([]).length;
  const begins = variables.map((variable) => {
    const begin = at;
    at += sizeOf(variable);
    return begin;
  });
  const file = new Uint8Array(at);
  file.set(header(begins));
  const view = new DataView(file.buffer);
  for (const [k, { values }] of variables.entries()) {
    const begin = begins[k] as number;
    if (values instanceof Float32Array)
      for (const [i, value] of values.entries()) view.setFloat32(begin + 4 * i, value);
    else for (const [i, value] of values.entries()) view.setFloat64(begin + 8 * i, value);
  }
  return file;
}
