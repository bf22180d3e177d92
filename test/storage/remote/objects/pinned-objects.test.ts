/** A version of an object is exact only if nothing else can look like it. */
import { expect, it } from "vitest";
import { versionOf } from "../../../../src/storage/remote/objects/pinned-objects.js";

const NOW = 1_700_000_000_000;
const version = (etag: string | null, ageMs: number | null) =>
  versionOf({ etag, modifiedMs: ageMs === null ? null : NOW - ageMs, size: 7, dateMs: NOW });

it.each([
  ["a strong ETag, however young it is", '"a"', 0, true],
  ["a weak ETag, however old it is", 'W/"a"', 60_000, false],
  ["a time of change two seconds ago", null, 2000, true],
  ["a time of change a little later", null, 1999, false],
  ["nothing at all", null, null, false],
] as const)("%s", (_, etag, ageMs, isExact) => {
  expect(version(etag, ageMs).isExact).toBe(isExact);
});

it("differs by ETag, time of change and size", () => {
  const texts = [
    version('"a"', 0),
    version('"b"', 0),
    version('"a"', 1),
    version('"a"', null),
    versionOf({ etag: '"a"', modifiedMs: NOW, size: null, dateMs: NOW }),
  ].map(({ text }) => text);
  expect(new Set(texts).size).toBe(texts.length);
});
