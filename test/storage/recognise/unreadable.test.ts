/** Attributes that are there and cannot be read: refused or asked about by name, in every adapter, never a default. */
import { describe, expect, it } from "vitest";
import { DataError } from "../../../src/shared/errors.js";
import type { AttributeValue } from "../../../src/storage/dataset/stored.js";
import type { StoredFile } from "../../../src/storage/dataset/stored-file.js";
import { openHdf5 } from "../../../src/storage/hdf5/file.js";
import { recognise, recogniseOpen } from "../../../src/storage/recognise/recognise.js";
import { unpackFixture } from "../../support/fixture-file.js";
import { PRODUCERS, placeProducer } from "../../support/producers.js";
import { folderIn, scratchFolder } from "../../support/scratch.js";

const SCRATCH = scratchFolder();

/** An attribute by the path of its object and its name. */
type Place = readonly [path: string, name: string];

/**
 * A file that notes which attributes are read by name, one of which it may not be able to read. A pass over all texts
 * for their wording does not count.
 */
function watched(file: StoredFile, unreadable: Place | null, read: Map<string, Place>): StoredFile {
  const attributes = (path: string): ReadonlyMap<string, AttributeValue | null> => {
    const all = new Map(file.attributes(path));
    if (unreadable?.[0] === path && all.has(unreadable[1])) all.set(unreadable[1], null);
    const get = (name: string) => {
      if (all.has(name)) read.set(`${path} ${name}`, [path, name]);
      return all.get(name);
    };
    return new Proxy(all, {
      get: (target, member) => {
        const found = Reflect.get(target, member, target);
        return member === "get" ? get : typeof found === "function" ? found.bind(target) : found;
      },
    });
  };
  return new Proxy(file, {
    get: (target, member) => {
      const found = member === "attributes" ? attributes : Reflect.get(target, member, target);
      return typeof found === "function" ? found.bind(target) : found;
    },
  });
}

/** What is said of a file: the message that refuses it, or its questions. */
function said(file: StoredFile): string {
  try {
    const found = recogniseOpen(file, {}, "name");
    return found?.descriptor.questions.map(({ question }) => question).join("\n") ?? "nothing";
  } catch (error) {
    if (!(error instanceof DataError)) throw error;
    return error.message;
  }
}

describe.each(PRODUCERS)("$producer: $name", (entry) => {
  it("names each attribute that it reads and cannot read", async () => {
    const folder = folderIn(SCRATCH, entry.name);
    const file = openHdf5(await placeProducer(folder, entry));
    try {
      const read = new Map<string, Place>();
      recogniseOpen(watched(file, null, read), {}, "name");
      for (const place of read.values()) {
        expect(said(watched(file, place, new Map())), place.join(" ")).toContain(`attribute ${place[1]} of`);
      }
    } finally {
      file.close();
    }
  });
});

describe("openPMD with long double, as numpy.longdouble writes it", () => {
  it("has the spacing and the time of its units", () => {
    const found = recognise(unpackFixture(import.meta.url, "openpmd-long-double.h5", SCRATCH));
    const { axes, time } = found?.descriptor ?? {};
    for (const axis of ["x", "y", "z"] as const)
      expect(axes?.[axis]).toMatchObject({ origin: 0, spacing: 0.1 * 0.001 });
    expect(time).toMatchObject({ origin: 3 * 0.001, count: 1 });
  });

  it("has each component where its position says", () => {
    const found = recognise(unpackFixture(import.meta.url, "openpmd-staggered.h5", SCRATCH));
    const { velocity } = found?.written.fields ?? {};
    const places = velocity !== undefined && "components" in velocity ? velocity.components.map(({ at }) => at) : [];
    expect(places).toEqual([{ x: 0.5 }, { y: 0.5 }, { z: 0.5 }]);
  });
});
