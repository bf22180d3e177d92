/** CRC-32C against the examples of its specification and against long division, bit by bit. */
import { expect, it } from "vitest";
import { crc32c } from "../../../src/storage/zarr/crc32c.js";

const sumOf = crc32c();

// Source: RFC 3720, appendix B.4; the last is the check value of the catalogue of parametrised CRC algorithms.
it.each([
  ["32 bytes of zeros", new Uint8Array(32), 0x8a9136aa],
  ["32 bytes of ones", new Uint8Array(32).fill(0xff), 0x62a8ab43],
  ["32 increasing bytes", Uint8Array.from({ length: 32 }, (_, i) => i), 0x46dd794e],
  ["32 decreasing bytes", Uint8Array.from({ length: 32 }, (_, i) => 31 - i), 0x113fdb5c],
  ["nothing", new Uint8Array(0), 0],
  ["123456789", new TextEncoder().encode("123456789"), 0xe3069283],
])("has the sum of the specification: %s", (_, bytes, expected) => {
  expect(sumOf(bytes)).toBe(expected);
});

it("is the remainder of a division bit by bit, wherever the bytes begin and end in memory", () => {
  const memory = Uint8Array.from({ length: 120 }, (_, i) => (i * 167 + 13 * (i >> 3)) & 0xff);
  for (let start = 0; start < 9; start++)
    for (let length = 0; length < 40; length++) {
      const bytes = memory.subarray(start, start + length);
      expect(sumOf(bytes), `${length} bytes from ${start}`).toBe(remainder(bytes));
    }
});

/** The register of a division by the polynomial, fed with one bit at a time. */
function remainder(bytes: Uint8Array): number {
  let register = 0xffff_ffffn;
  for (const byte of bytes)
    for (let bit = 0; bit < 8; bit++) {
      const odd = (register ^ BigInt((byte >> bit) & 1)) & 1n;
      register = (register >> 1n) ^ (odd === 1n ? 0x82f6_3b78n : 0n);
    }
  return Number(register ^ 0xffff_ffffn);
}
