/**
 * Text of everything in a header that affects how values are read: a file with the headers of a verified file need not
 * be verified. Source: HDF5 file format specification 4.0, section IV.A.2.
 */
import { DataError } from "../../shared/errors.js";
import { isPackingName } from "../dataset/packing.js";
import { addressAt, bufferOf } from "./bytes.js";
import { type HeaderMessage, MESSAGE, SHARED } from "./object-header.js";
import type { Structure } from "./structure.js";

/** Messages without effect on values: free space, comment, times of changes, continuation, number of links. */
const IGNORED: ReadonlySet<number> = new Set([0x00, 0x0d, 0x0e, 0x10, 0x12, 0x16]);
/** Address of values that have no space in the file yet. */
const UNDEFINED_ADDRESS = 0xffff_ffff_ffff_ffffn;
const [CONTIGUOUS, CHUNKED] = [1, 2];

/** Thrown for a header whose form the text does not cover. */
class OtherForm extends DataError {
  constructor() {
    super("a header is of a form that is not compared");
  }
}

/**
 * The text of a header. Datasets with equal texts are read alike; null if the text would not be complete, or there is
 * no dataset.
 */
export function headerText(structure: Structure, path: string): string | null {
  try {
    const { header } = structure.object(path);
    return header.messages.map((message) => textOf(structure, message)).join("");
  } catch (error) {
    if (error instanceof DataError || error instanceof RangeError) return null;
    throw error;
  }
}

/** A message as text, without what differs between datasets that are read alike: addresses, times, other attributes. */
function textOf({ read, bytes: { end } }: Structure, { type, flags, start, bytes }: HeaderMessage): string {
  if (IGNORED.has(type)) return "";
  const body = bufferOf(read(start, bytes));
  const isElsewhere = type === MESSAGE.attributeInfo && areElsewhere(read(start, bytes));
  if (type === MESSAGE.externalFiles || isElsewhere || (flags & SHARED) !== 0) throw new OtherForm();
  if (type === MESSAGE.attributeInfo) return "";
  if (type === MESSAGE.attribute && !isPackingName(attributeName(body))) return "";
  const head = `${type} ${flags} ${bytes} `;
  return head + (type === MESSAGE.layout ? layoutText(body, end) : body.toString("latin1"));
}

/** A layout without the address of the values, which must lie in the file; states whether there are any. */
function layoutText(body: Buffer, end: number): string {
  const [version, kind] = body;
  const at = kind === CONTIGUOUS ? 2 : 3;
  if (version !== 3 || (kind !== CONTIGUOUS && kind !== CHUNKED)) throw new OtherForm();
  const address = body.readBigUInt64LE(at);
  const isWritten = address !== UNDEFINED_ADDRESS;
  const bytes = kind === CONTIGUOUS ? body.readBigUInt64LE(at + 8) : 0n;
  if (isWritten && address + bytes > BigInt(end)) throw new OtherForm();
  return `${isWritten} ${body.toString("latin1", 0, at)}${body.toString("latin1", at + 8)}`;
}

function attributeName(body: Buffer): string {
  const [version = 0, flags = 0] = body;
  if (version < 1 || version > 3 || (version > 1 && flags !== 0)) throw new OtherForm();
  const start = version === 3 ? 9 : 8;
  const name = body.subarray(start, start + body.readUInt16LE(2));
  const end = name.indexOf(0);
  return name.toString("latin1", 0, end < 0 ? name.length : end);
}

function areElsewhere(message: DataView): boolean {
  return addressAt(message, message.getUint8(1) & 1 ? 4 : 2) !== null;
}
