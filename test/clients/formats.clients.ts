/** NumPy, xarray and netCDF4 open the files of answers in one line, and find the numbers of the float32 form. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { parquetReadObjects } from "hyparquet";
import { describe, expect, it } from "vitest";
import { ask as askOf } from "../server/ask/ask.js";
import { useTestData } from "../support/service.js";
import { missing, PYTHON, TOOLKITS } from "./packages.js";

const run = promisify(execFile);
const service = await useTestData();
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

points = {"time": [0.5, 0.6],
          "points": [[1, 2, 3], [4, 5, 6], [0.5, 0.25, 0.125]]}
raw = np.frombuffer(ask("values", "octet-stream", points), "<f4").reshape(2, 3, 3)
assert np.array_equal(np.load(io.BytesIO(ask("values", "x-npy", points))), raw)
archive = np.load(io.BytesIO(ask("values", "x-npz", points)))
assert np.array_equal(np.stack([archive["u_" + c] for c in "xyz"], -1), raw.reshape(6, 3)) and set(archive["t"]) == {0.5, 0.6}
assert str(archive["fieldprobe_dataset"]) == "isotropic32"

# Paths: pandas and pyarrow are not everywhere, so Parquet is read by the test itself.
paths = {"time": "0.4:0.6", "step": 0.05, "integrator": "heun", "points": [[1, 2, 3], [4, 5, 6]]}
raw = np.frombuffer(ask("paths", "octet-stream", paths), "<f4").reshape(2, 5, 3)
assert np.array_equal(np.load(io.BytesIO(ask("paths", "x-npy", paths))), raw)
netcdf = ask("paths", "netcdf", paths)
opened = xr.open_dataset(io.BytesIO(netcdf), engine="h5netcdf", decode_times=False)
assert np.array_equal(np.stack([opened[c].values for c in "xyz"], -1), raw), opened
file = netCDF4.Dataset("memory", memory=netcdf)
assert np.array_equal(np.stack([file[c][:] for c in "xyz"], -1), raw), file

box = "&frame=3&i=30:34&j=0:8:2&k=1:9:4"
for what, name, shape in (("u", "u", (2, 4, 4, 3)), ("p", "p", (2, 4, 4)), ("omega.z", "omega_z", (2, 4, 4))):
    path = "nodes?what=" + what + box
    raw = np.frombuffer(ask(path, "octet-stream"), "<f4").reshape(shape)
    assert np.array_equal(np.load(io.BytesIO(ask(path, "x-npy"))), raw)
    archive = np.load(io.BytesIO(ask(path, "x-npz")))
    assert np.array_equal(archive[name], raw) and np.isclose(archive["t"], 0.6)
    step = 2 * np.pi / 32
    assert np.allclose(archive["x"], step * np.arange(30, 34)) and np.allclose(archive["z"], step * np.array([1, 5]))
    netcdf = ask(path, "netcdf")
    opened = xr.open_dataset(io.BytesIO(netcdf), engine="h5netcdf", decode_times=False)
    assert np.array_equal(opened[name].values, raw) and opened.x[-1] == archive["x"][-1]
    assert opened[name].dims[:3] == ("z", "y", "x")
    file = netCDF4.Dataset("memory", memory=netcdf)
    assert np.array_equal(file[name][:], raw)

cutout = ask("nodes?what=u,p" + box.replace(":2", "").replace(":4", ""), "x-hdf5")
for name, width in (("u", 3), ("p", 1)):
    raw = np.frombuffer(ask("nodes?what=" + name + box.replace(":2", "").replace(":4", ""), "octet-stream"), "<f4")
    opened = xr.open_dataset(io.BytesIO(cutout), engine="h5netcdf", decode_times=False)[{"u": "Velocity", "p": "Pressure"}[name] + "_0004"]
    assert opened.dims[:3] == ("zcoor", "ycoor", "xcoor") and np.array_equal(opened.values.reshape(-1), raw), opened
    assert np.allclose(opened.xcoor, step * np.arange(30, 34))

profile = {"time": 0.6, "over": ["x", "z"], "reduce": [{"moments": "u.x"}]}
answer = json.loads(ask("statistics", "json", profile))["results"][0]
named = np.load(io.BytesIO(ask("statistics", "x-npy", profile)))
archive = np.load(io.BytesIO(ask("statistics", "x-npz", profile)))
netcdf = ask("statistics", "netcdf", profile)
opened = xr.open_dataset(io.BytesIO(netcdf), engine="h5netcdf")
for read in (named, archive, opened, netCDF4.Dataset("memory", memory=netcdf).variables):
    assert np.array_equal(np.asarray(read["variance"]), answer["variance"]), read
assert opened["variance"].dims == ("y",) and json.loads(str(archive["question"]))["reduce"] == profile["reduce"]

for what, rest, shape in (("norm(S)", "&time=0.5&z=1&samples=16,8", (8, 16)), ("p", "&time=0.6&samples=4,5,6", (6, 5, 4))):
    path = "grid?what=" + what + rest
    raw = np.frombuffer(ask(path, "octet-stream"), "<f4").reshape(shape)
    assert np.array_equal(np.load(io.BytesIO(ask(path, "x-npy"))), raw)
    name = what.replace("(", "_").replace(")", "_")
    archive = np.load(io.BytesIO(ask(path, "x-npz")))
    assert np.array_equal(archive[name], raw)
    netcdf = ask(path, "netcdf")
    opened = xr.open_dataset(io.BytesIO(netcdf), engine="h5netcdf", decode_times=False)
    assert np.array_equal(opened[name].values, raw)
    assert set(opened[name].dims) <= set(opened.coords)
    file = netCDF4.Dataset("memory", memory=netcdf)
    assert np.array_equal(file[name][:], raw)
print("equal")
`;

const PARQUET = "application/vnd.apache.parquet";

describe.skipIf(reason !== null)("formats of answers", () => {
  const python = async (code: string): Promise<string> => (await run(PYTHON, ["-c", code, service.url])).stdout;

  it("hold the numbers of the float32 form", async () => {
    expect(await python(READ)).toBe("equal\n");
  });

  it("are opened as Parquet by a reader of the format", async () => {
    const points = { time: 0.5, points: [[1, 2, 3]] };
    const question = { dataset: "isotropic32", call: "values", ...points };
    const ask = async (accept: string) => (await askOf(service, question, accept)).arrayBuffer();
    const octets = new Float32Array(await ask("application/octet-stream"));
    const read = await parquetReadObjects({ file: await ask(PARQUET) });
    expect(read.map((row) => ["u.x", "u.y", "u.z"].map((name) => row[name]))).toEqual([[...octets]]);
  });

  it("open as the documentation prints", async () => {
    const page = readFileSync(fileURLToPath(new URL("../../docs/asking.md", import.meta.url)), "utf8");
    const [, code = "", printed] = /```python\n(import io.*?)```\n```text\n(.*?)```/s.exec(page) ?? [];
    expect(await python(code.replaceAll("http://127.0.0.1:8080", service.url))).toBe(printed);
  });
});
