/** A channel goes on after a kill with the same bytes, and is stored as integers that come back within half a scale. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Dataset, File, ready } from "h5wasm/node";
import { describe, expect, it } from "vitest";
import { type TurbulentChannelOptions, writeChannel } from "../../../tools/channel/channel.js";
import { scratchFolder } from "../../support/scratch.js";

const OPTIONS = {
  nodes: [8, 17, 8],
  lengths: [Math.PI, Math.PI / 2],
  reynolds: 40,
  seed: 3,
  spinUp: 0.05,
  averaged: 0.15,
  frames: 5,
  name: "channel",
} as const satisfies Omit<TurbulentChannelOptions, "folder">;

const digests = async (folder: string, progress: (fraction: number) => void) =>
  (await writeChannel({ ...OPTIONS, folder }, progress)).manifest.files;

describe("writeChannel", () => {
  it.each([0.2, 0.8])("writes the same bytes if it is stopped at %f and run again", async (stop) => {
    const killed = scratchFolder();
    const fail = (fraction: number) => {
      if (fraction >= stop) throw new Error("stopped");
    };
    await expect(digests(killed, fail)).rejects.toThrow("stopped");
    expect(await digests(killed, () => {})).toEqual(await digests(scratchFolder(), () => {}));
  });

  it("stores components as integers with scales: walls at rest exactly, the mean of u of the last frame as averaged", async () => {
    const folder = scratchFolder();
    const { report } = await writeChannel({ ...OPTIONS, averaged: 0.025, frames: 1, folder }, () => {});
    const descriptor = JSON.parse(readFileSync(join(folder, "dataset.json"), "utf8"));
    expect(descriptor.axes.y).toEqual({ coordinates: { file: "channel.h5", path: "/y" }, faces: "wall" });
    await ready;
    const file = new File(join(folder, "channel.h5"), "r");
    const [nx, heights, nz] = OPTIONS.nodes;
    for (const component of ["u", "v", "w"]) {
      const dataset = file.get(component) as Dataset;
      expect(dataset.dtype).toBe("<h");
      const scale = dataset.attrs.scale_factor?.value as number;
      const offset = (dataset.attrs.add_offset?.value ?? 0) as number;
      const stored = dataset.value as Int16Array;
      for (let j = 0; j < heights; j++) {
        const plane = Array.from({ length: nx * nz }, (_, at) => {
          const [z, x] = [Math.floor(at / nx), at % nx];
          return (stored[(z * heights + j) * nx + x] as number) * scale + offset;
        });
        if (j === 0 || j === heights - 1) expect(plane.every((value) => value === 0)).toBe(true);
        const mean = plane.reduce((sum, value) => sum + value, 0) / plane.length;
        if (component === "u") expect(Math.abs(mean - (report.profiles.u[j] as number))).toBeLessThan(scale / 2);
      }
    }
    file.close();
  });
});
