/** Every producer's layout is recognised, explained, and reads as its canonical twin. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { openDataset } from "../../../src/storage/bricks/brick-reader.js";
import { scanFolders } from "../../../src/storage/catalog/scan-folders.js";
import { type Dataset, fieldNames } from "../../../src/storage/dataset/dataset.js";
import { loadHdf5 } from "../../../src/storage/hdf5/library.js";
import { recognise } from "../../../src/storage/recognise/recognise.js";
import { writeDescriptor, writeHdf5 } from "../../support/cubes.js";
import { confirmIfAsked } from "../../support/open-confirmed.js";
import { PRODUCERS, placeProducer, twinDescriptor, writeTwin } from "../../support/producers.js";
import { firstDifference, readNodes } from "../../support/read-nodes.js";
import { scratchFolder } from "../../support/scratch.js";

const SCRATCH = scratchFolder();
const OPTIONS = { chunkBytes: 64 * 1024 * 1024 };

beforeAll(() => loadHdf5());

function scanOne(folder: string): Dataset {
  const { datasets, problems } = scanFolders([folder], OPTIONS);
  expect(problems).toEqual([]);
  expect(datasets).toHaveLength(1);
  return datasets[0] as Dataset;
}

describe.each(PRODUCERS)("$producer: $name", (entry) => {
  let bare: Dataset;
  let twin: Dataset;
  let path: string;

  beforeAll(async () => {
    const folder = join(SCRATCH, entry.name);
    const twinFolder = join(SCRATCH, `${entry.name}-twin`);
    mkdirSync(folder);
    mkdirSync(twinFolder);
    path = await placeProducer(folder, entry);
    await writeHdf5(join(twinFolder, "twin.h5"), (file) => writeTwin(file, entry));
    writeDescriptor(twinFolder, twinDescriptor(entry, `${entry.name}-twin`));
    confirmIfAsked(path);
    bare = scanOne(folder);
    twin = scanOne(twinFolder);
  });

  it("is recognised, with its reasons", () => {
    const found = recognise(path);
    expect(found?.producer).toBe(entry.producer);
    const questions = found?.descriptor.questions.map(({ question }) => question) ?? [];
    const said = [...(found?.reasons ?? []), ...(found?.warnings ?? []), ...questions].join("\n");
    for (const expected of entry.says) expect(said).toMatch(expected);
    expect(bare.name).toBe(entry.name);
  });

  it("has the axes and times of its twin", () => {
    expect(bare.axes).toEqual(twin.axes);
    expect(bare.time).toEqual(twin.time);
    expect(Object.keys(bare.fields)).toEqual(Object.keys(twin.fields));
  });

  it("has the nodes of its twin", () => {
    const [one, other] = [openDataset(bare), openDataset(twin)];
    for (const field of fieldNames(bare))
      for (let frame = 0; frame < bare.time.count; frame++)
        expect(firstDifference(readNodes(bare, one, field, frame), readNodes(twin, other, field, frame))).toBeNull();
    one.close();
    other.close();
  });
});
