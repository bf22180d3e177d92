/**
 * A query over what was never written fails, one beside it is answered, in files of the latest format that may grow.
 */
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Engine } from "../../../src/engine/contract/query.js";
import { openEngine } from "../../../src/engine/main/engine.js";
import { loadConfig } from "../../../src/shared/config.js";
import { describedBy } from "../../../src/storage/catalog/source.js";
import { describeKnown } from "../../../src/storage/tools/report.js";
import { chunkFile, chunkStart, type Four, storedValue, unpack, writtenChunks } from "../../support/chunk-files.js";
import { runQuery, velocityAt } from "../../support/run-query.js";
import { scratchFolder } from "../../support/scratch.js";

const DATA = scratchFolder();
const FILES = ["", "-filtered", "-turned", "-holes", "-whole"]
  .map((kind) => `array${kind}`)
  .concat(["", "-filtered", "-deep", "-leaf", "-whole"].map((kind) => `tree${kind}`));
/** The first and the last frame of each file that is whole, and that is not. */
const FRAMES = FILES.map(chunkFile).flatMap((file) => {
  const all = writtenChunks(file);
  const perFrame = all.length / file.shape[0];
  const whole = Array.from({ length: file.shape[0] }, (_, t) =>
    all.slice(t * perFrame, (t + 1) * perFrame).every((written) => written),
  );
  return [true, false].flatMap((state) =>
    [whole.indexOf(state), whole.lastIndexOf(state)]
      .filter((frame) => frame >= 0)
      .map((frame) => ({ name: file.name, frame, whole: state })),
  );
});
let engine: Engine;

beforeAll(async () => {
  for (const name of FILES) unpack(chunkFile(name), join(DATA, name), "velocity");
  const settings = { DATA, WORKERS: "1", CACHE_BYTES: String(1024 * 1024) };
  engine = await openEngine(loadConfig(settings, {}), pino({ level: "silent" }));
});
afterAll(() => engine.close(1000));

/** The velocity at one node, all components of which are stored in one place. */
async function velocity(dataset: string, [time, z, y, x]: Four): Promise<number[]> {
  return [...(await runQuery(engine, velocityAt(time, "None", "None", dataset), [x, y, z]))];
}

it("has files with gaps and without", () => {
  expect(new Set(FRAMES.filter(({ whole }) => whole).map(({ name }) => name)).size).toBeGreaterThan(4);
  expect(new Set(FRAMES.filter(({ whole }) => !whole).map(({ name }) => name)).size).toBe(FILES.length - 2);
});

it.each(FILES)("%s says in its draft how many chunks were never written", (name) => {
  const written = writtenChunks(chunkFile(name));
  const gaps = written.filter((one) => !one).length;
  const found = describedBy(join(DATA, name, "dataset.json"));
  if ("problems" in found) throw new Error(found.problems.join());
  const [{ text } = { text: "" }] = describeKnown(found, name, 2 ** 26).what;
  expect(/\d+ of \d+ chunks were never written/.exec(text)?.[0]).toBe(
    gaps === 0 ? undefined : `${gaps} of ${written.length} chunks were never written`,
  );
});

it.each(FRAMES.filter(({ whole }) => whole))("$name answers at every node of frame $frame", async ({ name, frame }) => {
  const file = chunkFile(name);
  const [, nz, ny, nx] = file.shape;
  for (let z = 0; z < nz; z++)
    for (let y = 0; y < ny; y++)
      for (let x = 0; x < nx; x++) {
        const value = storedValue(file, [frame, z, y, x]);
        expect(await velocity(name, [frame, z, y, x])).toEqual([value, value, value]);
      }
});

it.each(FRAMES.filter(({ whole }) => !whole))("$name fails in frame $frame", async ({ name, frame }) => {
  const file = chunkFile(name);
  const gap = writtenChunks(file).findIndex((written, number) => !written && chunkStart(file, number)[0] === frame);
  await expect(velocity(name, chunkStart(file, gap))).rejects.toMatchObject({
    code: "DataError",
    message: `${name}: velocity of frame ${frame} cannot be read.`,
  });
});
