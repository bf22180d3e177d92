/** Filters that HDF5 and Zarr share: the Fletcher checksum, and LZF. */
import { DataError } from "../../shared/errors.js";

export const FLETCHER_BYTES = 4;

/** Most 16-bit words whose sums stay within 32 bits. */
const FLETCHER_RUN = 360;

/**
 * The checksum of Fletcher over big-endian 16-bit words, as HDF5 writes it. Sums of swapped words are swapped sums, so
 * words are added as the machine has them. A last single byte is the upper one of a word.
 */
function fletcher32(bytes: Uint8Array): number {
  const isAligned = (bytes.byteOffset & 1) === 0;
  const { buffer, byteOffset } = isAligned ? bytes : bytes.slice();
  const words = new Uint16Array(buffer, byteOffset, bytes.length >> 1);
  const fold = (sum: number) => (sum & 0xffff) + (sum >>> 16);
  let low = 0;
  let high = 0;
  for (let at = 0; at < words.length; ) {
    for (const end = Math.min(words.length, at + FLETCHER_RUN); at < end; at++) {
      low = (low + words[at]) | 0;
      high = (high + low) | 0;
    }
    low = fold(low);
    high = fold(high);
  }
  if (bytes.length & 1) {
    low += bytes[bytes.length - 1];
    high += low;
  }
  const folded = ((fold(fold(high)) << 16) | fold(fold(low))) >>> 0;
  return swapHalves(folded);
}

const swapHalves = (word: number): number => (((word & 0x00ff00ff) << 8) | ((word >>> 8) & 0x00ff00ff)) >>> 0;

/** The bytes before a matching Fletcher checksum. Throws DataError. */
export function checkFletcher(bytes: Uint8Array): Uint8Array {
  const end = bytes.length - FLETCHER_BYTES;
  if (end < 0) throw new DataError("it is shorter than its checksum");
  const values = bytes.subarray(0, end);
  const found = fletcher32(values);
  // Libraries before 1.6.3 swapped the bytes of each half on little-endian machines.
  const stored = new DataView(bytes.buffer, bytes.byteOffset + end, FLETCHER_BYTES).getUint32(0, true);
  if (stored !== found && stored !== swapHalves(found)) throw new DataError("its checksum does not match");
  return values;
}

/**
 * Expands LZF. A byte below 32 is one less than a number of bytes that follow as they are. In any other the upper three
 * bits are a length less two, 7 to be added to the next byte, and the rest with the byte after is one less than the
 * distance back.
 *
 * Source: M. Lehmann, liblzf 3.6, lzf_d.c (the format only).
 * @param most bytes that may come out
 * @throws DataError for more of them, and for bytes that are not LZF
 */
export function expandLzf(bytes: Uint8Array, most: number): Uint8Array {
  const out = new Uint8Array(most);
  let to = 0;
  for (let at = 0; at < bytes.length; ) {
    const control = bytes[at++];
    if (control < 32) {
      const end = at + control + 1;
      if (end > bytes.length || to + control + 1 > most) throw new DataError("LZF cannot be undone");
      while (at < end) out[to++] = bytes[at++];
      continue;
    }
    const isLong = control >> 5 === 7;
    if (at + (isLong ? 2 : 1) > bytes.length) throw new DataError("LZF cannot be undone");
    const length = (isLong ? 7 + bytes[at++] : control >> 5) + 2;
    let from = to - 1 - (((control & 0x1f) << 8) | bytes[at++]);
    if (from < 0 || to + length > most) throw new DataError("LZF cannot be undone");
    for (const end = to + length; to < end; ) out[to++] = out[from++];
  }
  return out.subarray(0, to);
}
