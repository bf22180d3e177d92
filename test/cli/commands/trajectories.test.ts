/** `fieldprobe trajectories`, and points with times of their own in `fieldprobe query`, as they ship. */
import { execFile, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Dataset, File, ready } from "h5wasm/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../../../src/client/index.js";
import type { RunningService } from "../../../src/main.js";
import { scratchFolder } from "../../support/scratch.js";
import { serveTestData } from "../../support/service.js";

const BIN = fileURLToPath(new URL("../../../bin/fieldprobe.js", import.meta.url));
const XARRAY = ["/usr/bin/python3", "python3"].find(
  (python) => spawnSync(python, ["-c", "import netCDF4, xarray"]).status === 0,
);
const folder = scratchFolder();
const at = (name: string): string => join(folder, name);

let service: RunningService;
beforeAll(async () => {
  service = await serveTestData();
  writeFileSync(at("timed.csv"), "x,y,z,t\n1,2,3,0.4\n4,5,6,0.5\n1,2,3,0.5\n");
  writeFileSync(at("plain.csv"), "1,2,3\n4,5,6\n");
});
afterAll(() => service.close());

function run(...words: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [BIN, ...words], { cwd: folder }, (_, out, err) => {
      resolve({ code: child.exitCode as number, out, err });
    });
  });
}
const track = (...words: readonly string[]) => run("trajectories", "isotropic32", ...words);
const ASKED = ["--dt", "0.1", "--nt", "4", "--every", "2", "--integrator", "rk4", "--with", "p", "--with", "p/2"];

describe("fieldprobe trajectories", () => {
  const members = { dt: 0.1, nt: 4, every: 2, integrator: "rk4", spatialInterpolation: "Lag6" } as const;
  const points = [
    [1, 2, 3],
    [4, 5, 6],
    [1, 2, 3],
  ] as [number, number, number][];

  it("prints the paths of the typed client, each from its own start", async () => {
    const url = ["--url", service.url];
    const { code, out, err } = await track("--points", "timed.csv", ...ASKED, ...url);
    expect([code, err]).toEqual([0, ""]);
    const client = await connect(service.url, { pointsPerRequest: 2 });
    const starts = { startTimes: [0.4, 0.5, 0.5], with: ["p", "p/2"] };
    const paths = await client.trajectories("isotropic32", { ...members, ...starts, points });
    expect([paths.particles, paths.records, paths.columns]).toEqual([3, 3, ["x", "y", "z", "p", "p/2"]]);
    const [head, ...rows] = out.trim().split("\n");
    expect(head).toBe("particle,time,x,y,z,p,p/2");
    expect(rows.map((row) => row.split(",").slice(0, 2).join())).toEqual([
      "0,0.4",
      "0,0.6",
      "0,0.8",
      "1,0.5",
      "1,0.7",
      "1,0.9",
      "2,0.5",
      "2,0.7",
      "2,0.9",
    ]);
    const numbers = rows.flatMap((row) => row.split(",").slice(2).map(Number));
    expect(numbers.map(Math.fround)).toEqual([...paths.values]);
    const alone = await client.trajectories("isotropic32", { ...members, StartTime: 0.5, points: points.slice(0, 1) });
    expect(alone.columns).toEqual(["x", "y", "z"]);
    for (let r = 0; r < 3; r++)
      expect([...paths.values.subarray(30 + 5 * r, 33 + 5 * r)]).toEqual([...alone.values.subarray(3 * r, 3 * r + 3)]);
  });

  it("writes NumPy arrays with named columns", async () => {
    const words = ["--points", "plain.csv", "--start-time", "0.4", ...ASKED];
    expect(await track(...words, "--out", "paths.npy")).toMatchObject({ code: 0, err: "" });
    const bytes = readFileSync(at("paths.npy"));
    const start = 12 + bytes.readUInt32LE(8);
    expect(start % 64).toBe(0);
    expect(bytes.toString("latin1", 12, start)).toMatch(
      /^\{'descr': \[\('time', '<f8'\), \('x', '<f4'\), .*\('p\/2', '<f4'\)\], 'fortran_order': False, 'shape': \(2, 3\), \} *\n$/,
    );
    expect(bytes.length).toBe(start + 6 * 28);
    expect(bytes.readDoubleLE(start + 28)).toBe(0.6);
    expect([8, 12, 16].map((offset) => bytes.readFloatLE(start + offset))).toEqual([1, 2, 3]);
  });

  it("writes NetCDF in the layout of trajectories", async () => {
    const words = ["--points", "plain.csv", "--start-time", "0.4", ...ASKED, "--url", service.url];
    expect(await track(...words, "--out", "paths.nc")).toMatchObject({ code: 0, err: "" });
    await ready;
    const file = new File(at("paths.nc"), "r");
    const of = (name: string) => file.get(name) as Dataset;
    expect(file.attrs.featureType?.value).toBe("trajectory");
    expect(file.keys().sort()).toEqual(["obs", "p", "p_2", "time", "trajectory", "x", "y", "z"]);
    expect(of("trajectory").attrs.cf_role?.value).toBe("trajectory_id");
    expect(of("p_2").attrs.long_name?.value).toBe("p/2");
    expect([of("x").shape, [...(of("time").value as Float64Array)]]).toEqual([
      [2, 3],
      [0.4, 0.6, 0.8, 0.4, 0.6, 0.8],
    ]);
    const [p, half] = [of("p").value as Float32Array, of("p_2").value as Float32Array];
    expect([...half]).toEqual([...p].map((value) => value / 2));
    file.close();
  });

  it("are answered as NetCDF by the service too, each from its own start", async () => {
    const body = { startTimes: [0.4, 0.5, 0.5], pairing: "each", dt: 0.1, nt: 4, spatialInterpolation: "Lag6", points };
    const response = await fetch(`${service.url}/api/datasets/isotropic32/trajectories?every=2&integrator=rk4&with=p`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/netcdf" },
      body: JSON.stringify(body),
    });
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/netcdf"]);
    writeFileSync(at("http.nc"), new Uint8Array(await response.arrayBuffer()));
    await ready;
    const file = new File(at("http.nc"), "r");
    const of = (name: string) => (file.get(name) as Dataset).value as Float64Array;
    expect([...of("time")]).toEqual([0.4, 0.6, 0.8, 0.5, 0.7, 0.9, 0.5, 0.7, 0.9]);
    expect(file.keys().sort()).toEqual(["obs", "p", "time", "trajectory", "x", "y", "z"]);
    file.close();
  });

  it.skipIf(XARRAY === undefined)("writes NetCDF that xarray opens by its dimensions", async () => {
    const words = ["--points", "plain.csv", "--start-time", "0.4", ...ASKED, "--url", service.url];
    expect(await track(...words, "--out", "x.nc")).toMatchObject({ code: 0, err: "" });
    const script =
      "import xarray, sys; d = xarray.open_dataset(sys.argv[1]); print(d.x.dims, float(d.time[1, 2]), list(d.p.coords))";
    const python = spawnSync(XARRAY as string, ["-c", script, at("x.nc")], { encoding: "utf8" });
    expect(python.stdout).toMatch(/^\('trajectory', 'obs'\) 0\.8 \[/);
  });

  it.each([
    [["--points", "plain.csv", ...ASKED], 2, "--start-time is missing, and the points have no column t"],
    [["--points", "plain.csv", "--dt", "1", "--start-time", "0"], 2, "either --end-time or --nt must be given"],
    [["--points", "plain.csv", ...ASKED, "--start-time", "0", "--out", "a.txt"], 2, "--out ends in .csv, .npy, .nc"],
    [["--points", "plain.csv", ...ASKED, "--start-time", "99"], 1, "Time 99 out of range"],
  ])("%j fails in one line", async (words, code, text) => {
    const failed = await track(...words, "--url", service.url);
    expect(failed.code).toBe(code);
    expect(failed.err).toContain(text);
    expect(failed.err.trim().split("\n")).toHaveLength(1);
  });
});

describe("fieldprobe query with a time for each point", () => {
  it("answers a fourth column, with a service and by itself, as calls at each time would", async () => {
    const words = ["query", "GetVelocity", "--dataset", "isotropic32", "--method", "Lag6", "--points"];
    const by = await run(...words, "timed.csv", "--url", service.url);
    expect(by).toMatchObject({ code: 0, err: "" });
    expect(await run(...words, "timed.csv")).toEqual(by);
    const rows = by.out.trim().split("\n");
    writeFileSync(at("one.csv"), "4,5,6\n1,2,3\n");
    const alone = await run(...words, "one.csv", "--time", "0.5", "--url", service.url);
    expect(alone.out.trim().split("\n").slice(1)).toEqual(rows.slice(2));
    expect(rows).toHaveLength(4);
  });

  it("starts particles at their times", async () => {
    const words = ["query", "GetPosition", "--dataset", "isotropic32", "--method", "Lag6", "--dt", "0.1", "--nt", "2"];
    const each = await run(...words, "--points", "timed.csv", "--url", service.url);
    const alone = await run(...words, "--points", "one.csv", "--start-time", "0.5", "--url", service.url);
    expect(each.out.trim().split("\n").slice(2)).toEqual(alone.out.trim().split("\n").slice(1));
  });
});
