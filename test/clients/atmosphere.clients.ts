/**
 * An atmospheric set made by netCDF4, with w at the faces of the cells and three scalars, is served without a word
 * more, and converges. `GIVERNY` is a clone of github.com/sciserver/giverny, whose local client finds it under its
 * public names.
 */
import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningService } from "../../src/main.js";
import { scratchFolder } from "../support/scratch.js";
import { serveTestData } from "../support/service.js";
import { missing, PYTHON, TOOLKITS } from "./packages.js";

const run = promisify(execFile);
const PROGRAM = fileURLToPath(new URL("atmosphere.py", import.meta.url));
const COMMAND = fileURLToPath(new URL("../../bin/fieldprobe.js", import.meta.url));
const CLONE = process.env.GIVERNY ?? "";
const reason = missing(TOOLKITS.formats);
if (reason !== null) console.log(`the atmospheric set is skipped: ${reason}`);
if (CLONE === "") console.log("giverny is skipped: GIVERNY names no clone of github.com/sciserver/giverny");

describe.skipIf(reason !== null)("an atmospheric set of netCDF4", () => {
  const folder = scratchFolder();
  let service: RunningService;
  beforeAll(async () => {
    await run(PYTHON, [PROGRAM, "make", folder]);
    for (const name of readdirSync(folder).filter((one) => one.endsWith(".nc")))
      await run(process.execPath, [COMMAND, "inspect", join(folder, name), "--yes"]);
    service = await serveTestData([folder]);
  });
  afterAll(() => service?.close());

  it("is described by inspect without a question", async () => {
    const { stdout } = await run(process.execPath, [COMMAND, "inspect", join(folder, "sabl2048high.nc"), "--json"]);
    const { axes, fields, questions = [] } = JSON.parse(stdout);
    expect(questions).toEqual([]);
    expect(axes.z.faces).toEqual(["wall", "wall"]);
    expect(Object.keys(fields).toSorted()).toEqual([
      "energy",
      "pressure",
      "sgsviscosity",
      "soiltemperature",
      "temperature",
      "velocity",
    ]);
    expect(axes.x.periodic).toBe(true);
    expect(fields.velocity.components[2].at).toEqual({ z: { file: "sabl2048high.nc", path: "/zw" } });
  });

  it("converges at orders 4, 6 and 8 in every component", async () => {
    expect((await run(PYTHON, [PROGRAM, "ask", service.url])).stdout).toMatch(/^Lag4.*\nLag6.*\nLag8/);
  });

  it.skipIf(CLONE === "")("answers giverny's local client under its public names", async () => {
    const { stdout } = await run(PYTHON, [PROGRAM, "giverny", service.url, CLONE, join(folder, "output")]);
    expect(stdout).toMatch(/equal\n$/);
  });
});
