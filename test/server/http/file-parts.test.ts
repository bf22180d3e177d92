/** Files that are sent: the bytes of a range, few files open at a time, and none while a reader waits. */
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { FileParts } from "../../../src/server/http/file-parts.js";
import { DataError } from "../../../src/shared/errors.js";
import { scratchFolder } from "../../support/scratch.js";

const SCRATCH = scratchFolder();
const BYTES = Buffer.concat(Array.from({ length: 60_000 }, (_, i) => createHash("sha256").update(String(i)).digest()));
let files = 0;
function file(): string {
  const path = join(SCRATCH, `file${++files}`);
  writeFileSync(path, BYTES);
  return path;
}

it.each([
  [0, BYTES.length - 1],
  [0, 0],
  [524_287, 524_288],
  [1_000_001, 1_900_000],
])("reads the bytes from %i to %i", async (first, last) => {
  const parts: Buffer[] = [];
  for await (const part of new FileParts().read(file(), first, last)) parts.push(part);
  expect(Buffer.concat(parts).equals(BYTES.subarray(first, last + 1))).toBe(true);
});

it("holds no file open while a reader waits, and few while 200 begin", async () => {
  const all = new FileParts();
  const path = file();
  const readers = Array.from({ length: 200 }, () => all.read(path, 0, BYTES.length - 1));
  const most = { open: 0 };
  await Promise.all(
    readers.map(async (reader) => {
      await reader.next();
      most.open = Math.max(most.open, all.open);
    }),
  );
  expect(all.open).toBe(0);
  expect(most.open).toBeLessThanOrEqual(16);
});

it.each([
  ["changed", Buffer.concat([BYTES.subarray(1), Buffer.of(1, 2)])],
  ["cut short", BYTES.subarray(0, 600_000)],
])("sends no mixture of a file that is %s meanwhile", async (_case, other) => {
  const path = file();
  const reader = new FileParts().read(path, 0, BYTES.length - 1);
  await reader.next();
  writeFileSync(path, other);
  await expect(reader.next()).rejects.toThrow(DataError);
});
