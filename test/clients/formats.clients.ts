/** NumPy, xarray and netCDF4 open the files of answers in one line, and find the numbers of the float32 form. */
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { parquetReadObjects } from "hyparquet";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningService } from "../../src/main.js";
import { scratchFolder } from "../support/scratch.js";
import { serveTestData } from "../support/service.js";
import { missing, PYTHON, TOOLKITS } from "./packages.js";

const run = promisify(execFile);
const reason = missing(TOOLKITS.formats);
if (reason !== null) console.log(`formats are skipped: ${reason}`);

const READ = `
import io, json, sys
from urllib.request import Request, urlopen
import netCDF4, numpy as np, xarray as xr
base = sys.argv[1] + "/api/datasets/isotropic32/"

def ask(path, form, body=None):
    headers = {"Accept": "application/" + form, "Content-Type": "application/json"}
    return urlopen(Request(base + path, body and json.dumps(body).encode(), headers)).read()

points = {"time": [0.5, 0.6], "spatialInterpolation": "Lag8", "temporalInterpolation": "PCHIP",
          "points": [[1, 2, 3], [4, 5, 6], [0.5, 0.25, 0.125]]}
raw = np.frombuffer(ask("GetVelocity", "octet-stream", points), "<f4").reshape(2, 3, 3)
assert np.array_equal(np.load(io.BytesIO(ask("GetVelocity", "x-npy", points))), raw)
archive = np.load(io.BytesIO(ask("GetVelocity", "x-npz", points)))
assert np.array_equal(archive["values"], raw) and list(archive["times"]) == [0.5, 0.6]
assert list(archive["components"]) == ["x", "y", "z"] and str(archive["dataset"]) == "isotropic32"

# Paths: pandas and pyarrow are not everywhere, so Parquet is read by the test itself.
paths = {"StartTime": 0.4, "EndTime": 0.6, "dt": 0.05, "spatialInterpolation": "Lag8", "points": [[1, 2, 3], [4, 5, 6]]}
track = "trajectories?operation=GetPositionByEnd"
raw = np.frombuffer(ask(track, "octet-stream", paths), "<f4").reshape(2, 5, 3)
assert np.array_equal(np.load(io.BytesIO(ask(track, "x-npy", paths))), raw)
archive = np.load(io.BytesIO(ask(track, "x-npz", paths)))
assert np.array_equal(archive["values"], raw) and np.allclose(archive["times"], [0.4, 0.45, 0.5, 0.55, 0.6])
netcdf = ask(track, "netcdf", paths)
opened = xr.open_dataset(io.BytesIO(netcdf), engine="h5netcdf", decode_times=False)
assert np.array_equal(np.stack([opened[c].values for c in "xyz"], -1), raw), opened
file = netCDF4.Dataset("memory", memory=netcdf)
assert np.array_equal(np.stack([file[c][:] for c in "xyz"], -1), raw), file

box = "&region.start=30,0,1&region.end=34,8,9&region.step=1,2,4"
for path, name, shape in (("cutout?field=u&T=4" + box, "velocity", (2, 4, 4, 3)), ("cutout?field=p&T=4" + box, "pressure", (2, 4, 4, 1)),
                          ("cutout?quantity=wz&T=4" + box, "quantity", (2, 4, 4, 1))):
    raw = np.frombuffer(ask(path, "octet-stream"), "<f4").reshape(shape)
    assert np.array_equal(np.load(io.BytesIO(ask(path, "x-npy"))), raw)
    archive = np.load(io.BytesIO(ask(path, "x-npz")))
    assert np.array_equal(archive["values"], raw) and np.isclose(archive["time"], 0.6) and str(archive["dataset"]) == "isotropic32"
    step = 2 * np.pi / 32
    assert np.allclose(archive["x"], step * np.arange(30, 34)) and np.allclose(archive["z"], step * np.array([1, 5]))
    netcdf = ask(path, "netcdf")
    opened = xr.open_dataset(io.BytesIO(netcdf), engine="h5netcdf")
    assert np.array_equal(opened[name].values.reshape(shape), raw) and opened.x[-1] == archive["x"][-1]
    assert opened.fieldprobe_manifest == str(archive["manifest"]) and opened[name].dims[:3] == ("z", "y", "x")
    file = netCDF4.Dataset("memory", memory=netcdf)
    assert np.array_equal(file[name][:].reshape(shape), raw)

profile = {"time": 0.6, "over": ["x", "z"], "reduce": [{"moments": "u.x"}]}
answer = json.loads(ask("statistics", "json", profile))["results"][0]
named = np.load(io.BytesIO(ask("statistics", "x-npy", profile)))
archive = np.load(io.BytesIO(ask("statistics", "x-npz", profile)))
netcdf = ask("statistics", "netcdf", profile)
opened = xr.open_dataset(io.BytesIO(netcdf), engine="h5netcdf")
for read in (named, archive, opened, netCDF4.Dataset("memory", memory=netcdf).variables):
    assert np.array_equal(np.asarray(read["variance"]), answer["variance"]), read
assert opened["variance"].dims == ("y",) and json.loads(str(archive["question"]))["reduce"] == profile["reduce"]

for path, shape in (("slice?field=strain&time=0.5&axis=z&at=1&nodes=16,8", (8, 16)),
                    ("volume?field=p&time=0.6&nodes=4,5,6", (6, 5, 4))):
    raw = np.frombuffer(ask(path, "octet-stream"), "<f4").reshape(shape)
    assert np.array_equal(np.load(io.BytesIO(ask(path, "x-npy"))), raw)
    archive = np.load(io.BytesIO(ask(path, "x-npz")))
    assert np.array_equal(archive["values"], raw) and str(archive["dataset"]) == "isotropic32"
    netcdf = ask(path, "netcdf")
    name = path.split("field=")[1].split("&")[0]
    opened = xr.open_dataset(io.BytesIO(netcdf), engine="h5netcdf")
    assert np.array_equal(opened[name].values, raw)
    assert set(opened[name].dims) <= set(opened.coords) and "time" in opened.coords
    assert all(np.array_equal(archive[axis], np.atleast_1d(opened[axis])) for axis in "xyz")
    file = netCDF4.Dataset("memory", memory=netcdf)
    assert np.array_equal(file[name][:], raw) and file.fieldprobe_manifest
print("equal")
`;

const PARQUET = "application/vnd.apache.parquet";

describe.skipIf(reason !== null)("formats of answers", () => {
  const folder = scratchFolder();
  let service: RunningService;
  beforeAll(async () => {
    service = await serveTestData();
  });
  afterAll(() => service.close());

  const python = async (code: string): Promise<string> => {
    const file = join(folder, "read.py");
    writeFileSync(file, code);
    return (await run(PYTHON, [file, service.url], { cwd: folder })).stdout;
  };

  it("hold the numbers of the float32 form", async () => {
    expect(await python(READ)).toBe("equal\n");
  });

  it("are opened as Parquet by a reader of the format", async () => {
    const points = { time: 0.5, spatialInterpolation: "Lag8", temporalInterpolation: "PCHIP", points: [[1, 2, 3]] };
    const paths = { StartTime: 0.4, EndTime: 0.6, dt: 0.1, spatialInterpolation: "Lag8", points: [[1, 2, 3]] };
    for (const [path, asked] of [
      ["GetVelocity", points],
      ["trajectories?operation=GetPositionByEnd", paths],
    ] as const) {
      const ask = async (accept: string) =>
        (
          await fetch(`${service.url}/api/datasets/isotropic32/${path}`, {
            method: "POST",
            headers: { accept, "content-type": "application/json" },
            body: JSON.stringify(asked),
          })
        ).arrayBuffer();
      const octets = new Float32Array(await ask("application/octet-stream"));
      const rows = Array.from({ length: octets.length / 3 }, (_, i) => [...octets.subarray(3 * i, 3 * i + 3)]);
      const read = await parquetReadObjects({ file: await ask(PARQUET) });
      expect(read.map(({ x, y, z }) => [x, y, z])).toEqual(rows);
    }
  });

  it("open as the documentation prints", async () => {
    const page = readFileSync(fileURLToPath(new URL("../../docs/clients.md", import.meta.url)), "utf8");
    const [, code = "", printed] = /```python\n(import io.*?)```\n```text\n(.*?)```/s.exec(page) ?? [];
    expect(await python(code.replaceAll("http://127.0.0.1:8080", service.url))).toBe(printed);
  });
});
