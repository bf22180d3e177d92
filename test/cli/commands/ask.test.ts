/** The commands of the calls as they ship: files, pipes, flags, forms, faults and jobs. */
import { execFile } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { exampleLine } from "../../../src/cli/commands/ask.js";
import { connect } from "../../../src/client/index.js";
import type { RunningService } from "../../../src/main.js";
import { CALL_NAMES, callOf } from "../../../src/shared/calls.js";
import "../../support/hdf5-library.js";
import { shellWords } from "../../support/examples.js";
import { confirmFile } from "../../support/open-confirmed.js";
import { fieldprobe, type Outcome } from "../../support/run-command.js";
import { scratchFolder } from "../../support/scratch.js";
import { SHIPPED_DATA, serveTestData } from "../../support/service.js";

const BIN = fileURLToPath(new URL("../../../bin/fieldprobe.js", import.meta.url));
const folder = scratchFolder();
const at = (name: string): string => join(folder, name);

let service: RunningService;
const before = process.cwd();
beforeAll(async () => {
  process.chdir(folder);
  process.env.FIELDPROBE_DATA = SHIPPED_DATA;
  service = await serveTestData([], { STATE: at("state"), EVENTS: "off" }, false);
});
afterAll(async () => {
  process.chdir(before);
  delete process.env.FIELDPROBE_DATA;
  await service.close();
});

/** Runs the program in a process of its own in the scratch folder; `input` goes to its standard input. */
function program(words: readonly string[], input: string | Buffer): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = execFile(process.execPath, [BIN, ...words], (_, stdout, stderr) =>
      resolve({ status: child.exitCode ?? -1, stdout, stderr }),
    );
    child.on("error", reject);
    child.stdin?.on("error", () => {}).end(input);
  });
}

const ask = (...words: readonly string[]) => fieldprobe(...words, "--url", service.url);
const U = ["values", "isotropic32", "u", "--time", "0.5"];
writeFileSync(at("empty.csv"), "");

async function rowsOf(running: Promise<Outcome>): Promise<readonly (readonly number[])[]> {
  const { status, stdout, stderr } = await running;
  expect([status, stderr]).toEqual([0, ""]);
  const [, ...lines] = stdout.trimEnd().split("\n");
  return lines.map((line) => line.split(",").map(Number));
}

describe("the commands of the calls", () => {
  it("end with the codes of the program, and print their example", async () => {
    const help = await fieldprobe("values", "--help");
    expect([help.status, help.stdout]).toEqual([0, expect.stringContaining(exampleLine("values"))]);
    const failed = await fieldprobe("values", "isotropic32", "w", "--points", "1,2,3", "--url", service.url);
    expect([failed.status, failed.stdout]).toEqual([1, ""]);
    expect((await fieldprobe(...U, "--out", "x.txt")).status).toBe(2);
  });

  it.each(CALL_NAMES)("%s answers the example of its help with columns and rows", async (call) => {
    const { stdout: help } = await fieldprobe(call.replaceAll("_", "-"), "--help");
    const words = help.replaceAll(/\s+/g, " ");
    expect(words).toContain(callOf(call).description);
    for (const name of callOf(call).members)
      expect(words).toContain(name === "what" ? "[what]" : `--${name.replaceAll("_", "-")}`);
    const [, ...example] = shellWords(exampleLine(call));
    const rows = await rowsOf(ask(...example));
    expect(rows.length).toBeGreaterThan(0);
  });

  it("answer by themselves what a service answers, of a name, a folder and a file", async () => {
    const words = ["u, norm(omega)", "--points", "1,2,3;4,5,6", "--time", "0.5"];
    const asked = await ask("values", "isotropic32", ...words);
    expect(asked.stdout.split("\n")[0]).toBe("x,y,z,u.x,u.y,u.z,norm(omega)");
    expect(await fieldprobe("values", "isotropic32", ...words)).toEqual(asked);
    expect(await fieldprobe("values", `${SHIPPED_DATA}/`, ...words)).toEqual(asked);
    mkdirSync(at("seen"));
    const outs = ["box.h5", "box.xmf", "seen/box.xmf"].flatMap((file) => ["--out", file]);
    expect((await ask("nodes", "isotropic32", "u,p", "--frame", "0:4", ...outs)).stderr).toBe("");
    expect(readFileSync(at("box.xmf"), "utf8")).toContain(">box.h5:/Velocity_0001<");
    expect(readFileSync(at("seen/box.xmf"), "utf8")).toContain(">../box.h5:/Velocity_0001<");
    const node = ["u", "--points", "0,0,0", "--frame", "1"];
    // The layout of a cutout cannot say whether its axes are periodic.
    expect((await fieldprobe("values", "box.h5", ...node)).stderr).toContain("box.h5: needs a look");
    confirmFile(at("box.h5"), { periodic: [], walls: [] });
    const { stdout } = await fieldprobe("values", "box.h5", ...node);
    expect(stdout).toBe((await ask("values", "isotropic32", ...node)).stdout);
    const url = `${service.url}/service/turbulence.asmx`;
    expect(await fieldprobe("values", "isotropic32", ...words, "--url", url)).toEqual(asked);
  });

  it("take points as text, from standard input, from files with and without names, of NumPy and of octets", async () => {
    const client = await connect(service.url);
    const options = { time: 0.5, spatialInterpolation: "Lag8", temporalInterpolation: "PCHIP" } as const;
    const points = Float32Array.of(1, 2, 3, 4, 5, 6, -0.1, 100, 0);
    const { values } = await client.GetVelocity({ dataset: "isotropic32", ...options, points });
    const expected = [0, 3, 6].map((i) => [...values.subarray(i, i + 3)]);
    const check = async (running: Promise<Outcome>) =>
      expect((await rowsOf(running)).map((row) => row.slice(3).map(Math.fround))).toEqual(expected);
    const bare = "1,2,3\n4,5,6\n-0.1,1e2,0\n";
    await check(ask(...U, "--points", "1,2,3;4,5,6;-0.1,1e2,0"));
    await check(program([...U, "--points", "-", "--url", service.url], bare));
    writeFileSync(at("named.csv"), `x,y,z\n${bare}`);
    await check(ask(...U, "--points", "named.csv"));
    writeFileSync(at("other.csv"), "# id pos_z pos_y pos_x\n0 3 2 1\n7 6 5 4\n9 0 100 -0.1\n");
    await check(ask(...U, "--points", "other.csv"));
    const wide = Buffer.from(`\ufeff${bare}`, "utf16le");
    writeFileSync(at("wide.txt"), wide);
    await check(ask(...U, "--points", "wide.txt"));
    writeFileSync(at("p.f32"), Buffer.from(points.buffer));
    await check(ask(...U, "--points", "p.f32"));
    const dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 3), }".padEnd(117);
    const head = Buffer.from([0x93, ...Buffer.from("NUMPY"), 1, 0, 118, 0]);
    writeFileSync(at("p.npy"), Buffer.concat([head, Buffer.from(`${dict}\n`), Buffer.from(points.buffer)]));
    await check(ask(...U, "--points", "p.npy"));
  });

  it("take a time for each point from a column", async () => {
    const each = ["values", "isotropic32", "u", "--time", "each", "--points", "-", "--url", service.url];
    const rows = await rowsOf(program(each, "1,2,3,0.5\n1,2,3,0.75\n"));
    const single = async (time: string) =>
      (await rowsOf(ask("values", "isotropic32", "u", "--time", time, "--points", "1,2,3")))[0]?.slice(3);
    expect(rows.map((row) => row.slice(4))).toEqual([await single("0.5"), await single("0.75")]);
  });

  it("take values that begin with a minus sign with and without =, leaves with dots, and bare booleans", async () => {
    const plane = ["grid", "isotropic32", "p", "--time", "0.5", "--samples", "2"];
    const rows = await rowsOf(ask(...plane, "--z", "-3", "--x", "-1:1"));
    expect(await rowsOf(ask(...plane, "--z=-3", "--x=-1:1"))).toEqual(rows);
    const random = ["--points.random", "3", "--points.seed", "7"];
    const drawn = await rowsOf(ask(...U, ...random));
    expect(drawn).toHaveLength(3);
    expect(await rowsOf(ask(...U, "--points", '{"random":3,"seed":7}'))).toEqual(drawn);
    const path = ["paths", "isotropic32", "--points", "1,2,3", "--time", "0.4:0.5", "--step", "0.05"];
    expect(await rowsOf(ask(...path))).toHaveLength(3);
    expect(await rowsOf(ask(...path, "--last"))).toHaveLength(1);
    const region = await rowsOf(ask(...path, "--last", "--exit-from", '{"x":"0.9:1.1"}'));
    expect(await rowsOf(ask(...path, "--last", "--exit-from.x", "0.9:1.1"))).toEqual(region);
  });

  it("write a file in each form that --out names, and print in the form of --format", async () => {
    const line = ["grid", "isotropic32", "u, p", "--y", "1", "--z", "2", "--time", "0.5"];
    const files = "--out l.csv --out l.svg --out l.nc --out l.JSON";
    const { status, stdout, stderr } = await ask(...line, ...files.split(" "));
    expect([status, stdout, stderr]).toEqual([0, "", ""]);
    expect(readFileSync(at("l.csv"), "utf8").split("\r\n")[0]).toBe("x,u.x,u.y,u.z,p");
    expect(readFileSync(at("l.svg"), "utf8").match(/<polyline/g)).toHaveLength(4);
    expect(readFileSync(at("l.nc")).subarray(0, 3).toString()).toMatch(/^CDF|^.HD/);
    expect(Object.keys(JSON.parse(readFileSync(at("l.JSON"), "utf8")).data)).toEqual(["u", "p"]);
    expect((await ask("spectrum", "isotropic32", "--time", "0.6", "--out", "e.svg", "--out", "e.csv")).stderr).toBe("");
    const figure = await ask("statistics", "isotropic32", "p", "--time", "0.6", "--out", "s.svg", "--out", "s.npz");
    expect([figure.stderr, existsSync(at("s.npz"))]).toEqual([expect.stringContaining("no curve to plot"), true]);
    const [curve] = /points="[^"]*"/.exec(readFileSync(at("e.svg"), "utf8")) as RegExpExecArray;
    expect(curve.split(" ")).toHaveLength(16);
    expect(
      (await ask("correlation", "isotropic32", "u.x", "--axis", "x", "--time", "0.6", "--out", "r.svg")).stderr,
    ).toBe("");
    expect(readFileSync(at("r.svg"), "utf8")).toContain(">rho</text>");
    expect((await ask("grid", "isotropic32", "Q", "--z", "1", "--time", "0.5", "--out", "q.png")).stderr).toBe("");
    expect(readFileSync(at("q.png")).subarray(1, 4).toString()).toBe("PNG");
    expect(JSON.parse((await ask(...line, "--format", "json")).stdout).dims).toEqual(["x"]);
    expect(await ask("grid", "isotropic32", "p", "--z", "1", "--time", "0.5", "--out", "p.svg")).toMatchObject({
      status: 1,
      stderr: "fieldprobe: an .svg shows a line, and this answer has the dimensions y, x\n",
    });
    expect(readdirSync(folder).filter((name) => /partial|p\.svg/.test(name))).toEqual([]);
  });

  it("read a question from a file or standard input, and flags win", async () => {
    const question = { dataset: "Isotropic32", call: "statistics", reduce: [{ moments: "p", order: 2 }], time: 99 };
    writeFileSync(at("q.json"), JSON.stringify(question));
    const words = ["statistics", "isotropic32", "--time", "0.6", "--format", "json"];
    const { stdout, stderr } = await ask(...words, "--question", "q.json");
    const { question: complete } = JSON.parse(stdout);
    expect(complete).toMatchObject({ dataset: "isotropic32", call: "statistics", time: expect.closeTo(0.6, 9) });
    const flags = ["statistics", "isotropic32", "--question", "-", "--url", service.url];
    const piped = await program(flags, JSON.stringify(complete));
    expect([stderr, piped.status]).toEqual(["", 0]);
    writeFileSync(at("j.json"), '{"job": true, "time": 0.4}');
    const job = await fieldprobe("nodes", "isotropic32", "u", "--question", "j.json", "--out", "a.xmf");
    expect(job.stderr).toMatch("--job needs");
    writeFileSync(at("twice.json"), '{"time": 0.5, "points": [[1, 2, 3]], "time": 1}');
    for (const [call, dataset, file, why] of [
      ["spectrum", "isotropic32", "q.json", " q.json: it is a question of statistics, not of spectrum"],
      ["statistics", "turbulent-channel", "q.json", ": it is a question of Isotropic32, not of turbulent-channel"],
      ["values", "isotropic32", "twice.json", " twice.json: it gives a member twice"],
    ] as const) {
      const stderr = `fieldprobe: --question${why}\n`;
      expect(await ask(call, dataset, "--question", file)).toMatchObject({ status: 2, stderr });
    }
  });

  it("write no files of two versions of a dataset", async () => {
    let asked = 0;
    const server = createServer((_, response) => void response.setHeader("fieldprobe-manifests", ++asked).end("x\n"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const outs = ["--out", "v1.csv", "--out", "v2.csv"];
    const failed = await fieldprobe(...U, "--points", "1,2,3", ...outs, "--url", url);
    expect(failed).toMatchObject({ status: 1, stderr: expect.stringMatching(/isotropic32 was replaced while it was/) });
    expect([existsSync(at("v1.csv")), existsSync(at("v2.csv"))]).toEqual([true, false]);
    server.close();
  });

  it("start jobs, and wait for the results that --out names", async () => {
    writeFileSync(at("few.csv"), "x,y,z\n1,2,3\n2,2,2\n");
    const started = await ask(...U, "--points", "few.csv", "--job");
    expect(started.stdout).toMatch(/^[0-9a-f]{24} {2}(queued|running|done)/);
    const saved = await ask(...U, "--points", "few.csv", "--job", "--out", "job.csv");
    expect([saved.status, saved.stderr]).toEqual([0, ""]);
    const direct = await ask(...U, "--points", "few.csv");
    expect(readFileSync(at("job.csv"), "utf8").replaceAll("\r\n", "\n")).toBe(direct.stdout.replaceAll("\r\n", "\n"));
    const alone = await fieldprobe(...U, "--points", "few.csv", "--job");
    expect(alone).toMatchObject({ status: 2, stderr: "fieldprobe: --job needs --url: a job runs in a service\n" });
  });

  it.each([
    [["values", "isotropic32", "w", "--points", "1,2,3", "--time", "0.5"], 1, /omega/],
    [
      ["values", "isotropic32", "u", "--points", "1,2,3", "--time", "0.5", "--method", "Lag5"],
      1,
      /method: expected one of/,
    ],
    [["values", "isotropic32", "u", "--time", "0.5"], 1, /points: it is missing; for example/],
    [["values", "none", "u", "--points", "1,2,3"], 1, /Invalid set name: none/],
    [["values", "isotropic32", "-u.x", "--points", "1,2,3"], 2, /'-u.x'; a text that begins with - stands behind --/],
    [["values", "isotropic32", "u", "--poits", "1,2,3"], 2, /unknown option '--poits' \(did you mean --points\?\)/],
    [["values", "isotropic32", "u", "--points", "none.csv"], 2, /--points none\.csv: there is no such file/],
    [
      ["values", "isotropic32", "u", "--points", "-", "--points.random", "3"],
      2,
      /--points\.random does not go with --points/,
    ],
    [[...U, "--points", "1,2,3", "--format", "xyz"], 2, /--format xyz: values writes json, csv, npy/],
    [[...U, "--out", "a.h5", "--out", "b.CSV", "--format", "h5"], 2, /--format h5 contradicts --out b\.CSV/],
    [[...U, "--points", "empty.csv"], 1, /points: at least one point is needed/],
    [["spectrum", "isotropic32", "--out", "x.h5"], 2, /--out x\.h5: spectrum writes \.json, \.csv/],
    [["nodes", "isotropic32", "u", "--out", "x.xmf"], 2, /--out x\.xmf: it describes an HDF5 file; add --out x\.h5/],
    [["spectrum", "isotropic32", "--question", "none.json"], 1, /none\.json: no such file/],
    [["spectrum"], 2, /missing required argument 'dataset'/],
    [["spectrum", "isotropic32", "--time", "0.5", "--time", "1"], 2, /--time is given more than once/],
    [["spectrum", "isotropic32", "--data", "a", "--data", "b"], 2, /--data is given more than once/],
    [["spectrum", "a.h5", "--origin", "0", "--origin", "1"], 2, /--origin is given more than once/],
    [["spectrum", "a.h5", "--dims", "z,y,x", "--dims", "x,y,z"], 2, /--dims <order>.* it is given more than once/],
    [
      ["spectrum", "a.h5", "--named", "s=/a", "--named", "s=/b"],
      2,
      /--named <name=paths>.* it is given more than once/,
    ],
  ] as const)("%j fails in one line", async (words, status, text) => {
    const failed = await ask(...words);
    expect(failed).toMatchObject({ status, stdout: "", stderr: expect.stringMatching(text) });
    expect(failed.stderr.trimEnd().split("\n")).toHaveLength(1);
  });

  it("name everything that is wrong, a line each, with what is near", async () => {
    const { stderr } = await ask("values", "isotropic32", "u", "--points", "1,2", "--time", "x", "--units", "ignor");
    const lines = stderr.trimEnd().split("\n");
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatch(/^fieldprobe: points/);
    expect(lines[2]).toMatch(/units: .*ignore/);
  });

  it("refuse a place that holds nothing, several datasets, or a file with open questions", async () => {
    expect((await fieldprobe("values", "nowhere/u.h5", "u")).stderr).toBe(
      "fieldprobe: nowhere/u.h5: there is no such file or folder\n",
    );
    const words = ["u", "--points", "1,2,3", "--frame", "0"];
    const shipped = join(SHIPPED_DATA, "isotropic32.h5");
    expect((await fieldprobe("values", shipped, ...words)).status).toBe(0);
    copyFileSync(shipped, at("bare.h5"));
    const bare = await fieldprobe("values", at("bare.h5"), ...words);
    expect(bare).toMatchObject({ status: 1, stderr: expect.stringMatching(/it waits until a person confirms/) });
    mkdirSync(at("empty"));
    expect((await fieldprobe("values", "empty/", "u", "--points", "1,2,3")).stderr).toMatch(/Invalid set name: empty/);
    expect(existsSync(at("empty"))).toBe(true);
  });
});
