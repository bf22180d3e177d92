/**
 * The cache on disk: what was put comes back or not at all, within its bound, whoever shares it and whatever befalls
 * it.
 */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it, vi } from "vitest";
import { DiskCache } from "../../../../src/storage/remote/objects/disk-cache.js";
import { scratchFolder } from "../../../support/scratch.js";

const SCRATCH = scratchFolder();
const KIB = 1024;
const MODULE = fileURLToPath(new URL("../../../../dist/storage/remote/objects/disk-cache.js", import.meta.url));

const nameOf = (at: number) => ({ address: "https://host/a.h5", version: '"1"', range: `${at}-1` });
const bytesOf = (at: number, length = KIB) => Buffer.alloc(length, at % 251);

function open(folder: string, most = 1024 * KIB) {
  const warnings: string[] = [];
  return { cache: new DiskCache(join(SCRATCH, folder), most, (line) => warnings.push(line)), warnings };
}

function filesIn(folder: string): string[] {
  const path = join(SCRATCH, folder);
  return readdirSync(path, { recursive: true, encoding: "utf8" })
    .map((name) => join(path, name))
    .filter((name) => statSync(name).isFile());
}

describe("the cache on disk", () => {
  it("gives back what was put, after a restart too, and nothing of another version", async () => {
    const { cache } = open("plain");
    expect(await cache.get(nameOf(1))).toBeNull();
    const read = bytesOf(1);
    cache.put(nameOf(1), read, { etag: "a" });
    // Whoever reads the bytes may write to them before they are on the disk.
    read.fill(0xff);
    await cache.settled();
    const { cache: again } = open("plain");
    const entry = await again.get(nameOf(1));
    expect(entry?.note).toEqual({ etag: "a" });
    expect(bytesOf(1).equals(entry?.bytes as Uint8Array)).toBe(true);
    expect(await again.get({ ...nameOf(1), version: '"2"' })).toBeNull();
    expect(again.counts).toMatchObject({ hits: 1, misses: 1, damaged: 0 });
  });

  it("counts what it drops, and says so, for the first and for the tenth", async () => {
    const { cache, warnings } = open("dropped", 100 * KIB);
    for (let at = 0; at < 12; at++) cache.put(nameOf(at), bytesOf(at, 51 * KIB), null);
    expect(cache.counts.dropped).toBe(12);
    expect(warnings.map((line) => line.replace(/.* has/, "has"))).toEqual(
      [1, 10].map((count) => `has dropped entries, ${count} so far: they are larger than half of its bound`),
    );
    const { cache: busy, warnings: lines } = open("busy", 2 ** 40);
    const entry = new Uint8Array(65 * KIB * KIB);
    for (let at = 0; at < 2; at++) busy.put(nameOf(at), entry, null);
    expect(busy.counts.dropped).toBe(1);
    expect(lines.join()).toMatch(/has dropped entries, 1 so far: they come faster than the disk writes/);
    await busy.settled();
  });

  const DAMAGE: [string, (path: string) => void][] = [
    ["a flipped bit", (path) => flip(path, -10)],
    ["a flipped bit of the name", (path) => flip(path, 60)],
    ["a missing end", (path) => truncateSync(path, statSync(path).size - 100)],
    ["nothing left", (path) => truncateSync(path, 0)],
    ["something else", (path) => writeFileSync(path, randomBytes(2000))],
  ];
  it.each(DAMAGE)("takes damage for a miss, and counts it: %s", async (name, damage) => {
    const { cache } = open(name);
    cache.put(nameOf(1), bytesOf(1), null);
    await cache.settled();
    const [path] = filesIn(name) as [string];
    damage(path);
    expect(await cache.get(nameOf(1))).toBeNull();
    expect(cache.counts).toMatchObject({ hits: 0, misses: 1, damaged: 1 });
    expect(filesIn(name)).toEqual([]);
  });

  it("stays within its bound, and removes what has not been used for the longest time", async () => {
    const { cache } = open("bound", 100 * KIB);
    for (let at = 0; at < 50; at++) cache.put(nameOf(at), bytesOf(at), null);
    await cache.settled();
    const past = new Date(Date.now() - 3_600_000);
    for (const path of filesIn("bound")) utimesSync(path, past, past);
    for (let at = 0; at < 10; at++) await cache.get(nameOf(at));
    for (let at = 50; at < 120; at++) cache.put(nameOf(at), bytesOf(at), null);
    await cache.settled();
    const bytes = filesIn("bound").reduce((sum, path) => sum + statSync(path).size, 0);
    expect(bytes).toBeLessThanOrEqual(100 * KIB);
    expect(cache.counts.evictions).toBeGreaterThan(20);
    for (let at = 0; at < 10; at++) expect(await cache.get(nameOf(at))).not.toBeNull();
    expect(await cache.get(nameOf(11))).toBeNull();
  });

  it("says once that it cannot write, goes on without keeping anything, and tries again a minute later", async () => {
    mkdirSync(join(SCRATCH, "blocked"));
    writeFileSync(join(SCRATCH, "blocked", "file"), "");
    const { cache, warnings } = open("blocked/file");
    for (let at = 0; at < 5; at++) cache.put(nameOf(at), bytesOf(at), null);
    await cache.settled();
    expect(warnings).toEqual([
      expect.stringMatching(/keeps nothing for now: there is a file where a folder is needed/),
    ]);
    expect(await cache.get(nameOf(1))).toBeNull();
    rmSync(join(SCRATCH, "blocked", "file"));
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 61_000 });
    try {
      for (let at = 0; at < 5; at++) cache.put(nameOf(at), bytesOf(at), null);
      await cache.settled();
    } finally {
      vi.useRealTimers();
    }
    expect(await cache.get(nameOf(1))).not.toBeNull();
    expect(warnings.slice(1)).toEqual([expect.stringMatching(/keeps entries again$/)]);
  });

  it("is shared by processes: no entry is lost, mixed or beyond the bound", async () => {
    const folder = join(SCRATCH, "shared");
    const script = (first: number) => `
      const { DiskCache } = await import(${JSON.stringify(MODULE)});
      const cache = new DiskCache(${JSON.stringify(folder)}, 200 * 1024, () => process.exit(3));
      let wrong = 0;
      for (let round = 0; round < 200; round++) {
        const at = (${first} + round) % 300;
        const name = { address: "https://host/a.h5", version: '"1"', range: at + "-1" };
        const found = await cache.get(name);
        if (found === null) cache.put(name, Buffer.alloc(1024, at % 251), null);
        else if (!found.bytes.every((byte) => byte === at % 251) || found.bytes.length !== 1024) wrong++;
      }
      await cache.settled();
      console.log(JSON.stringify({ ...cache.counts, wrong }));`;
    const run = (first: number) =>
      promisify(execFile)(process.execPath, ["--input-type=module", "-e", script(first)]).then(
        ({ stdout }) => JSON.parse(stdout) as Record<string, number>,
      );
    const both = await Promise.all([run(0), run(100)]);
    for (const counts of both) expect(counts).toMatchObject({ wrong: 0, damaged: 0 });
    const third = await run(100);
    expect(third.hits).toBeGreaterThan(50);
    const bytes = filesIn("shared").reduce((sum, path) => sum + statSync(path).size, 0);
    expect(bytes).toBeLessThanOrEqual(200 * KIB);
  });
});

function flip(path: string, at: number): void {
  const bytes = readFileSync(path);
  const place = at < 0 ? bytes.length + at : at;
  bytes[place] = (bytes[place] as number) ^ 1;
  writeFileSync(path, bytes);
}
