/** Every operation of the later interface by the client, which reads its WSDL, in both SOAP versions, on fields that are known. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answer, connect } from "../../src/client/index.js";
import { writeCube } from "../../src/generate/cube.js";
import type { RunningService } from "../../src/main.js";
import { type OperationRow, operationsIn, RECORDS } from "../../src/operations.js";
import { scratchFolder } from "../support/scratch.js";
import { serveTestData } from "../support/service.js";

let service: RunningService;
beforeAll(async () => {
  const folder = scratchFolder();
  for (const kind of ["mhd", "mixing"] as const) {
    const options = { kind, nodes: [16, 16, 16], steps: 4, chunk: null, filter: "none", seed: 0 } as const;
    await writeCube({ ...options, name: kind, folder: join(folder, kind) }, () => undefined);
  }
  service = await serveTestData([folder]);
});
afterAll(() => service.close());

const FIELDS: Readonly<Record<string, string>> = {
  GetThreshold: "vorticity",
  GetThreshold_Python: "vorticity",
  GetBoxFilterSGStensor: "ub",
  GetBoxFilterSGSvector: "up",
  GetBoxFilterSGSscalar: "pp",
};

/** A request that the dataset answers. */
function requestFor(row: OperationRow): Record<string, unknown> {
  const mixing = /Density|Temperature/.test(row.name);
  const values: Readonly<Record<string, unknown>> = {
    function_name: row.name === "GetFilter_Python" ? "GetBoxFilter" : "GetVelocity",
    dataset: mixing ? "mixing" : "mhd",
    field: FIELDS[row.name] ?? "u",
    time: 0.1,
    StartTime: 0,
    EndTime: 0.2,
    dt: 0.1,
    threshold: 0.1,
    filterwidth: 1,
    spacing: 0.8,
    spatialInterpolation: row.family === "search" || row.name === "GetThreshold_Python" ? "None_Fd4" : row.spatial[0],
    temporalInterpolation: "None",
    points: row.name.endsWith("_Python") ? [[1], [2], [3]] : [[1, 2, 3]],
    filter_width: 1,
  };
  const ones = /^(T|[XYZ]width|[xyz]_(start|step))$/;
  return Object.fromEntries(
    row.request
      .filter(({ name }) => name !== "authToken")
      .map(({ name, type }) => [
        name,
        values[name] ?? (type === "int" ? (ones.test(name) ? 1 : name.endsWith("_end") ? 4 : 0) : undefined),
      ]),
  );
}

describe.each(["1.1", "1.2"] as const)("SOAP %s", (version) => {
  it("answers all 48 operations", { timeout: 120_000 }, async () => {
    const client = (await connect(service.url, { version })) as unknown as Record<
      string,
      (request: object) => Promise<Answer>
    >;
    for (const row of operationsIn("later")) {
      const answer = await (client[row.name] as (request: object) => Promise<Answer>)(requestFor(row));
      expect(answer.values.length, row.name).toBeGreaterThan(0);
      expect(answer.values.length % RECORDS[row.result].length, row.name).toBe(0);
      expect(answer.values.every(Number.isFinite), row.name).toBe(true);
    }
  });
});
