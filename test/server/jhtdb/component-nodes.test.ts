/** Coordinates of cutouts: those by which the Python client selects nodes again, from NumPy 2.4. */
import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { coordinatesOf } from "../../../src/server/jhtdb/component-nodes.js";

it.each([
  // a = np.around(np.arange(from, end, stride, dtype=np.float32) * spacing, 7); a += np.float64(origin)
  [0.19634954084936207, 0, 29, 3, 2, "f6cb6f567147a2e46288e149c024a6c537d4a26f7f9b5aedc14ace069660998b"],
  [0.006135923151543, 0, 0, 2048, 1, "663d1864d34e3669a93332cf27fe2fc46c3fb323a25915ae16fc243b3d50c353"],
  [0.0122718463030851, 0, -700, 534, 3, "94c8e095bfc59db98b13b66dfbc8d33c909776b70f2435af82ddf13eb4bc201c"],
  [0.1953125, 0.09765625, 0, 2048, 1, "c33539fae9f820936b66d7bf5c69db62e375c583c7f1d6aaab1d3e9618292bf2"],
  [0.29296875, 10.1, 0, 43, 7, "b7844458b35d8cc26419ee7a963e0a3eac4eef3acfdaa057e4a81cadd80b72ab"],
  [0.0007669903939428206, 0, 0, 16384, 1, "c05f054fe898224aa502f0a4da93fa22b90267b6b318e401186de416b9600e35"],
])("spacing %d, origin %d, nodes from %d: %d by %d", (spacing, origin, from, count, stride, digest) => {
  const axis = { nodes: 32, origin, spacing, periodic: true, coordinates: null };
  const coordinates = coordinatesOf(axis, { first: 0, from, count, stride });
  expect(createHash("sha256").update(Float64Array.from(coordinates)).digest("hex")).toBe(digest);
  expect(JSON.parse(JSON.stringify(coordinates))).toEqual(coordinates.map((value) => value + 0));
});
