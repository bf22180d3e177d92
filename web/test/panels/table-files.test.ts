/** Tables as CSV: one line of names with units, and texts with commas in quotes. */
import { expect, it } from "vitest";
import { toCsv, wallTable } from "../../panels/table-files.js";

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

it("says by what a profile in wall units is scaled", () => {
  const stresses = [{ name: "s", column: "ux'ux'+", values: [0.5, 0.25] }];
  const walls = { friction: 0.05, reynolds: 180, distance: [1, 2], fromFirst: [3, 4], fromLast: [5, 6], stresses };
  expect(wallTable(walls, "y", "m/s").split("\r\n")).toEqual([
    "y+,u+ from the lower wall,u+ from the upper wall,ux'ux'+,u_tau (m/s),Re_tau",
    "1,3,5,0.5,0.05,180",
    "2,4,6,0.25,0.05,180",
    "",
  ]);
});
