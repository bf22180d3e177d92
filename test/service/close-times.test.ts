/**
 * Frames whose times float32 does not tell apart: /api, POST values and the command line reach each of them and the
 * times between, in tracking too; SOAP says that it cannot.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { descriptor, writeDescriptor, writeField, writeHdf5 } from "../support/cubes.js";
import { operationValues, pathEnds } from "../support/operation-questions.js";
import { fieldprobe } from "../support/run-command.js";
import { folderIn, scratchFolder } from "../support/scratch.js";
import { useTestData } from "../support/service.js";
import { call, getVelocity, PATH } from "../support/soap-service.js";

const SCRATCH = scratchFolder();
const FRAMES = 8;
/** Times of the frames: float32 numbers are 0.0078 and 0.00012 apart there. */
const ROWS = [
  ["late", 1e5, 1e-3],
  ["fine", 2000, 2e-4],
] as const;
/** The stored velocity along x at any node: its square law is what PCHIP interpolates exactly. */
const speedAt = (frame: number): number => 1 + frame * frame;

for (const [name, origin, step] of ROWS) {
  const folder = folderIn(SCRATCH, name);
  await writeHdf5(join(folder, "u.h5"), (file) => {
    for (let k = 0; k < FRAMES; k++)
      writeField(file, `/u${k}`, { dimensions: ["z", "y", "x", "c"], value: ({ c }) => (c === 0 ? speedAt(k) : 0) });
  });
  const fields = { velocity: { file: "u.h5", path: "/u{step:01d}", dimensions: ["z", "y", "x", "c"] } };
  const time = { count: FRAMES, origin, step };
  writeDescriptor(folder, descriptor(name, { time, fields }));
}
writeFileSync(join(SCRATCH, "points.csv"), "1,1,1\n");
const service = await useTestData([SCRATCH]);

const api = async (dataset: string, operation: string, members: object): Promise<number[]> =>
  (
    await (operation === "GetPosition"
      ? pathEnds(service.url, dataset, { ...members, points: [[1, 1, 1]] })
      : operationValues(service.url, dataset, operation, { ...members, points: [[1, 1, 1]] }))
  )[0] as number[];

const query = (dataset: string, args: readonly string[]) =>
  fieldprobe("values", dataset, "u", "--points", join(SCRATCH, "points.csv"), ...args);

const VALUE = { spatialInterpolation: "None" };

describe.each(ROWS)("%s: frames from %d, %d apart", (name, origin, step) => {
  const timeAt = (frame: number): number => origin + frame * step;
  const places = [1, 2, 3, 4, 5].flatMap((k) => [k, k + 0.25, k + 0.5, k + 0.75]);

  it("reaches each frame, and the times between, over /api", async () => {
    for (const k of places) {
      const time = timeAt(k);
      const [between] = await api(name, "GetVelocity", { ...VALUE, time, temporalInterpolation: "PCHIP" });
      expect(Math.abs((between as number) - speedAt(k))).toBeLessThan(2e-5 * speedAt(k));
      if (k % 1 === 0.5) continue;
      const [frame] = await api(name, "GetVelocity", { ...VALUE, time, temporalInterpolation: "None" });
      expect(frame).toBe(speedAt(Math.round(k)));
    }
  });

  it("reaches them over POST values and from the command line", async () => {
    for (const k of [1, 2.5, 3]) {
      const query = `dataset=${name}&function=GetVariable&var=velocity&t=${timeAt(k)}&sint=none&sop=field&tint=pchip`;
      const body = "1\t1\t1";
      const answer = await fetch(`${service.url}/values?${query}`, { method: "POST", body });
      const text = await answer.text();
      expect(Math.abs(JSON.parse(text)[0][0] - speedAt(k)), text).toBeLessThan(2e-5 * speedAt(k));
    }
    for (const place of [
      ["--data", SCRATCH],
      ["--url", service.url],
    ]) {
      const args = ["--time", `${timeAt(2.5)}`, "--method", "nearest", ...place];
      const { stdout, stderr } = await query(name, args);
      expect(stdout, stderr).toContain("7.25");
    }
  });

  it("tracks particles through them", async () => {
    const track = { StartTime: timeAt(1), EndTime: timeAt(3), dt: step / 8, spatialInterpolation: "None" };
    const [x] = await api(name, "GetPosition", track);
    const exact = (s: number): number => (s + s ** 3 / 3) * step;
    const moved = exact(3) - exact(1);
    expect(Math.abs((x as number) - 1 - moved)).toBeLessThan(0.01 * moved + 2 ** -23);
  });

  it("is refused by SOAP in words that say what can", async () => {
    const body = getVelocity({ dataset: name, time: `${timeAt(1)}`, spatialInterpolation: "None" });
    const { status, text } = await call({ url: service.url + PATH }, "1.1", body);
    expect([status, text]).toEqual([500, expect.stringContaining("cannot tell the frames of")]);
  });
});
