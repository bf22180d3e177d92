/** Files that do not open, each with the reason; a scale that was deleted leaves its dimension without one. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openHdf5 } from "../../../src/storage/hdf5/file.js";
import "../../support/hdf5-library.js";
import { recognise } from "../../../src/storage/recognise/recognise.js";
import { unpackFixture } from "../../support/fixture-file.js";
import { lookup3 } from "../../support/hostile-files.js";
import { scratchFolder } from "../../support/scratch.js";

const SCRATCH = scratchFolder();
const fixture = (name: string) => unpackFixture(import.meta.url, name, SCRATCH);
/** The place of the marks in a superblock of version 3, and of its checksum. */
const [MARKS, SUM] = [11, 44];

describe("a file does not open", () => {
  it.each([
    ["cache-image.h5", "it has a metadata cache image, which is not read: h5repack IN OUT writes it without"],
    ["family.h5", "it is one of several files that a driver of HDF5 wrote together: h5repart joins those of a family"],
    ["addresses-of-4-bytes.h5", "it has addresses of 4 bytes and lengths of 4, not 8 (H5Pset_sizes)"],
  ])("%s: %s", (name, reason) => {
    const path = fixture(name);
    expect(() => openHdf5(path)).toThrow(`${path} does not open as an HDF5 file: ${reason}.`);
  });

  it("if it has been cut, or its superblock is of a later version", () => {
    const path = fixture("long-double.h5");
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.subarray(0, 2000));
    expect(() => openHdf5(path)).toThrow(`it is cut short: it has 2000 of ${bytes.length} bytes.`);
    bytes[8] = 4;
    writeFileSync(path, bytes);
    expect(() => openHdf5(path)).toThrow("it has a superblock of version 4, which is not read.");
    writeFileSync(join(SCRATCH, "f1.h5"), "a member");
    expect(() => openHdf5(join(SCRATCH, "f1.h5"))).toThrow("nor do later members of a family");
  });
});

it("a file whose writer was killed is read once the mark is removed, as h5clear -s does", () => {
  const path = fixture("not-closed.h5");
  expect(() => openHdf5(path)).toThrow(`its writer did not close it: \`h5clear -s ${path}\``);
  const bytes = readFileSync(path);
  bytes[MARKS] = 0;
  bytes.writeUInt32LE(lookup3(bytes, 0, SUM), SUM);
  writeFileSync(path, bytes);
  const file = openHdf5(path);
  expect([...file.numbers("/u")]).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  file.close();
});

it("an impossible address is not shown as a number", () => {
  const path = join(SCRATCH, "address.h5");
  const bytes = readFileSync(fixture("long-double.h5"));
  bytes.fill(0xfe, 36, 44);
  bytes.writeUInt32LE(lookup3(bytes, 0, SUM), SUM);
  writeFileSync(path, bytes);
  expect(() => openHdf5(path)).toThrow("it is damaged: an address or a length in the file is impossible.");
});

it("a scale that was deleted is named, and its dimension has none", () => {
  const path = fixture("scale-deleted.h5");
  const file = openHdf5(path);
  expect(file.scales("/u")).toEqual([["/z"], [], ["/x"]]);
  expect(file.lostScales("/u")).toEqual([1]);
  file.close();
  const { warnings, descriptor } = recognise(path) ?? {};
  expect(warnings?.join("\n")).toContain("The attribute DIMENSION_LIST of /u refers to a scale of dimension 1");
  expect(descriptor?.questions.map(({ about, axes }) => [about, axes])).toContainEqual(["spacing", ["y"]]);
});

it.each(["p", "time", "x"])("a file whose object /%s has a damaged header is refused by the name of it", (name) => {
  const bytes = readFileSync(new URL("../zarr/fixtures/numbered.h5", import.meta.url));
  const address = { p: 800, time: 7400, x: 6584 }[name] as number;
  bytes.writeUInt8(bytes.readUInt8(address) ^ 0x40, address);
  const path = join(SCRATCH, `header-${name}.h5`);
  writeFileSync(path, bytes);
  expect(() => recognise(path)).toThrow(`/${name} is not readable: There is no object header at ${address}.`);
});
