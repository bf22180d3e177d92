/** Headers of datasets read as bytes: equal where the library describes datasets alike, and never where it does not. */
import { copyFileSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { type Group, h5wasm } from "h5wasm/node";
import { describe, expect, it } from "vitest";
import { packingOf } from "../../../src/storage/dataset/packing.js";
import { openHdf5 } from "../../../src/storage/hdf5/file.js";
import type { Hdf5File } from "../../../src/storage/hdf5-bytes/hdf5-file.js";
import { headerText } from "../../../src/storage/hdf5-bytes/header-text.js";
import { Structure } from "../../../src/storage/hdf5-bytes/structure.js";
import { CASES, unpackCase } from "../../support/foreign-files.js";
import "../../support/hdf5-library.js";
import { scratchFolder } from "../../support/scratch.js";

const folder = scratchFolder();

/** The differences of a small file with one field from the others. */
interface Difference {
  readonly shape?: number[];
  readonly chunks?: number[];
  readonly type?: string;
  readonly compression?: number;
  readonly attribute?: [name: string, value: number | string];
  readonly start?: number;
  readonly group?: string;
  readonly others?: number;
}

let files = 0;
function write({ shape = [4, 4, 4], chunks, type = "<f", compression, attribute, start = 0, ...more }: Difference) {
  const path = join(folder, `file${++files}.h5`);
  const file = new h5wasm.File(path, "w");
  for (let i = 0; i < (more.others ?? 0); i++) file.create_dataset({ name: `other${i}`, data: [i] });
  const group = more.group === undefined ? file : (file.create_group(more.group) as Group);
  const size = shape.reduce((all, length) => all * length, 1);
  const values = Array.from({ length: size }, (_, i) => start + i);
  const data = type === "<f" ? Float32Array.from(values) : Float64Array.from(values);
  const storage = { ...(chunks && { chunks }), ...(compression && { compression, compression_opts: [1] }) };
  const made = group.create_dataset({ name: "u", data, shape, dtype: type, ...storage } as never);
  if (attribute) made.create_attribute(...attribute);
  file.close();
  return path;
}

function headerOf(path: string, dataset = "/u"): string | null {
  let structure: Structure;
  try {
    structure = new Structure(path);
  } catch {
    return null;
  }
  try {
    return headerText(structure, dataset);
  } finally {
    structure.close();
  }
}

describe("headers as text", () => {
  it("are equal for other values, times and places, behind other members too", () => {
    const first = headerOf(write({ chunks: [2, 2, 2] }));
    expect(first).not.toBeNull();
    expect(headerOf(write({ chunks: [2, 2, 2], start: 7, attribute: ["time", 3] }))).toBe(first);
    expect(headerOf(write({ chunks: [2, 2, 2], others: 5 }))).toBe(first);
    // Groups of many members keep their links in a heap.
    expect(headerOf(write({ chunks: [2, 2, 2], others: 300 }))).toBe(first);
    expect(headerOf(write({ chunks: [2, 2, 2], group: "step" }), "step/u")).toBe(first);
  });

  it("differ with whatever changes how values are read", () => {
    const differences: Difference[] = [
      {},
      { shape: [4, 4, 5] },
      { chunks: [2, 2, 2] },
      { chunks: [4, 2, 2] },
      { chunks: [2, 2, 2], compression: 1 },
      { type: "<d" },
      { attribute: ["scale_factor", 2] },
      { attribute: ["scale_factor", 3] },
      { attribute: ["_FillValue", 3] },
    ];
    const texts = differences.map((difference) => headerOf(write(difference)));
    expect(texts).not.toContain(null);
    expect(new Set(texts).size).toBe(differences.length);
  });

  it("are those of no dataset that is missing, and of no file that is cut short or of another kind", () => {
    const path = write({});
    expect(headerOf(path, "/v")).toBeNull();
    expect(headerOf(path, "/u/v")).toBeNull();
    const short = join(folder, "short.h5");
    copyFileSync(path, short);
    truncateSync(short, readFileSync(path).length - 1);
    expect(headerOf(short)).toBeNull();
    const text = join(folder, "text.h5");
    writeFileSync(text, "no HDF5 at all");
    expect(headerOf(text)).toBeNull();
    expect(headerOf(folder)).toBeNull();
  });

  it("never agree where the library sees different datasets, whoever wrote them", () => {
    const seen = new Map<string, string>();
    for (const one of CASES) {
      for (const path of unpackCase(one, folder).filter((name) => /\.(h5|hdf5|nc|mat)$/.test(name))) {
        let file: Hdf5File;
        try {
          file = openHdf5(path);
        } catch {
          continue;
        }
        for (const dataset of datasetsIn(file, "/")) {
          const header = headerOf(path, dataset);
          if (header === null) continue;
          const stored = file.describe(dataset);
          const facts = JSON.stringify([stored, attempt(() => packingOf(file.attributes(dataset), stored))]);
          expect(seen.get(header) ?? facts, `${basename(path)} ${dataset}`).toBe(facts);
          seen.set(header, facts);
        }
        file.close();
      }
    }
    expect(seen.size).toBeGreaterThan(40);
  });
});

function datasetsIn(file: Hdf5File, group: string, seen = new Set<number>()): string[] {
  // Links may lead back to a group.
  if (seen.size === seen.add(file.address(group)).size) return [];
  return file.names(group).flatMap((name) => {
    const path = `${group === "/" ? "" : group}/${name}`;
    const real = attempt(() => file.resolve(path));
    if (typeof real !== "string") return [];
    return file.kind(real) === "group" ? datasetsIn(file, real, seen) : file.kind(real) === "dataset" ? [real] : [];
  });
}

function attempt<T>(call: () => T): T | string {
  try {
    return call();
  } catch (error) {
    return { reason: String(error) }.reason;
  }
}
