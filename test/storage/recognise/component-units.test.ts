/** Components in different units are a red line; overridden, they are converted, which everything tells. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { File, Dataset as H5Dataset } from "h5wasm/node";
import { describe, expect, it } from "vitest";
import { openDataset } from "../../../src/storage/bricks/brick-reader.js";
import { recogniseSeries } from "../../../src/storage/catalog/series.js";
import type { Answers } from "../../../src/storage/recognise/answers.js";
import { recognise } from "../../../src/storage/recognise/recognise.js";
import { writeHdf5 } from "../../support/cubes.js";
import { openConfirmed } from "../../support/open-confirmed.js";
import { complete } from "../../support/questionable-files.js";
import { readNodes } from "../../support/read-nodes.js";
import { scratchFolder } from "../../support/scratch.js";

const SCRATCH = scratchFolder();
const TOLD = '/w is in "km/h" and is multiplied by 0.277777778, into the "m/s" of /u.';

const DESPITE: Answers = { despite: ["units"] };

const inUnits = (...units: readonly string[]) =>
  complete((file) => {
    for (const [at, name] of ["u", "v", "w"].entries())
      if (units[at] !== "") (file.get(name) as H5Dataset).create_attribute("units", units[at] as string);
  });
const made = (name: string, fill: (file: File) => void) => writeHdf5(join(SCRATCH, `${name}.h5`), fill);

describe("components in different units", () => {
  it("are a red line, which says how they are converted", async () => {
    const path = await made("red", inUnits("m/s", "m s-1", "km/h"));
    const { questions, assumed } = recognise(path)?.written ?? {};
    expect(assumed).toBeUndefined();
    expect(questions?.filter(({ red }) => red)).toEqual([
      {
        about: "units",
        question: '/u is in "m/s" and /w in "km/h"; that the numbers are in these units is a guess.',
        answer: `--despite units: ${TOLD.slice(0, -1)}`,
        red: true,
      },
    ]);
    expect(() => openConfirmed(path, 2 ** 26)).toThrow(/open question about units/);
  });

  it("are converted to the unit of the first in spite of it; every answer tells it", async () => {
    const dataset = openConfirmed(await made("known", inUnits("m/s", "m s-1", "km/h")), 2 ** 26, DESPITE);
    const open = openDataset(dataset);
    const [u, v, w] = readNodes(dataset, open, "velocity", 0).subarray(0, 3) as unknown as [number, number, number];
    open.close();
    // The first node holds 0, 1 and 2.
    expect([u, v, w]).toEqual([0, 1, Math.fround(2 / 3.6)]);
    expect(dataset.assumed).toEqual([{ about: "units", question: TOLD }]);
  });

  it("are told by inspect, and stay converted in its descriptor", async () => {
    const found = recognise(await made("told", inUnits("m/s", "m/s", "km/h")), DESPITE);
    expect(found?.reasons).toContain(TOLD);
    expect(found?.written.assumed).toEqual([{ about: "units", question: TOLD }]);
    const velocity = found?.written.fields.velocity as { components: readonly object[] };
    expect(velocity.components[2]).toMatchObject({ path: "/w", factor: 1 / 3.6 });
  });

  it.each([
    ["unknown", ["m/s", "u_tau", "m/s"], /\/u is in "m\/s" and \/v in "u_tau"/],
    ["of other kinds", ["m/s", "Pa", "m/s"], /\/u is in "m\/s" and \/v in "Pa"/],
    ["known of some only", ["m/s", "", "cm/s"], /\/u is in "m\/s" and \/w in "cm\/s"/],
    ["not known of the first", ["", "m/s", "cm/s"], /\/v is in "m\/s" and \/w in "cm\/s"/],
  ] as const)("are asked about if they are %s", async (name, units, asks) => {
    const path = await made(name.replaceAll(" ", "-"), inUnits(...units));
    expect(() => openConfirmed(path, 2 ** 26)).toThrow(asks);
  });

  it("are converted in all files of a series, whose questions stay questions", async () => {
    mkdirSync(join(SCRATCH, "series"));
    const paths = [];
    for (const at of [0, 1])
      paths.push(
        await made(`series/s_${at}`, (file) => {
          inUnits("m/s", "m/s", "km/h")(file);
          file.create_attribute("time", at, [], "<d");
          if (at === 1) (file.get("u") as H5Dataset).create_attribute("gain", 2, [], "<d");
        }),
      );
    const { written } = recogniseSeries(paths, DESPITE);
    expect(written.assumed).toEqual([{ about: "units", question: TOLD }]);
    expect(written.questions?.map(({ about }) => about)).toContain("values");
  });
});
