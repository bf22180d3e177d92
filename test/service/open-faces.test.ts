/** Particles that leave through open faces fail their query by default, or stop and tell when, in every interface. */
import { afterAll, describe, expect, it } from "vitest";
import { type ClientError, connect } from "../../src/client/index.js";
import { ask as askOf } from "../server/ask/ask.js";
import { fieldprobe } from "../support/run-command.js";
import { scratchFolder } from "../support/scratch.js";
import { serveTestData } from "../support/service.js";
import { writeStream } from "../support/stream.js";

const SCRATCH = scratchFolder();
const points = [
  [1.25, 0.5, 0.1],
  [1.05, 0.2, 0.3],
] as [number, number, number][];
const EXIT = Math.log(2 / 1.25);

const time = { origin: 0, step: 1, count: 2 };
const velocityAt = (x: number) => [x, -0.5, 0];
await writeStream(SCRATCH, velocityAt, 2, { name: "stream", time });
await writeStream(SCRATCH, velocityAt, 2, { name: "stopping", time, openFaces: "stop" });
const service = await serveTestData([SCRATCH]);
const client = await connect(service.url);
afterAll(() => service.close());

const ask = { StartTime: 0, dt: 0.001, nt: 500, spatialInterpolation: "Lag4" } as const;

async function post(dataset: string, more: object = {}): Promise<{ status: number; body: Record<string, unknown> }> {
  const question = { time: "0:0.5", step: 0.001, method: "Lag4", integrator: "heun", last: true, points };
  const response = await askOf(service, { dataset, call: "paths", ...question, ...more });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** The particles after 0.5: the first has left at x = 2, the second has been held by the wall y = 0. */
function expectPositions(values: ArrayLike<number>, width: number): void {
  const near = (at: number, expected: number) => expect(Math.abs((values[at] as number) - expected)).toBeLessThan(2e-6);
  expect(values[0]).toBe(2);
  near(1, 0.5 - EXIT / 2);
  near(width, 1.05 * Math.exp(0.5));
  expect(values[width + 1]).toBe(0);
}

describe("open faces", () => {
  it("fail a query of SOAP with point, step and time", async () => {
    const failed = await client.GetPosition({ dataset: "stream", ...ask, points }).catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: "OutOfRange", member: "points[0].x" });
    const step = Math.ceil(EXIT / ask.dt);
    expect((failed as ClientError).message).toContain(`Particle 0 leaves the domain in step ${step}, after time 0.47`);
    expect((failed as ClientError).message).toContain("Ask paths (of /api, or fieldprobe paths) with open_faces=stop");
  });

  it("fail a query of /api where it asks for that, and name the choices", async () => {
    for (const dataset of ["stream", "stopping"])
      expect(await post(dataset, { open_faces: "fail" })).toMatchObject({
        status: 422,
        body: { member: "points[0].x" },
      });
    expect(await post("stream", { open_faces: "vanish" })).toMatchObject({
      status: 400,
      body: { member: "open_faces", detail: expect.stringContaining("fail") },
    });
  });

  it("stop particles by default, with the time of the exit, null inside", async () => {
    for (const dataset of ["stream", "stopping"]) {
      const { columns, rows } = (await post(dataset)).body as { columns: { name: string }[]; rows: number[][] };
      expect(columns.map(({ name }) => name)).toEqual(["particle", "t", "x", "y", "z", "exit"]);
      const values = rows.flatMap((row) => row.slice(2));
      expectPositions(values, 4);
      expect(Math.abs((values[3] as number) - EXIT)).toBeLessThan(2e-6);
      expect(values[7]).toBeNull();
    }
  });

  it("are told on the way", async () => {
    const { rows } = (await post("stream", { every: 100, last: false })).body as { rows: number[][] };
    const first = rows.filter(([particle]) => particle === 0);
    expect(first.map((row) => row[5])).toEqual([null, null, null, null, null, expect.closeTo(EXIT, 5)]);
    expect(first.at(-1)?.[2]).toBe(2);
  });

  it("answer SOAP with the place of the exit where the dataset says stop", async () => {
    const answer = await client.GetPosition({ dataset: "stopping", ...ask, points });
    expect(answer.components).toEqual(["x", "y", "z"]);
    expectPositions(answer.values, 3);
  });

  it("are described with walls and the dataset's way", async () => {
    const response = await fetch(`${service.url}/api/datasets/stopping`);
    const { axes, openFaces } = (await response.json()) as { axes: { faces?: string[] }[]; openFaces: string };
    expect(axes.map(({ faces }) => faces)).toEqual([["open", "open"], ["wall", "wall"], undefined]);
    expect(openFaces).toBe("stop");
  });

  it("stop particles of the command line", async () => {
    const flags = "stream --time 0:0.5 --step 0.001 --method Lag4 --integrator heun --last".split(" ");
    const input = points.map((point) => point.join(",")).join(";");
    const { stdout, stderr } = await fieldprobe("paths", ...flags, "--points", input, "--data", SCRATCH);
    expect(stderr).toBe("");
    const [head, first, second] = stdout.split(/\r?\n/) as [string, string, string];
    expect(head).toBe("particle,t,x,y,z,exit");
    expect(first.split(",").slice(2, 3)).toEqual(["2"]);
    expect(Math.abs(Number(first.split(",").at(-1)) - EXIT)).toBeLessThan(2e-6);
    expect(second.split(",").at(-1)).toBe("NaN");
  });
});
