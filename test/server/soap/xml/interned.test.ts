import { expect, test } from "vitest";
import { Interned } from "../../../../src/server/soap/xml/interned.js";
import { fc } from "../../../support/property.js";

test("gives what the text between the bounds is turned into, whatever was asked before", () => {
  const interned = new Interned((text) => ({ text }));
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.string({ maxLength: 3 }), fc.string({ unit: "grapheme", maxLength: 90 })), {
        maxLength: 40,
      }),
      (texts) => {
        for (const text of texts) {
          const bytes = Buffer.from(`<${text}>`);
          expect(interned.intern(bytes, 1, bytes.length - 1).text).toBe(bytes.toString("utf8", 1, bytes.length - 1));
        }
      },
    ),
    { numRuns: 500 },
  );
});

test("turns a short text once while nothing takes its place, and keeps no bytes of the caller's buffer", () => {
  let made = 0;
  const interned = new Interned((text) => `${text} ${made++}`);
  const bytes = Buffer.from("points");
  expect(interned.intern(bytes, 0, 6)).toBe("points 0");
  bytes.write("qoints");
  expect(interned.intern(bytes, 0, 6)).toBe("qoints 1");
  expect(interned.intern(Buffer.from("points"), 0, 6)).toBe("points 0");
});

test("keeps nothing of what is refused", () => {
  let calls = 0;
  const interned = new Interned((): never => {
    calls++;
    throw new Error("no");
  });
  expect(() => interned.intern(Buffer.from("x"), 0, 1)).toThrow("no");
  expect(() => interned.intern(Buffer.from("x"), 0, 1)).toThrow("no");
  expect(calls).toBe(2);
});
