/**
 * `npm run bench:scan`: processor time of the scans of 10 000 single files, and of 100 series of 100 files: the first
 * scan without an index, the first one of another process with the index of that one, and rescans in which nothing has
 * changed. `-- FOLDER ...` scans those folders instead; `--json FILE` and `--quick` as in every bench.
 */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { File } from "h5wasm/node";
import { completeScan, statesOf } from "../dist/storage/catalog/scan.js";
import { scanChanges, scanWithIndex } from "../dist/storage/catalog/scan-folders.js";
import { loadHdf5 } from "../dist/storage/hdf5/library.js";
import { OPTIONS, type Row, report, summarise } from "./row.js";

const { values, positionals: given } = parseArgs({ options: OPTIONS, allowPositionals: true });
const { json = null, quick } = values;
const RESCANS = 5;
const FILES = quick ? 1_000 : 10_000;
/** Files of a series. */
const LENGTH = 100;
const NODES = 12;
/** Age from which on an index believes that a file stays as it is (`scan-index.ts`), and some more. */
const SETTLED_MS = 4_000;
const own = mkdtempSync(join(tmpdir(), "fieldprobe-scan-"));
const options = { chunkBytes: 64 * 1024 * 1024 };

/** Milliseconds of CPU of each thing that was timed, by its name. */
const times = new Map<string, number[]>();

/** Runs something and notes its processor time. */
function timed<T>(what: string, run: () => T): T {
  const before = process.cpuUsage();
  const result = run();
  const { user, system } = process.cpuUsage(before);
  times.set(what, [...(times.get(what) ?? []), (user + system) / 1000]);
  return result;
}

/** Writes a cube as solvers do: a dataset for each component and axis, with units. */
function writePlainCube(path: string): void {
  const file = new File(path, "w");
  file.create_attribute("axis_order", "zyx");
  file.create_attribute("periodic", "all");
  file.create_attribute("time", 0, [], "<d");
  const spacing = (2 * Math.PI) / NODES;
  for (const name of ["x", "y", "z"])
    file.create_dataset({ name, data: Float64Array.from({ length: NODES }, (_, i) => i * spacing) });
  for (const name of ["u", "v", "w", "p"]) {
    const data = Float32Array.from({ length: NODES ** 3 }, (_, i) => Math.sin(i));
    file.create_dataset({ name, data, shape: [NODES, NODES, NODES] }).create_attribute("units", "m/s");
  }
  file.close();
}

/** Says in a `dataset.json` that the files of a folder are the frames of one dataset. */
function describeSeries(folder: string, name: string): void {
  const axis = { nodes: NODES, origin: 0, spacing: (2 * Math.PI) / NODES, periodic: true };
  const inFile = (path: string) => ({ file: "f{step:05d}.h5", path });
  const dimensions = ["z", "y", "x"];
  const fields = {
    velocity: { components: ["u", "v", "w"].map(inFile), dimensions },
    pressure: { ...inFile("p"), dimensions },
  };
  const time = { origin: 0, step: 0.01, count: LENGTH };
  const axes = { x: axis, y: axis, z: axis };
  writeFileSync(
    join(folder, "dataset.json"),
    JSON.stringify({ schemaVersion: 1, name, title: name, axes, time, fields }),
  );
}

/** Makes the folders that are scanned: 10 000 files that are datasets of their own, and as many of series. */
function makeFolders(): [single: string, series: string] {
  const [cube, single, series] = ["cube.h5", "single", "series"].map((name) => join(own, name)) as [
    string,
    string,
    string,
  ];
  writePlainCube(cube);
  for (const folder of [single, series]) mkdirSync(folder);
  const numbered = (prefix: string, i: number): string => `${prefix}${String(i).padStart(5, "0")}`;
  for (let i = 0; i < FILES; i++) {
    copyFileSync(cube, join(single, `${numbered("s", i)}.h5`));
    const name = numbered("set", Math.floor(i / LENGTH));
    const folder = join(series, name);
    if (i % LENGTH === 0) {
      mkdirSync(folder);
      describeSeries(folder, name);
    }
    copyFileSync(cube, join(folder, `${numbered("f", i % LENGTH)}.h5`));
  }
  return [single, series];
}

/** Scans data folders, first without and then with an index, and again and again; rows are named after them. */
function scanAll(name: string, folders: readonly string[], index: string): Row[] {
  const scan = () => scanWithIndex(folders, { ...options, known: new Map() }, index, "bench");
  timed("first scan", scan);
  const again = timed("first scan, with index", scan);
  const found = completeScan(again, undefined);
  const known = statesOf(found);
  for (let i = 0; i < RESCANS; i++)
    timed("rescan", () => completeScan(scanChanges(folders, { ...options, known }), found));
  const files = found.datasets.reduce((sum, dataset) => sum + dataset.files.length, 0);
  if (found.problems.length > 0) throw new Error(`${name}: ${found.problems.length} files could not be read`);
  const about = { bench: "scan", backend: "cpu", unit: "ms", params: { datasets: found.datasets.length, files } };
  const rows = [...times].map(([what, some]) => ({ ...about, case: `${name}, ${what}`, ...summarise(some) }));
  times.clear();
  return rows;
}

await loadHdf5();
try {
  const made = given.length > 0 ? null : makeFolders();
  if (made !== null) await new Promise((resolve) => setTimeout(resolve, SETTLED_MS));
  const [single, series] = made ?? [];
  const sets =
    single && series ? [["single", [single]] as const, ["series", [series]] as const] : [["given", given] as const];
  const rows = sets.flatMap(([name, folders], i) => scanAll(name, folders, join(own, `catalogue${i}`)));
  report(rows, { json, quick });
} finally {
  rmSync(own, { recursive: true });
}
