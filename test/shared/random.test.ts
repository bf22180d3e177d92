/** Philox4x32-10 gives the known answers that its authors publish. */
import { expect, it } from "vitest";
import { drawTriple, philox } from "../../src/shared/random.js";

/** Rows of `kat_vectors` of Random123, the library of the paper: counter, key, answer. */
const KNOWN = `
00000000 00000000 00000000 00000000 00000000 00000000 6627e8d5 e169c58d bc57ac4c 9b00dbd8
ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff 408f276d 41c83b0e a20bc7c6 6d5451fd
243f6a88 85a308d3 13198a2e 03707344 a4093822 299f31d0 d16cfe09 94fdcceb 5001e420 24126ea1`;

it.each(KNOWN.trim().split("\n"))("is that of the authors: %s", (row) => {
  const words = row.split(" ").map((word) => Number.parseInt(word, 16));
  const counter = Uint32Array.from(words.slice(0, 4));
  philox(counter, words.slice(4, 6) as [number, number]);
  expect([...counter]).toEqual(words.slice(6));
});

it("draws for an index what no other index, seed or purpose draws, in any order", () => {
  const words = new Uint32Array(4);
  const zeros = [0x6627e8d5, 0xe169c58d, 0xbc57ac4c].map((word) => word / 2 ** 32);
  expect(drawTriple(0, 0, "points", words)).toEqual(zeros);
  const all = [0, 1, 2, 2 ** 32, 2 ** 32 + 1].flatMap((index) =>
    [0, 1].flatMap((seed) =>
      (["points", "directions"] as const).map((purpose) => drawTriple(seed, index, purpose, words).join()),
    ),
  );
  expect(new Set(all).size).toBe(all.length);
  expect(drawTriple(0, 0, "points", words)).toEqual(zeros);
});
