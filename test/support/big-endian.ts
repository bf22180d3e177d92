/** Turns the datasets of a file into big-endian ones, which the HDF5 library here cannot write. */
import { readFileSync, writeFileSync } from "node:fs";

/** Bodies of little-endian datatype messages by the bytes of a number; bit 0 of the second byte is the byte order. */
const TYPES: ReadonlyMap<string, number> = new Map([
  ["10080000020000000000100000000000", 2],
  ["10080000040000000000200000000000", 4],
  ["11201f000400000000002000170800177f00000000000000", 4],
  ["11203f000800000000004000340b0034ff03000000000000", 8],
]);
/** Types of messages in the object header of a dataset. */
const [DATATYPE, LAYOUT, CONTINUATION] = [3, 8, 16];
/** Bytes before the first message of an object header, and before the body of each message. */
const [HEADER, HEAD] = [16, 8];

/**
 * Makes the numbers of all contiguous datasets big-endian: int16, int32, float32 and float64, or those of the given
 * sizes, in a file of the oldest format, whose object headers have no checksum. Attributes stay as they are.
 */
export function makeBigEndian(path: string, sizes: readonly number[] = [2, 4, 8]): void {
  const bytes = readFileSync(path);
  let changed = 0;
  for (let at = 0; at + HEADER + HEAD <= bytes.length; at += 8) {
    const messages = messagesAt(bytes, at);
    const [type, layout] = [messages.get(DATATYPE), messages.get(LAYOUT)];
    if (type === undefined || layout === undefined) continue;
    const size = TYPES.get(type.toString("hex"));
    if (size === undefined || layout.readUInt16LE(0) !== 0x0103)
      throw new Error("a dataset has another type or is not contiguous");
    if (!sizes.includes(size)) continue;
    const start = Number(layout.readBigUInt64LE(2));
    const data = bytes.subarray(start, start + Number(layout.readBigUInt64LE(10)));
    if (size === 2) data.swap16();
    else if (size === 4) data.swap32();
    else data.swap64();
    type[1] = (type[1] as number) | 1;
    changed++;
  }
  if (changed === 0) throw new Error("the file has no dataset to be turned");
  writeFileSync(path, bytes);
}

/** The bodies of the messages of an object header by type; none where no object header begins. */
function messagesAt(bytes: Buffer, start: number): Map<number, Buffer> {
  const found = new Map<number, Buffer>();
  const [count, references, length] = [2, 4, 8].map((offset) =>
    offset === 2 ? bytes.readUInt16LE(start + offset) : bytes.readUInt32LE(start + offset),
  ) as [number, number, number];
  // Version 1, a byte of 0, and one name of the object.
  if (bytes.readUInt16LE(start) !== 1 || references !== 1) return found;
  const blocks = [{ from: start + HEADER, to: start + HEADER + length }];
  let read = 0;
  for (const { from, to } of blocks) {
    if (to > bytes.length) return new Map();
    for (let at = from; at + HEAD <= to; read++) {
      const [type, size] = [bytes.readUInt16LE(at), bytes.readUInt16LE(at + 2)];
      const body = bytes.subarray(at + HEAD, at + HEAD + size);
      found.set(type, body);
      if (type === CONTINUATION) {
        const next = Number(body.readBigUInt64LE(0));
        blocks.push({ from: next, to: next + Number(body.readBigUInt64LE(8)) });
      }
      at += HEAD + size;
    }
  }
  return read === count ? found : new Map();
}
