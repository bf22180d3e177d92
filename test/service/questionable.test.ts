/** Every door refuses the same questionable files, with the same question. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningService } from "../../src/main.js";
import { scanFolders } from "../../src/storage/catalog/scan-folders.js";
import { openSource } from "../../src/storage/catalog/source.js";
import { loadHdf5 } from "../../src/storage/hdf5/library.js";
import { writeHdf5 } from "../support/cubes.js";
import { QUESTIONABLE } from "../support/questionable-files.js";
import { scratchFolder } from "../support/scratch.js";
import { serveTestData } from "../support/service.js";

const BIN = fileURLToPath(new URL("../../bin/fieldprobe.js", import.meta.url));
const SCRATCH = scratchFolder();
const CHUNK_BYTES = 2 ** 26;
const ROWS = QUESTIONABLE.map((entry) => [entry.name, entry] as const);
/** Files that commands are run with, which take a process each. */
const FEW = ROWS.filter((_, at) => at % 7 === 0);
const POINTS = join(SCRATCH, "points.csv");
const QUERY = ["query", "GetPressure", "--time", "0", "--method", "None", "--points", POINTS, "--data", SCRATCH];
const pathOf = (name: string) => join(SCRATCH, `${name}.h5`);
const fieldprobe = (...args: string[]) => spawnSync(process.execPath, [BIN, ...args], { encoding: "utf8" });

let service: RunningService;
beforeAll(async () => {
  await loadHdf5();
  writeFileSync(POINTS, "1,1,1\n");
  for (const { name, write } of QUESTIONABLE) await writeHdf5(pathOf(name), write);
  service = await serveTestData([SCRATCH]);
});
afterAll(() => service.close());

const NONE = { spatialInterpolation: "None", temporalInterpolation: "None" };
const envelope = (dataset: string) =>
  '<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>' +
  `<GetVelocity xmlns="http://turbulence.pha.jhu.edu/"><dataset>${dataset}</dataset><time>0</time>` +
  "<spatialInterpolation>None</spatialInterpolation><temporalInterpolation>None</temporalInterpolation>" +
  "<points><Point3><x>1</x><y>1</y><z>1</z></Point3></points></GetVelocity></s:Body></s:Envelope>";

describe("a questionable file", () => {
  it("is in no list of the service, which the page and peers take their datasets from", async () => {
    const text = await (await fetch(`${service.url}/api/datasets`)).text();
    for (const { name } of QUESTIONABLE) expect(text).not.toContain(`"${name}"`);
  });

  it.each(ROWS)("%s is refused by REST and SOAP", async (name) => {
    const json = JSON.stringify({ ...NONE, time: 0, points: [[1, 1, 1]] });
    const headers = { "content-type": "application/json" };
    const rest = await fetch(`${service.url}/api/datasets/${name}/GetVelocity`, {
      method: "POST",
      headers,
      body: json,
    });
    expect([rest.ok, await rest.text()]).toEqual([false, expect.stringContaining(name)]);
    const soap = await fetch(`${service.url}/service/turbulence.asmx`, {
      method: "POST",
      headers: { "content-type": "text/xml; charset=utf-8" },
      body: envelope(name),
    });
    expect([soap.ok, await soap.text()]).toEqual([false, expect.stringContaining(name)]);
  });

  it("is refused by the scan of serve, query and check, and by convert and cutout, in the same words", () => {
    const { datasets, problems } = scanFolders([SCRATCH], { chunkBytes: CHUNK_BYTES });
    expect(datasets).toEqual([]);
    for (const { name, asks } of QUESTIONABLE) {
      const path = pathOf(name);
      const messages = problems.filter(({ location }) => location === path).map(({ message }) => message);
      expect(messages.join("\n")).toMatch(asks);
      expect(() => openSource(path, CHUNK_BYTES)).toThrow(asks);
    }
  });

  it.each(FEW)("%s is refused by every command", (name, { asks }) => {
    const path = pathOf(name);
    const inspected = fieldprobe("inspect", path);
    expect([inspected.status, `${inspected.stdout}${inspected.stderr}`]).toEqual([1, expect.stringMatching(asks)]);
    for (const args of [
      ["convert", path, join(SCRATCH, `${name}-converted`)],
      ["cutout", path, join(SCRATCH, `${name}-cutout.h5`)],
      ["check", SCRATCH],
      [...QUERY, "--dataset", name],
    ]) {
      const { status, stdout, stderr } = fieldprobe(...args);
      expect([args[0], status !== 0, `${stdout}${stderr}`]).toEqual([args[0], true, expect.stringMatching(asks)]);
    }
  });
});
