/**
 * `npm run bench:scan -- FOLDER ...`: processor time of the scans of data folders: the first one without an index, the
 * first one of another process with the index of that one, and rescans in which nothing has changed.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { completeScan, statesOf } from "../dist/storage/catalog/scan.js";
import { scanChanges, scanWithIndex } from "../dist/storage/catalog/scan-folders.js";
import { loadHdf5 } from "../dist/storage/hdf5/library.js";

const RESCANS = 5;
const folders = process.argv.slice(2);
const state = mkdtempSync(join(tmpdir(), "fieldprobe-scan-"));
const options = { chunkBytes: 64 * 1024 * 1024 };

/** Runs something and prints its processor time and its time, in milliseconds. */
function timed<T>(what: string, run: () => T): T {
  const before = process.cpuUsage();
  const since = performance.now();
  const result = run();
  const { user, system } = process.cpuUsage(before);
  const cpu = (user + system) / 1000;
  console.log(
    `${what.padEnd(24)} ${cpu.toFixed(0).padStart(7)} ms of CPU ${(performance.now() - since).toFixed(0)} ms`,
  );
  return result;
}

await loadHdf5();
try {
  const scan = () => scanWithIndex(folders, { ...options, known: new Map() }, join(state, "catalogue"), "bench");
  timed("first scan", scan);
  const again = timed("first scan, with index", scan);
  const found = completeScan(again, undefined);
  const known = statesOf(found);
  for (let i = 0; i < RESCANS; i++)
    timed("rescan", () => completeScan(scanChanges(folders, { ...options, known }), found));
  const files = found.datasets.reduce((sum, dataset) => sum + dataset.files.length, 0);
  console.log(`${found.datasets.length} datasets, ${files} files, ${found.problems.length} problems`);
} finally {
  rmSync(state, { recursive: true });
}
