/** Quantities of fields under names of their own: values, components and sizes, told from those of the table. */
import { expect, it } from "vitest";
import { QUANTITIES } from "../../../src/shared/quantities.js";
import type { DatasetFacts } from "../../state/facts.js";
import {
  listedTitle,
  outwards,
  quantitiesOf,
  quantityOf,
  quantityValues,
  unitOfQuantity,
} from "../../state/shown-quantity.js";

const stencil = { spatialInterpolation: ["Lag4"], components: [] };
const FACTS = {
  axes: [{ nodes: 64, periodic: true }],
  fields: [
    { name: "velocity", components: 3 },
    { name: "heatflux", components: 3, unit: "K m/s" },
    { name: "sgsenergy", components: 1, title: "Energy below the grid" },
  ],
  units: { velocity: "m/s" },
  operations: ["GetVelocity", "GetField"].map((name) => ({ name, available: true, ...stencil })),
} as unknown as DatasetFacts;

it("are offered after those of the table, whose names they take", () => {
  const names = quantitiesOf(FACTS).map(({ name }) => name);
  expect(names.slice(-5)).toEqual(["heatflux.x", "heatflux.y", "heatflux.z", "norm(heatflux)", "(sgsenergy)"]);
  expect(names).toContain("ux");
  expect(names).not.toContain("sgsenergy");
  const none = { ...FACTS, fields: [{ name: "velocity", components: 3 }] };
  expect(quantitiesOf(none).every(({ name }) => QUANTITIES.some((row) => row.name === name))).toBe(true);
});

it.each([
  ["heatflux.y", "heatflux", 4, "K m/s"],
  ["norm(heatflux)", "heatflux", Math.hypot(3, 4, 12), "K m/s"],
  ["(sgsenergy)", "sgsenergy", 3, ""],
  ["soil_2", "soil_2", 3, ""],
] as const)("%s is read from the record of %s", (name, field, value, unit) => {
  const quantity = quantityOf(name);
  expect(quantity).toMatchObject({ name, field, expression: name, operation: "GetField" });
  const isVector = /^norm|\.[xyz]$/.test(name);
  const records = isVector ? [3, 4, 12, 6, 8, 24] : [3, 6];
  expect(Array.from(quantityValues(name, records, isVector ? 3 : 1))).toEqual([value, 2 * value]);
  expect(unitOfQuantity(FACTS, name)).toBe(unit);
});

it("have the title of their field in lists, and others their own unit", () => {
  expect(listedTitle(FACTS, quantityOf("(sgsenergy)"))).toBe("(sgsenergy): Energy below the grid");
  expect(listedTitle(FACTS, quantityOf("heatflux.x"))).toBe("heatflux.x");
  expect(unitOfQuantity(FACTS, "ux")).toBe("m/s");
  expect(quantityOf("ux").field).toBeUndefined();
});

it.each([
  [130.83131, 130.84, 130.83],
  [-24.191416, -24.191, -24.192],
  [23.67251, 23.673, 23.672],
  [0.29, 0.29, 0.29],
  [0, 0, 0],
  [-0.0000123456, -0.000012345, -0.000012346],
])("rounds an end of a range outwards: %f", (end, up, down) => {
  expect([outwards(end, 1), outwards(end, -1)]).toEqual([up, down]);
});
