/** Serves small cubes with every field of the later interface, and makes requests that they answer. */
import { join } from "node:path";
import type { RunningService } from "../../src/main.js";
import type { OperationRow } from "../../src/shared/operations.js";
import { writeCube } from "../../tools/generate/cube.js";
import { scratchFolder } from "./scratch.js";
import { serveTestData } from "./service.js";

export async function serveLaterFields(): Promise<RunningService> {
  const folder = scratchFolder();
  for (const kind of ["mhd", "mixing"] as const) {
    const options = { kind, nodes: [16, 16, 16], steps: 4, chunk: null, filter: "none", seed: 0 } as const;
    await writeCube({ ...options, name: kind, folder: join(folder, kind) }, () => undefined);
  }
  return serveTestData([folder]);
}

/** Fields of the operations that do not take the velocity. */
export const FIELDS: Readonly<Record<string, string>> = {
  GetThreshold: "vorticity",
  GetThreshold_Python: "vorticity",
  GetBoxFilterSGStensor: "ub",
  GetBoxFilterSGSvector: "up",
  GetBoxFilterSGSscalar: "pp",
};

/** The members of a request of two points, in the order of the interface; searches and cutouts are of a few nodes. */
export function laterRequest(row: OperationRow): Record<string, unknown> {
  const isSearch = row.family === "search" || row.name === "GetThreshold_Python";
  const dataset = /Density|Temperature/.test(row.name) ? "mixing" : "mhd";
  const field = FIELDS[row.name] ?? "u";
  const functionName = row.name === "GetFilter_Python" ? "GetBoxFilter" : "GetVelocity";
  const method = isSearch ? "None_Fd4" : (row.spatial[0] ?? "");
  const values: Readonly<Record<string, unknown>> = {
    ...{ authToken: "a", function_name: functionName, dataset, field, spatialInterpolation: method },
    ...{ time: 0.1, StartTime: 0, EndTime: 0.2, dt: 0.1, temporalInterpolation: "None" },
    ...{ threshold: 0.1, filterwidth: 1, filter_width: 1, spacing: 0.8 },
    points: [
      [1, 2, 3],
      [4, 5, 6],
    ],
  };
  const one = /^(T|[XYZ]width|[xyz]_(start|step))$/;
  const whole = (name: string): number => (one.test(name) ? 1 : name.endsWith("_end") ? 4 : 0);
  return Object.fromEntries(
    row.request.map(({ name, type }) => [name, values[name] ?? (type === "int" ? whole(name) : undefined)]),
  );
}
