/** Bodies as UTF-8: what is not validly encoded is refused as soon as it has arrived. */
import { expect, it } from "vitest";
import type { Body } from "../../../src/server/http/body.js";
import { Transcoder, Utf8Body } from "../../../src/server/soap/transcode.js";

/** A body that hands on one part and waits for more. */
function bodyOf(part: Buffer): Body {
  const given = {
    take: () => undefined,
    arrival: () => new Promise<void>(() => undefined),
    flow: async (into: (bytes: Buffer) => boolean) => void into(part),
  };
  return given as unknown as Body;
}

it("refuses bytes that flow past before the rest of the body arrives", async () => {
  const source = new Utf8Body(
    bodyOf(Buffer.concat([Buffer.from("<a>"), Buffer.from([0xff]), Buffer.from("</a>")])),
    null,
  );
  const passed: string[] = [];
  const into = (bytes: Buffer): boolean => passed.push(bytes.toString()) > 0;
  await source.flow(into);
  if (passed.length > 0) await source.flow(into);
  expect(() => source.take()).toThrow("its characters are not validly encoded");
  expect(passed.join("")).toBe("<a>");
});

it.each([
  ["utf-8", "utf8"],
  ["utf-16le", "utf16le"],
] as const)("gives the same text from %s cut anywhere", (charset, encoding) => {
  const text = "<a>\u00e9\u20ac\ud83d\ude00b</a>";
  const bytes = Buffer.from(text, encoding);
  for (let cut = 1; cut < bytes.length; cut++) {
    for (let other = cut; other < bytes.length; other++) {
      const transcoder = new Transcoder(charset);
      const parts = [bytes.subarray(0, cut), bytes.subarray(cut, other), bytes.subarray(other), null];
      expect(Buffer.concat(parts.map((part) => transcoder.push(part))).toString()).toBe(text);
    }
  }
});

it.each([
  ["utf-8", Buffer.from([0x3c, 0x61, 0x3e, 0xf0, 0x9f, 0x98])],
  ["utf-16le", Buffer.from([0x3c, 0, 0x61, 0, 0x3d, 0xd8])],
] as const)("refuses %s that ends within a character", (charset, bytes) => {
  const transcoder = new Transcoder(charset);
  expect(() => [transcoder.push(bytes), transcoder.push(null), transcoder.push(null)]).toThrow("not validly encoded");
});
