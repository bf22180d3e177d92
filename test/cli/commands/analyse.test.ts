/** `fieldprobe analyse` as it ships: with a service and by itself, into files and plots. */
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningService } from "../../../src/main.js";
import { scratchFolder } from "../../support/scratch.js";
import { serveTestData } from "../../support/service.js";

const BIN = fileURLToPath(new URL("../../../bin/fieldprobe.js", import.meta.url));
const folder = scratchFolder();
const at = (name: string): string => join(folder, name);

let service: RunningService;
beforeAll(async () => {
  service = await serveTestData();
});
afterAll(() => service.close());

/** Runs it in an empty folder. */
function analyse(...words: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [BIN, "analyse", ...words], { cwd: folder }, (_, out, err) => {
      resolve({ code: child.exitCode as number, out, err });
    });
  });
}

describe("fieldprobe analyse", () => {
  it("prints the answer of a service to a body from a file and flags", async () => {
    writeFileSync(at("q.json"), JSON.stringify({ time: 99, separations: { nodes: [1] }, axes: ["x"] }));
    const words = ["structure-functions", "isotropic32", "--url", service.url, "--json", "q.json", "--time", "0.6"];
    const { code, out, err } = await analyse(...words);
    expect([code, err]).toEqual([0, ""]);
    expect(JSON.parse(out).separations[0].longitudinal[2]).toBeCloseTo(0.00680387645, 10);
  });

  it("writes tables, plots and labels by itself", async () => {
    const profile = ["--time", "0.6", "--moments", "ux", "--over", "x,z", "--out", "p.csv", "--plot", "p.svg"];
    expect(await analyse("statistics", "isotropic32", ...profile)).toMatchObject({ code: 0, err: "", out: "" });
    expect(readFileSync(at("p.csv"), "utf8").split("\n")).toHaveLength(34);
    expect(readFileSync(at("p.svg"), "utf8")).toContain("<polyline");
    const labels = [
      "--url",
      service.url,
      "--time",
      "0.6",
      "--of",
      "norm(w)",
      "--set",
      'above={"rms":2}',
      "--out",
      "l.npy",
    ];
    expect(await analyse("structures", "isotropic32", ...labels)).toMatchObject({ code: 0, err: "" });
    expect(readFileSync(at("l.npy")).subarray(1, 6).toString()).toBe("NUMPY");
  });

  it("writes dispersion as a table, a plot and JSON, and flow maps as a table and for NumPy", async () => {
    const url = ["--url", service.url];
    const set = (members: object) =>
      Object.entries(members).flatMap(([k, v]) => ["--set", `${k}=${JSON.stringify(v)}`]);
    const paths = { start: 0.4, end: 0.8, dt: 0.1, seeds: { pairs: 20, distance: 0.2 }, method: "Lag4" };
    const out = ["--out", "d.csv", "--plot", "d.svg"];
    expect(await analyse("dispersion", "isotropic32", ...set(paths), ...out, ...url)).toMatchObject({
      code: 0,
      err: "",
    });
    const [head, ...rows] = readFileSync(at("d.csv"), "utf8").trim().split("\n");
    expect(head).toBe(
      "time,particles,meanSquare,meanSquare.x,meanSquare.y,meanSquare.z,velocitySquare,autocorrelation,separation.2",
    );
    expect(rows.map((row) => row.split(",")[0])).toEqual(["0.4", "0.5", "0.6", "0.7", "0.8"]);
    expect(readFileSync(at("d.svg"), "utf8")).toContain("<polyline");
    const asked = { start: 0.4, end: 0.6, dt: 0.1, plane: { normal: "z", at: 1.5, count: [2, 3] } };
    const map = (quantities: string[], file: string) =>
      analyse("flow-map", "isotropic32", ...set({ ...asked, quantities }), "--out", file, ...url);
    expect(await map(["map", "ftle"], "f.csv")).toMatchObject({ code: 0, err: "" });
    const lines = readFileSync(at("f.csv"), "utf8").trim().split("\n");
    expect([lines.length, lines[0]]).toEqual([7, "x,y,z,map.x,map.y,map.z,ftle"]);
    expect(await map(["map"], "f.npy")).toMatchObject({ code: 0, err: "" });
    const npy = readFileSync(at("f.npy"));
    expect(npy.subarray(0, 128).toString("latin1")).toContain("'shape': (3, 2, 3)");
    expect(npy.readFloatLE(npy.length - 12)).toBeCloseTo(Number(lines[6]?.split(",")[3]), 5);
    expect(await map(["map", "ftle"], "f.npy")).toMatchObject({ code: 1 });
  });

  it("writes spectra as tables and plots that end at the Nyquist wavenumber", async () => {
    const words = [
      "--url",
      service.url,
      "--time",
      "0.6",
      "--with",
      "transfer,flux",
      "--out",
      "s.csv",
      "--plot",
      "s.svg",
    ];
    expect(await analyse("spectrum", "isotropic32", ...words)).toMatchObject({ code: 0, err: "" });
    const [head, , first] = readFileSync(at("s.csv"), "utf8").split("\n");
    expect(head).toBe("k,E,transfer,flux");
    expect(Number(first?.split(",")[1])).toBeCloseTo(0.299999999, 8);
    const [curve] = /points="[^"]*"/.exec(readFileSync(at("s.svg"), "utf8")) as RegExpExecArray;
    expect(curve.split(" ")).toHaveLength(16);
    const planes = ["--url", service.url, "--time", "0.6", "--set", "kind=plane", "--set", "axis=y", "--out", "p.csv"];
    expect(await analyse("spectrum", "isotropic32", ...planes)).toMatchObject({ code: 0, err: "" });
    expect(readFileSync(at("p.csv"), "utf8").split("\n").slice(0, 1)).toEqual(["y,k,E"]);
  });

  it.each([
    [["statistics", "isotropic32", "--time", "0.6", "--moments", "uq"], 1, "nothing has the name uq"],
    [["statistics", "none", "--time", "0.6", "--moments", "ux"], 1, "Invalid set name: none"],
    [["spectra", "isotropic32"], 2, "there is no analysis spectra"],
    [["statistics", "isotropic32", "--out", "x.npy"], 2, ".npy holds the labels"],
    [["statistics", "isotropic32", "--out", "x.txt"], 2, "--out ends in .json, .csv, .npy"],
    [["statistics", "isotropic32", "--set", "time"], 2, "--set is MEMBER=VALUE"],
  ])("%j fails in one line", async (words, code, text) => {
    const failed = await analyse(...words, "--url", service.url);
    expect(failed.code).toBe(code);
    expect(failed.err).toContain(text);
    expect(failed.err.trim().split("\n")).toHaveLength(1);
  });
});
