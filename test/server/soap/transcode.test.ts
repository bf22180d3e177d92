/** Bodies as UTF-8: what is not validly encoded is refused as soon as it has arrived. */
import { expect, it } from "vitest";
import type { Body } from "../../../src/server/life/body.js";
import { Utf8Body } from "../../../src/server/soap/transcode.js";

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
