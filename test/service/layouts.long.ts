/** Every producer's layout answers every operation bit for bit like its canonical twin, over a socket and the pool. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ClientError, connect, type FieldClient } from "../../src/client/index.js";
import type { RunningService } from "../../src/main.js";
import { OLDER_OPERATIONS, type Operation } from "../../src/shared/operations.js";
import { NODES, nodeValue, writeDescriptor, writeHdf5 } from "../support/cubes.js";
import { confirmIfAsked, openConfirmed } from "../support/open-confirmed.js";
import { PRODUCERS, placeProducer, twinDescriptor, writeTwin } from "../support/producers.js";
import { scratchFolder } from "../support/scratch.js";
import { serveTestData } from "../support/service.js";

const SCRATCH = scratchFolder();
const POINTS = 5;
/** Files that the older operations can be asked of; the tests of the layouts read the nodes of the others. */
const WITH_VELOCITY = PRODUCERS.filter(({ velocity }) => velocity !== false);
const twinName = (index: number) => `twin-${index}`;

let service: RunningService;
let soap: FieldClient;
/** The nodes of each producer: coordinates along x, y, z, and the times of its frames. */
const grids: { coordinates: number[][]; times: number[] }[] = [];

beforeAll(async () => {
  const folder = join(SCRATCH, "data");
  mkdirSync(folder);
  for (const [index, entry] of WITH_VELOCITY.entries()) {
    mkdirSync(join(folder, `${index}`));
    const path = await placeProducer(join(folder, `${index}`), entry);
    confirmIfAsked(path);
    const twin = join(folder, twinName(index));
    mkdirSync(twin);
    await writeHdf5(join(twin, "twin.h5"), (file) => writeTwin(file, entry));
    writeDescriptor(twin, twinDescriptor(entry, twinName(index)));
    const { axes, time } = openConfirmed(twin, 2 ** 26);
    grids.push({
      coordinates: axes.map(({ nodes, origin, spacing, coordinates }) =>
        Array.from({ length: nodes }, (_, i) => coordinates?.[i] ?? origin + i * spacing),
      ),
      times: Array.from({ length: time.count }, (_, k) => time.values?.[k] ?? time.origin + k * time.step),
    });
  }
  service = await serveTestData([folder]);
  soap = await connect(service.url);
});
afterAll(() => service.close());

function fraction(seed: number): number {
  const wave = Math.sin(seed * 12.9898 + 78.233) * 43758.5453;
  return wave - Math.floor(wave);
}

/** Points well inside the grid: no rounding to float32 leaves it. */
function pointsOf({ coordinates }: { coordinates: number[][] }): [number, number, number][] {
  return Array.from({ length: POINTS }, (_, point) => {
    const at = coordinates.map((nodes, axis) => {
      const [first, last] = [nodes[0] as number, nodes.at(-1) as number];
      return first + (last - first) * (0.01 + 0.98 * fraction(7 * point + axis));
    });
    return at as [number, number, number];
  });
}

/** The bytes of the answer, or the code of the refusal. */
async function ask(operation: Operation, request: object): Promise<string> {
  try {
    const call = soap[operation.name as keyof FieldClient] as (request: object) => Promise<{ values: Float32Array }>;
    const { values } = await call(request);
    return Buffer.from(values.buffer, values.byteOffset, values.byteLength).toString("hex");
  } catch (error) {
    if (error instanceof ClientError) return error.code;
    throw error;
  }
}

describe.each(WITH_VELOCITY.map((entry, index) => ({ ...entry, index })))(
  "$producer: $name",
  ({ name, index, pressure }) => {
    it("answers with the value of a stored node", async () => {
      const { coordinates, times } = grids[index] as (typeof grids)[number];
      const node = { x: 7, y: 4, z: 5, t: times.length - 1 };
      const point = (["x", "y", "z"] as const).map((axis, at) => coordinates[at]?.[node[axis]]) as [
        number,
        number,
        number,
      ];
      const time = times.at(-1) as number;
      const { values } = await soap.GetVelocity({
        dataset: name,
        time,
        spatialInterpolation: "None",
        temporalInterpolation: "None",
        points: [point],
      });
      expect([...values]).toEqual([0, 1, 2].map((c) => nodeValue({ ...node, c })));
      expect(coordinates.map((nodes) => nodes.length)).toEqual([NODES.x, NODES.y, NODES.z]);
    });

    it("answers every operation like its twin", async () => {
      const grid = grids[index] as (typeof grids)[number];
      const [start, end] = [grid.times[0] as number, grid.times.at(-1) as number];
      const points = pointsOf(grid);
      const answered = new Set<string>();
      for (const operation of OLDER_OPERATIONS as readonly Operation[]) {
        if (!operation.request.some((member) => member.name === "dataset")) continue;
        for (const spatialInterpolation of new Set([operation.spatial[0], operation.spatial.at(-1)])) {
          const request = {
            time: start + 0.4 * (end - start),
            StartTime: start,
            EndTime: end,
            dt: (end - start) / 4,
            nt: 2,
            Tp: 0.1,
            filterlength: 1,
            nlayers: 1,
            temporalInterpolation: "PCHIP",
            spatialInterpolation,
            points,
            InitialV: points.map(() => [0.01, 0.02, -0.01]),
          };
          const members = new Set(["dataset", ...operation.request.map((member) => member.name)]);
          const fitting = Object.fromEntries(Object.entries(request).filter(([member]) => members.has(member)));
          const bare = await ask(operation, { ...fitting, dataset: name });
          const twin = await ask(operation, { ...fitting, dataset: twinName(index) });
          expect(bare, `${operation.name} ${spatialInterpolation}`).toBe(twin);
          if (/^[0-9a-f]+$/.test(bare)) answered.add(operation.name);
        }
      }
      // What does not depend on the file: these are answered wherever the fields are there.
      const always = ["GetVelocity", "GetVelocityGradient", "GetVelocityHessian", "GetVelocityLaplacian"];
      if (pressure) always.push("GetVelocityAndPressure", "GetPressureGradient", "GetPressureHessian");
      expect([...answered]).toEqual(expect.arrayContaining(always));
    });
  },
);
