/** Digests tell equal-size files with other bytes apart, and need no more reads than samples. */
import { mkdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { FileStamp } from "../../../src/storage/dataset/dataset.js";
import { digestStamped } from "../../../src/storage/dataset/file-digest.js";
import { scratchFolder } from "../../support/scratch.js";

const folder = join(scratchFolder(), "files");
mkdirSync(folder);

function stampOf(name: string, bytes: Buffer): FileStamp {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  utimesSync(path, 1_000, 1_000);
  const { size, mtimeMs, ino } = statSync(path);
  return { path, bytes: size, modifiedMs: mtimeMs, inode: ino };
}

it("a digest tells the bytes of a small file, and the ends of a large one", async () => {
  const bytes = Buffer.alloc(1_000_000, 7);
  const changed = (at: number): Buffer => {
    const other = Buffer.from(bytes);
    other[at] = 8;
    return other;
  };
  let reads = 0;
  const digest = (name: string, content: Buffer, samples: number): Promise<string> =>
    digestStamped(stampOf(name, content), samples, () => {
      reads++;
    });
  const whole = await digest("a", bytes, 1000);
  expect(await digest("b", bytes, 1000)).toBe(whole);
  expect(await digest("c", changed(500_001), 1000)).not.toBe(whole);
  reads = 0;
  const sampled = await digest("d", bytes, 4);
  expect(reads).toBe(4);
  for (const at of [0, bytes.length - 1]) expect(await digest("e", changed(at), 4)).not.toBe(sampled);
  expect(await digest("f", changed(100_000), 4)).toBe(sampled);
});

it("a digest tells seconds of the last change, and no fractions of one", async () => {
  const stamp = stampOf("g", Buffer.from("bytes"));
  const at = (modifiedMs: number): Promise<string> => digestStamped({ ...stamp, modifiedMs }, 4, () => undefined);
  expect(await at(1_000_999)).toBe(await at(1_000_000));
  expect(await at(1_001_000)).not.toBe(await at(1_000_000));
});
