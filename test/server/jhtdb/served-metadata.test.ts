/** Times in the metadata are those that the public metadata print, without the noise of their sums. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import type { Dataset } from "../../../src/engine/contract/dataset.js";
import { describeForClients } from "../../../src/server/jhtdb/served-metadata.js";

const AXIS = { nodes: 8, origin: 0, spacing: Math.PI / 4, periodic: true, coordinates: null };
const LIMITS = { "query.points": 2_000_000, "cutout.values": 4_000_000 };

function limitsOf(time: Partial<Dataset["time"]>) {
  const whole = { origin: 0, step: 1, count: 1, values: null, guardBefore: 0, guardAfter: 0, ...time };
  const dataset = { name: "flow", title: "", aliases: ["a"], axes: [AXIS, AXIS, AXIS], time: whole, fields: {} };
  const { datasets } = describeForClients([dataset as unknown as Dataset], () => [], LIMITS);
  expect(datasets.map(({ code }) => code)).toEqual(["flow", "a"]);
  return datasets[0]?.simulation.tlims;
}

it.each([
  // 221 steps of 0.002 are 0.442; their sum, and 0.364 + 39 x 0.002, are 0.44199999999999995.
  [{ step: 0.002, count: 222 }, "0", "0.442"],
  [{ origin: 0.364, step: 0.002, count: 40 }, "0.364", "0.442"],
  [{ step: 0.002, count: 5029 }, "0", "10.056"],
  [{ step: 0.0002, count: 100 }, "0", "0.0198"],
  [{ step: 0.0025, count: 1025 }, "0", "2.56"],
  [{ step: 0.0065, count: 4000 }, "0", "25.9935"],
  [{ step: 0.04, count: 1015 }, "0", "40.56"],
  [{ origin: -0.002, step: 0.002, count: 224, guardBefore: 1, guardAfter: 1 }, "0", "0.442"],
  [{ values: Float64Array.of(0.1, 0.30000000000000004), count: 2 }, "0.1", "0.30000000000000004"],
])("times %j are from %s to %s", (time, lower, upper) => {
  expect(limitsOf(time)).toMatchObject({ lower, upper, isDiscrete: false });
});

it("gives stretched axes their mean spacing, and periodic ones the end of their period", () => {
  const stretched = { ...AXIS, nodes: 5, periodic: false, coordinates: Float64Array.of(-1, -0.9, 0, 0.9, 1) };
  const time = { origin: 0, step: 1, count: 1, values: null, guardBefore: 0, guardAfter: 0 };
  const dataset = { name: "channel", title: "", aliases: [], axes: [AXIS, stretched, AXIS], time, fields: {} };
  const { datasets } = describeForClients([dataset as unknown as Dataset], () => [], LIMITS);
  expect(datasets[0]?.simulation).toMatchObject({
    xlims: { lower: "0", upper: "2pi", n: 8, isPeriodic: true, spacing: Math.PI / 4 },
    ylims: { lower: "-1", upper: "1", n: 5, isPeriodic: false, spacing: 0.5 },
  });
});

it("names the nodes of stretched axes that clients know, and only those", () => {
  const known = readFileSync(new URL("./transition-bl-y.json", import.meta.url), "utf8");
  const spacing = (nodes: readonly number[]) => {
    const stretched = { ...AXIS, nodes: 224, periodic: false, coordinates: Float64Array.from(nodes) };
    const time = { origin: 0, step: 1, count: 1, values: null, guardBefore: 0, guardAfter: 0 };
    const dataset = { name: "flow", title: "", aliases: [], axes: [AXIS, stretched, AXIS], time, fields: {} };
    const { datasets } = describeForClients([dataset as unknown as Dataset], () => [], LIMITS);
    return datasets[0]?.simulation.ylims.spacing;
  };
  const nodes = JSON.parse(known) as number[];
  expect(spacing(nodes)).toBe("irregular transition bl dy");
  expect(spacing(nodes.map((y, i) => (i === 100 ? y * (1 + 2e-16) : y)))).toBeTypeOf("number");
});
