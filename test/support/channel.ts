/** A channel-like dataset: y tabulated, denser at its two walls, and a grid that moves along x. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeCube } from "../../tools/generate/cube.js";

const NODES = 32;

/** Writes it into a folder that exists; y goes from -1 to 1. */
export async function writeChannel(folder: string): Promise<void> {
  const cube = {
    kind: "abc",
    nodes: [NODES, NODES, NODES],
    steps: 6,
    chunk: [16, 16, 16],
    filter: "none",
    seed: 1,
  } as const;
  await writeCube({ ...cube, name: "channel", folder }, () => {});
  const file = join(folder, "dataset.json");
  const descriptor = JSON.parse(readFileSync(file, "utf8"));
  const coordinates = Array.from({ length: NODES }, (_, j) => -Math.cos((Math.PI * j) / (NODES - 1)));
  descriptor.axes.y = { coordinates, periodic: false, faces: "wall" };
  descriptor.frameVelocity = [0.45, 0, 0];
  writeFileSync(file, JSON.stringify(descriptor));
}

/** Triples between the walls, the first two on them. */
export function channelPoints(count: number, random: () => number): Float32Array {
  return Float32Array.from({ length: 3 * count }, (_, k) => {
    if (k % 3 !== 1) return (random() - 0.5) * 20;
    return k === 1 ? -1 : k === 4 ? 1 : 2 * random() - 1;
  });
}
