/** `fieldprobe generate`: what it prints, what it refuses, and with which exit code. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fieldprobe } from "../../support/run-command.js";
import { eachScratchFolder } from "../../support/scratch.js";

let folder: string;
eachScratchFolder((path) => {
  folder = path;
});

const generate = (...words: string[]) => fieldprobe("generate", ...words);
const out = () => join(folder, "set");

describe("fieldprobe generate", () => {
  it("makes a cube, names it after its kind and nodes, and prints its digests", async () => {
    const { status, stdout, stderr } = await generate("taylor-green", "--nodes", "8,6,4", "--out", out());
    expect({ status, stderr }).toEqual({ status: 0, stderr: "taylor-green8x6x4: 100 %\n" });
    const manifest = JSON.parse(readFileSync(join(out(), "manifest.json"), "utf8"));
    const { bytes, sha256 } = manifest.files["taylor-green8x6x4.h5"];
    expect(stdout).toBe(`taylor-green8x6x4 in ${out()}\n  taylor-green8x6x4.h5  ${bytes} bytes  sha256 ${sha256}\n`);
    expect(JSON.parse(readFileSync(join(out(), "dataset.json"), "utf8")).name).toBe("taylor-green8x6x4");
  });

  it("simulates, reporting progress in plain lines away from a terminal, and prints statistics and spectrum", async () => {
    const flags = ["--nodes", "8", "--viscosity", "0.2", "--spin-up", "1", "--steps", "4", "--seed", "9"];
    const plot = join(folder, "spectrum.svg");
    const { status, stdout, stderr } = await generate("isotropic", ...flags, "--out", out(), "--spectrum", plot);
    expect(status).toBe(0);
    expect(stderr).toMatch(/^(isotropic8: \d+ %\n)+$/);
    expect(stderr).toContain("isotropic8: 100 %\n");
    const lines = stdout.split("\n");
    expect(lines[0]).toMatch(/energy +dissipation +input +Re_lambda +skewness/);
    expect(lines.slice(1, 5).map((line) => line.slice(0, 6).trim())).toEqual(["-0.2", "0.0", "0.2", "0.4"]);
    expect(stdout).toMatch(/shell {2}mean energy\n {4}1 {2}3\.000e-1\n {4}2 {2}1\.300e-1\n/);
    expect(JSON.parse(readFileSync(join(out(), "dataset.json"), "utf8"))).toMatchObject({
      name: "isotropic8",
      aliases: ["iso8"],
      time: { count: 4 },
    });
    // 8 nodes keep |k_i| <= 2, so shells 1 to 3.
    expect(readFileSync(plot, "utf8").match(/<circle /g)).toHaveLength(3);
  });

  it.each([
    ["two numbers of nodes", ["abc", "--nodes", "3,3"], "--nodes"],
    ["a name that is no dataset's", ["abc", "--nodes", "4", "--name", "a/b"], "--name"],
    ["nodes the transform cannot take", ["isotropic", "--nodes", "28"], "--nodes"],
    ["a viscosity of zero", ["isotropic", "--viscosity", "0"], "--viscosity"],
    ["a viscosity in hexadecimal", ["isotropic", "--viscosity", "0x1"], "--viscosity"],
    ["too few frames for the guards", ["isotropic", "--steps", "3"], "--steps"],
  ])("refuses %s in one line, exit code 2", async (_, args, said) => {
    const { status, stdout, stderr } = await generate(...args, "--out", out());
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toContain(said);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(existsSync(out())).toBe(false);
  });

  it.each([
    ["a folder under a file", ["--out", "set/below"], /set: there is a file where a folder is needed$/],
    ["a folder where the system takes none", ["--out", "/proc/none/set"], /^fieldprobe: \/proc\/none: no such file/],
    [
      "a picture in no folder",
      ["--spectrum", "none/plot.svg", "--out", "made"],
      /none\/plot\.svg: no such file or folder$/,
    ],
  ])("refuses %s before it simulates", async (_, words, said) => {
    writeFileSync(join(folder, "set"), "");
    const before = process.cwd();
    process.chdir(folder);
    const { status, stdout, stderr } = await generate("isotropic", ...words);
    process.chdir(before);
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr.trimEnd()).toMatch(said);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(existsSync(join(folder, "made"))).toBe(false);
  });

  it("refuses to write over a dataset", async () => {
    expect((await generate("random", "--nodes", "4", "--smooth", "--out", out())).status).toBe(0);
    const before = readdirSync(out()).map((name) => readFileSync(join(out(), name), "utf8"));
    const { status, stderr } = await generate("abc", "--nodes", "4", "--out", out());
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: `fieldprobe: --out ${out()}: the folder already holds a dataset\n`,
    });
    expect(readdirSync(out()).map((name) => readFileSync(join(out(), name), "utf8"))).toEqual(before);
  });
});
