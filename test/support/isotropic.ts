/** Reads the shipped turbulence of 32^3 nodes, for kernels that are compared with published answers on it. */
import { fileURLToPath } from "node:url";
import type { Axes, BrickField, BrickReader } from "../../src/kernels/types.js";
import { openDataset } from "../../src/storage/bricks/brick-reader.js";
import { scanFolders } from "../../src/storage/catalog/scan-folders.js";
import type { Dataset } from "../../src/storage/dataset/dataset.js";
import "./hdf5-library.js";
import { readNodes } from "./read-nodes.js";

/** Axes, and the fields of one stored time, each in a single brick. */
export interface Turbulence {
  readonly axes: Axes;
  readonly velocity: BrickField;
  readonly pressure: BrickField;
}

export async function readTurbulence(time: number): Promise<Turbulence> {
  const folder = fileURLToPath(new URL("../../data/isotropic32", import.meta.url));
  const dataset = scanFolders([folder], { chunkBytes: 2 ** 26 }).datasets[0] as Dataset;
  const { axes, time: stored } = dataset;
  const frame = Array.from(
    { length: stored.count },
    (_, k) => stored.values?.[k] ?? stored.origin + k * stored.step,
  ).findIndex((value) => Math.abs(value - time) < 1e-6);
  const open = openDataset(dataset);
  const fieldOf = (name: "velocity" | "pressure", components: number): BrickField => ({
    components,
    bricking: { edge: [axes[0].nodes, axes[1].nodes, axes[2].nodes], count: [1, 1, 1] },
    data: readNodes(dataset, open, name, frame),
    table: Int32Array.of(0),
  });
  const turbulence = { axes, velocity: fieldOf("velocity", 3), pressure: fieldOf("pressure", 1) };
  open.close();
  return turbulence;
}

/** Visits the bricks of a field that is the same at every frame. */
export function readerOf({ components, bricking, data, table }: BrickField): BrickReader {
  return { components, bricking, visit: (_frame, brick, use) => use(data, table[brick] as number) };
}
