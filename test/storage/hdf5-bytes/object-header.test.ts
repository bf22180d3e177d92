/** Messages of types that are not known: passed over, unless their flags say that they must be known. */
import { expect, it } from "vitest";
import type { ReadBytes } from "../../../src/storage/hdf5-bytes/bytes.js";
import { readHeader } from "../../../src/storage/hdf5-bytes/object-header.js";

const MUST_BE_KNOWN = 0x80;
/** Fails only who opens the file to write. */
const MUST_BE_KNOWN_TO_WRITE = 0x08;

function headerWith(type: number, flags: number): ReadBytes {
  const bytes = new DataView(new ArrayBuffer(32));
  bytes.setUint8(0, 1);
  bytes.setUint16(2, 1, true);
  bytes.setUint32(8, 16, true);
  bytes.setUint16(16, type, true);
  bytes.setUint16(18, 8, true);
  bytes.setUint8(20, flags);
  return (address, length) => new DataView(bytes.buffer, address, length);
}

it.each([0x19, 0x09, 0xff])("refuses type %i if it must be known", (type) => {
  expect(() => readHeader(headerWith(type, MUST_BE_KNOWN), 0)).toThrow(`of type ${type}, which is not known`);
});

it("passes over a type that need not be known to read", () => {
  const { messages } = readHeader(headerWith(0x19, MUST_BE_KNOWN_TO_WRITE), 0);
  expect(messages).toMatchObject([{ type: 0x19 }]);
});

it("reads a known type whose flags say that it must be known", () => {
  expect(readHeader(headerWith(0x0d, MUST_BE_KNOWN), 0).messages).toMatchObject([{ type: 0x0d }]);
});
