/**
 * Results that threads write: the bytes that one thread writes, whichever threads are lost, and memory that is given
 * back.
 */
import { describe, expect, it } from "vitest";
import { shortestFloat32 } from "../../src/float32/format.js";
import { writtenRecords } from "../../src/text/written-records.js";
import { textsHere } from "../support/texts-here.js";

const FORM = { separators: ["<a>", "</a><b>", "</b>"], notFinite: null };
/** Parts of unequal length, all of whole records. */
const PARTS = [2, 110_000, 0, 6, 60_002].map((length, part) =>
  Float32Array.from({ length }, (_, i) => Math.sin(i + part) * 10 ** ((i % 41) - 20)),
);
const TEXT = PARTS.flatMap((part) =>
  Array.from({ length: part.length / 2 }, (_, i) => {
    const [a, b] = [part[2 * i] as number, part[2 * i + 1] as number];
    return `<a>${shortestFloat32(a)}</a><b>${shortestFloat32(b)}</b>`;
  }),
).join("");

describe("results that threads write", () => {
  it.each([
    ["by threads alone", textsHere()],
    ["with a lost thread", textsHere((task) => task === 1)],
    ["without threads", textsHere(() => true)],
    ["with little memory", textsHere(undefined, 1)],
    ["without memory", textsHere(undefined, 0)],
  ])("are the text of one thread, %s", async (_case, texts) => {
    let text = "";
    for await (const block of writtenRecords(PARTS, FORM, texts, () => undefined)) {
      text += block.toString("latin1");
      block.fill(0);
    }
    expect(text === TEXT).toBe(true);
    await expect.poll(() => texts.state.lent).toBe(0);
  });

  it("give their memory back when the reader leaves", async () => {
    const texts = textsHere();
    for await (const block of writtenRecords(PARTS, FORM, texts, () => undefined)) {
      expect(block.length).toBeGreaterThan(0);
      break;
    }
    expect(texts.state.done).toBeGreaterThan(1);
    await expect.poll(() => texts.state.lent).toBe(0);
  });
});
