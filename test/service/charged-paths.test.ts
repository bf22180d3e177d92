/**
 * Paths whose steps meet a seam, a wall, an open face, a hole in the data and a gap between frames, by each integrator,
 * forward and backward, against their closed form.
 */
import { describe, expect, it } from "vitest";
import { type AnyAnswer, ask, jsonOf } from "../server/ask/ask.js";
import { scratchFolder } from "../support/scratch.js";
import { useTestData } from "../support/service.js";
import { writeStream } from "../support/stream.js";

const SCRATCH = scratchFolder();
const TIMES = [0, 0.1, 0.2, 0.3, 0.7, 0.8, 0.9, 1];

// In one dataset nodes beyond a place have no velocity.
for (const [name, hole] of Object.entries({ stream: 9, holed: 1.75 })) {
  const velocityAt = (x: number) => (x > hole ? Array(3).fill(Number.NaN) : [x, -0.5, 1.3]);
  await writeStream(SCRATCH, velocityAt, TIMES.length, { name, time: { values: TIMES }, openFaces: "stop" });
}
const service = await useTestData([SCRATCH]);

async function track(
  dataset: string,
  integrator: string,
  { StartTime = 0, EndTime = 1, points }: { StartTime?: number; EndTime?: number; points: readonly unknown[] },
): Promise<AnyAnswer> {
  const how = { step: 0.03, method: "Lag4", open_faces: "stop", integrator };
  const response = await ask(service, { dataset, call: "paths", points, time: `${StartTime}:${EndTime}`, ...how });
  const { columns = [], rows = [], detail }: AnyAnswer = await response.json();
  const records = rows.length / points.length;
  return {
    times: rows.slice(0, records).map((row: number[]) => row[1]),
    components: columns.slice(2).map(({ name }: AnyAnswer) => name),
    values: points.map((_, i) => rows.slice(records * i, records * (i + 1)).map((row: number[]) => row.slice(2))),
    detail,
  };
}

/** What steps of 0.03 leave of the exponential, by integrator; the tolerance of dopri5 is 1e-6 of a spacing of 0.1. */
const SCHEMES = [
  ["heun", 2e-4],
  ["rk4", 2e-6],
  ["dopri5", 2e-6],
] as const;
const START = [1.05, 0.3, 0.9];

describe.each(SCHEMES)("%s", (integrator, error) => {
  it("crosses seams, is held by a wall, and spans a gap of frames and a short last step", async () => {
    const { times, values } = await track("stream", integrator, { EndTime: 0.61, points: [START, [1.05, 0.3, 2]] });
    expect(times.slice(-2)).toEqual([0.6, 0.61]);
    for (const [r, t] of times.entries()) {
      const [x, y, z] = (values[0]?.[r] ?? []) as number[];
      expect(Math.abs((x as number) - 1.05 * Math.exp(t))).toBeLessThan(error);
      expect(Math.abs((y as number) - Math.max(0, 0.3 - t / 2))).toBeLessThan(integrator === "dopri5" ? 1e-6 : 0.015);
      expect(Math.abs((z as number) - 0.9 - 1.3 * t)).toBeLessThan(2e-6);
      // A period off, the path is the same: coordinates run on.
      expect(values[1]?.[r]?.[0]).toBe(x);
      expect((values[1]?.[r]?.[2] as number) - 1.1 - (z as number)).toBeCloseTo(0, 6);
    }
    expect(values[0]?.at(-1)?.[1]).toBe(0);
  });

  it("comes back from where it went", async () => {
    const there = await track("stream", integrator, { EndTime: 0.55, points: [START] });
    const end = (there.values[0]?.at(-1) ?? []).slice(0, 3);
    const back = await track("stream", integrator, { StartTime: 0.55, EndTime: 0, points: [end] });
    for (const c of [0, 1, 2])
      expect(Math.abs((back.values[0]?.at(-1)?.[c] as number) - (START[c] as number))).toBeLessThan(error);
  });

  it("ends at an open face, within the step that passes it", async () => {
    const { times, values, components } = await track("stream", integrator, { points: [START] });
    const exit = components.indexOf("exit");
    const last = values[0]?.at(-1) as number[];
    const left = Math.log(2 / 1.05);
    expect(last[0]).toBe(2);
    // A straight line within a step of 0.03 is off by its bend.
    expect(Math.abs((last[exit] as number) - left)).toBeLessThan(integrator === "dopri5" ? 1e-6 : 3e-4);
    for (const [r, t] of times.entries()) {
      if (t < left) expect(values[0]?.[r]?.[exit]).toBe(null);
      else expect(values[0]?.[r]).toEqual(last);
    }
  });

  it("has no places from a hole on, whose stencils begin at x = 1.6", async () => {
    const { times, values } = await track("holed", integrator, { points: [START, [1.01, 0.5, 0.5]], EndTime: 0.9 });
    const reached = Math.log(1.6 / 1.05);
    for (const [r, t] of times.entries()) {
      const place = values[0]?.[r]?.slice(0, 3);
      if (t < reached - 0.03) expect(place?.every((x: number | null) => x !== null)).toBe(true);
      else if (t > reached) expect(place).toEqual([null, null, null]);
      else if (integrator === "dopri5") expect(place?.[0]).toBeCloseTo(1.05 * Math.exp(t), 5);
    }
    const request = { time: "0:0.9", step: 0.03, points: [START, START], method: "Lag4", integrator };
    const { particles, mean_square } = await jsonOf(
      await ask(service, { dataset: "holed", call: "dispersion", ...request }),
    );
    expect([particles?.[0], particles?.at(-1), mean_square?.at(-1)]).toEqual([2, 0, null]);
    const alone = await track("holed", integrator, { points: [[1.01, 0.5, 0.5]], EndTime: 0.9 });
    expect(values[1]).toEqual(alone.values[0]);
  });

  it("is refused beyond the last frame", async () => {
    const { detail } = await track("stream", integrator, { EndTime: 1.01, points: [START] });
    expect(detail).toMatch(/^Time 1.01 out of range for "stream"/);
  });
});
