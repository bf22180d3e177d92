/** Turns little-endian float64 files into big-endian ones, which the HDF5 library here cannot write. */
import { readFileSync, writeFileSync } from "node:fs";

/** Body of the datatype message of IEEE float64, little-endian; bit 0 of the second byte is the byte order. */
const FLOAT64 = Buffer.from("11203f000800000000004000340b0034ff030000", "hex");

/** Makes every float64 of a file big-endian; `datasets` are the values of all of them, each stored contiguously. */
export function makeBigEndian(path: string, datasets: readonly Float64Array[]): void {
  const bytes = readFileSync(path);
  for (const values of datasets) {
    const data = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
    const start = bytes.indexOf(data);
    if (start < 0 || bytes.indexOf(data, start + 1) >= 0) throw new Error("the values do not stand in the file once");
    bytes.subarray(start, start + data.length).swap64();
  }
  for (let at = bytes.indexOf(FLOAT64); at >= 0; at = bytes.indexOf(FLOAT64, at + 1)) bytes[at + 1] = 0x21;
  writeFileSync(path, bytes);
}
