/** Datasets of a steady stream between open faces, over a wall. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeHdf5 } from "./cubes.js";
import { folderIn } from "./scratch.js";

const N = 11;

/** Writes a velocity between x = 1 and 2 (open), y = 0 and 1 (walls), z of period 1.1. `time`: as descriptors state it. */
export async function writeStream(
  folder: string,
  velocityAt: (x: number) => readonly number[],
  frames: number,
  members: { readonly name: string; readonly time: object; readonly openFaces?: "stop" },
): Promise<void> {
  const own = folderIn(folder, members.name);
  const axis = { nodes: N, origin: 0, spacing: 0.1 };
  const axes = { x: { ...axis, origin: 1 }, y: { ...axis, faces: "wall" }, z: { ...axis, periodic: true } };
  const velocity = { file: "u.h5", path: "/{step:01d}", dimensions: ["z", "y", "x", "c"] };
  await writeHdf5(join(own, "u.h5"), (file) => {
    const data = Float32Array.from(Array.from({ length: N ** 3 }, (_, i) => velocityAt(1 + (i % N) / 10)).flat());
    for (let f = 0; f < frames; f++) file.create_dataset({ name: `${f}`, data, shape: [N, N, N, 3], dtype: "<f" });
  });
  writeFileSync(
    join(own, "dataset.json"),
    JSON.stringify({ schemaVersion: 1, axes, fields: { velocity }, ...members }),
  );
}
