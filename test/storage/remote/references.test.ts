/** Lists of references: the chunks of an HDF5 file are read where they lie, in a folder or behind HTTP. */
import { copyFileSync, mkdirSync, readFileSync, statSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { openDataset } from "../../../src/storage/bricks/brick-reader.js";
import { scanFolders } from "../../../src/storage/catalog/scan-folders.js";
import type { Dataset } from "../../../src/storage/dataset/dataset.js";
import type { FolderScan } from "../../../src/storage/dataset/scan.js";
import "../../support/hdf5-library.js";
import type { Hdf5File } from "../../../src/storage/hdf5-bytes/hdf5-file.js";
import { openFile } from "../../../src/storage/open-file.js";
import { useObjectServer } from "../../support/object-server.js";
import { onlyDataset as only } from "../../support/only-dataset.js";
import { folderIn, scratchFolder } from "../../support/scratch.js";
import { expectNodes } from "../zarr/numbered-cube.js";

const SCRATCH = scratchFolder();
const FIXTURES = fileURLToPath(new URL("../zarr/fixtures", import.meta.url));
const WRITTEN = readFileSync(join(FIXTURES, "numbered.refs.json"), "utf8");
/** The descriptor of the store, in it: it is known without a confirmation. */
const table = (path: string) => ({ coordinates: { file: "{store}", path } });
const EMBEDDED = JSON.stringify({
  schemaVersion: 1,
  axes: { x: table("/x"), y: table("/y"), z: table("/z") },
  time: { count: 1 },
  fields: { pressure: { file: "{store}", path: "/p", dimensions: ["z", "y", "x"] } },
});
const LIST = WRITTEN.replace(
  /"refs":\s*\{/,
  (head) => `${head}".zattrs": ${JSON.stringify(JSON.stringify({ fieldprobe_descriptor: EMBEDDED }))},`,
);
const FILE = readFileSync(join(FIXTURES, "numbered.h5"));
const server = useObjectServer();

let folders = 0;
function folder(list: string, target: Buffer | null = FILE): string {
  const path = folderIn(SCRATCH, `folder${++folders}`);
  writeFileSync(join(path, "flow.refs.json"), list);
  mkdirSync(join(path, ".hidden"));
  // A hidden folder is not searched, so that the file itself is no dataset.
  if (target !== null) writeFileSync(join(path, ".hidden", "numbered.h5"), target);
  return path;
}

const hidden = LIST.replace('"file": "numbered.h5"', '"file": ".hidden/numbered.h5"');
const scan = (place: string): FolderScan => scanFolders([place], { chunkBytes: 1 << 26 });

function firstValue(dataset: Dataset): number {
  const open = openDataset(dataset);
  const out = new Float32Array(1);
  try {
    open.readNodes("pressure", 0, { first: [0, 0, 0], count: [1, 1, 1] }, out);
  } finally {
    open.close();
  }
  return out[0] as number;
}

describe("references in a folder", () => {
  it("read as the nodes of the file, under the name of the list", () => {
    const dataset = only(folder(hidden));
    expect(dataset.name).toBe("flow");
    expectNodes(dataset, "pressure", 1);
  });

  it("are refused where they lead out of the folder", () => {
    copyFileSync(join(FIXTURES, "numbered.h5"), join(SCRATCH, "numbered.h5"));
    const outside = LIST.replace('"file": "numbered.h5"', '"file": "../numbered.h5"');
    expect(scan(folder(outside)).problems[0]?.message).toMatch(/outside of the folder/);
  });

  it("are refused where their file is missing, in one line", () => {
    const { problems } = scan(folder(hidden, null));
    expect(problems).toHaveLength(1);
    expect(problems[0]?.message).toMatch(/^[^\n]*numbered\.h5[^\n]*$/);
  });

  it.each(["{", '{"version": 1, "refs": {"p/0.0.0": [1, 2, 3]}}', '{"version": 1, "refs": {"a": ["f.h5", -1, "x"]}}'])(
    "refuse the list %s in one line",
    (list) => {
      const { problems } = scan(folder(list));
      expect(problems).toHaveLength(1);
      expect(problems[0]?.message).not.toMatch(/\n/);
    },
  );

  it.each([0, 3000])("refuse a list that states a key twice, with %i others in between", (others) => {
    const { refs, ...rest } = JSON.parse(hidden) as { refs: Record<string, unknown> };
    const [[key, value]] = Object.entries(refs).filter(([, one]) => Array.isArray(one)) as [[string, unknown]];
    const between = Array.from({ length: others }, (_, i) => `"none/${i}": "",`).join("");
    const members = JSON.stringify(refs).slice(1, -1);
    const twice = `{${members},${between}${JSON.stringify(key)}:${JSON.stringify(value)}}`;
    const list = `${JSON.stringify(rest).slice(0, -1)},"refs":${twice}}`;
    expect(scan(folder(list)).problems[0]?.message).toContain(`the member ${key} is stated twice`);
  });

  it("refuse a list that is too long to be read", () => {
    const place = folder(hidden);
    // Sparse: it takes no room on the disk.
    truncateSync(join(place, "flow.refs.json"), 2 ** 29 + 1);
    expect(scan(place).problems[0]?.message).toMatch(/has 536870913 bytes, more than 134217728$/);
  });

  it("give errors once the file is another, and its values after a scan", () => {
    const place = folder(hidden);
    const dataset = only(place);
    const target = join(place, ".hidden", "numbered.h5");
    const later = Date.now() / 1000 + 10;
    utimesSync(target, later, later);
    expect(() => firstValue(dataset)).toThrow(/cannot be read/);
    expect(firstValue(only(place))).toBe(1);
  });

  it("are refused if the file is not the one that the list was written for, even at the first look", () => {
    const place = folder(hidden);
    const list = join(place, "flow.refs.json");
    const target = join(place, ".hidden", "numbered.h5");
    const { size: bytes, mtimeMs: modifiedMs } = statSync(target);
    const stamped = (stamp: object) =>
      writeFileSync(list, JSON.stringify({ ...JSON.parse(hidden), targets: { ".hidden/numbered.h5": stamp } }));
    stamped({ bytes, modifiedMs });
    expect(firstValue(only(place))).toBe(1);
    utimesSync(target, 1, 1);
    expect(scan(place).problems[0]?.message).toMatch(
      /numbered\.h5 has changed since the list was written; write the list anew/,
    );
    stamped({ bytes });
    expect(firstValue(only(place))).toBe(1);
    stamped({ bytes: bytes + 1 });
    expect(scan(place).problems[0]?.message).toMatch(/has changed since the list was written/);
  });

  it("give errors where the file has been cut short", () => {
    const place = folder(hidden);
    const dataset = only(place);
    const target = join(place, ".hidden", "numbered.h5");
    writeFileSync(target, FILE.subarray(0, 2100));
    utimesSync(target, 1, 1);
    expect(() => firstValue(dataset)).toThrow(/cannot be read/);
  });
});

describe("references to a file behind HTTP", () => {
  it("read as its nodes by ranges, from a list in a folder and from one behind HTTP", async () => {
    await server.put("data", new Map([["numbered.h5", FILE]]));
    await server.put("data", new Map([["flow.refs.json", Buffer.from(LIST)]]));
    expectNodes(only(`${server.url}/data/flow.refs.json`), "pressure", 1);
    const named = LIST.replace('"file": "numbered.h5"', `"file": "${server.url}/data/numbered.h5"`);
    expectNodes(only(folder(named, null)), "pressure", 1);
  });

  it("give errors if the file is not the one that the list was written for", async () => {
    await server.put("stamped", new Map([["numbered.h5", FILE]]));
    const file = openFile(`${server.url}/stamped/numbered.h5`, { named: true }) as Hdf5File;
    const list = { ...JSON.parse(LIST), targets: { "numbered.h5": { version: file.version } } };
    file.close();
    await server.put("stamped", new Map([["flow.refs.json", Buffer.from(JSON.stringify(list))]]));
    expect(firstValue(only(`${server.url}/stamped/flow.refs.json`))).toBe(1);
    await server.put("replaced", new Map([["numbered.h5", FILE]]), -5000);
    await server.put("replaced", new Map([["flow.refs.json", Buffer.from(JSON.stringify(list))]]));
    const { problems } = scan(`${server.url}/replaced/flow.refs.json`);
    expect(problems[0]?.message).toMatch(/numbered\.h5 has changed since the list was written/);
  });

  it("give errors once the file is another", async () => {
    await server.put("other", new Map([["numbered.h5", FILE]]));
    await server.put("other", new Map([["flow.refs.json", Buffer.from(LIST)]]));
    const dataset = only(`${server.url}/other/flow.refs.json`);
    await server.put("other", new Map([["numbered.h5", FILE]]), 5000);
    expect(() => firstValue(dataset)).toThrow(/cannot be read/);
  });
});
