/** Every producer's layout is recognised, explained, and reads as its canonical twin. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { openDataset } from "../../../src/storage/bricks/brick-reader.js";
import { type Dataset, fieldNames } from "../../../src/storage/dataset/dataset.js";
import type { Descriptor } from "../../../src/storage/dataset/descriptor.js";
import { type Recognised, recognise } from "../../../src/storage/recognise/recognise.js";
import { readDraft } from "../../../src/storage/tools/drafts.js";
import { writeDescriptor, writeHdf5 } from "../../support/cubes.js";
import { onlyDataset } from "../../support/only-dataset.js";
import { confirmIfAsked } from "../../support/open-confirmed.js";
import { PRODUCERS, placeProducer, twinDescriptor, writeTwin } from "../../support/producers.js";
import { firstDifference, readNodes } from "../../support/read-nodes.js";
import { scratchFolder } from "../../support/scratch.js";

const SCRATCH = scratchFolder();
/** Answers by flag, some of them beside another: `walls x periodic` is --walls x --periodic none. */
const ANSWERS = [
  ...["spacing 7,8,9", "origin 7,8,9", "length 7,8,9", "length 7 spacing", "periodic x", "periodic yz"],
  ...["walls x periodic", "times 7:8", "components z,x,y", "dims x,y,z", "coordinates x=/none", "velocity /none"],
  ...["pressure /none", "named zz=/none", "density /none", "trajectory 7", "cells xyz spacing", "overlap last"],
  ...["despite values"],
].map((row) => row.split(" "));
const BESIDE: Readonly<Record<string, string>> = { spacing: "7,8,9", periodic: "none" };

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

  const rows = entry.producer === "generic" ? [] : ANSWERS;
  it.each(rows)("leaves no answer without a word: --%s %s", (flag = "", text = "", beside = "") => {
    const others = beside === "" ? [] : [[beside, [BESIDE[beside] as string]] as const];
    let said: Descriptor;
    const { descriptor: before } = readDraft([path], new Map()) as Recognised;
    try {
      ({ descriptor: said } = readDraft([path], new Map([...others, [flag, [text]]])) as Recognised);
    } catch (error) {
      expect((error as Error).message).toMatch(RegExp(`--${flag}|not 7$|there is no dataset`));
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

it("takes answers that agree with the file, and walls and cells before what they depend on, and refuses others without effect", async () => {
  const path = join(SCRATCH, "raw.h5");
  const data = new Float32Array(12 * 10 * 8 * 3);
  await writeHdf5(path, (file) => {
    file.create_dataset({ name: "u", data, shape: [12, 10, 8, 3] });
    file.create_dataset({ name: "rho", data: data.subarray(0, 12 * 10 * 8), shape: [12, 10, 8] });
    file.create_dataset({ name: "z", data: Float64Array.from({ length: 12 }, (_, i) => i) });
  });
  const read = (answers: object) => readDraft([path], new Map(Object.entries(answers).map(([k, one]) => [k, [one]])));
  for (const early of [{ walls: "y" }, { cells: "xyz" }]) expect(read(early)?.descriptor.questions).not.toEqual([]);
  const whole = { dims: "z,y,x,c", spacing: "1", origin: "0", periodic: "xyz" };
  const agreeing = { walls: "none", cells: "none", components: "x,y,z", density: "/rho" };
  expect(read({ ...whole, ...agreeing })?.descriptor.axes).toEqual(read(whole)?.descriptor.axes);
  expect(read({ dims: "z,y,x,c", coordinates: "z=/z" })?.reasons).toContain("z: /z, from your answer.");
  expect(() => read({ ...whole, cells: "xyz" })).toThrow("--cells xyz has no effect");
  expect(() => read({ ...whole, walls: "y" })).toThrow("--walls y has no effect");
});
