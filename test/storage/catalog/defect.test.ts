/** A defect in what examines a file costs that file alone. */
import { mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import type { File } from "h5wasm/node";
import { expect, it, vi } from "vitest";
import { scanFolders } from "../../../src/storage/catalog/scan-folders.js";
import * as layouts from "../../../src/storage/recognise/recognise.js";
import { descriptor, writeDescriptor, writeField, writeHdf5 } from "../../support/cubes.js";
import { scratchFolder } from "../../support/scratch.js";

vi.mock(import("../../../src/storage/recognise/recognise.js"), { spy: true });

const SCRATCH = scratchFolder();

it("serves the rest when examining a file ends in an error nobody reckoned with", async () => {
  const field = (file: File) => writeField(file, "/p", { dimensions: ["z", "y", "x"] });
  mkdirSync(join(SCRATCH, "b"));
  await writeHdf5(join(SCRATCH, "a.h5"), field);
  await writeHdf5(join(SCRATCH, "b", "b.h5"), field);
  const pressure = { file: "b.h5", path: "/p", dimensions: ["z", "y", "x"] };
  writeDescriptor(join(SCRATCH, "b"), descriptor("b", { time: { count: 1 }, fields: { pressure } }));
  const { recogniseOpen } = await vi.importActual<typeof layouts>("../../../src/storage/recognise/recognise.js");
  vi.mocked(layouts.recogniseOpen).mockImplementation((file, ...rest) => {
    if (basename(file.path) === "a.h5") throw new TypeError("no such property");
    return recogniseOpen(file, ...rest);
  });
  const { datasets, problems } = scanFolders([SCRATCH], { chunkBytes: 2 ** 26 });
  expect(datasets.map(({ name }) => name)).toEqual(["b"]);
  expect(problems).toEqual([{ location: join(SCRATCH, "a.h5"), message: "the examination failed: no such property" }]);
});
