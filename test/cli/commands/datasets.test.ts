/** `fieldprobe inspect`, `check`, `convert` and `cutout`: what they print, write and refuse. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Dataset as H5Dataset } from "h5wasm/node";
import { beforeAll, describe, expect, it } from "vitest";
import { stateGrid, writeField, writeHdf5 } from "../../support/cubes.js";
import { PRODUCERS } from "../../support/producers.js";
import { fieldprobe, stdoutOf } from "../../support/run-command.js";
import { folderIn, scratchFolder } from "../../support/scratch.js";

const BIN = fileURLToPath(new URL("../../../bin/fieldprobe.js", import.meta.url));
const SHIPPED = fileURLToPath(new URL("../../../data/isotropic32", import.meta.url));
const SCRATCH = scratchFolder();
const ANSWERS = ["--dims", "x,y,z", "--periodic", "xyz", "--length", "1", "--origin", "0", "--times", "0.5"];

let well: string;
let odd: string;

beforeAll(async () => {
  mkdirSync(join(SCRATCH, "in"));
  const entry = PRODUCERS.find(({ name }) => name === "well");
  well = await writeHdf5(join(SCRATCH, "in", "well.h5"), (file) => entry?.write(file));
  odd = await writeHdf5(join(SCRATCH, "odd.h5"), (file) => {
    writeField(file, "/eta", { dimensions: ["z", "y", "x"], value: () => 1 });
  });
});

describe("fieldprobe inspect", () => {
  it("explains a recognised file", async () => {
    const { status, stdout, stderr } = await fieldprobe("inspect", well);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toMatch(/^well\.h5: The Well, dataset name well\n/);
    expect(stdout).toMatch(
      /\n {2}velocity +\/t1_fields\/velocity as n t x y z c: float32, 2 x 3 x 12 x 10 x 11 x 3, contiguous\n/,
    );
    expect(stdout).toMatch(/\n {2}z +11 nodes from 0 every 0\.25, not periodic\n/);
    expect(stdout).toMatch(/\nWhy:\n {2}- dimensions: /);
    const waits = "fieldprobe: well.h5 waits until it is confirmed: --yes (exit code 1)\n";
    expect(await fieldprobe("inspect", well, "--trajectory", "1")).toMatchObject({ status: 1, stderr: waits });
  });

  it("gives the dataset the name and the aliases asked for, also where the file has none that will do", async () => {
    const file = join(SCRATCH, "in", "run@2.h5");
    copyFileSync(well, file);
    const ask = (...flags: string[]) => fieldprobe("inspect", file, "--json", "--trajectory", "1", ...flags);
    expect((await ask()).stderr).toContain('the name "run@2" is not');
    const named = await ask("--name", "run2", "--alias", "isotropic1024coarse,mixing");
    expect(JSON.parse(named.stdout)).toMatchObject({ name: "run2", aliases: ["isotropic1024coarse", "mixing"] });
    expect(
      [await ask("--name", "run 2"), await ask("--name", "run2", "--alias", "a b")].map(({ status }) => status),
    ).toEqual([2, 2]);
    rmSync(file);
  });

  it("prints the descriptor that says the same", async () => {
    const stdout = await stdoutOf("inspect", well, "--json", "--trajectory", "1");
    expect(JSON.parse(stdout).fields.velocity).toMatchObject({ path: "/t1_fields/velocity", index: 1 });
    writeFileSync(join(SCRATCH, "dataset.json"), stdout.replaceAll('"well.h5"', '"in/well.h5"'));
    const checked = (await fieldprobe("check", SCRATCH)).stdout;
    expect(checked).toMatch(/^well \(.*dataset\.json\)\n/);
    expect(checked).toContain("Not served: odd.h5, for ");
    rmSync(join(SCRATCH, "dataset.json"));
  });

  it("keeps open questions in the descriptor, and refuses the dataset until they are answered or accepted", async () => {
    const folder = folderIn(SCRATCH, "asked");
    const path = await writeHdf5(join(folder, "u.h5"), (file) => {
      file.create_dataset({ name: "u", data: new Float32Array(3 * 8 ** 3).fill(1), shape: [8, 8, 8, 3] });
    });
    const asked = await fieldprobe("inspect", path);
    expect(asked.status).toBe(1);
    expect(asked.stdout).toMatch(
      /Open \(\?\) and red \(!\) lines:\n(.*\n)*.*\? order: \/u is 8 x 8 x 8 x 3, and nothing in the file names/,
    );
    const text = (await fieldprobe("inspect", path, "--json")).stdout;
    writeFileSync(join(folder, "dataset.json"), text);
    expect(JSON.parse(text).questions.map(({ about }: { about: string }) => about)).toContain("order");
    const refused = await fieldprobe("check", folder);
    expect(refused.status).toBe(1);
    expect(refused.stdout).toMatch(
      /open question about order: .* Answer: --dims.* Delete the question from dataset\.json when it is answered there/,
    );
    rmSync(join(folder, "dataset.json"));
    const once = await fieldprobe("check", path, "--yes", ...ANSWERS);
    expect(once).toMatchObject({ status: 0, stdout: expect.stringMatching(/^u \(.*u\.h5\)\n/) });
    expect(await fieldprobe("check", folder, "--yes", ...ANSWERS)).toMatchObject({ status: 2 });
    expect((await fieldprobe("check", path, ...ANSWERS)).stderr).toContain("--yes confirms it");
    expect(await fieldprobe("inspect", path, "--yes", ...ANSWERS)).toMatchObject({ status: 0 });
    expect(JSON.parse(readFileSync(join(folder, "u.dataset.json"), "utf8"))).toMatchObject({
      axes: { x: { nodes: 8, origin: 0, spacing: 0.125, periodic: true } },
      time: { count: 1, origin: 0.5 },
      fields: { velocity: { dimensions: ["x", "y", "z", "c"] } },
    });
    expect((await fieldprobe("check", folder)).status).toBe(0);
  });

  it("confirms a draft beside its file, in spite of a red line, and not while one is open", {
    timeout: 120_000,
  }, async () => {
    const folder = folderIn(SCRATCH, "confirmed");
    const write = (...mask: number[]) =>
      writeHdf5(join(folder, "u.h5"), (file) => {
        file.create_dataset({ name: "u", data: new Float32Array(3 * 8 ** 3).fill(1), shape: [8, 8, 8, 3] });
        (file.get("u") as H5Dataset).create_attribute("gain", 2, [], "<d");
        file.create_dataset({ name: "mask", data: Float64Array.from(mask) });
        file.create_attribute("note", "a\u001b[31mb");
      });
    const path = await write(1, 2, 3);
    writeFileSync(join(folder, "v.h5"), readFileSync(path));
    const open = await fieldprobe("inspect", path, ...ANSWERS.slice(0, 4), "--yes");
    expect([open.status, open.stderr]).toEqual([2, expect.stringMatching(/^.*--yes: .* open or red: .*--length.*\n$/)]);
    const red = await fieldprobe("inspect", path, ...ANSWERS, "--yes");
    expect([red.status, red.stderr]).toEqual([2, expect.stringMatching(/--yes: a line is open or red: --despite/)]);
    expect(red.stdout).toContain('@note = "a\\u001b[31mb"');
    const waiting = await fieldprobe("check", folder);
    expect(waiting.stdout).toContain(`${path}: needs a look: fieldprobe inspect ${path}\n`);
    const apart = ["--descriptors", join(folder, "apart")];
    const elsewhere = await fieldprobe("inspect", path, ...ANSWERS, "--despite", "values", "--yes", ...apart);
    expect([elsewhere.status, elsewhere.stderr]).toEqual([0, `wrote ${join(folder, "apart", "u.json")}\n`]);
    const yes = await fieldprobe("inspect", path, ...ANSWERS, "--despite", "values", "--yes");
    expect([yes.status, yes.stderr]).toEqual([0, `wrote ${join(folder, "u.dataset.json")}\n`]);
    const known = await fieldprobe("inspect", path);
    expect([known.status, known.stdout]).toEqual([0, expect.stringMatching(/^Confirmed by .*u\.dataset\.json, and /m)]);
    const checked = (await fieldprobe("check", folder)).stdout;
    expect(checked).toMatch(/^u \(.*u\.dataset\.json\)$/m);
    expect(checked).toContain("v.h5: needs a look");
    writeFileSync(join(folder, "points.csv"), "0.5,0.5,0.5\n");
    const asking = `values u u --time 0.5 --method Lag4 --format json --data ${folder}`;
    const answer = await fieldprobe(...asking.split(" "), "--points", join(folder, "points.csv"));
    expect(JSON.parse(answer.stdout).assumed).toContainEqual(
      expect.stringMatching(/^Numbers that nothing applies: gain = 2 of \/u/),
    );
    const changed = await write(1, 2, 4);
    expect((await fieldprobe("check", folder)).stdout).toContain(
      `needs a look (not as it was confirmed: /mask is float64 3 = 1, 2, 4, and was float64 3 = 1, 2, 3): fieldprobe inspect ${changed} --same`,
    );
  });

  it("confirms nothing that cannot be served", async () => {
    const path = await writeHdf5(join(SCRATCH, "text-scale.h5"), (file) => {
      stateGrid(file);
      writeField(file, "/velocity", { dimensions: ["z", "y", "x", "c"] });
      (file.get("velocity") as H5Dataset).create_attribute("scale_factor", "0.01");
    });
    const { status, stderr } = await fieldprobe("inspect", path, "--yes");
    expect([status, stderr]).toEqual([1, expect.stringMatching(/text-scale\.h5.* cannot be served: .*scale_factor/)]);
    expect(existsSync(path.replace(".h5", ".dataset.json"))).toBe(false);
  });

  it("serves a field by the name that a flag gives it", async () => {
    const folder = folderIn(SCRATCH, "named");
    const path = await writeHdf5(join(folder, "u.h5"), (file) => {
      file.create_dataset({ name: "u", data: new Float32Array(3 * 8 ** 3), shape: [8, 8, 8, 3] });
      file.create_group("deep");
      const data = Float32Array.from({ length: 8 ** 3 }, (_, i) => Math.floor(i / 64));
      file.create_dataset({ name: "/deep/t", data, shape: [8, 8, 8] });
    });
    const known = ["--dims", "x,y,z", "--periodic", "none", "--walls", "none", "--spacing", "1", "--origin", "0"];
    const flags = [...known, "--times", "0.5", "--named", "soiltemperature=/deep/t"];
    expect(await fieldprobe("inspect", path, "--yes", ...flags)).toMatchObject({ status: 0 });
    expect(JSON.parse(readFileSync(join(folder, "u.dataset.json"), "utf8")).fields.soiltemperature.path).toBe(
      "/deep/t",
    );
    writeFileSync(join(folder, "points.csv"), "2.5,3,4\n");
    const asking = `values u soiltemperature --time 0.5 --method Lag4 --time-method nearest --format json --data ${folder}`;
    const answer = await fieldprobe(...asking.split(" "), "--points", join(folder, "points.csv"));
    expect(JSON.parse(answer.stdout).rows).toEqual([[2.5, 3, 4, 2.5]]);
    const unknown = await fieldprobe("inspect", path, "--named", "p.q=/deep/t");
    expect([unknown.status, unknown.stderr.split("\n")[0]]).toEqual([2, expect.stringMatching(/--named.*p\.q/)]);
  });

  it("describes a file without usual names by what is known, and leaves the questions that refuse it", async () => {
    const folder = folderIn(SCRATCH, "unnamed");
    const file = join(folder, "odd.h5");
    copyFileSync(odd, file);
    const { status, stderr } = await fieldprobe("inspect", file);
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/^fieldprobe: odd\.h5 waits for an answer: .*\(exit code 1\)\n$/),
    ]);
    const text = (await fieldprobe("inspect", file, "--json")).stdout;
    writeFileSync(join(folder, "dataset.json"), text);
    expect(text).not.toMatch(/[<>]|"\?"/);
    const { axes, time, fields, questions } = JSON.parse(text);
    expect(fields).toEqual({ pressure: { file: "odd.h5", path: "/eta", dimensions: ["z", "y", "x"] } });
    expect([axes.x.nodes, axes.y.nodes, axes.z.nodes, time.count]).toEqual([12, 10, 11, 1]);
    const subjects = questions.map(({ about }: { about: string }) => about);
    expect(subjects).toEqual(expect.arrayContaining(["fields", "order", "spacing", "origin"]));
    const refused = await fieldprobe("check", folder);
    expect(refused.status).toBe(1);
    expect(refused.stdout).toMatch(/open question about fields: .*\/eta is the pressure.* Answer: --velocity/);
    rmSync(join(folder, "dataset.json"));
    expect((await fieldprobe("check", folder)).stdout).toContain("needs a look: fieldprobe inspect");
  });

  it("takes a vector, or three datasets of one shape, for the velocity where nothing has a usual name", async () => {
    const whole = await writeHdf5(join(SCRATCH, "whole.h5"), (file) => {
      writeField(file, "/run/eta", { dimensions: ["z", "y", "x"] });
      writeField(file, "/run/flow", { dimensions: ["z", "y", "x", "c"] });
    });
    const parts = await writeHdf5(join(SCRATCH, "parts.h5"), (file) => {
      for (const name of ["q1", "q2", "q3"]) writeField(file, `/run/${name}`, { dimensions: ["z", "y", "x"] });
    });
    const velocityOf = async (path: string) =>
      JSON.parse((await fieldprobe("inspect", path, "--json")).stdout).fields.velocity;
    expect(await velocityOf(whole)).toMatchObject({ path: "/run/flow", dimensions: ["z", "y", "x", "c"] });
    expect((await velocityOf(parts)).components.map(({ path }: { path: string }) => path)).toEqual([
      "/run/q1",
      "/run/q2",
      "/run/q3",
    ]);
  });

  it("says what helps where no dataset may have the name of a file, and takes that of a link", async () => {
    const path = join(SCRATCH, "w\u00e9ll one.h5");
    copyFileSync(well, path);
    const refused = await fieldprobe("inspect", path);
    expect([refused.status, refused.stderr]).toEqual([
      1,
      'fieldprobe: w\u00e9ll one.h5: the name "w\u00e9ll one" is not 1 to 64 of A-Z a-z 0-9 _ . -, as that of a dataset is; ' +
        "rename the file, or make a link to it\n",
    ]);
    symlinkSync(path, join(SCRATCH, "linked.h5"));
    expect((await fieldprobe("inspect", join(SCRATCH, "linked.h5"))).stdout).toContain("dataset name linked\n");
    rmSync(path);
    rmSync(join(SCRATCH, "linked.h5"));
  });

  it("lists the content of a file in which nothing can be a field", async () => {
    const flat = await writeHdf5(join(SCRATCH, "flat.h5"), (file) => {
      file.create_dataset({ name: "eta", data: new Float32Array(12), shape: [3, 4] });
    });
    const { status, stdout } = await fieldprobe("inspect", flat);
    expect(status).toBe(1);
    const empty = await writeHdf5(join(SCRATCH, "empty.h5"), () => {});
    expect((await fieldprobe("inspect", empty)).stdout).toMatch(/^empty\.h5: .* which a field needs\.\n$/);
    expect(stdout).toMatch(/^flat\.h5: no known layout, .*\nSeen and not used \(1\):\n {2}\/eta \(float32, 3 x 4\) = /);
  });

  it.each([
    ["no file", [], /missing required argument/],
    ["a file that is not there", ["/nowhere/u.h5"], /there is no such file/],
    ["a folder", [SHIPPED], /not a file; fieldprobe check/],
    ["paths with blanks", ["u.h5", "--velocity", "alpha,", "beta,", "gamma"], /with commas and no blanks between them/],
    ["an order without an axis", ["u.h5", "--dims", "z,y"], /--dims.*the dimensions in stored order are needed/],
    ["an order that names an axis twice", ["u.h5", "--dims", "z,y,x,x"], /--dims.*in stored order are needed/],
    ["three paths for a scalar", ["u.h5", "--temperature", "a,b,c"], /--temperature.*one path is needed/],
    ["a trajectory that is no number", ["u.h5", "--trajectory", "one"], /--trajectory/],
  ])("refuses %s in one line, exit code 2", async (_, args, message) => {
    const { status, stderr } = await fieldprobe("inspect", ...args);
    expect(status).toBe(2);
    expect(stderr).toMatch(message);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  });

  it.each([
    ["text", () => Buffer.from("text"), "it does not begin like one"],
    [
      "a ZIP archive",
      () => Buffer.from("PK\x03\x04..."),
      "it is a ZIP archive: a store of Zarr in it is read as a folder, once it is unpacked",
    ],
    [
      "classic netCDF",
      () => Buffer.from("CDF\x01..."),
      "it is a netCDF file of version 3: nccopy -k nc4 IN.nc OUT.nc makes it one",
    ],
    ["nothing", () => Buffer.alloc(0), "it is empty"],
    [
      "half of an HDF5 file",
      () => readFileSync(well).subarray(0, 2000),
      "it is cut short: it has 2000 of 296151 bytes",
    ],
  ])("says in one line why a file that holds %s does not open", async (_, content, reason) => {
    const path = join(SCRATCH, "unreadable.h5");
    writeFileSync(path, content());
    expect(await fieldprobe("inspect", path)).toMatchObject({
      status: 1,
      stderr: `fieldprobe: ${path} does not open as an HDF5 file: ${reason}.\n`,
    });
  });
});

describe("fieldprobe check", () => {
  it("names the frame and the box of a block of zeros, and ends with 1", async () => {
    const folder = folderIn(SCRATCH, "zeroed");
    const isZeroed = (t: number, x: number, y: number, z: number) => t === 1 && x >= 8 && y < 8 && z >= 8;
    await writeHdf5(join(folder, "u.h5"), (file) => {
      for (const t of [0, 1, 2]) {
        const value = ({ x, y, z, c }: { x: number; y: number; z: number; c: number }) =>
          isZeroed(t, x, y, z) ? 0 : Math.sin(c + x + 16 * y + 256 * z + 4096 * t);
        writeField(file, `/u${t}`, { dimensions: ["z", "y", "x", "c"], lengths: { x: 16, y: 16, z: 16 }, value });
      }
    });
    const axis = { nodes: 16, origin: 0, spacing: 1, periodic: true };
    const velocity = { file: "u.h5", path: "/u{step:01d}", dimensions: ["z", "y", "x", "c"] };
    const members = { axes: { x: axis, y: axis, z: axis }, time: { step: 1, count: 3 }, fields: { velocity } };
    writeFileSync(join(folder, "dataset.json"), JSON.stringify({ schemaVersion: 1, name: "zeroed", ...members }));
    const { status, stdout } = await fieldprobe("check", folder);
    const found = "frame 1 velocity: nodes x 8 to 15, y 0 to 7, z 8 to 15 are all 0, 0, 0";
    expect([status, stdout.split("\n").filter((line) => line.startsWith("  wrong"))]).toEqual([
      1,
      [`  wrong: ${found}`],
    ]);
  });

  it("passes the shipped dataset: checksums, ranges, divergence", async () => {
    const { status, stdout, stderr } = await fieldprobe("check", SHIPPED);
    expect(status).toBe(0);
    expect(stdout).toMatch(/checksums: 1 of 1 files as manifest\.json says\n/);
    expect(stdout.match(/^ +\d+ velocity +-\d/gm)).toHaveLength(15);
    expect(Number(/^ +0 velocity .* ([\d.]+)$/m.exec(stdout)?.[1])).toBeLessThan(0.05);
    expect(stderr).toMatch(/isotropic32 values: 100 %\n/);
    const turned = join(SCRATCH, "turned");
    cpSync(SHIPPED, turned, { recursive: true });
    const text = readFileSync(join(turned, "dataset.json"), "utf8");
    writeFileSync(join(turned, "dataset.json"), text.replaceAll(/"z",\s+"y",\s+"x"/g, '"x","y","z"'));
    const wrong = /warning: velocity: with shuffled axes 0.0.*: the order is probably wrong \(says nothing for comp/;
    expect((await fieldprobe("check", turned)).stdout).toMatch(wrong);
  });

  it("fails on a changed byte, on values that are not finite, and on what is refused", async () => {
    const folder = folderIn(SCRATCH, "bad");
    await writeHdf5(join(folder, "holes.h5"), (file) => {
      stateGrid(file);
      writeField(file, "/velocity", { dimensions: ["z", "y", "x", "c"], value: ({ x }) => (x === 3 ? Number.NaN : 1) });
    });
    expect((await fieldprobe("convert", join(folder, "holes.h5"), join(folder, "copy"), "--name", "copy")).status).toBe(
      0,
    );
    const file = join(folder, "copy", "velocity_00000.h5");
    const bytes = readFileSync(file);
    bytes[bytes.length - 1] = (bytes.at(-1) as number) ^ 1;
    writeFileSync(file, bytes);
    writeFileSync(join(folder, "text.h5"), "text");
    const { status, stdout } = await fieldprobe("check", folder);
    expect(status).toBe(1);
    expect(stdout).toMatch(/text\.h5: does not open as an HDF5 file: it does not begin like one\.\n/);
    expect(stdout).toMatch(/velocity_00000\.h5: its SHA-256 is [0-9a-f]{64}, manifest\.json says [0-9a-f]{64}\n/);
    expect(stdout).toMatch(/330 values are not finite/);
  });

  it("passes a converted store, and names shards that are swapped or gone", async () => {
    const folder = join(SCRATCH, "shards");
    const store = join(folder, "flow.zarr");
    expect((await fieldprobe("convert", SHIPPED, store, "--chunk", "8", "--shard", "16")).status).toBe(0);
    const before = await fieldprobe("check", folder);
    expect([before.status, before.stdout]).toEqual([
      0,
      expect.stringMatching(/(\d+) of \1 files as manifest\.json says/),
    ]);
    const [one, other] = ["0/0/0/0/0", "0/0/0/1/0"].map((key) => join(store, "velocity/c", key)) as [string, string];
    renameSync(one, `${one}.partial`);
    renameSync(other, one);
    renameSync(`${one}.partial`, other);
    const swapped = await fieldprobe("check", folder);
    expect(swapped.status).toBe(1);
    for (const key of ["0/0/0/0/0", "0/0/0/1/0"])
      expect(swapped.stdout).toMatch(new RegExp(`velocity/c/${key}(: its SHA-256 is| has )`));
    rmSync(one);
    expect((await fieldprobe("check", folder)).stdout).toMatch(
      /velocity\/c\/0\/0\/0\/0\/0 has no bytes, manifest\.json says \d+/,
    );
  });

  it("says that there is nothing", async () => {
    const folder = folderIn(SCRATCH, "empty");
    expect(await fieldprobe("check", folder)).toMatchObject({
      status: 1,
      stdout: `${folder}: there is no dataset below it\n`,
    });
  });
});

describe("fieldprobe convert and cutout", () => {
  it("convert into a folder that fieldprobe check passes", async () => {
    const folder = join(SCRATCH, "converted");
    const { status, stdout, stderr } = await fieldprobe("convert", well, folder, "--chunk", "8", "--filter", "gzip");
    expect(status).toBe(0);
    expect(stdout).toBe(`well in ${folder}: 15 files, 142560 bytes read\n`);
    expect(stderr).toMatch(/^(well: \d+ %\n)+$/);
    expect((await fieldprobe("check", folder)).status).toBe(0);
    expect(await fieldprobe("convert", well, folder)).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/a dataset already/),
    });
  });

  it("convert, killed and started again, ends as if nothing had happened", async () => {
    const path = join(SCRATCH, "frames.h5");
    await writeHdf5(path, (file) => {
      const data = Float32Array.from({ length: 8 * 3 * 48 ** 3 }, (_, i) => Math.sin(i));
      stateGrid(file);
      file.create_dataset({ name: "velocity", data, shape: [8, 48, 48, 48, 3] });
      file.create_dataset({ name: "time", data: Float64Array.from({ length: 8 }, (_, t) => t) });
    });
    const [whole, killed] = [join(SCRATCH, "frames-whole"), join(SCRATCH, "frames-killed")];
    expect((await fieldprobe("convert", path, whole, "--chunk", "16", "--filter", "gzip")).status).toBe(0);
    const child = spawn(process.execPath, [BIN, "convert", path, killed, "--chunk", "16", "--filter", "gzip"]);
    await once(child.stderr, "data");
    child.kill("SIGKILL");
    await once(child, "close");
    expect(existsSync(join(killed, "dataset.json"))).toBe(false);
    expect(await fieldprobe("check", killed)).toMatchObject({
      status: 1,
      stdout: `${killed}: an unfinished conversion; fieldprobe convert with the same arguments resumes it\n`,
    });
    expect((await fieldprobe("convert", path, killed, "--chunk", "16", "--filter", "gzip")).status).toBe(0);
    expect(readdirSync(killed).toSorted()).toEqual(readdirSync(whole).toSorted());
    for (const file of readdirSync(whole))
      expect(readFileSync(join(killed, file)).equals(readFileSync(join(whole, file)))).toBe(true);
  });
});
