/** The Python package passes its tests, and a fresh environment with only numpy runs its quick start as printed. */
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningService } from "../../src/main.js";
import { type Index, writeDescriptor, writeField, writeHdf5 } from "../support/cubes.js";
import { scratchFolder } from "../support/scratch.js";
import { SHIPPED_DATA, serveTestData } from "../support/service.js";
import { missing, PYTHON, TOOLKITS } from "./packages.js";

const run = promisify(execFile);
const PACKAGE = fileURLToPath(new URL("../../python", import.meta.url));
const BIN = fileURLToPath(new URL("../../bin/fieldprobe.js", import.meta.url));
const reason = missing(TOOLKITS.pytest);
if (reason !== null) console.log(`the Python package is skipped: ${reason}`);

/** A dataset without a velocity, as python/tests/conftest.py describes it. */
async function writeNamed(folder: string): Promise<void> {
  mkdirSync(folder);
  const lengths = { x: 16, y: 16, z: 16, t: 1 };
  const [scalar, vector] = [["z", "y", "x"] as const, ["z", "y", "x", "c"] as const];
  await writeHdf5(join(folder, "fields.h5"), (file) => {
    const energy = ({ x, y }: Index) => 1 + 0.0625 * x * y;
    writeField(file, "energy", { dimensions: scalar, lengths, value: energy });
    const place = ({ x, y, z, c }: Index) => 0.25 * ([x, y, z][c] as number);
    writeField(file, "flux", { dimensions: vector, lengths, value: place });
  });
  const axis = { nodes: 16, origin: 0, spacing: 0.25 };
  writeDescriptor(folder, {
    ...{ schemaVersion: 1, name: "named", axes: { x: axis, y: axis, z: axis }, time: { count: 1 } },
    ...{ units: { length: "m", time: "s" }, times: "frames" },
    fields: {
      sgsenergy: { file: "fields.h5", path: "/energy", dimensions: scalar },
      heatflux: { file: "fields.h5", path: "/flux", dimensions: vector },
    },
  });
}

describe.skipIf(reason !== null)("python/", () => {
  const folder = scratchFolder();
  /** A copy, because installing and testing leave files beside the sources. */
  const copy = join(folder, "python");
  let service: RunningService;

  beforeAll(async () => {
    cpSync(PACKAGE, copy, { recursive: true });
    await writeNamed(join(folder, "named"));
    const settings = { EVENTS: "off", STATE: join(folder, "state") };
    service = await serveTestData([join(folder, "named")], settings, false);
  });
  afterAll(() => service.close());

  it("passes its tests", async () => {
    const env = {
      ...process.env,
      FIELDPROBE_URL: service.url,
      SERVICE_PROGRAM: `${process.execPath} ${BIN}`,
      SERVICE_DATA: SHIPPED_DATA,
      PYTHONPATH: join(copy, "src"),
    };
    const { stdout } = await run(PYTHON, ["-m", "pytest", "-q"], { cwd: copy, env });
    expect(stdout).toMatch(/\d+ passed/);
    expect(stdout).not.toMatch(/failed|error/);
  });

  it("has a reference that says what its docstrings say", async () => {
    const { stdout } = await run(PYTHON, [join(PACKAGE, "reference.py")]);
    expect(readFileSync(join(PACKAGE, "../docs/python-reference.md"), "utf8")).toBe(stdout);
  });

  it.each(["a clone", "its wheel"])(
    "is installed by pip from %s, and runs its quick start as printed",
    async (from) => {
      const environment = join(folder, from.replace(" ", "-"));
      const python = join(environment, "bin", "python");
      const offline = ["--no-index", "--no-deps", "--no-build-isolation"];
      if (from === "a clone") {
        await run(PYTHON, ["-m", "venv", "--system-site-packages", environment]);
        await run(python, ["-m", "pip", "install", ...offline, copy]);
      } else {
        await run(PYTHON, ["-m", "pip", "wheel", ...offline, "--wheel-dir", join(folder, "wheels"), copy]);
        const [wheel = ""] = readdirSync(join(folder, "wheels"));
        // A fresh environment with nothing but numpy, that of the system.
        await run(PYTHON, ["-m", "venv", environment]);
        const { stdout: numpy } = await run(PYTHON, ["-c", "import numpy; print(numpy.__path__[0])"]);
        const { stdout: packages } = await run(python, [
          "-c",
          "import sysconfig; print(sysconfig.get_path('purelib'))",
        ]);
        symlinkSync(numpy.trim(), join(packages.trim(), "numpy"));
        await run(python, ["-m", "pip", "install", ...offline, join(folder, "wheels", wheel)]);
        await expect(run(python, ["-c", "import xarray"])).rejects.toThrow("No module named 'xarray'");
      }
      const readme = readFileSync(join(PACKAGE, "README.md"), "utf8");
      const code = /```python\n(.*?)```/s.exec(readme)?.[1] as string;
      const printed = /```text\n(.*?)```/s.exec(readme)?.[1];
      const file = join(folder, "start.py");
      writeFileSync(file, code.replace("http://127.0.0.1:8080", service.url));
      const { stdout } = await run(python, [file], { cwd: folder });
      expect(stdout).toBe(printed);
      const { stdout: place } = await run(python, ["-c", "import fieldprobe; print(fieldprobe.__file__)"], {
        cwd: folder,
      });
      expect(place.startsWith(environment)).toBe(true);
    },
  );
});
