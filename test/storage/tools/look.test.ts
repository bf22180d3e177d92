/** What a person sees before confirming costs a bounded number of chunks, however large the set is. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { lookAt } from "../../../src/storage/tools/look.js";
import { openConfirmed } from "../../support/open-confirmed.js";
import { scratchFolder } from "../../support/scratch.js";

it("reads some rows of a plane that is larger than all that is read, and the beginnings and ends of long lines", () => {
  const store = join(scratchFolder(), "wide.zarr");
  // A chunk beside these rows and lines, which cannot be read.
  mkdirSync(join(store, "p/c/0/1"), { recursive: true });
  writeFileSync(join(store, "p/c/0/1/1"), "damaged");
  const regular = { name: "regular", configuration: { chunk_shape: [1, 512, 512] } };
  const array = { zarr_format: 3, node_type: "array", shape: [2, 8192, 8192], data_type: "float32", fill_value: 1.5 };
  const rest = { codecs: [{ name: "bytes", configuration: { endian: "little" } }], attributes: { missing: "fill" } };
  const described = { ...array, chunk_grid: regular, chunk_key_encoding: { name: "default" }, ...rest };
  writeFileSync(join(store, "zarr.json"), JSON.stringify({ zarr_format: 3, node_type: "group" }));
  writeFileSync(join(store, "p/zarr.json"), JSON.stringify({ ...described, dimension_names: ["z", "y", "x"] }));
  const dataset = openConfirmed(store, 2 ** 26, { spacing: [1, 1, 1], origin: [0, 0, 0] });
  const values = "1.5 at (0 0 0), 1.5 at (4096 4096 1), 1.5 at (8191 8191 1)";
  expect(lookAt(dataset).lines).toEqual([`pressure: 1.5 to 1.5, rms 1.5, 512 rows of the first plane; ${values}`]);
});
