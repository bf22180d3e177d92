/** Every producer's layout is recognised, explained, and reads as its canonical twin. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { openDataset } from "../../../src/storage/bricks/brick-reader.js";
import { type Dataset, fieldNames } from "../../../src/storage/dataset/dataset.js";
import type { Descriptor } from "../../../src/storage/dataset/descriptor.js";
import type { Answers } from "../../../src/storage/recognise/answers.js";
import { type Recognised, recognise } from "../../../src/storage/recognise/recognise.js";
import { writeDescriptor, writeHdf5 } from "../../support/cubes.js";
import { onlyDataset } from "../../support/only-dataset.js";
import { confirmIfAsked } from "../../support/open-confirmed.js";
import { PRODUCERS, placeProducer, twinDescriptor, writeTwin } from "../../support/producers.js";
import { firstDifference, readNodes } from "../../support/read-nodes.js";
import { scratchFolder } from "../../support/scratch.js";

const SCRATCH = scratchFolder();
const ANSWERS: readonly Answers[] = [
  { spacing: [7, 8, 9] },
  { origin: [7, 8, 9] },
  { length: [7, 8, 9] },
  ...([{ periodic: ["x"] }, { periodic: ["y", "z"] }, { walls: ["x"], periodic: [] }] as const),
  { times: { origin: 7, step: 8 } },
  ...([{ components: ["z", "x", "y"] }, { dims: ["x", "y", "z"] }] as const),
  { coordinates: new Map([["x", "/none"]]) },
  { velocity: ["/none"] },
  { pressure: "/none" },
  { trajectory: 7 },
];

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
    bare = onlyDataset(folder);
    twin = onlyDataset(twinFolder);
  });

  it("is recognised, with its reasons", () => {
    const found = recognise(path);
    expect(found?.producer).toBe(entry.producer);
    const questions = found?.descriptor.questions.map(({ question }) => question) ?? [];
    const said = [...(found?.reasons ?? []), ...(found?.warnings ?? []), ...questions].join("\n");
    for (const expected of entry.says) expect(said).toMatch(expected);
    expect(bare.name).toBe(entry.name);
  });

  it.each(entry.producer === "generic" ? [] : ANSWERS)("leaves no answer without a word: %j", (answer) => {
    const [flag = ""] = Object.keys(answer);
    const { descriptor: before } = recognise(path, entry.answers) as Recognised;
    let said: Descriptor;
    try {
      ({ descriptor: said } = recognise(path, { ...entry.answers, ...answer }) as Recognised);
    } catch (error) {
      expect((error as Error).message).toMatch(RegExp(`--${flag}|not 7$`));
      return;
    }
    const plan = ({ axes, time, fields }: Descriptor) => [axes, time, fields];
    expect(plan(said)).not.toEqual(plan(before));
    const named = ({ assumed, questions }: Descriptor) => [assumed, questions];
    if (!Object.hasOwn(entry.answers ?? {}, flag)) expect(named(said)).not.toEqual(named(before));
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
