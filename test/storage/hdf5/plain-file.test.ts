/** Structure read from bytes: what the library says of the same file, whoever wrote it. */
import { join } from "node:path";
import { type Group, h5wasm } from "h5wasm/node";
import { beforeAll, describe, expect, it, vi } from "vitest";
import type { StoredFile } from "../../../src/storage/file/stored-file.js";
import { H5File } from "../../../src/storage/hdf5/file.js";
import { loadHdf5 } from "../../../src/storage/hdf5/library.js";
import { PlainFile } from "../../../src/storage/hdf5/plain-file.js";
import { CASES, unpackCase } from "../../support/foreign-files.js";
import { scratchFolder } from "../../support/scratch.js";

const folder = scratchFolder();
const QUESTIONS = ["names", "resolve", "kind", "describe", "attributes", "scales", "labels", "numbers"] as const;

/** Every answer of a file on its structure, as text by question and path; refusals count too. */
function answersOf(file: StoredFile): Map<string, string> {
  const answers = new Map<string, string>();
  const ask = <T>(question: string, path: string, answer: () => T): T | null => {
    let found: T | null = null;
    try {
      found = answer();
    } catch (error) {
      answers.set(`${question} ${path}`, `refused: ${(error as Error).message}`);
      return null;
    }
    const plain = found instanceof Map ? [...found] : found;
    const text = JSON.stringify(plain, (_, value) =>
      value instanceof Float64Array
        ? Array.from(value, (x) => (Object.is(x, -0) ? "-0" : String(x)))
        : value === Number.POSITIVE_INFINITY
          ? "unlimited"
          : value,
    );
    answers.set(`${question} ${path}`, text);
    return found;
  };
  const groups = new Set<number | null>();
  const walk = (group: string): void => {
    // Links may lead back to a group.
    const address = ask("address", group === "" ? "/" : group, () => file.address(group === "" ? "/" : group));
    if (groups.size === groups.add(address as number).size) return;
    ask("attributes", group, () => file.attributes(group));
    for (const name of ask("names", group, () => file.names(group)) ?? []) {
      const path = ask("resolve", `${group}/${name}`, () => file.resolve(`${group}/${name}`));
      ask("resolve", `${group}/${name}/none`, () => file.resolve(`${group}/${name}/none`));
      if (path === null) continue;
      const kind = ask("kind", path, () => file.kind(path));
      if (kind === "group" && path.length > group.length) walk(path);
      if (kind !== "dataset") continue;
      ask("attributes", path, () => file.attributes(path));
      ask("external", path, () => file.hasExternalStorage(path));
      ask("scales", path, () => file.scales(path));
      ask("labels", path, () => file.labels(path));
      ask("texts", path, () => file.texts(path));
      const stored = ask("describe", path, () => file.describe(path));
      const size = stored?.shape.reduce((product, length) => product * length, 1) ?? 0;
      if (size > 0 && size < 100_000) ask("numbers", path, () => file.numbers(path));
    }
  };
  ask("resolve", "/none", () => file.resolve("/none"));
  walk("/");
  file.close();
  return answers;
}

/** Asks both, counts the answers, and lists what the library was asked for. */
function compare(path: string): { answers: number; byLibrary: string[] } {
  const spies = QUESTIONS.map((question) => vi.spyOn(H5File.prototype, question));
  let byLibrary: string[];
  let plain: Map<string, string>;
  try {
    plain = answersOf(new PlainFile(path));
    byLibrary = spies.flatMap(({ mock }) => mock.calls.map(([path]) => path as string));
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  expect(Object.fromEntries(plain), path).toEqual(Object.fromEntries(answersOf(new H5File(path))));
  return { answers: plain.size, byLibrary };
}

beforeAll(loadHdf5);

describe("plain files", () => {
  it("say what the library says of files of other programs", () => {
    let answers = 0;
    let byLibrary = 0;
    for (const one of CASES) {
      for (const path of unpackCase(one, folder).filter((name) => /\.(h5|hdf5|nc|mat)$/.test(name))) {
        try {
          new H5File(path).close();
        } catch {
          expect(() => new PlainFile(path).describe("/none")).toThrow();
          continue;
        }
        const found = compare(path);
        answers += found.answers;
        byLibrary += found.byLibrary.length;
      }
    }
    expect(answers).toBeGreaterThan(1000);
    expect(byLibrary).toBeLessThan(0.05 * answers);
  });

  it("need no library for groups, numbers, attributes and tables as most programs write them", () => {
    const path = join(folder, "whole.h5");
    const file = new h5wasm.File(path, "w");
    const numbers = {
      i1: "<b",
      u1: "<B",
      i2: "<h",
      u2: "<H",
      i4: "<i",
      u4: "<I",
      i8: "<q",
      u8: "<Q",
      f4: "<f",
      f8: "<d",
    };
    const halves = [file.create_group("a") as Group, file.create_group("b") as Group];
    for (const [at, [name, dtype]] of Object.entries(numbers).entries()) {
      const values = dtype.endsWith("q") || dtype.endsWith("Q") ? [1n, 2n, 250n] : [1, 2, 100];
      const made = (halves[at % 2] as Group).create_dataset({ name, data: values as never, dtype } as never);
      made.create_attribute("units", "m/s");
      made.create_attribute("one", values[1] as never, [], dtype);
      made.create_attribute("some", values as never, [3], dtype);
    }
    const packed = file.create_dataset({ name: "packed", data: Int16Array.of(1, 2, -9), dtype: "<h" } as never);
    packed.create_attribute("scale_factor", 0.5);
    packed.create_attribute("_FillValue", -9 as never, [], "<h");
    const group = file.create_group("step") as Group;
    group.create_attribute("names", ["u", "v", "w"]);
    const data = Float32Array.from({ length: 64 }, (_, i) => i);
    group.create_dataset({
      name: "u",
      data,
      shape: [4, 4, 4],
      chunks: [2, 2, 2],
      compression: "gzip",
      compression_opts: [3],
    } as never);
    file.close();
    const { answers, byLibrary } = compare(path);
    expect(answers).toBeGreaterThan(120);
    // Values in chunks are decoded by the library.
    expect(new Set(byLibrary)).toEqual(new Set(["/step/u"]));
  });
});
