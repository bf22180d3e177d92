/** A grid with fewer nodes than the stencils is refused for them, and goes on answering the rest. */
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Engine, Query } from "../../../src/engine/contract/query.js";
import { openEngine } from "../../../src/engine/main/engine.js";
import { loadConfig } from "../../../src/shared/config.js";
import { descriptor, nodeValue, writeDescriptor, writeField, writeHdf5 } from "../../support/cubes.js";
import { runQuery } from "../../support/run-query.js";
import { scratchFolder } from "../../support/scratch.js";

const DATA = scratchFolder();
const NODES = { x: 8, y: 8, z: 3, t: 1 };
const POINT = [2, 3, 1];
let engine: Engine;

beforeAll(async () => {
  await writeHdf5(join(DATA, "u.h5"), (file) =>
    writeField(file, "/u", { dimensions: ["t", "z", "y", "x", "c"], lengths: NODES }),
  );
  const axis = (nodes: number, periodic: boolean) => ({ nodes, origin: 0, spacing: 1, periodic });
  writeDescriptor(
    DATA,
    descriptor("thin", {
      axes: { x: axis(NODES.x, true), y: axis(NODES.y, true), z: axis(NODES.z, false) },
      time: { count: 1 },
      fields: { velocity: { file: "u.h5", path: "/u", dimensions: ["t", "z", "y", "x", "c"] } },
    }),
  );
  const settings = { DATA, WORKERS: "1", CACHE_BYTES: String(1024 * 1024) };
  engine = await openEngine(loadConfig(settings, {}), pino({ level: "silent" }));
});
afterAll(() => engine.close(1000));

const COMMON = { dataset: "thin", time: 0, temporalInterpolation: "None" } as const;
const FILTER = { filterlength: 2, nlayers: 1 } as const;
const REFUSED: readonly Query[] = [
  { ...COMMON, operation: "GetVelocity", spatialInterpolation: "Lag4" },
  { ...COMMON, operation: "GetVelocityGradient", spatialInterpolation: "None_Fd4" },
  { ...COMMON, ...FILTER, operation: "GetBoxFilterVelocity" },
  { ...COMMON, ...FILTER, operation: "GetBoxFilterVelocityGradient" },
  { ...COMMON, ...FILTER, operation: "GetBoxFilterSGSStress" },
];

it.each(REFUSED)("$operation is unsupported", async (query) => {
  await expect(runQuery(engine, query, POINT)).rejects.toMatchObject({ code: "Unsupported" });
});

it("answers the nearest node", async () => {
  const query = { ...COMMON, operation: "GetVelocity", spatialInterpolation: "None" } as const;
  const [x, y, z] = POINT as [number, number, number];
  const expected = [0, 1, 2].map((c) => nodeValue({ x, y, z, t: 0, c }));
  expect([...(await runQuery(engine, query, POINT))]).toEqual(expected);
});
