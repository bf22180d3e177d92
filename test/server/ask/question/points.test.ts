/** Points of questions: what their rows hold is used, or refused. */
import { expect, it } from "vitest";
import type { Context } from "../../../../src/server/ask/context.js";
import type { RequestedPoints } from "../../../../src/server/ask/question/member-values.js";
import { openPoints, statedRows } from "../../../../src/server/ask/question/points.js";
import { readMember } from "../../../../src/server/ask/question/read-member.js";

const context = (length?: string) =>
  ({ dataset: { name: "flow", units: length === undefined ? {} : { length } } }) as unknown as Context;
const rows = (numbers: number[], width: number, more: object = {}) =>
  ({ points: { rows: new Float64Array(numbers), width, ...more } as RequestedPoints }) as const;

it("are in the unit that a header states, if the dataset states one", async () => {
  const headed = (unit: string) => rows([1, 2, 3], 3, { columns: ["x", "y", "z"], units: [unit] });
  expect((await openPoints(context("m"), headed("m"), false)).count).toBe(1);
  expect((await openPoints(context(), headed("mm"), false)).count).toBe(1);
  await expect(openPoints(context("m"), headed("mm"), false)).rejects.toThrow(
    'points: the header says mm, and lengths of "flow" are in m.',
  );
});

it("have initial velocities of particles with drag only", async () => {
  const six = rows([1, 2, 3, 4, 5, 6], 6);
  await expect(openPoints(context(), six, false)).rejects.toThrow("initial velocities vx, vy, vz");
  const { velocities } = await (await openPoints(context(), { ...six, drag: 0.1 }, false)).read(0, 1);
  expect(velocities).toEqual(new Float32Array([4, 5, 6]));
});

it.each([2, 4] as const)("in groups of %i are listed as they are read", (together) => {
  const numbers = Array.from({ length: 3 * 4 * together }, (_, i) => i / 7);
  const points = { rows: new Float64Array(numbers), width: 3, together } as const;
  const read = readMember("points", statedRows(points), "dispersion");
  expect(read).toEqual(points);
});
