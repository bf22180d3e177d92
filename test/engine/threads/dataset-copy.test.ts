/** Datasets written down once for all tasks and read once per thread. */
import { serialize } from "node:v8";
import { describe, expect, it } from "vitest";
import type { BatchTask } from "../../../src/engine/task.js";
import { createPacker, createUnpacker } from "../../../src/engine/threads/dataset-copy.js";

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

describe("parcels", () => {
  it("bring a task across with its dataset, the same object every time", () => {
    const pack = createPacker();
    const unpack = createUnpacker();
    const first = task("one");
    const second = { ...first, first: 8 };
    const [a, b] = [unpack(structuredClone(pack(first))), unpack(structuredClone(pack(second)))] as [
      BatchTask,
      BatchTask,
    ];
    expect(a).toEqual(first);
    expect(b).toEqual(second);
    expect(b.dataset).toBe(a.dataset);
    const other = unpack(structuredClone(pack(task("two")))) as BatchTask;
    expect(other.dataset.name).toBe("two");
    expect(pack({ kind: "ping" })).toEqual({ kind: "ping" });
  });

  it("leave a table of modes in the memory that threads share", () => {
    const plain = task("modes");
    const coefficient = new Float64Array(new SharedArrayBuffer(64)).fill(3);
    const forced = {
      ...plain,
      dataset: { ...plain.dataset, forcing: { kind: "modes", coefficient } },
    } as unknown as BatchTask;
    const arrived = createUnpacker()(createPacker()(forced)) as BatchTask;
    expect(arrived).toEqual(forced);
    expect(arrived.dataset.forcing).toHaveProperty("coefficient", coefficient);
    coefficient[0] = 4;
    expect((arrived.dataset.forcing as { coefficient: Float64Array }).coefficient[0]).toBe(4);
  });

  it("cost the same for a series of thousands of files as for one", () => {
    const pack = createPacker();
    const size = (files: number) => serialize(structuredCloneOf(pack(task("series", files)))).length;
    expect(size(5000)).toBe(size(1));
  });

  it("are read again when a thread has forgotten them", () => {
    const pack = createPacker();
    const unpack = createUnpacker();
    const tasks = Array.from({ length: 40 }, (_, i) => task(`set ${i}`));
    for (let round = 0; round < 2; round++)
      for (const [i, one] of tasks.entries()) expect((unpack(pack(one)) as BatchTask).dataset.name).toBe(`set ${i}`);
  });
});

/** What is copied with a message: everything but the shared bytes. */
function structuredCloneOf(posted: ReturnType<ReturnType<typeof createPacker>>): unknown {
  if (!("dataset" in posted)) return posted;
  const { id, bytes } = posted.dataset;
  expect(bytes.buffer).toBeInstanceOf(SharedArrayBuffer);
  return { ...posted, dataset: { id } };
}
