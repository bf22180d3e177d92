/** Filters over cubes in time slices: whatever the slices, the answers are those of one. */
import { describe, expect, it } from "vitest";
import type { BatchContext } from "../../../src/engine/worker/batch-context.js";
import { evaluateBoxes } from "../../../src/engine/worker/node-filters.js";
import type { Axes } from "../../../src/kernels/types.js";
import { type OperationName, operationOf, RECORDS } from "../../../src/shared/operations.js";
import { endedAxis, fieldByNode, periodicAxis, rough } from "../../kernels/fields.js";
import { readerOf } from "../../support/isotropic.js";
import { generator } from "../../support/run-query.js";

const AXES: Axes = [periodicAxis(70, 70), endedAxis(70, 69), periodicAxis(140, 140)];
const COUNT = 300;

function contextOf(name: OperationName, y: (random: number) => number): BatchContext & { out: Float32Array } {
  const operation = operationOf(name);
  const random = generator(5);
  const positions = Float64Array.from({ length: 3 * COUNT }, (_, i) =>
    i % 3 === 1 ? y(random()) : 300 * random() - 100,
  );
  const field = fieldByNode(AXES, 3, rough, [32, 32, 32]);
  const out = new Float32Array(RECORDS[operation.result].length * COUNT);
  const query = { operation: name, time: 0, filterwidth: 5, spacing: 3 };
  const time = { count: 1, origin: 0, step: 1, values: null, guardBefore: 0, guardAfter: 0 };
  return {
    task: { query, fields: ["velocity"], count: COUNT, first: 40, out, outIndices: null },
    operation,
    opened: { dataset: { axes: AXES, time, fields: { velocity: { components: 3 } } }, source: () => null },
    sampler: { positions, reader: () => readerOf(field) },
    checkCancel: () => undefined,
    mustPause: () => false,
    out,
  } as unknown as BatchContext & { out: Float32Array };
}

describe.each(["GetBoxFilter", "GetBoxFilterSGSsymtensor", "GetBoxFilterGradient"] as const)("%s", (name) => {
  const inside = (random: number) => 6 + 57 * random;

  it("gives in many slices what it gives in one", () => {
    const whole = contextOf(name, inside);
    expect(evaluateBoxes(whole)).toBeNull();
    expect(whole.out.every(Number.isFinite)).toBe(true);
    const sliced = contextOf(name, inside);
    const done: number[] = [];
    let progress = evaluateBoxes({ ...sliced, mustPause: () => true });
    while (progress !== null) {
      done.push(progress.done);
      const task = { ...sliced.task, progress };
      progress = evaluateBoxes({ ...sliced, task, mustPause: () => true });
    }
    expect(done.length).toBeGreaterThan(2);
    expect(done).toEqual(done.toSorted((a, b) => a - b));
    expect(sliced.out).toEqual(whole.out);
  });

  it.each([2, 3, 7, 400])("gives in %d parts what it gives in one", (of) => {
    const whole = contextOf(name, inside);
    evaluateBoxes(whole);
    const divided = contextOf(name, inside);
    const pauses = [false, true];
    for (let index = 0; index < of; index++) {
      const task = { ...divided.task, part: { index, of } };
      let progress = evaluateBoxes({ ...divided, task, mustPause: () => pauses[index % 2] as boolean });
      while (progress !== null) progress = evaluateBoxes({ ...divided, task: { ...task, progress } });
    }
    expect(divided.out).toEqual(whole.out);
  });

  it("writes the values of points in another order to their outIndices, and names them by these", () => {
    const plain = contextOf(name, inside);
    evaluateBoxes(plain);
    const outIndices = Uint32Array.from({ length: COUNT }, (_, i) => COUNT - 1 - i);
    const swept = contextOf(name, inside);
    evaluateBoxes({ ...swept, task: { ...swept.task, outIndices } });
    const size = swept.out.length / COUNT;
    const recordsOf = (out: Float32Array) =>
      Array.from({ length: COUNT }, (_, i) => [...out.subarray(size * i, size * (i + 1))]);
    expect(recordsOf(swept.out)).toEqual(recordsOf(plain.out).toReversed());
    const beyond = contextOf(name, (random) => (random < 0.02 ? 1 : 30));
    expect(() => evaluateBoxes({ ...beyond, task: { ...beyond.task, outIndices } })).toThrow(
      expect.objectContaining({ context: { member: "points[295]" } }),
    );
  });

  it("names the first point whose cubes leave the domain", () => {
    expect(() => evaluateBoxes(contextOf(name, (random) => (random < 0.02 ? 1 : 30)))).toThrow(
      expect.objectContaining({ code: "OutOfRange", context: { member: "points[44]" } }),
    );
  });
});
