/** Folders that cannot be read for a while: the datasets of the last scan stay, until the folder can be read again. */
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, it, vi } from "vitest";

const state = vi.hoisted(() => ({ code: null as string | null }));
vi.mock("node:fs", async (original) => {
  const fs = await original<typeof import("node:fs")>();
  const readdirSync = ((...given: Parameters<typeof fs.readdirSync>) => {
    if (state.code === null) return fs.readdirSync(...given);
    throw Object.assign(new Error(`${state.code}: refused`), { code: state.code, syscall: "scandir" });
  }) as typeof fs.readdirSync;
  return { ...fs, default: { ...fs, readdirSync }, readdirSync };
});

const { scanFolders } = await import("../../../src/storage/catalog/scan-folders.js");
const { loadHdf5 } = await import("../../../src/storage/hdf5/library.js");
const { scratchFolder } = await import("../../support/scratch.js");

const SHIPPED = fileURLToPath(new URL("../../../data/isotropic32", import.meta.url));
const SCRATCH = scratchFolder();
const OPTIONS = { chunkBytes: 64 * 1024 * 1024 };
beforeAll(() => loadHdf5());

it.each(["EMFILE", "EIO"])("keeps the datasets of a folder that cannot be read (%s)", (code) => {
  const folder = join(SCRATCH, code);
  cpSync(SHIPPED, join(folder, "described"), { recursive: true });
  const before = scanFolders([folder], OPTIONS);
  expect(before.datasets.map(({ name }) => name)).toEqual(["isotropic32"]);
  state.code = code;
  const during = scanFolders([folder], { ...OPTIONS, previous: before });
  state.code = null;
  expect(during.problems[0]?.message).toMatch(/^the folder is not readable: /);
  expect(during.datasets).toEqual(before.datasets);
  const after = scanFolders([folder], { ...OPTIONS, previous: during });
  expect(after.datasets.map(({ name }) => name)).toEqual(["isotropic32"]);
  rmSync(join(folder, "described"), { recursive: true });
  expect(scanFolders([folder], { ...OPTIONS, previous: after }).datasets).toEqual([]);
});
