/** Descriptors in a folder of their own describe files of a read-only archive, by absolute or relative paths. */
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { scanFolders } from "../../../src/storage/catalog/scan-folders.js";
import { descriptor, NODES, writeField, writeHdf5 } from "../../support/cubes.js";
import { openConfirmed } from "../../support/open-confirmed.js";
import { fieldprobe } from "../../support/run-command.js";
import { folderIn, scratchFolder } from "../../support/scratch.js";

const SCRATCH = scratchFolder();
const ARCHIVE = join(SCRATCH, "archive");
const APART = join(SCRATCH, "apart");
const scan = (folder: string) => scanFolders([ARCHIVE], { chunkBytes: 2 ** 26, descriptors: folder });
const field = (file: string) => ({ velocity: { file, path: "/u", dimensions: ["z", "y", "x", "c"] } });
const snapshot = { count: 1 };

beforeAll(async () => {
  mkdirSync(ARCHIVE);
  mkdirSync(APART);
  for (const name of ["u", "v", "series_00", "series_01"])
    await writeHdf5(join(ARCHIVE, `${name}.h5`), (file) =>
      writeField(file, "/u", { dimensions: ["z", "y", "x", "c"], value: ({ x, y, z, c }) => x + 20 * y + 400 * z + c }),
    );
  chmodSync(ARCHIVE, 0o555);
  const write = (name: string, members: object) =>
    writeFileSync(join(APART, `${name}.json`), JSON.stringify(descriptor(name, { time: snapshot, ...members })));
  write("absolute", { fields: field(join(ARCHIVE, "u.h5")) });
  write("relative", { fields: field("../archive/v.h5") });
  write("frames", { time: { origin: 0, step: 1, count: 2 }, fields: field(join(ARCHIVE, "series_{step:02d}.h5")) });
});

it("describes files of a data folder, which are then no datasets of their own", () => {
  const { datasets, problems } = scan(APART);
  expect(problems).toEqual([]);
  expect(datasets.map(({ name }) => name)).toEqual(["absolute", "frames", "relative"]);
  const bare = scanFolders([ARCHIVE], { chunkBytes: 2 ** 26 });
  expect(bare.datasets).toEqual([]);
  expect(bare.problems.map(({ location }) => location)).toContain(join(ARCHIVE, "u.h5"));
});

it("sees that a file or a descriptor has changed, and nothing else", () => {
  const before = scan(APART);
  const again = scanFolders([ARCHIVE], { chunkBytes: 2 ** 26, descriptors: APART, previous: before });
  expect(again.datasets[0]).toBe(before.datasets[0]);
  const path = join(APART, "absolute.json");
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.replace('"spacing":1', '"spacing":2'));
  const changed = scanFolders([ARCHIVE], { chunkBytes: 2 ** 26, descriptors: APART, previous: before });
  expect(changed.datasets[0]?.axes[0].spacing).toBe(2);
  expect(changed.datasets[2]).toBe(before.datasets[2]);
  writeFileSync(path, text);
});

it("does not reach beyond the data folders, and says so of each descriptor alone", async () => {
  const folder = folderIn(SCRATCH, "beyond");
  const outside = await writeHdf5(join(SCRATCH, "outside.h5"), (file) =>
    writeField(file, "/u", { dimensions: ["z", "y", "x", "c"] }),
  );
  const member = (name: string, file: string) =>
    writeFileSync(
      join(folder, `${name}.json`),
      JSON.stringify(descriptor(name, { time: snapshot, fields: field(file) })),
    );
  member("a", outside);
  symlinkSync(outside, join(folder, "link.h5"));
  member("b", "link.h5");
  member("c", join(ARCHIVE, "u.h5"));
  const { datasets, problems } = scan(folder);
  expect(datasets.map(({ name }) => name)).toEqual(["c"]);
  const messages = problems.filter(({ location }) => location.startsWith(folder)).map(({ message }) => message);
  expect(messages).toEqual([
    `fields.velocity: ${outside}: is in none of the data folders, nor in the folder of its descriptor`,
    "fields.velocity: link.h5: is in none of the data folders, nor in the folder of its descriptor",
  ]);
  // The folder in the state folder is made with the first confirmation.
  expect(
    scan(join(SCRATCH, "nowhere"))
      .problems.map(({ message }) => message)
      .join(),
  ).not.toContain("not readable");
});

it("is written by inspect, and read by check and values", async () => {
  const folder = join(SCRATCH, "written");
  const answers = ["--dims", "z,y,x,c", "--periodic", "xyz", "--spacing", "1", "--origin", "0"];
  const inspected = await fieldprobe("inspect", join(ARCHIVE, "u.h5"), ...answers, "--yes", "--descriptors", folder);
  expect(inspected.stderr).toContain(`wrote ${join(folder, "u.json")}\n`);
  const written = JSON.parse(readFileSync(join(folder, "u.json"), "utf8"));
  expect(written.fields.velocity.file).toBe(join(ARCHIVE, "u.h5"));
  expect((await fieldprobe("check", ARCHIVE, "--descriptors", folder)).stdout).toContain(
    `u (${join(folder, "u.json")})`,
  );
  const flags = ["--time", "0", "--method", "nearest", "--points", "1,2,3"];
  const asked = await fieldprobe("values", "u", "u", "--data", ARCHIVE, "--descriptors", folder, ...flags);
  expect(asked.stdout.split(/\r?\n/)[1]).toBe(`1,2,3,${1 + 40 + 1200},${1 + 40 + 1201},${1 + 40 + 1202}`);
  expect(openConfirmed(join(folder, "u.json"), 2 ** 26).axes[0].nodes).toBe(NODES.x);
  chmodSync(ARCHIVE, 0o755);
});
