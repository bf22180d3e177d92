/** Dates count as cftime 1.6 counts them. */
import { expect, it } from "vitest";
import { datedUnitOf } from "../../../src/storage/recognise/dated-unit.js";

const startOf = (date: string, calendar: string) => datedUnitOf(`seconds since ${date}`, calendar)?.start ?? Number.NaN;

// date2num(2004-03-01 12:30:05, "seconds since 2000-02-28") and date2num(1900-03-01, "seconds since 1899-12-31").
it.each([
  ["standard", 126_448_205, 5_184_000],
  ["proleptic_gregorian", 126_448_205, 5_184_000],
  ["noleap", 126_275_405, 5_184_000],
  ["365_day", 126_275_405, 5_184_000],
  ["all_leap", 126_707_405, 5_270_400],
])("counts seconds in the calendar %s", (calendar, four, sixty) => {
  expect(startOf("2004-03-01 12:30:05", calendar) - startOf("2000-02-28", calendar)).toBe(four);
  expect(startOf("1900-3-1", calendar) - startOf("1899-12-31T00:00", calendar)).toBe(sixty);
});

it("has months of 30 days in the calendar 360_day", () => {
  expect(startOf("2001-03-30", "360_day") - startOf("2001-02-01", "360_day")).toBe(59 * 86_400);
});

it("knows units and time zones", () => {
  expect(datedUnitOf("days since 1970-01-02", "")).toEqual({
    ...{ unit: "days", seconds: 86_400, start: 86_400, calendar: "gregorian" },
  });
  expect(startOf("1970-01-01 02:00:00 +2:00", "standard")).toBe(0);
  expect(startOf("1970-01-01T00:00:00Z", "standard")).toBe(0);
});

it.each([
  ["months since 2001-01-01", ""],
  ["seconds", ""],
  ["seconds since the start", ""],
  ["seconds since 1500-01-01", "standard"],
  ["seconds since 2001-01-01", "julian"],
])("does not know %s", (units, calendar) => {
  expect(datedUnitOf(units, calendar)).toBeNull();
});
