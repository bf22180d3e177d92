/** Points of questions: what their rows hold is used, or refused. */
import { expect, it } from "vitest";
import type { Context } from "../../../../src/server/ask/context.js";
import type { RequestedPoints } from "../../../../src/server/ask/question/member-values.js";
import { openPoints, statedRows } from "../../../../src/server/ask/question/points.js";
import { readMember } from "../../../../src/server/ask/question/read-member.js";

const AXIS = { nodes: 8, origin: 0, spacing: 1, periodic: false };
const SI = { length: "m", time: "s" };
const context = (units = {}, jobs = {}) =>
  ({
    dataset: { name: "flow", units, axes: Array(3).fill(AXIS) },
    life: { onEnd: () => undefined },
    jobs,
  }) as unknown as Context;
const rows = (numbers: number[], width: number, more: object = {}) =>
  ({ points: { rows: new Float64Array(numbers), width, ...more } as RequestedPoints }) as const;

it.each([
  ["x", "m", ""],
  ["x", "metre", ""],
  ["z", "M", 'the header says M, and lengths of "flow" are in m'],
  ["z", "mm", 'the header says mm, and lengths of "flow" are in m'],
  ["y", "furlong", 'the header says furlong, and lengths of "flow" are in m'],
  ["t", "ms", 'the header says ms, and times of "flow" are in s'],
  ["vx", "m s-1", ""],
  ["vy", "mm/s", 'the header says mm/s, and velocities of "flow" are in m/s'],
])("of %s in %s are in the unit of the dataset, in a body as in an input", async (name, unit, problem) => {
  const stated = { columns: ["x", "y", "z", "t", "vx", "vy", "vz"], units: [{ name, unit }] };
  const jobs = { input: async () => stated, inputs: { open: async () => ({ width: 7, count: 1 }) } };
  for (const question of [rows([1, 2, 3, 4, 5, 6, 7], 7, stated), { points: { input: "A" } }]) {
    const opened = (units: object) => openPoints(context(units, jobs), { ...question, drag: 1 }, true);
    await expect(opened({})).rejects.toThrow("in no stated unit");
    if (problem === "") await opened(SI);
    else await expect(opened(SI)).rejects.toThrow(`points: ${problem}.`);
  }
});

it("have initial velocities of particles with drag only", async () => {
  const six = rows([1, 2, 3, 4, 5, 6], 6, { columns: ["x", "y", "z", "vx", "vy", "vz"] });
  for (const points of [six, rows([1, 2, 3, 4, 5, 6], 6)])
    await expect(openPoints(context(), points, false)).rejects.toThrow("initial velocities vx, vy, vz");
  const { velocities } = await (await openPoints(context(), { ...six, drag: 0.1 }, false)).read(0, 1);
  expect(velocities).toEqual(new Float32Array([4, 5, 6]));
});

it("beside drag have no columns that may be velocities by other names", async () => {
  const unread = ["u", "v", "w"];
  const question = { ...rows([1, 2, 3], 3, { columns: ["x", "y", "z"], unread }) };
  await openPoints(context(), question, false);
  const jobs = { input: async () => ({ unread }), inputs: { open: async () => ({ width: 3, count: 1 }) } };
  for (const points of [question.points, { input: "A" }])
    await expect(openPoints(context({}, jobs), { points, drag: 1 }, false)).rejects.toThrow(
      "points: beside drag, u, v, w is not read: name velocities vx, vy and vz.",
    );
  const named = { columns: ["x", "y", "z", "vx", "vy", "vz"], unread: ["id"] };
  await openPoints(context(), { ...rows([1, 2, 3, 4, 5, 6], 6, named), drag: 1 }, false);
});

it.each([2, 4] as const)("in groups of %i are listed as they are read", (together) => {
  const numbers = Array.from({ length: 3 * 4 * together }, (_, i) => i / 7);
  const points = { rows: new Float64Array(numbers), width: 3, together } as const;
  expect(readMember("points", statedRows(points), "dispersion")).toEqual(points);
});
