/** `fieldprobe levels` goes on after kill -9, and ends with the same bytes as a run without. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { fieldprobe } from "../../support/run-command.js";
import { scratchFolder } from "../../support/scratch.js";
import { SHIPPED_DATA } from "../../support/service.js";

const BIN = fileURLToPath(new URL("../../../bin/fieldprobe.js", import.meta.url));
const SCRATCH = scratchFolder();
/** Three starts of a process, and the disk that keeps every frame, on a machine that does other things too. */
const LONG_MS = 180_000;

beforeAll(() => void vi.stubEnv("FIELDPROBE_STATE", join(SCRATCH, "state")));
afterAll(() => void vi.unstubAllEnvs());

/** Runs the command in a process of its own, which is killed with its first line of progress. */
async function killed(folder: string): Promise<unknown> {
  const child = spawn(process.execPath, [BIN, "levels", folder], { stdio: ["ignore", "ignore", "pipe"] });
  child.stderr.once("data", () => child.kill("SIGKILL"));
  return (await once(child, "close"))[1];
}

function contents(folder: string): Map<string, string> {
  const store = join(folder, `${"isotropic32"}.levels`);
  const names = readdirSync(store, { recursive: true, encoding: "utf8" }).sort();
  const files = names.filter((name) => statSync(join(store, name)).isFile());
  return new Map(files.map((name) => [name, readFileSync(join(store, name), "base64")]));
}

it(
  "goes on after kill -9, and makes the same store",
  async () => {
    const [interrupted, whole] = ["interrupted", "whole"].map((name) => join(SCRATCH, name)) as [string, string];
    for (const folder of [interrupted, whole])
      cpSync(SHIPPED_DATA, folder, { recursive: true, preserveTimestamps: true });
    expect(await killed(interrupted)).toBe("SIGKILL");
    const begun = contents(interrupted);
    expect([begun.size > 0, begun.has("1/zarr.json")]).toEqual([true, false]);
    const again = await fieldprobe("levels", interrupted);
    expect(again.stdout).toBe("isotropic32: levels of velocity, pressure: 16 x 16 x 16, 8 x 8 x 8\n");
    expect((await fieldprobe("levels", whole)).stdout).toBe(again.stdout);
    expect(contents(interrupted)).toEqual(contents(whole));
  },
  LONG_MS,
);

it(
  "makes levels of what it has converted",
  async () => {
    const [source, target] = [join(SCRATCH, "whole"), join(SCRATCH, "converted", "isotropic32")];
    const { stdout } = await fieldprobe("convert", source, target, "--chunk", "16", "--levels");
    expect(stdout.split("\n").at(-2)).toBe("isotropic32: levels of velocity, pressure: 16 x 16 x 16, 8 x 8 x 8");
    // The values are the same, and so are their means.
    const means = (folder: string) => [...contents(folder)].filter(([name]) => /^\d\/\w+\/c\//.test(name));
    expect(means(target).length).toBeGreaterThan(0);
    expect(means(target)).toEqual(means(source));
  },
  LONG_MS,
);

it(
  "takes the answers of inspect, as soap does, and leaves other levels and confirmations alone",
  async () => {
    const [file, twin] = ["bare", "twin"].map((folder) => join(SCRATCH, folder, "u.h5")) as [string, string];
    for (const path of [file, twin]) cpSync(join(SHIPPED_DATA, "isotropic32.h5"), path);
    mkdirSync(join(SCRATCH, "bare", "u.levels"));
    const other = join(SCRATCH, "bare", "u.levels", "zarr.json");
    writeFileSync(other, "of another reading");
    const flags = "--dims t,z,y,x,c --periodic xyz --length 6.283185307179586 --origin 0 --times -0.2:0.2 --yes";
    const { stdout } = await fieldprobe("levels", file, ...flags.split(" "));
    expect(stdout).toMatch(/^u: levels of velocity, pressure: 16 x 16 x 16, 8 x 8 x 8$/m);
    expect(readFileSync(other, "utf8")).toBe("of another reading");
    expect(readdirSync(join(SCRATCH, "state", "descriptors"))).toEqual(expect.arrayContaining(["u.json", "u.levels"]));
    const changed = await fieldprobe("inspect", file, ...flags.replace("-0.2:0.2", "0:0.2").split(" "));
    expect(changed.stderr).toBe(`wrote ${join(SCRATCH, "state", "descriptors", "u.json")}\n`);
    const refused = await fieldprobe("levels", twin, ...flags.split(" "));
    expect(refused).toMatchObject({ status: 2, stderr: expect.stringMatching(/u\.json is of another file/) });
    writeFileSync(join(SCRATCH, "points.csv"), "1,2,3\n");
    const asked = `GetVelocity --dataset ${twin} --time 0.5 --spatial-interpolation Lag8 --points ${SCRATCH}/points.csv`;
    const answer = await fieldprobe("soap", ...asked.split(" "), ...flags.split(" "));
    expect(answer.stdout).toContain("1,2,3,-0.13712144,0.04219034,0.26850626\n");
  },
  LONG_MS,
);
