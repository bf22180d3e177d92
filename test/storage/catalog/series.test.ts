/** A series of files asks what any of its files leaves open, and follows the times that they state. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { File, Dataset as H5Dataset } from "h5wasm/node";
import { describe, expect, it } from "vitest";
import { recogniseSeries } from "../../../src/storage/catalog/series.js";
import { recognise } from "../../../src/storage/recognise/recognise.js";
import { parentOf, writeHdf5 } from "../../support/cubes.js";
import { complete, writeComponents, writeTables } from "../../support/questionable-files.js";
import { scratchFolder } from "../../support/scratch.js";

const SCRATCH = scratchFolder();

async function filesOf(folder: string, files: Readonly<Record<string, (file: File) => void>>): Promise<string[]> {
  mkdirSync(join(SCRATCH, folder));
  const paths: string[] = [];
  for (const [name, more] of Object.entries(files))
    paths.push(await writeHdf5(join(SCRATCH, folder, name), complete(more)));
  return paths;
}

const at = (time: number, scale?: number) => (file: File) => {
  file.create_attribute("time", time, [], "<d");
  if (scale !== undefined) file.create_attribute("scale_factor", scale, [], "<d");
};
const open = (questions: readonly { about: string; question: string }[] = []) =>
  questions.filter(({ about }) => about !== "faces").map(({ question }) => question);

describe("a series of files", () => {
  it("has the line of a file that is not the first, by its name", async () => {
    const scaled = (time: number) => (file: File) => {
      at(time)(file);
      (file.get("u") as H5Dataset).create_attribute("gain", 0.5, [], "<d");
    };
    const paths = await filesOf("scaled", { "a_0.h5": at(0), "a_1.h5": scaled(1), "a_2.h5": scaled(2) });
    const { written } = recogniseSeries(paths, {});
    expect(open(written.questions)).toEqual([expect.stringMatching(/^In a_1\.h5, a_2\.h5: .*gain = 0\.5 of \/u/)]);
  });

  it("overrides nothing by times that no file states", async () => {
    const paths = await filesOf("timeless", { "t_0.h5": () => {}, "t_1.h5": () => {} });
    expect(recogniseSeries(paths, { times: { origin: 0, step: 1 } }).descriptor.assumed).toEqual([]);
  });

  it("lists what differs among its files and is not used", async () => {
    const paths = await filesOf("differ", { "d_0.h5": at(0), "d_1.h5": at(1, 0.5), "d_2.h5": at(2, 0.5) });
    expect(recogniseSeries(paths, {}).varies).toEqual(["@scale_factor", "@time"]);
  });

  it("stands in the order of the times that its files state, whatever their numbers are", async () => {
    const paths = await filesOf("reversed", { "r_1.h5": at(3), "r_2.h5": at(2), "r_10.h5": at(1) });
    const { descriptor } = recogniseSeries(paths, {});
    expect(descriptor.time).toMatchObject({ origin: 1, step: 1, count: 3 });
    expect(descriptor.fields.velocity?.steps).toEqual(["10", "2", "1"]);
  });

  it("refuses two files of one number that state no times", async () => {
    const paths = await filesOf("twice", { "run_1.h5": () => {}, "run_01.h5": () => {} });
    expect(() => recogniseSeries(paths, {})).toThrow("two files have the same number: 1 and 01");
  });

  /** Files of times from 0, each with an attribute of some datasets. */
  const stating = (folder: string, names: string, attribute: string, texts: readonly string[]) => {
    const file = (text: string, time: number) => (written: File) => {
      at(time)(written);
      for (const name of names) (written.get(name) as H5Dataset).create_attribute(attribute, text);
    };
    return filesOf(folder, Object.fromEntries(texts.map((text, i) => [`${folder}_${i}.h5`, file(text, i)])));
  };

  it("refuses files in other units", async () => {
    const paths = await stating("units", "uvw", "units", ["m/s", "cm/s"]);
    expect(() => recogniseSeries(paths, {})).toThrow(/units_1\.h5 states other units or labels than .*units_0\.h5/);
    const later = await stating("lengths", "xyz", "units", ["m", "m", "cm"]);
    expect(() => recogniseSeries(later, {})).toThrow(/lengths_2\.h5 states other units or labels than .*lengths_0\.h5/);
  });

  it("asks about components in another order in a file that is not the first", async () => {
    const paths = await stating("orders", "uvw", "axes", ["zyx", "zyx", "zxy"]);
    expect(() => recogniseSeries(paths, {})).toThrow(/orders_2\.h5/);
  });
});

describe("groups of one time each", () => {
  const grouped =
    (times: readonly number[], more: (file: File, step: string) => void = () => {}) =>
    (file: File) => {
      writeTables(file);
      for (const [index, time] of times.entries()) {
        const step = `${index}`;
        writeComponents(
          file,
          ["u", "v", "w"].map((name) => `/${step}/${name}`),
        );
        const { group } = parentOf(file, `/${step}/u`);
        group.create_attribute("time", time, [], "<d");
        more(file, step);
      }
    };

  it("are frames in the order of their times", async () => {
    const found = recognise(await writeHdf5(join(SCRATCH, "descending.h5"), grouped([1, 0.5, 0])));
    expect(open(found?.written.questions)).toEqual([]);
    expect(found?.descriptor.time).toMatchObject({ origin: 0, step: 0.5, count: 3 });
    expect(found?.descriptor.fields.velocity?.steps).toEqual(["2", "1", "0"]);
  });

  it("show a statement in any of them", async () => {
    const scale = (file: File, step: string) => {
      if (step === "2") parentOf(file, `/${step}/u`).group.create_attribute("scale_factor", 2, [], "<d");
    };
    const found = recognise(await writeHdf5(join(SCRATCH, "scaled.h5"), grouped([0, 1, 2], scale)));
    expect(found?.seen).toContain("/2@scale_factor = 2");
  });

  it("are asked about dimensions that scales name otherwise in one of them", async () => {
    const scaled = (file: File, step: string) => {
      if (step === "0")
        for (const name of ["x", "y", "z", "lat"]) {
          if (name === "lat") file.create_dataset({ name, data: Float64Array.from({ length: 11 }, (_, i) => i) });
          (file.get(name) as H5Dataset).make_scale(name);
        }
      for (const name of ["u", "v", "w"])
        (file.get(`/${step}/${name}`) as H5Dataset).attach_scale(0, step === "1" ? "/lat" : "/z");
    };
    const found = recognise(await writeHdf5(join(SCRATCH, "scales.h5"), grouped([0, 1, 2], scaled)));
    expect(open(found?.written.questions)).toContainEqual(expect.stringMatching(/^\/0\/u and \/1\/u .*z.*lat/));
  });

  it("are asked about labels that differ from frame to frame", async () => {
    const labelled = (file: File, step: string) =>
      (file.get(`/${step}/u`) as H5Dataset).create_attribute("units", step === "1" ? "cm/s" : "m/s");
    const found = recognise(await writeHdf5(join(SCRATCH, "labels.h5"), grouped([0, 1, 2], labelled)));
    expect(open(found?.written.questions)).toEqual([
      expect.stringMatching(/^\/0\/u and \/1\/u .* units m s-1 and units 0\.01 m s-1/),
      expect.stringMatching(/^\/0\/u is in "m\/s" and \/0\/v in ""/),
    ]);
  });
});
