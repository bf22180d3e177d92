/** Real xarray, dask and zarr-python open the Zarr view, and find what cutouts hold, with a token and without. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { useTestData } from "../support/service.js";
import { missing, PYTHON, TOOLKITS } from "./packages.js";

const run = promisify(execFile);
const service = await useTestData();
const reason = missing(TOOLKITS.zarr);
if (reason !== null) console.log(`the Zarr view is skipped: ${reason}`);

const READ = `
import sys, urllib.request
import dask.array, fsspec, numpy as np, xarray, zarr
url = sys.argv[1]
nodes = urllib.request.urlopen(f"{url}/api/datasets/isotropic32/nodes?what=u&frame=4&format=f32").read()
expected = np.frombuffer(nodes, "<f4").reshape(32, 32, 32, 3)
for store in (f"{url}/zarr/isotropic32", f"{url}/zarr/isotropic32@zstd"):
    opened = xarray.open_zarr(store)
    assert isinstance(opened.velocity.data, dask.array.Array)
    assert np.array_equal(opened.velocity[4].compute().values, expected)
    plain = zarr.open(fsspec.get_mapper(store), mode="r")
    assert np.array_equal(plain["velocity"][4], expected)
    whole = dask.array.from_zarr(store, component="derived/speed")[4].compute()
    assert np.allclose(whole, np.linalg.norm(expected.astype(float), axis=-1), rtol=1e-6)
print("equal")
`;

describe.skipIf(reason !== null)("/zarr", () => {
  const python = async (code: string): Promise<string> => (await run(PYTHON, ["-c", code, service.url])).stdout;

  it("equals the cutout, bit for bit", async () => {
    expect(await python(READ)).toBe("equal\n");
  });

  it("answers the example of the documentation as printed", async () => {
    const page = readFileSync(fileURLToPath(new URL("../../docs/clients.md", import.meta.url)), "utf8");
    const [, code = "", printed] = /```python\n(import xarray.*?)```\n```text\n(.*?)```/s.exec(page) ?? [];
    expect(await python(code.replaceAll("http://127.0.0.1:8080", service.url))).toBe(printed);
  });
});
