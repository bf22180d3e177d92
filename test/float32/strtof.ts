/** The table of decimal texts and the float32 that the C library reads them as. */
import { readFileSync } from "node:fs";

/** Rows of text and the bits of its float32 as eight hexadecimal digits. */
export const STRTOF_ROWS: readonly (readonly [text: string, bits: string])[] = readFileSync(
  new URL("fixtures/strtof.txt", import.meta.url),
  "utf8",
)
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => line.split(" ") as [text: string, bits: string]);

export function bitsOf(value: number): string {
  const view = new DataView(new ArrayBuffer(4));
  view.setFloat32(0, value);
  return view.getUint32(0).toString(16).padStart(8, "0");
}
