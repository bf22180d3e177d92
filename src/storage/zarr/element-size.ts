/** Element types and their sizes. */

/** Bytes of an element by the library's name of its type; texts of any length count as 64. */
export function sizeOf(dataType: string): number {
  const [, text, characters] = /^(?:v2:|[<>|])?([SU])(\d+)$/.exec(dataType) ?? [];
  if (text !== undefined) return Number(characters) * (text === "U" ? 4 : 1);
  const [, bits] = /^(?:float|u?int)(8|16|32|64)$/.exec(dataType) ?? [];
  return dataType === "bool" ? 1 : bits === undefined ? 64 : Number(bits) / 8;
}

/** Element types of Zarr 2, without the byte order, and their names in Zarr 3. */
export const ELEMENT_TYPES: ReadonlyMap<string, string> = new Map([
  ["f2", "float16"],
  ["f4", "float32"],
  ["f8", "float64"],
  ["i1", "int8"],
  ["i2", "int16"],
  ["i4", "int32"],
  ["i8", "int64"],
  ["u1", "uint8"],
  ["u2", "uint16"],
  ["u4", "uint32"],
  ["u8", "uint64"],
]);
