/** Groups and objects with many members, or two of one name, are refused by name. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { File } from "h5wasm/node";
import { describe, expect, it } from "vitest";
import { openHdf5 } from "../../../src/storage/hdf5/file.js";
import type { Hdf5File } from "../../../src/storage/hdf5-bytes/hdf5-file.js";
import { writeHdf5 } from "../../support/cubes.js";
import { victimOf, withSums } from "../../support/hostile-files.js";
import { scratchFolder } from "../../support/scratch.js";

const SCRATCH = scratchFolder();
const FORMS = [
  { form: "earliest", earliest: true },
  { form: "latest", earliest: false },
];
let made = 0;

/** Writes a file, changes its bytes, and gives its structures the checksums of what is then in them. */
async function changed(
  earliest: boolean,
  write: (file: File) => void,
  change: (bytes: Buffer) => void,
): Promise<string> {
  const path = await writeHdf5(join(SCRATCH, `${made++}.h5`), write, earliest);
  const victim = victimOf(readFileSync(path));
  const bytes = Buffer.from(victim.bytes);
  change(bytes);
  writeFileSync(path, withSums(victim, bytes));
  return path;
}

function opened<T>(path: string, use: (file: Hdf5File) => T): T {
  const file = openHdf5(path);
  try {
    return use(file);
  } finally {
    file.close();
  }
}

/** Replaces a text wherever it is; both have the same length. */
function replace(bytes: Buffer, text: string, other: string): void {
  let found = 0;
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at)) found += bytes.write(other, at);
  expect(found).toBeGreaterThan(0);
}

function writeGroups(names: readonly string[]) {
  return (file: File) => {
    for (const name of names) file.create_group(name);
  };
}

describe.each(FORMS)("in a file of the $form format", ({ earliest }) => {
  it("two members of one name are refused", async () => {
    const path = await changed(earliest, writeGroups(["alpha", "omega"]), (bytes) => replace(bytes, "omega", "alpha"));
    const message = `${path}: / is not a readable group: two members have the name alpha.`;
    opened(path, (file) => expect(() => file.names("/")).toThrow(message));
  });

  it("two attributes of one name are refused", async () => {
    const write = (file: File) => {
      for (const name of ["alpha", "omega"]) file.create_attribute(name, 1);
    };
    const path = await changed(earliest, write, (bytes) => replace(bytes, "omega", "alpha"));
    const message = `${path}: the attributes of / are not readable: two of them have the name alpha.`;
    opened(path, (file) => expect(() => file.attributes("/")).toThrow(message));
  });

  it("an object of more than 1024 attributes is refused, one of 1024 is read", async () => {
    const path = await writeHdf5(
      join(SCRATCH, `${made++}.h5`),
      (file) => {
        for (let i = 0; i < 1024; i++) file.create_attribute(`a${i}`, i, [], "<i");
        const group = file.create_group("g");
        for (let i = 0; i < 1025; i++) group.create_attribute(`a${i}`, i, [], "<i");
      },
      earliest,
    );
    const message = `${path}: the attributes of /g are not readable: it has more than 1024 attributes.`;
    opened(path, (file) => {
      expect(file.attributes("/").get("a1023")).toBe(1023);
      expect(() => file.attributes("/g")).toThrow(message);
    });
  });
});

it("a tree of more links than are read is refused before they are", async () => {
  const names = Array.from({ length: 20 }, (_, i) => `member${i}`);
  const path = await changed(false, writeGroups(names), (bytes) => {
    // The number of records of the tree follows the address of its root and the records of that.
    const tree = bytes.indexOf("BTHD");
    expect(bytes.readBigUInt64LE(tree + 26)).toBe(20n);
    bytes.writeBigUInt64LE(100_000n, tree + 26);
  });
  const message = `${path}: / is not a readable group: the groups of the file have more than 65536 members.`;
  opened(path, (file) => expect(() => file.names("/")).toThrow(message));
});
