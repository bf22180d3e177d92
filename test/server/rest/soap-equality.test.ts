/** Every operation of the table over `/api` answers bit for bit what it answers over SOAP, refusals included. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ClientError, connect, type FieldClient } from "../../../src/client/index.js";
import type { RunningService } from "../../../src/main.js";
import { type Member, OPERATIONS, type Operation } from "../../../src/shared/operations.js";
import { fc } from "../../support/property.js";
import { serveTestData } from "../../support/service.js";

let service: RunningService;
let soap: FieldClient;
beforeAll(async () => {
  service = await serveTestData();
  soap = await connect(service.url);
});
afterAll(() => service.close());

const DATASET = "isotropic32";
const RUNS = 6;

const float = (min: number, max: number) =>
  fc.float({ min: Math.fround(min), max: Math.fround(max), noNaN: true, noDefaultInfinity: true });

/** A value for a member of a request, inside what the shipped data allow; some are refused, and then by both. */
function arbitraryOf(operation: Operation, member: Member): fc.Arbitrary<string | number> {
  const values: Readonly<Record<string, fc.Arbitrary<string | number>>> = {
    time: fc.oneof({ weight: 9, arbitrary: float(0, 2.2) }, { weight: 1, arbitrary: float(2.3, 9) }),
    StartTime: float(0, 1),
    EndTime: float(1, 1.2),
    dt: float(0.01, 0.1),
    nt: fc.integer({ min: 0, max: 5 }),
    Tp: float(0, 0.5),
    filterlength: float(0.21, 0.8),
    nlayers: fc.constantFrom(1, 1, 2),
    temporalInterpolation: fc.constantFrom("None", "PCHIP"),
    spatialInterpolation: fc.constantFrom(...operation.spatial, ...operation.spatial, "Lag4", "None_Fd4"),
  };
  return values[member.name] as fc.Arbitrary<string | number>;
}

const TRIPLES = fc.array(fc.tuple(float(-7, 14), float(-7, 14), float(-7, 14)), { maxLength: 12 });

interface Outcome {
  readonly values?: readonly number[];
  readonly code?: string;
}

async function overSoap(operation: Operation, request: object): Promise<Outcome> {
  try {
    const call = soap[operation.name as keyof FieldClient] as (request: object) => Promise<{ values: Float32Array }>;
    return { values: [...(await call(request)).values] };
  } catch (error) {
    if (error instanceof ClientError) return { code: error.code };
    throw error;
  }
}

async function outcomeOf(response: Response): Promise<Outcome> {
  if (!response.ok) return { code: ((await response.json()) as { code: string }).code };
  return { values: [...new Float32Array(await response.arrayBuffer())] };
}

const address = (operation: Operation) =>
  operation.request.some((member) => member.name === "dataset")
    ? `${service.url}/api/datasets/${DATASET}/${operation.name}`
    : `${service.url}/api/${operation.name}`;

describe.each(OPERATIONS.map((operation) => ({ operation: operation as Operation })))(
  "$operation.name",
  ({ operation }) => {
    const scalars = operation.request.filter(
      (member) => !member.type.startsWith("ArrayOf") && member.type !== "string",
    );
    const tracks = operation.request.some((member) => member.name === "InitialV");
    const requests = fc.record({
      parameters: fc.record(Object.fromEntries(scalars.map((member) => [member.name, arbitraryOf(operation, member)]))),
      points: TRIPLES,
    });

    it("equals SOAP as float32, JSON and CSV", async () => {
      await fc.assert(
        fc.asyncProperty(requests, async ({ parameters, points }) => {
          const velocities = tracks ? { InitialV: points.map(([x, y, z]) => [z, x, y]) } : {};
          const named = address(operation).includes("datasets") ? { dataset: DATASET } : {};
          const expected = await overSoap(operation, { ...named, ...parameters, points, ...velocities });
          const query = new URLSearchParams(
            Object.entries(parameters).map(([name, value]): [string, string] => [name, String(value)]),
          );
          const floats = points.flatMap(([x, y, z]) => (tracks ? [x, y, z, z, x, y] : [x, y, z]));
          const raw = await fetch(`${address(operation)}?${query}`, {
            method: "POST",
            body: Float32Array.from(floats),
            headers: { "content-type": "application/octet-stream", accept: "application/octet-stream" },
          });
          expect(await outcomeOf(raw)).toEqual(expected);
          const ask = (accept: string) =>
            fetch(address(operation), {
              method: "POST",
              body: exactJson({ ...parameters, points, ...velocities }),
              headers: { "content-type": "application/json", accept },
            });
          const json = await ask("application/json");
          const body = (await json.json()) as { code?: string; values?: unknown[] };
          const csv = await ask("text/csv");
          const text = await csv.text();
          if (expected.values === undefined) {
            expect([body.code, (JSON.parse(text) as { code: string }).code]).toEqual([expected.code, expected.code]);
          } else {
            const numbers = (body.values as unknown[]).flat(4) as number[];
            expect(numbers.map(Math.fround)).toEqual(expected.values);
            const cells = text
              .trimEnd()
              .split("\r\n")
              .slice(1)
              .flatMap((row) => row.split(","));
            expect(cells.map((cell) => Math.fround(Number(cell)))).toEqual(expected.values);
          }
        }),
        { numRuns: RUNS },
      );
    });
  },
);

/** JSON that keeps the sign of zero, which `JSON.stringify` drops. */
function exactJson(value: object): string {
  const marked = JSON.stringify(value, (_key, part: unknown) => (Object.is(part, -0) ? "negative zero" : part));
  return marked.replaceAll('"negative zero"', "-0");
}

describe("what is built on the operations", () => {
  const post = (path: string, body: object) =>
    fetch(`${service.url}/api/datasets/${DATASET}/${path}`, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "content-type": "application/json", accept: "application/octet-stream" },
    }).then(outcomeOf);

  it("a list of times equals its times one by one", async () => {
    const common = {
      spatialInterpolation: "Lag6",
      temporalInterpolation: "PCHIP",
      points: [
        [1, 2, 3],
        [0.5, -1, 9],
      ],
    };
    const times = [0, 0.31, 2.2, 1];
    const single = await Promise.all(times.map((time) => post("GetVelocityAndPressure", { ...common, time })));
    const list = await post("GetVelocityAndPressure", { ...common, time: times });
    expect(list.values).toEqual(single.flatMap((outcome) => outcome.values));
    expect(await post("GetVelocity", { ...common, time: [0, 50] })).toEqual({ code: "OutOfRange" });
  });

  it.each([
    ["GetPosition", { StartTime: 0.2, dt: 0.05, nt: 7 }],
    ["GetPositionParticleControl", { StartTime: 0.2, EndTime: 0.33 }],
    ["GetPositionInertialParticle", { StartTime: 0.2, EndTime: 0.33, Tp: 0.1 }],
  ])("positions of %s on the way end where it ends", async (operation, parameters) => {
    const common = {
      ...parameters,
      spatialInterpolation: "Lag6",
      points: [
        [1, 2, 3],
        [4, 5, 6],
      ],
    };
    const end = await post(operation, common);
    for (const every of [1, 3, 1000]) {
      const way = await fetch(
        `${service.url}/api/datasets/${DATASET}/trajectories?operation=${operation}&every=${every}`,
        {
          method: "POST",
          body: JSON.stringify(common),
          headers: { "content-type": "application/json" },
        },
      );
      const { shape, times, values } = (await way.json()) as { shape: number[]; times: number[]; values: number[][][] };
      expect(shape).toEqual([2, times.length, 3]);
      expect(values.map((path) => path[0])).toEqual(common.points);
      expect(values.flatMap((path) => path.at(-1)?.map(Math.fround))).toEqual(end.values);
      expect(times[0]).toBe(0.2);
    }
  });

  it("a record on the way is where a shorter query ends", async () => {
    const common = { StartTime: 0, dt: 0.125, spatialInterpolation: "Lag4", points: [[1, 2, 3]] };
    const way = await post("trajectories?every=2", { ...common, nt: 6 });
    for (const steps of [2, 4, 6]) {
      const end = await post("GetPosition", { ...common, nt: steps });
      expect(way.values?.slice((3 * steps) / 2, (3 * steps) / 2 + 3)).toEqual(end.values);
    }
  });

  it.each(["x", "y", "z"])("a slice across %s holds what GetVelocity answers at its points", async (axis) => {
    const response = await fetch(
      `${service.url}/api/datasets/${DATASET}/slice?field=uz&axis=${axis}&at=0.7&time=0.45&method=Lag8&nodes=9,7`,
    );
    const numbers = (name: string) => (response.headers.get(name) ?? "").split(",").map(Number);
    const [rowAxis, columnAxis] = (response.headers.get("fieldprobe-axes") ?? "").split(",") as [string, string];
    const [rowOrigin = 0, columnOrigin = 0] = numbers("fieldprobe-origin");
    const [rowSpacing = 0, columnSpacing = 0] = numbers("fieldprobe-spacing");
    const points = Array.from({ length: 63 }, (_, i) => {
      const place: Record<string, number> = {
        [axis]: 0.7,
        [rowAxis]: rowOrigin + Math.floor(i / 9) * rowSpacing,
        [columnAxis]: columnOrigin + (i % 9) * columnSpacing,
      };
      return [place.x, place.y, place.z].map((value) => Math.fround(value as number));
    });
    const { values = [] } = await post("GetVelocity", {
      time: 0.45,
      spatialInterpolation: "Lag8",
      temporalInterpolation: "PCHIP",
      points,
    });
    expect([...new Float32Array(await response.arrayBuffer())]).toEqual(values.filter((_, i) => i % 3 === 2));
  });
});

describe("a caller that leaves", () => {
  it("stops its work and leaves the service free", async () => {
    const controller = new AbortController();
    const points = Array.from({ length: 20_000 }, (_, i) => [i * 0.01, i * 0.02, i * 0.03]);
    const long = fetch(`${service.url}/api/datasets/${DATASET}/GetPosition`, {
      method: "POST",
      body: JSON.stringify({ StartTime: 0, dt: 0.001, nt: 2000, spatialInterpolation: "Lag8", points }),
      headers: { "content-type": "application/json" },
      signal: controller.signal,
    });
    await expect.poll(() => service.engine.status().running, { timeout: 20_000 }).toBeGreaterThan(0);
    controller.abort();
    await expect(long).rejects.toThrow();
    await expect.poll(() => service.engine.status().running, { timeout: 10_000 }).toBe(0);
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    expect(metrics).toMatch(
      /fieldprobe_requests_total\{interface="api",operation="GetPosition",outcome="cancelled"\} 1/,
    );
  });
});
