/** Files written in a thread: as many wait as may, and the next is refused at once. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { CutoutThread, type NumberTable } from "../../../src/engine/cutouts/cutout-thread.js";
import { scratchFolder } from "../../support/scratch.js";

const folder = scratchFolder();

it("lets 64 files wait, writes them all, and refuses others as busy", async () => {
  const thread = new CutoutThread(() => undefined);
  onTestFinished(() => thread.close());
  const along = { name: "bin", values: Float64Array.of(1, 2), attributes: {} };
  const table: NumberTable = { along, columns: [], about: {} };
  const paths = Array.from({ length: 70 }, (_, i) => join(folder, `${i}.nc`));
  const outcomes = await Promise.allSettled(paths.map((path) => thread.writeTable(table, path)));
  const refused = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
  expect(refused.map(({ name, message }) => `${name}: ${message}`)).toEqual(
    refused.map(() => "BusyError: Too many cutouts are being written."),
  );
  // The first may wait for its thread to start, and does then not count.
  expect([5, 6]).toContain(refused.length);
  expect(paths.map((path) => existsSync(path))).toEqual(outcomes.map(({ status }) => status === "fulfilled"));
});
