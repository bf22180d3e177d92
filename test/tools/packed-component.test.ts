/** Components that are stored as 16-bit integers keep their values to half a scale, and zero where it has to stay. */
import { join } from "node:path";
import { type Dataset, File, ready } from "h5wasm/node";
import { beforeAll, describe, expect, it } from "vitest";
import { Hdf5Writer } from "../../src/storage/hdf5/writer.js";
import { writeIsotropic } from "../../tools/generate/isotropic.js";
import { writePacked } from "../../tools/packed-component.js";
import { scratchFolder } from "../support/scratch.js";

const folder = scratchFolder();
beforeAll(() => ready);

/** The integers of a stored component, its scale and its offset. */
function read(file: string, path: string) {
  const stored = new File(file, "r");
  const dataset = stored.get(path) as Dataset;
  const attributes = dataset.attrs;
  const read = {
    values: dataset.value as Int16Array | Float32Array,
    scale: Number(attributes.scale_factor?.value ?? 1),
    offset: Number(attributes.add_offset?.value ?? 0),
  };
  stored.close();
  return read;
}

describe("writePacked", () => {
  const frames = [Float64Array.of(0, 1, 2, 18), Float64Array.of(0, -0.5, 7, 3)];
  async function written(centred: boolean) {
    const file = join(folder, `${centred}.h5`);
    const writer = await Hdf5Writer.create(file);
    writePacked(writer, "/u", frames, [1, 2, 2], [1, 2, 2], centred);
    writer.close();
    return read(file, "/u");
  }

  it.each([false, true])("keeps values to half a scale, and zeros to rounding (centred: %s)", async (centred) => {
    const { values, scale, offset } = await written(centred);
    const wanted = frames.flatMap((frame) => [...frame]);
    const back = [...values].map((value) => value * scale + offset);
    for (const [i, value] of wanted.entries())
      expect(Math.abs((back[i] as number) - value)).toBeLessThanOrEqual(scale / 2 + 1e-12);
    expect([back[0], back[4]].map((value) => Math.abs(value as number) < 1e-12)).toEqual([true, true]);
    expect(scale).toBeCloseTo((centred ? 18.5 / 2 : 18) / 32766, 12);
  });
});

it("stores the same flow as float32 does, to half a scale", { timeout: 60_000 }, async () => {
  const options = { nodes: 16, viscosity: 0.05, seed: 3, spinUp: 0.2, frames: 4, aliases: [], threads: 1 };
  const [plain, packed] = ["plain", "packed"].map((name) => join(folder, name)) as [string, string];
  await writeIsotropic({ ...options, name: "flow", folder: plain }, () => undefined);
  await writeIsotropic({ ...options, name: "flow", folder: packed, packed: true }, () => undefined);
  const velocity = read(join(plain, "flow.h5"), "/velocity").values;
  for (const [c, name] of ["u", "v", "w"].entries()) {
    const { values, scale, offset } = read(join(packed, "flow.h5"), `/${name}`);
    expect(values.length).toBe(velocity.length / 3);
    let worst = 0;
    for (const [i, value] of values.entries())
      worst = Math.max(worst, Math.abs(value * scale + offset - (velocity[3 * i + c] as number)));
    expect(worst).toBeGreaterThan(0);
    expect(worst).toBeLessThanOrEqual(scale / 2 + 2e-7);
  }
});
