/** Structure read from bytes: what the library says of the same file, whoever wrote it. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Group, h5wasm } from "h5wasm/node";
import { beforeAll, describe, expect, it } from "vitest";
import { DataError } from "../../../src/shared/errors.js";
import { openHdf5 } from "../../../src/storage/hdf5/file.js";
import { loadHdf5 } from "../../../src/storage/hdf5/library.js";
import type { Hdf5File } from "../../../src/storage/hdf5-bytes/hdf5-file.js";
import { readFill } from "../../../src/storage/hdf5-bytes/header-messages.js";
import { CASES, unpackCase } from "../../support/foreign-files.js";
import { lookup3 } from "../../support/hostile-files.js";
import { LibraryFile } from "../../support/library-file.js";
import { scratchFolder } from "../../support/scratch.js";

const folder = scratchFolder();

type Answering = Pick<
  Hdf5File,
  | "names"
  | "resolve"
  | "kind"
  | "describe"
  | "attributes"
  | "scales"
  | "labels"
  | "texts"
  | "numbers"
  | "address"
  | "close"
>;

/** Every answer of a file on its structure, as text by question and path; refusals count too. */
function answersOf(file: Answering): Map<string, string> {
  const answers = new Map<string, string>();
  const ask = <T>(question: string, path: string, answer: () => T): T | null => {
    let found: T | null = null;
    try {
      found = answer();
    } catch (error) {
      expect(error, `${question} ${path}`).toBeInstanceOf(DataError);
      answers.set(`${question} ${path}`, "refused");
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

function compare(path: string): number {
  const own = answersOf(openHdf5(path));
  const byLibrary = answersOf(new LibraryFile(path));
  // What is no number by its type is one to the library by its size, and text in a heap has the size of a pointer.
  for (const [question, answer] of own) {
    if (!question.startsWith("describe") || !/"element":"(other|string)"/.test(answer)) continue;
    for (const asked of [question, question.replace("describe", "numbers")])
      for (const answers of [own, byLibrary]) answers.delete(asked);
  }
  expect(Object.fromEntries(own), path).toEqual(Object.fromEntries(byLibrary));
  return own.size;
}

beforeAll(loadHdf5);

describe("the byte reader", () => {
  it("says what the library says of files of other programs", () => {
    let answers = 0;
    for (const one of CASES) {
      for (const path of unpackCase(one, folder).filter((name) => /\.(h5|hdf5|nc|mat)$/.test(name))) {
        try {
          new LibraryFile(path).close();
        } catch {
          expect(() => openHdf5(path)).toThrow(DataError);
          continue;
        }
        answers += compare(path);
      }
    }
    expect(answers).toBeGreaterThan(1000);
  });

  it("says what it says of groups, numbers, attributes and tables as most programs write them", () => {
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
    expect(compare(path)).toBeGreaterThan(120);
  });
});

describe("what the library does not say", () => {
  /** Opens the first dataset of a file in place of which the bytes around a mark were changed. */
  function patched(name: string, mark: Buffer, change: (bytes: Buffer, at: number) => void): Hdf5File {
    const path = join(folder, `${name}.h5`);
    const file = new h5wasm.File(path, "w");
    file.create_dataset({ name: "d", data: ["u   ", "vel "], dtype: "S4" });
    file.create_dataset({ name: "x", data: Float64Array.of(1, 2), shape: [2], dtype: "<d" });
    file.close();
    const bytes = readFileSync(path);
    change(bytes, bytes.indexOf(mark));
    resum(bytes);
    writeFileSync(path, bytes);
    return openHdf5(path);
  }
  /** Gives every object header the checksum of what is in it now. */
  function resum(bytes: Buffer): void {
    for (let at = bytes.indexOf("OHDR"); at >= 0; at = bytes.indexOf("OHDR", at + 1)) {
      const flags = bytes.readUInt8(at + 5);
      const sizeAt = at + 6 + (flags & 0x20 ? 16 : 0) + (flags & 0x10 ? 4 : 0);
      const width = 1 << (flags & 3);
      const end = sizeAt + width + bytes.readUIntLE(sizeAt, width);
      bytes.writeUInt32LE(lookup3(bytes, at, end), end);
    }
  }

  it("text that blanks fill up, as Fortran programs write it, is without them", () => {
    // The library writes texts of a fixed length with blanks behind them.
    const TEXT = Buffer.of(0x13, 0x12, 0, 0, 4, 0, 0, 0);
    const padded = patched("padded", TEXT, () => undefined);
    expect(padded.texts("/d")).toEqual(["u", "vel"]);
    padded.close();
    const plain = patched("plain", TEXT, (bytes, at) => bytes.writeUInt8(0x10, at + 1));
    expect(plain.texts("/d")).toEqual(["u   ", "vel "]);
    plain.close();
  });

  it("floats that are not those of IEEE 754 are none", () => {
    const DOUBLE = Buffer.of(0x11, 0x20, 0x3f, 0, 8, 0, 0, 0);
    const file = patched("odd", DOUBLE, (bytes, at) => bytes.writeUInt8(16, at + 4));
    expect(file.describe("/x")).toMatchObject({ element: "other", size: 16 });
    expect(() => file.numbers("/x")).toThrow(/holds no numbers/);
    file.close();
  });
});

it("values that were never written, and for which nothing stands, are refused", () => {
  const whole = new Map([
    [[3, 0x00], false],
    [[3, 0x04], true],
    [[2, 1, 1, 0], true],
    [[2, 1, 2, 0], true],
    [[2, 1, 2, 1, 0, 0, 0, 0], false],
  ]);
  for (const [bytes, isNothing] of whole) {
    const view = new DataView(Uint8Array.from([...bytes, 0, 0, 0, 0, 0, 0]).buffer);
    expect(readFill(view, false).isNothing, bytes.join()).toBe(isNothing);
  }
});
