/** Writes a frame of Zstandard of some kilobytes that decodes to any number of zeros. */

/**
 * A frame of Zstandard whose blocks repeat a byte, without and with a length of the content in its header.
 * @param blocks of 128 KiB each
 */
export function zstdBomb(blocks: number, isStated: boolean): Uint8Array {
  const block = Buffer.alloc(4);
  block.writeUIntLE((1 << 1) | ((128 * 1024) << 3), 0, 3);
  const last = Buffer.from(block);
  last.writeUInt8(last.readUInt8(0) | 1, 0);
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(blocks * 128 * 1024));
  const head = isStated ? Buffer.concat([Buffer.of(0xc0, 0x58), size]) : Buffer.of(0x00, 0x58);
  return Buffer.concat([Buffer.of(0x28, 0xb5, 0x2f, 0xfd), head, ...Array(blocks - 1).fill(block), last]);
}
