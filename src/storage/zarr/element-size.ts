/** Tells how many bytes an element of an array has. */

/** Bytes of an element in the words of the library; texts of any length count as 64. */
export function sizeOf(dataType: string): number {
  const [, text, characters] = /^(?:v2:|[<>|])?([SU])(\d+)$/.exec(dataType) ?? [];
  if (text !== undefined) return Number(characters) * (text === "U" ? 4 : 1);
  const [, bits] = /^(?:float|u?int)(8|16|32|64)$/.exec(dataType) ?? [];
  return dataType === "bool" ? 1 : bits === undefined ? 64 : Number(bits) / 8;
}
