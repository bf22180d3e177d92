/** `fieldprobe query` as it ships: a program with files, pipes and exit codes. */
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../../../src/client/index.js";
import type { RunningService } from "../../../src/main.js";
import { ALL_OPERATIONS } from "../../../src/shared/operations.js";
import { stateGrid, writeHdf5 } from "../../support/cubes.js";
import { scratchFolder } from "../../support/scratch.js";
import { serveTestData } from "../../support/service.js";

const BIN = fileURLToPath(new URL("../../../bin/fieldprobe.js", import.meta.url));
const POINTS = Float32Array.of(1, 2, 3, 4, 5, 6, -0.1, 100, 0);
const VELOCITY = ["GetVelocity", "--dataset", "isotropic32", "--time", "0.5", "--method", "Lag6"];

const folder = scratchFolder();
const file = (name: string, content: string | Buffer) => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

interface Outcome {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs it in an empty folder; `input` goes to its standard input. */
function fieldprobe(words: readonly string[], input = "", env: Record<string, string> = {}): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [BIN, "query", ...words], { cwd: folder, env: { ...process.env, ...env } });
    let [out, err] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text) => {
      out += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text) => {
      err += text;
    });
    child.on("error", reject).on("close", (code) => resolve({ code, out, err }));
    child.stdin.on("error", () => {}).end(input);
  });
}

/** Velocity without a word on axes, times or periods. */
const writeBareCube = (path: string) =>
  writeHdf5(path, (cube) => {
    stateGrid(cube);
    cube.create_dataset({ name: "u", data: new Float32Array(3 * 8 ** 3), shape: [8, 8, 8, 3] });
  });

describe("fieldprobe query", () => {
  let service: RunningService;
  let expected: Float32Array;

  beforeAll(async () => {
    service = await serveTestData();
    const client = await connect(service.url);
    const options = { spatialInterpolation: "Lag6", temporalInterpolation: "PCHIP" } as const;
    const answer = await client.GetVelocity({ dataset: "isotropic32", time: 0.5, ...options, points: POINTS });
    expected = answer.values;
  });
  afterAll(async () => {
    await service?.close();
  });

  const rows = (text: string) =>
    text
      .trimEnd()
      .split("\n")
      .map((line) => line.split(","));

  it("prints points and values of a CSV file, from a running service and from one of its own alike", async () => {
    const points = file("points.csv", "x,y,z\n1,2,3\n4,5,6\n-0.1,1e2,0\n");
    const [remote, local] = await Promise.all([
      fieldprobe([...VELOCITY, "--points", points, "--url", service.url]),
      fieldprobe([...VELOCITY, "--points", points]),
    ]);
    expect(remote).toMatchObject({ code: 0, err: "" });
    expect(local).toEqual(remote);
    const [head, ...lines] = rows(remote.out);
    expect(head).toEqual(["x", "y", "z", "result_x", "result_y", "result_z"]);
    const numbers = lines.map((cells) => cells.map((cell) => Math.fround(Number(cell))));
    expect(numbers).toEqual([0, 3, 6].map((i) => [...POINTS.subarray(i, i + 3), ...expected.subarray(i, i + 3)]));
    expect(readdirSync(folder)).toEqual(["points.csv"]);
  });

  it("prints JSON that says how the values came about", async () => {
    const endpoint = `${service.url}/service/turbulence.asmx`;
    const { code, out } = await fieldprobe([...VELOCITY, "--points", "-", "--json", "--url", endpoint], "1,2,3\n");
    expect(code).toBe(0);
    const document = JSON.parse(out);
    expect(document).toMatchObject({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      operation: "GetVelocity",
      dataset: "isotropic32",
      manifest: service.engine.find("isotropic32")?.digest,
      options: { time: 0.5, spatialInterpolation: "Lag6", temporalInterpolation: "PCHIP" },
      record: "Vector3",
      components: ["x", "y", "z"],
      points: [[1, 2, 3]],
    });
    expect(document.values[0].map(Math.fround)).toEqual([...expected.subarray(0, 3)]);
  });

  it("reads .npy from a pipe and splits many points into requests", async () => {
    const count = 25_000;
    const dict = `{'descr': '<f4', 'fortran_order': False, 'shape': (${count}, 3), }`.padEnd(117);
    const data = Buffer.alloc(12 * count);
    for (let i = 0; i < 3 * count; i++) data.writeFloatLE(POINTS[i % 9] as number, 4 * i);
    const head = Buffer.from([0x93, ...Buffer.from("NUMPY"), 1, 0, 118, 0]);
    const points = file("points.npy", Buffer.concat([head, Buffer.from(`${dict}\n`), data]));
    const { code, out, err } = await fieldprobe([...VELOCITY, "--points", points, "--url", service.url]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const lines = rows(out).slice(1);
    expect(lines.length).toBe(count);
    lines.forEach((cells, i) => {
      const at = 3 * (i % 3);
      expect(cells.map((cell) => Math.fround(Number(cell)))).toEqual([
        ...POINTS.subarray(at, at + 3),
        ...expected.subarray(at, at + 3),
      ]);
    });
  });

  it("takes initial velocities, a token and the settings of the service it starts", async () => {
    const velocities = file("velocities.csv", "0,0,0\n");
    const inertial = [
      "GetPositionInertialParticle",
      "--dataset",
      "isotropic32",
      "--start-time",
      "0",
      "--end-time",
      "0.1",
    ];
    const options = ["--tp", "1", "--method", "Lag4", "--points", "-", "--token", "any"];
    const [with0, without, limited] = await Promise.all([
      fieldprobe([...inertial, ...options, "--initial-velocity", velocities, "--url", service.url], "1,2,3\n"),
      fieldprobe([...inertial, ...options, "--url", service.url], "1,2,3\n"),
      fieldprobe([...inertial, ...options], "1,2,3\n", {
        FIELDPROBE_QUERY_PARTICLE_STEPS: "1",
        FIELDPROBE_TOKENS: "none",
        FIELDPROBE_NATS: "elsewhere:1",
      }),
    ]);
    expect([with0.code, without.code]).toEqual([0, 0]);
    expect(with0.out).not.toBe(without.out);
    expect(limited.code).toBe(1);
    expect(limited.err).toMatch(/^fieldprobe: .*\n$/);
  });

  const SET = ["--dataset", "isotropic32"];
  const AT = [...SET, "--time", "0.4"];
  const CORNERS = ["x", "y", "z"].flatMap((axis) => [`--${axis}-start`, "1", `--${axis}-end`, "8"]);
  it.each([
    [
      "a mean over nodes",
      ["GetBoxFilter", ...AT, "--field", "u", "--filter-width", "1.4", "--points", "-"],
      /^x,y,z,result_x,result_y,result_z\n1,2,3,-0\.0566907\d*,-0\.134943\d*,0\.344487\d*\n$/,
    ],
    [
      "the nodes above a threshold",
      ["GetThreshold", ...AT, "--field", "q", "--threshold", "0.98", "--method", "None_Fd4", ...CORNERS],
      /^x,y,z,value\n3,8,3,1\.02704\d*\n2,8,3,0\.98317\d*\n$/,
    ],
    [
      "stored nodes with their numbers",
      ["GetRawVelocity", ...SET, "--frame", "2", "--x", "0", "--y", "1", "--z", "0", "--x-width", "2"].concat(
        ["y", "z"].flatMap((axis) => [`--${axis}-width`, "1"]),
      ),
      /^x,y,z,result_x,result_y,result_z\n0,1,0,0\.12884392,-0\.16881731,-0\.726673\n1,1,0,0\.08667458,-0\.21954058,-0\.761243\n$/,
    ],
    [
      "the function of an array form",
      [
        ...["GetData_Python", "--function", "GetPressure", ...AT, "--method", "M2Q8", "--temporal", "None"],
        ...["--points", "-"],
      ],
      /^x,y,z,value\n1,2,3,0\.5508151\d*\n$/,
    ],
  ] as const)("prints %s, as published, from a service and by itself", async (_, words, expected) => {
    const [remote, local] = await Promise.all([
      fieldprobe([...words, "--url", service.url], "1,2,3\n"),
      fieldprobe(words, "1,2,3\n"),
    ]);
    expect(remote).toEqual({ code: 0, out: expect.stringMatching(expected), err: "" });
    expect(local).toEqual(remote);
  });

  it("answers no points with a header alone", async () => {
    expect(await fieldprobe([...VELOCITY, "--points", "-", "--url", service.url], "x,y,z\n")).toEqual({
      code: 0,
      out: "x,y,z,result_x,result_y,result_z\n",
      err: "",
    });
  });

  it("says what there is instead of a dataset that is not, and warns only of the one that is asked", async () => {
    const words = ["GetVelocity", "--time", "0", "--method", "Lag4", "--points", "-"];
    const data = join(folder, "data");
    mkdirSync(data);
    for (const name of ["one", "two"]) await writeBareCube(join(data, `${name}.h5`));
    const [other, empty, bare] = await Promise.all([
      fieldprobe([...words, "--dataset", "isotropic23", "--url", service.url], "1,2,3\n"),
      fieldprobe([...words, "--dataset", "u", "--data", join(folder, "nowhere")], "1,2,3\n"),
      fieldprobe([...words, "--dataset", "one", "--data", data], "1,2,3\n"),
    ]);
    expect(other).toEqual({
      code: 1,
      out: "",
      err: "fieldprobe: Invalid set name: isotropic23 (available: isotropic32)\n",
    });
    expect(empty.err).toMatch(
      /^fieldprobe: .*nowhere: .*\nfieldprobe: Invalid set name: u \(there is no dataset in .*\)\n$/,
    );
    expect(bare.code).toBe(0);
    expect(bare.err).toMatch(/^(fieldprobe: one: .*\n)+$/);
  });

  it("names the limit that is passed, and an address at which there is no service", async () => {
    const filter = ["GetBoxFilterVelocity", "--dataset", "isotropic32", "--time", "0", "--filter-length", "1000"];
    const options = ["--points", "-", "--url"];
    const [limit, other, none] = await Promise.all([
      fieldprobe([...filter, ...options, service.url], "1,2,3\n"),
      fieldprobe(["NullOp", ...options, `${service.url}/nothing`], "1,2,3\n"),
      fieldprobe(["NullOp", ...options, "localhost:8080"], "1,2,3\n"),
    ]);
    expect(limit.err).toMatch(/^fieldprobe: .* \(limit query\.filterSamples\)\n$/);
    expect(other.err).toMatch(/^fieldprobe: [^\n]*\/nothing[^\n]* 404\b[^\n]*\n$/);
    expect(none.err).toBe("fieldprobe: Not an address: localhost:8080; http://127.0.0.1:8080 is one.\n");
  });

  it("explains itself", async () => {
    const { code, out } = await fieldprobe(["--help"]);
    expect(code).toBe(0);
    expect(out).toContain("--points <FILE>");
    for (const { name } of ALL_OPERATIONS) expect(out).toMatch(new RegExp(`^  ${name}\\b`, "m"));
    const words = /\| fieldprobe query (.*)$/m.exec(out)?.[1]?.split(" ") ?? [];
    expect(await fieldprobe([...words, "--url", service.url], "1,2,3\n")).toMatchObject({ code: 0, err: "" });
  });

  it.each([
    ["an unknown operation", ["GetEverything", "--points", "-"], 2],
    ["no points", VELOCITY, 2],
    [
      "a function that there is not",
      ["GetData_Python", "--function", "GetNothing", ...VELOCITY.slice(1), "--points", "-"],
      1,
    ],
    ["a filter without a field", ["GetBoxFilter", "--dataset", "isotropic32", "--time", "0", "--filter-width", "1"], 2],
    ["a file that is not there", [...VELOCITY, "--points", "none.csv"], 2],
    ["a mistyped operation", ["GetVelocty", "--points", "-"], 2],
    ["two forms of output", [...VELOCITY, "--points", "-", "--json", "--csv"], 2],
    ["a bad setting", [...VELOCITY, "--points", "-", "--data", ""], 2],
    ["no service at the address", [...VELOCITY, "--points", "-", "--url", "http://127.0.0.1:9"], 1],
    [
      "a time out of range",
      ["GetVelocity", "--dataset", "isotropic32", "--time", "99", "--method", "Lag4", "--points", "-"],
      1,
    ],
  ] as const)("reports %s in one line", async (_, words, code) => {
    const outcome = await fieldprobe(words, "1,2,3\n");
    expect(outcome.code).toBe(code);
    expect(outcome.out).toBe("");
    expect(outcome.err).toMatch(/^\S.*\n$/);
  });
});
