/** Tables as CSV: one line of names with units, and texts with commas in quotes. */
import { expect, it } from "vitest";
import { toCsv } from "../../../src/web/panels/table-files.js";

it("has one line of names with their units, quoted like texts", () => {
  const rows = [
    [1, 0.1, 'a "b", c'],
    [2, Number.NaN, "d"],
  ];
  const columns = ["x", "ux A (1, 2, 3)", "text"];
  expect(toCsv({ columns, units: ["m", "m/s"], rows }).split("\r\n")).toEqual([
    'x (m),"ux A (1, 2, 3) (m/s)",text',
    '1,0.1,"a ""b"", c"',
    "2,NaN,d",
    "",
  ]);
  expect(toCsv({ columns: ["k"], rows: [] })).toBe("k\r\n");
});
