/** The later interface with generated proxies: zeep calls every operation, gSOAP makes a call of each in both versions. */
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeCube } from "../../src/generate/cube.js";
import type { RunningService } from "../../src/main.js";
import { type OperationRow, operationsIn, RECORDS } from "../../src/operations.js";
import { scratchFolder } from "../support/scratch.js";
import { serveTestData } from "../support/service.js";
import { PATH, VERSIONS } from "../support/soap-service.js";
import { missing, PYTHON, TOOLKITS } from "./packages.js";

const run = promisify(execFile);
const rows = operationsIn("later");
let service: RunningService;
let url: string;
beforeAll(async () => {
  const folder = scratchFolder();
  for (const kind of ["mhd", "mixing"] as const) {
    const options = { kind, nodes: [16, 16, 16], steps: 4, chunk: null, filter: "none", seed: 0 } as const;
    await writeCube({ ...options, name: kind, folder: join(folder, kind) }, () => undefined);
  }
  service = await serveTestData([folder]);
  url = service.url + PATH;
});
afterAll(() => service.close());

const FIELDS: Readonly<Record<string, string>> = {
  GetThreshold: "vorticity",
  GetThreshold_Python: "vorticity",
  GetBoxFilterSGStensor: "ub",
  GetBoxFilterSGSvector: "up",
  GetBoxFilterSGSscalar: "pp",
};

/** A request of two points that the datasets answer. */
function membersOf(row: OperationRow): Record<string, unknown> {
  const search = row.family === "search" || row.name === "GetThreshold_Python";
  const values: Readonly<Record<string, unknown>> = {
    function_name: row.name === "GetFilter_Python" ? "GetBoxFilter" : "GetVelocity",
    authToken: "a",
    dataset: /Density|Temperature/.test(row.name) ? "mixing" : "mhd",
    field: FIELDS[row.name] ?? "u",
    time: 0.1,
    StartTime: 0,
    EndTime: 0.2,
    dt: 0.1,
    threshold: 0.1,
    filterwidth: 1,
    spacing: 0.8,
    spatialInterpolation: search ? "None_Fd4" : row.spatial[0],
    temporalInterpolation: "None",
    points: [
      [1, 2, 3],
      [4, 5, 6],
    ],
    filter_width: 1,
  };
  const one = /^(T|[XYZ]width|[xyz]_(start|step))$/;
  const whole = (name: string): number => (one.test(name) ? 1 : name.endsWith("_end") ? 4 : 0);
  return Object.fromEntries(
    row.request.map(({ name, type }) => [name, values[name] ?? (type === "int" ? whole(name) : undefined)]),
  );
}

describe("the later interface", () => {
  const zeep = missing(TOOLKITS.zeep);
  it.for(VERSIONS)("zeep calls every operation in SOAP %s", async (version, { skip }) => {
    skip(zeep !== null, zeep ?? "");
    const calls = JSON.stringify(Object.fromEntries(rows.map((row) => [row.wire, membersOf(row)])));
    const script = fileURLToPath(new URL("zeep_later.py", import.meta.url));
    const { stdout } = await run(PYTHON, [script, url, version, calls]);
    const counts = JSON.parse(stdout) as Record<string, number>;
    expect(Object.keys(counts)).toHaveLength(48);
    for (const row of rows) {
      const points = row.request.some(({ type }) => type === "ArrayOfPoint3");
      if (points) expect(counts[row.wire], row.wire).toBe(2 * RECORDS[row.result].length);
      else expect(counts[row.wire], row.wire).toBeGreaterThan(0);
    }
  });

  const gsoap = missing(TOOLKITS.gsoap);
  it("gSOAP makes a call of every operation for each version", async ({ skip }) => {
    skip(gsoap !== null, gsoap ?? "");
    const cwd = scratchFolder();
    writeFileSync(join(cwd, "later.wsdl"), await (await fetch(`${url}?wsdl=later`)).text());
    await run("wsdl2h", ["-c", "-o", "later.h", "later.wsdl"], { cwd });
    await run("soapcpp2", ["-c", "-C", "-w", "-x", "later.h"], { cwd });
    const stub = readFileSync(join(cwd, "soapStub.h"), "utf8");
    const made = [...stub.matchAll(/soap_call___ns\d__(\w+)\(/g)].map((match) => match[1]);
    for (const { wire } of rows) {
      const name = wire.replaceAll("_", "_USCORE");
      // The name of the second binding ends in an underscore.
      expect(made, wire).toContain(name);
      expect(made, wire).toContain(`${name}_`);
    }
  });
});
