/** NetCDF of the page, byte by byte as the classic format has it. */
import { expect, it } from "vitest";
import { writeNetcdf } from "../../panels/netcdf-file.js";

it("writes dimensions, attributes and big-endian values at the places that the header names", () => {
  const over = (name: string, values: number[]) => ({
    name,
    over: [name],
    values: Float64Array.from(values),
    attributes: {},
  });
  const file = Buffer.from(
    writeNetcdf(
      [
        over("y", [1, 2]),
        over("x", [3, 4, 5]),
        { name: "time", over: [], values: Float64Array.of(0.5), attributes: { units: "s" } },
        { name: "u-minus-t1", over: ["y", "x"], values: Float32Array.of(1, 2, 3, 4, 5, Number.NaN), attributes: {} },
      ],
      { title: "Ωz" },
    ),
  );
  let at = 4;
  const int = () => {
    at += 4;
    return file.readInt32BE(at - 4);
  };
  const text = () => {
    const length = int();
    const value = file.toString("utf8", at, at + length);
    at += 4 * Math.ceil(length / 4);
    return value;
  };
  const attributes = () => [int(), int()][1] as number;
  expect([file.toString("latin1", 0, 4), int()]).toEqual(["CDF\x01", 0]);
  expect([int(), int(), text(), int(), text(), int()]).toEqual([10, 2, "y", 2, "x", 3]);
  expect([int(), int(), text(), int(), text()]).toEqual([12, 1, "title", 2, "Ωz"]);
  expect([int(), int()]).toEqual([11, 4]);
  const found = Array.from({ length: 4 }, () => {
    const name = text();
    const dimensions = Array.from({ length: int() }, int);
    const given = Array.from({ length: attributes() }, () => [text(), int(), text()]);
    const [type, size, begin] = [int(), int(), int()];
    return { name, dimensions, given, type, size, begin };
  });
  expect(found.map(({ begin: _, ...rest }) => rest)).toEqual([
    { name: "y", dimensions: [0], given: [], type: 6, size: 16 },
    { name: "x", dimensions: [1], given: [], type: 6, size: 24 },
    { name: "time", dimensions: [], given: [["units", 2, "s"]], type: 6, size: 8 },
    { name: "u-minus-t1", dimensions: [0, 1], given: [], type: 5, size: 24 },
  ]);
  expect(found[0]?.begin).toBe(at);
  const [y, x, time, u] = found.map(({ begin }) => begin) as [number, number, number, number];
  expect([0, 8].map((i) => file.readDoubleBE(y + i))).toEqual([1, 2]);
  expect([0, 8, 16].map((i) => file.readDoubleBE(x + i))).toEqual([3, 4, 5]);
  expect([file.readDoubleBE(time), file.length]).toEqual([0.5, u + 24]);
  expect([0, 4, 8, 12, 16, 20].map((i) => file.readFloatBE(u + i))).toEqual([1, 2, 3, 4, 5, Number.NaN]);
});
