/** Sizes of elements, by the names that the library gives to their types. */
import { expect, it } from "vitest";
import { sizeOf } from "../../../src/storage/zarr/element-size.js";

it.each([
  ["float64", 8],
  ["float16", 2],
  ["uint8", 1],
  ["int64", 8],
  ["bool", 1],
  ["v2:U6", 24],
  ["<U6", 24],
  ["|S6", 6],
  ["string", 64],
  ["v2:object", 64],
])("an element of type %s has %i bytes", (type, bytes) => {
  expect(sizeOf(type)).toBe(bytes);
});
