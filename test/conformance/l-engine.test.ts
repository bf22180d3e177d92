/**
 * Rules whose outcome the engine decides, over the wire with the engine itself: the other files of this folder have one
 * that plays its part.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningService } from "../../src/main.js";
import { OLDER_OPERATIONS, type Operation, RECORDS } from "../../src/shared/operations.js";
import { expectFault } from "../support/faults.js";
import { requestOf } from "../support/requests.js";
import { scratchFolder } from "../support/scratch.js";
import { serveTestData } from "../support/service.js";
import { call, getVelocity, items, nullOp, PATH, readRecords, VERSIONS } from "../support/soap-service.js";

const STEPS = 60;
const SAMPLES = 512;
const scratch = scratchFolder();
let running: RunningService;
const service = {
  get url() {
    return `${running.url}${PATH}`;
  },
};
beforeAll(async () => {
  mkdirSync(join(scratch, "data"));
  writeFileSync(join(scratch, "data", "broken.h5"), "this is not HDF5");
  const limits = { QUERY_PARTICLE_STEPS: String(STEPS), QUERY_FILTER_SAMPLES: String(SAMPLES) };
  running = await serveTestData([join(scratch, "data")], limits);
});
afterAll(() => running.close());

const rows = OLDER_OPERATIONS.map((row): [string, Operation] => [row.name, row]);
const row = (name: string): Operation => rows.find(([known]) => known === name)?.[1] as Operation;
const points = (count: number): string => items(Array.from({ length: count }, (_, i) => [i / 8, 0, 0]));

describe.each(VERSIONS)("SOAP %s", (version) => {
  it.each(rows)("R55, R92, L2: %s has as many items per point as it defines", async (name, row) => {
    const records = readRecords(await call(service, version, requestOf(row, { nlayers: "2" })), name);
    expect(records).toHaveLength(name.startsWith("GetBoxFilter") ? (8 ** 2 - 1) / 7 : 1);
    for (const record of records) {
      expect(record.name).toBe(row.result);
      expect(record.values).toHaveLength(RECORDS[row.result].length);
      expect(record.values.every(Number.isFinite)).toBe(true);
    }
  });

  it.each(rows)("R74, L7: %s without points answers nothing, but judges what it is asked", async (name, row) => {
    expect(readRecords(await call(service, version, requestOf(row, { points: "", InitialV: "" })), name)).toEqual([]);
    if (name === "NullOp") return;
    const nowhere = requestOf(row, { points: "", InitialV: "", dataset: "nowhere" });
    const report = expectFault(await call(service, version, nowhere), version, "Caller", "UnknownDataset", {
      member: "dataset",
    });
    expect(report.text).toMatch(/^Invalid set name: nowhere \(available: .*isotropic32.*\)$/);
  });

  const floats = rows.flatMap(([name, row]) =>
    row.request.filter(({ type }) => type === "float").map((member) => [name, member.name, row] as const),
  );
  it.each(floats)("R71: %s refuses what is no finite %s", async (_name, member, row) => {
    for (const text of ["INF", "-INF", "NaN", "1e39", "-4e38"]) {
      const answer = await call(service, version, requestOf(row, { [member]: text }));
      expectFault(answer, version, "Caller", "OutOfRange", { member });
    }
  });

  it.each(rows)("R71, L11: %s names the coordinate that is not finite", async (_name, row) => {
    for (const text of ["INF", "-INF", "NaN", "1e39"]) {
      const bad = items([
        [1, 2, 3],
        [4, text, 6],
      ]);
      const InitialV = items([1, 2].map(() => [4, 5, 6]) as [number, number, number][], "Vector3");
      const answer = await call(service, version, requestOf(row, { points: bad, InitialV }));
      expectFault(answer, version, "Caller", "OutOfRange", { member: "points[1].y" });
    }
  });

  it("R71: a velocity that is not finite is named", async () => {
    const velocities = items([[1, 2, "NaN"]], "Vector3");
    const request = requestOf(row("GetPositionInertialParticle"), { InitialV: velocities });
    expectFault(await call(service, version, request), version, "Caller", "OutOfRange", { member: "InitialV[0].z" });
  });

  it("R89, L3: dataset, time, option and coordinates are judged in this order, in the words of the original", async () => {
    const wrong = { dataset: "nowhere", time: "99", spatialInterpolation: "Fd4Lag4", points: items([["NaN", 0, 0]]) };
    const heard: [string, string | undefined, string][] = [];
    for (const mended of [{}, { dataset: "isotropic32" }, { time: "0.1" }, { spatialInterpolation: "Lag8" }]) {
      Object.assign(wrong, mended);
      const { detail, text } = expectFault(await call(service, version, getVelocity(wrong)), version, "Caller");
      heard.push([detail?.code ?? "", detail?.member, text]);
    }
    expect(heard).toEqual([
      [
        "UnknownDataset",
        "dataset",
        expect.stringMatching(/^Invalid set name: nowhere \(available: .*isotropic32.*\)$/),
      ],
      ["OutOfRange", "time", expect.stringMatching(/^Time 99 out of range for "isotropic32"\./)],
      [expect.stringMatching(/^(Unsupported|InvalidRequest)$/), "spatialInterpolation", expect.any(String)],
      ["OutOfRange", "points[0].x", expect.any(String)],
    ]);
  });

  it("R103: query.particleSteps", async () => {
    const track = (count: number, nt: number): string =>
      requestOf(row("GetPosition"), { nt: String(nt), points: points(count) });
    for (const [count, steps] of [
      [STEPS / 10, 10],
      [1, STEPS],
    ] as const) {
      const answer = await call(service, version, track(count, steps));
      expect(readRecords(answer, "GetPosition")).toHaveLength(count);
    }
    const limit = { limit: "query.particleSteps" };
    expectFault(await call(service, version, track(STEPS / 10 + 1, 10)), version, "Caller", "LimitExceeded", limit);
    expectFault(await call(service, version, track(1, STEPS + 1)), version, "Caller", "LimitExceeded", limit);
  });

  it("R103: query.filterSamples", async () => {
    // A filter of four cells is a tree of two levels: 64 samples a point.
    const width = String(Math.fround((4 * 2 * Math.PI) / 32));
    for (const operation of OLDER_OPERATIONS.filter(({ name }) => name.startsWith("GetBoxFilter"))) {
      const filter = (count: number): string =>
        requestOf(operation, { filterlength: width, nlayers: "1", points: points(count) });
      const answer = await call(service, version, filter(SAMPLES / 64));
      expect(readRecords(answer, operation.name)).toHaveLength(SAMPLES / 64);
      expectFault(await call(service, version, filter(SAMPLES / 64 + 1)), version, "Caller", "LimitExceeded", {
        limit: "query.filterSamples",
      });
    }
  });

  it("R116: a file that is refused is an unknown dataset, and the rest is served", async () => {
    const answer = await call(service, version, getVelocity({ dataset: "broken" }));
    expectFault(answer, version, "Caller", "UnknownDataset", { member: "dataset" });
    expect((await call(service, version, getVelocity())).status).toBe(200);
  });

  it("R96: NullOp returns the coordinates, whatever they are", async () => {
    const answer = await call(service, version, nullOp(items([[1e30, -1e-30, "-0"]])));
    expect(readRecords(answer, "NullOp")[0]?.values.map(Math.fround)).toEqual([1e30, -1e-30, -0].map(Math.fround));
  });
});
