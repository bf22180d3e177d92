/**
 * 165 stores written by zarr-python and xarray are read as zarr-python reads them, or refused by the name of the codec:
 * none wrong, none accepted that then fails.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { DataError } from "../../src/shared/errors.js";
import { openDataset } from "../../src/storage/bricks/brick-reader.js";
import { loadHdf5 } from "../../src/storage/hdf5/library.js";
import { openConfirmed } from "../support/open-confirmed.js";
import { firstDifference, readNodes } from "../support/read-nodes.js";
import { scratchFolder } from "../support/scratch.js";
import { missing, PYTHON, TOOLKITS } from "./packages.js";

const reason = missing(TOOLKITS.zarr);
if (reason !== null) console.log(`stores of zarr-python are skipped: ${reason}`);

interface Made {
  readonly name: string;
  readonly store: string;
  /** The codec that is not read; null if all are. */
  readonly refused: string | null;
}

describe.skipIf(reason !== null)("stores of zarr-python and xarray", () => {
  const folder = scratchFolder();
  beforeAll(async () => {
    execFileSync(PYTHON, [fileURLToPath(new URL("stores.py", import.meta.url)), folder]);
    await loadHdf5();
  });

  it("are right, or refused by name", () => {
    const made = JSON.parse(readFileSync(join(folder, "made.json"), "utf8")) as Made[];
    expect(made).toHaveLength(165);
    const wrong: string[] = [];
    const refused: string[] = [];
    for (const { name, store, refused: codec } of made) {
      const said = outcomeOf(join(folder, store), join(folder, `${name}.bin`));
      if (codec !== null && said.startsWith("refused") && said.includes(codec)) refused.push(name);
      else if (said !== "right" || codec !== null) wrong.push(`${name}: ${said}`);
    }
    expect(wrong).toEqual([]);
    const others = refused.filter((name) => !name.includes("blosc-snappy"));
    expect([refused.length, others]).toEqual([14, ["lzma", "zfpy", "astype", "base64"]]);
  });
});

/** What becomes of a store: "right", the words of its refusal, or what is wrong. */
function outcomeOf(store: string, expected: string): string {
  let dataset: ReturnType<typeof openConfirmed>;
  try {
    dataset = openConfirmed(store, 2 ** 26, { times: [0], pressure: "/p" });
  } catch (error) {
    if (!(error instanceof DataError)) throw error;
    return `refused: ${error.message}`;
  }
  const open = openDataset(dataset);
  try {
    const bytes = readFileSync(expected);
    const values = Float32Array.from(new Float64Array(bytes.buffer, bytes.byteOffset, bytes.length / 8));
    return firstDifference(readNodes(dataset, open, "pressure", 0), values) ?? "right";
  } catch (error) {
    return `fails when it is read: ${String(error)} ${String((error as Error).cause)}`;
  } finally {
    open.close();
  }
}
