/** What failed is left alone: an object by itself, then its folder, then its host, until one of them answers. */
import { expect, it } from "vitest";
import { Rests } from "../../../src/storage/objects/rests.js";

let now = 0;
const open = (): Rests => {
  now = 1000;
  return new Rests({ now: () => now } as unknown as ConstructorParameters<typeof Rests>[0]);
};
const at = (folder: string, name: string): string => `https://host/${folder}/${name}?part=1`;

it("leaves an object alone for five seconds, or for as long as its host asks", () => {
  const rests = open();
  rests.failed(at("a", "1"));
  rests.failed(at("b", "1"), 60_000);
  rests.answered(at("b", "2"));
  expect([rests.left(at("a", "1")), rests.left(at("a", "2")), rests.isSuspect(at("a", "2"))]).toEqual([5000, 0, false]);
  expect(rests.left(at("b", "1"))).toBe(60_000);
  now += 4999;
  expect(rests.left(at("a", "1"))).toBe(1);
  now += 1;
  // The next attempt is a single one, since the last ones failed.
  expect([rests.left(at("a", "1")), rests.isSuspect(at("a", "1"))]).toEqual([0, true]);
  rests.answered(at("a", "1"));
  expect(rests.isSuspect(at("a", "1"))).toBe(false);
});

it("leaves a folder alone after two of its objects, and a host after two of its folders", () => {
  const rests = open();
  rests.failed(at("a", "1"));
  rests.failed(at("a", "1"));
  expect(rests.left(at("a", "2"))).toBe(0);
  rests.failed(at("a", "2"));
  expect([rests.left(at("a", "3")), rests.left(at("b", "1"))]).toEqual([5000, 0]);
  now += 1000;
  rests.failed(at("b", "1"));
  expect([rests.left(at("a", "3")), rests.left(at("c", "1"))]).toEqual([5000, 5000]);
  rests.answered(at("c", "1"));
  expect([rests.left(at("a", "3")), rests.left(at("c", "1"))]).toEqual([4000, 0]);
  rests.answered(at("a", "3"));
  expect([rests.left(at("a", "1")), rests.left(at("a", "4"))]).toEqual([4000, 0]);
});

it("leaves a folder alone for the longest time that one of its objects asked for", () => {
  const rests = open();
  rests.failed(at("a", "1"), 60_000);
  rests.failed(at("a", "2"));
  expect(rests.left(at("a", "3"))).toBe(60_000);
});

it("remembers a thousand objects, and forgets those that failed first", () => {
  const rests = open();
  for (let i = 0; i <= 1000; i++) {
    rests.failed(at(`f${i}`, "1"));
    if (i === 999) expect(rests.isSuspect(at("f0", "1"))).toBe(true);
    rests.answered(at("other", "1"));
  }
  expect([rests.isSuspect(at("f0", "1")), rests.isSuspect(at("f1", "1"))]).toEqual([false, true]);
});
