/** PNG files are written as another library reads them, whatever their size. */
import { PNG } from "pngjs";
import { expect, it } from "vitest";
import { rowBytes, writePng } from "../../../../src/server/ask/formats/png.js";
import { generator } from "../../../support/run-query.js";

it.each([
  [1, 1],
  [7, 3],
  [300, 200],
])("are read back pixel by pixel: %d x %d", async (width, height) => {
  const random = generator(width);
  const rows = Buffer.alloc(height * rowBytes(width));
  const pixels: number[] = [];
  for (let row = 0; row < height; row++) {
    for (let at = 1; at < rowBytes(width); at++) {
      const value = Math.floor(256 * random());
      rows[row * rowBytes(width) + at] = value;
      pixels.push(value);
    }
  }
  const read = PNG.sync.read(await writePng(rows, width), { checkCRC: true });
  expect([read.width, read.height]).toEqual([width, height]);
  expect(read.data.equals(Buffer.from(pixels))).toBe(true);
});
