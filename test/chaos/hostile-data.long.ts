/**
 * Data folders that ask for too much: the program starts as it does without them, within a second of CPU and 64 MiB,
 * and so it stays when they are read.
 */
import { mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { array, SNAPSHOT } from "../storage/zarr/numbered-cube.js";
import { type Program, startProgram } from "../support/program.js";
import { scratchFolder } from "../support/scratch.js";
import { writeKnownZarr } from "../support/zarr.js";
import { zstdBomb } from "../support/zstd-bomb.js";

const MIB = 1024 * 1024;
const running: Program[] = [];
afterAll(async () => {
  await Promise.all(running.map((program) => program.stop("SIGKILL")));
});

/** A data folder with a good store, and one whose chunks may be anything. */
function goodFolder(): string {
  const folder = scratchFolder();
  const pressure = array(["z", "y", "x"], { codec: "gzip" });
  for (const name of ["good", "bomb"])
    writeKnownZarr(join(folder, `${name}.zarr`), { version: 2, arrays: { p: pressure, ...SNAPSHOT } });
  return folder;
}

/** Adds a list of 117 bytes, a document of 22 MB, a chunk of 12.8 KB, and more of their kind. */
function addHostile(folder: string): void {
  const put = (path: string, content: string | Uint8Array) => {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), content);
  };
  const gen = '"gen":[{"key":"a{{i}}","url":"b","dimensions":{"i":{"stop":1000000000000}}}]';
  put("list.refs.json", `{"version":1,"refs":{"zarr.json":"{}"},${gen}}`);
  const attributes = Object.fromEntries(Array.from({ length: 900_000 }, (_, i) => [`name${i}`, i]));
  put("large.zarr/zarr.json", JSON.stringify({ zarr_format: 3, node_type: "group", attributes }));
  put("deep/dataset.json", `{"a":${"[".repeat(5_000_000)}${"]".repeat(5_000_000)}}`);
  put("long/dataset.json", "");
  truncateSync(join(folder, "long/dataset.json"), 200 * MIB);
  const array = join(folder, "bomb.zarr/p");
  const described = JSON.parse(readFileSync(join(array, ".zarray"), "utf8"));
  writeFileSync(join(array, ".zarray"), JSON.stringify({ ...described, compressor: { id: "zstd", level: 1 } }));
  const bomb = zstdBomb(3200, false);
  expect(bomb.length).toBeLessThan(13_000);
  for (const chunk of readdirSync(array)) if (/^\d/.test(chunk)) writeFileSync(join(array, chunk), bomb);
}

interface Told {
  readonly cpuMs: number;
  readonly peakMiB: number;
  readonly served: readonly string[];
  readonly statuses: readonly number[];
  readonly log: string;
}

/** Starts the program on a folder and reads a point of each store. */
async function serve(data: string): Promise<Told> {
  const program = await startProgram({ DATA: data, STATE: scratchFolder(), EVENTS: "off", WORKERS: "1" });
  running.push(program);
  await expect.poll(async () => (await fetch(`${program.url}/readyz`)).status, { timeout: 30_000 }).toBe(200);
  const [user, system] = readFileSync(`/proc/${program.pid}/stat`, "latin1").split(") ")[1]?.split(" ").slice(11) ?? [];
  const { datasets } = (await (await fetch(`${program.url}/api/datasets`)).json()) as { datasets: { name: string }[] };
  const statuses: number[] = [];
  for (const name of ["good", "bomb", "bomb", "good"]) {
    const body = JSON.stringify({ what: "p", time: 0, method: "Lag4", time_method: "nearest", points: [[3, 3, 3]] });
    const init = { method: "POST", headers: { "content-type": "application/json" }, body };
    statuses.push((await fetch(`${program.url}/api/datasets/${name}/values`, init)).status);
  }
  const [, kib] = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${program.pid}/status`, "latin1")) ?? [];
  const served = datasets.map(({ name }) => name);
  return {
    cpuMs: 10 * (Number(user) + Number(system)),
    peakMiB: Number(kib) / 1024,
    served,
    statuses,
    log: program.log(),
  };
}

it("start and memory are those of the program without them", { timeout: 180_000 }, async () => {
  const plain = await serve(goodFolder());
  expect(plain).toMatchObject({ served: ["bomb", "good"], statuses: [200, 200, 200, 200] });
  const folder = goodFolder();
  addHostile(folder);
  const hostile = await serve(folder);
  expect(hostile).toMatchObject({ served: ["bomb", "good"], statuses: [200, 500, 500, 200] });
  expect(hostile.cpuMs - plain.cpuMs).toBeLessThan(1000);
  expect(hostile.peakMiB - plain.peakMiB).toBeLessThan(64);
  for (const words of [
    '\\"gen\\" is not read',
    "more than 16777216 bytes",
    "more than 32 levels",
    "more than any descriptor",
    "chunk 0.0.0 of /p is damaged",
  ])
    expect(hostile.log).toContain(words);
});
