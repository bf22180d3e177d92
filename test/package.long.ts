/**
 * The package that `npm pack` makes installs without development dependencies, serves the shipped data and exports the
 * client.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { programIn } from "../bin/program.js";
import { scratchFolder } from "./support/scratch.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const run = promisify(execFile);
/** npm as a program of the Node that runs the tests; it is a script with another name on other platforms. */
const npm = (words: readonly string[], cwd: string) =>
  run("npm", [...words], { cwd, shell: process.platform === "win32" });

describe("the package", { timeout: 120_000 }, () => {
  const folder = scratchFolder();
  const installed = join(folder, "node_modules", "fieldprobe");
  const bin = join(installed, "bin", "fieldprobe.js");
  let files: readonly string[];
  let service: ChildProcess;
  let url: string;

  beforeAll(async () => {
    const packed = await npm(["pack", "--ignore-scripts", "--json", "--pack-destination", folder], ROOT);
    const [{ filename, files: list }] = JSON.parse(packed.stdout);
    files = list.map(({ path }: { path: string }) => path);
    writeFileSync(join(folder, "package.json"), '{ "name": "empty", "private": true }');
    await npm(["install", "--omit=dev", "--prefer-offline", "--no-audit", "--no-fund", `./${filename}`], folder);
    service = spawn(process.execPath, [bin, "serve", "--port", "0", "--log-level", "warn"], { cwd: folder });
    for await (const line of createInterface({ input: service.stdout as NodeJS.ReadableStream })) {
      const listening = /^fieldprobe listening on (http:\S+)$/.exec(line);
      if (!listening) continue;
      url = listening[1] as string;
      break;
    }
  }, 120_000);
  afterAll(async () => {
    service?.kill();
  });

  it("holds program, build, data and schema, and neither sources nor tests", () => {
    const wanted = [
      "bin/fieldprobe.js dist/client/index.d.ts dist/client/index.js dist/cli/index.js dist/bundle/cli.js",
      "dist/web/index.html data/isotropic32/isotropic32.h5 data/isotropic32/manifest.json",
      "docs/schema/dataset.schema.json README.md LICENSE",
    ].flatMap((line) => line.split(" "));
    expect(files).toEqual(expect.arrayContaining(wanted));
    expect(files.filter((path) => path.endsWith(".wasm")).length).toBeGreaterThan(0);
    expect(files.filter((path) => /^(src|test|bench|node_modules|\.)|tsbuildinfo$/.test(path))).toEqual([]);
  });

  it("runs the bundle, which starts in half the time", () => {
    expect(programIn(join(installed, "dist"))).toBe(join(installed, "dist", "bundle", "cli.js"));
  });

  it("serves the shipped data to its own client", async () => {
    const script = `
      import { connect } from "fieldprobe";
      const service = await connect(${JSON.stringify(url)}, { version: "1.2" });
      const options = { time: 0.5, spatialInterpolation: "Lag8", temporalInterpolation: "PCHIP" };
      const { values } = await service.GetVelocity({ dataset: "isotropic32", ...options, points: [[1, 2, 3]] });
      console.log(JSON.stringify([...values]));`;
    const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", script], { cwd: folder });
    const speeds = JSON.parse(stdout) as number[];
    expect(speeds.length).toBe(3);
    const points = join(folder, "points.csv");
    writeFileSync(points, "1,2,3\n");
    const words = ["values", "isotropic32", "u", "--time", "0.5"];
    const printed = await run(process.execPath, [bin, ...words, "--points", points], { cwd: folder });
    const cells = printed.stdout.split("\n")[1]?.split(",").map(Number) ?? [];
    expect(cells.slice(3).map(Math.fround)).toEqual(speeds);
  });

  it("serves the page and all that it refers to", async () => {
    const page = await fetch(`${url}/`);
    expect([page.status, page.headers.get("content-type")]).toEqual([200, expect.stringContaining("text/html")]);
    const parts = [...(await page.text()).matchAll(/(?:src|href)="(\.\/[^"]+)"/g)].map((part) => part[1] as string);
    expect(parts.length).toBeGreaterThan(1);
    for (const part of parts) expect((await fetch(new URL(part, page.url))).status).toBe(200);
  });

  it("is a program on the path of npm scripts", async () => {
    const { stdout } = await npm(["exec", "--no", "--", "fieldprobe", "--version"], folder);
    expect(stdout.trim()).toMatch(/^\d+\.\d+\.\d+$/);
  });
});
