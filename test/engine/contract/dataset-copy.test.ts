/** Datasets are serialised once for all tasks, and read from shared memory. */
import { serialize } from "node:v8";
import { describe, expect, it } from "vitest";
import { createPacker, type Message, readDataset } from "../../../src/engine/contract/dataset-copy.js";
import type { BatchTask } from "../../../src/engine/contract/task.js";

function task(name: string, files = 1): BatchTask {
  const axis = { nodes: 3, origin: 0, spacing: 1, periodic: false, coordinates: Float64Array.of(-1, 0.25, 1) };
  const list = Array.from({ length: files }, (_, i) => ({ path: `/data/${name}/${i}.h5`, size: i }));
  const forcing = { kind: "none" };
  return {
    kind: "batch",
    first: 7,
    dataset: { name, axes: [axis, axis, axis], files: list, forcing },
  } as unknown as BatchTask;
}

describe("a dataset copy", () => {
  it("brings a task across with its dataset", () => {
    const pack = createPacker();
    const sent = task("one");
    const message = structuredClone(pack(sent)) as Message<BatchTask>;
    expect({ ...message, dataset: readDataset(message.dataset) }).toEqual(sent);
    expect(pack({ kind: "ping" })).toEqual({ kind: "ping" });
  });

  it("is made once per dataset", () => {
    const pack = createPacker();
    const sent = task("one");
    const copies = [sent, { ...sent, first: 8 }, task("one")].map((one) => (pack(one) as Message<BatchTask>).dataset);
    expect(copies[1]).toBe(copies[0]);
    expect(copies[2]).not.toBe(copies[0]);
  });

  it("leaves the table of modes in memory that threads share", () => {
    const plain = task("modes");
    const coefficient = new Float64Array(8).fill(3);
    const forced = {
      ...plain,
      dataset: { ...plain.dataset, forcing: { kind: "modes", coefficient } },
    } as unknown as BatchTask;
    const { dataset } = createPacker()(forced) as Message<BatchTask>;
    const [a, b] = [readDataset(dataset), readDataset(structuredClone(dataset))].map(
      ({ forcing }) => (forcing as { coefficient: Float64Array }).coefficient,
    ) as [Float64Array, Float64Array];
    expect([...a]).toEqual([...coefficient]);
    expect([a.buffer, b.buffer].every((buffer) => buffer instanceof SharedArrayBuffer)).toBe(true);
    a[0] = 4;
    expect(b[0]).toBe(4);
  });

  it("costs a message the same for a series of thousands of files as for one", () => {
    const pack = createPacker();
    const size = (files: number): number => {
      const message = pack(task("series", files)) as Message<BatchTask>;
      expect(message.dataset.bytes.buffer).toBeInstanceOf(SharedArrayBuffer);
      return serialize({ ...message, dataset: null }).length;
    };
    expect(size(5000)).toBe(size(1));
  });
});
