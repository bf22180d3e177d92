/** NumPy, xarray and netCDF4 open the files of answers in one line, and find the numbers of the float32 form. */
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
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

for path, shape in (("slice?field=strain&time=0.5&axis=z&at=1&nodes=16,8", (8, 16)),
                    ("volume?field=p&time=0.6&nodes=4,5,6", (6, 5, 4))):
    raw = np.frombuffer(ask(path, "octet-stream"), "<f4").reshape(shape)
    assert np.array_equal(np.load(io.BytesIO(ask(path, "x-npy"))), raw)
    netcdf = ask(path, "netcdf")
    name = path.split("field=")[1].split("&")[0]
    opened = xr.open_dataset(io.BytesIO(netcdf), engine="h5netcdf")
    assert np.array_equal(opened[name].values, raw)
    assert set(opened[name].dims) <= set(opened.coords) and "time" in opened.coords
    file = netCDF4.Dataset("memory", memory=netcdf)
    assert np.array_equal(file[name][:], raw) and file.fieldprobe_manifest
print("equal")
`;

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

  it("open as the documentation prints", async () => {
    const page = readFileSync(fileURLToPath(new URL("../../docs/clients.md", import.meta.url)), "utf8");
    const [, code = "", printed] = /```python\n(import io.*?)```\n```text\n(.*?)```/s.exec(page) ?? [];
    expect(await python(code.replaceAll("http://127.0.0.1:8080", service.url))).toBe(printed);
  });
});
