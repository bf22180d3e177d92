/** CRC-32C, the checksum of chunks and shards. Source: RFC 3720, section 12.1 and appendix B.4. */

const POLYNOMIAL = 0x82f63b78;
/** Bytes processed at a time, each through a separate table, so that look-ups do not wait for each other. */
const SLICES = 8;

/**
 * Source: Kounavis and Berry, A Systematic Approach to Building High Performance Software-Based CRC Generators, 2005
 * (slicing by 8).
 */
export function crc32c(): (bytes: Uint8Array) => number {
  const table = remainders();
  const byByte = (crc: number, bytes: Uint8Array, from: number, to: number): number => {
    let sum = crc;
    for (let i = from; i < to; i++) sum = (sum >>> 8) ^ table[(sum ^ bytes[i]) & 0xff];
    return sum;
  };
  return (bytes) => {
    const start = -bytes.byteOffset & 3;
    const count = 2 * Math.floor((bytes.length - start) / SLICES);
    if (count <= 0) return ~byByte(-1, bytes, 0, bytes.length) >>> 0;
    // Words are little-endian, as all machines that the service runs on are.
    const words = new Int32Array(bytes.buffer, bytes.byteOffset + start, count);
    let crc = byByte(-1, bytes, 0, start);
    for (let i = 0; i < count; i += 2) {
      const a = crc ^ words[i];
      const b = words[i + 1];
      crc =
        table[1792 + (a & 0xff)] ^
        table[1536 + ((a >>> 8) & 0xff)] ^
        table[1280 + ((a >>> 16) & 0xff)] ^
        table[1024 + (a >>> 24)] ^
        table[768 + (b & 0xff)] ^
        table[512 + ((b >>> 8) & 0xff)] ^
        table[256 + ((b >>> 16) & 0xff)] ^
        table[b >>> 24];
    }
    return ~byByte(crc, bytes, start + 4 * count, bytes.length) >>> 0;
  };
}

/** Remainders of all bytes, then of all bytes followed by one, two, ... seven zero bytes. */
function remainders(): Int32Array {
  const table = new Int32Array(256 * SLICES);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
    table[byte] = crc;
  }
  for (let at = 256; at < table.length; at++) {
    const before = table[at - 256];
    table[at] = (before >>> 8) ^ table[before & 0xff];
  }
  return table;
}
