/** Texts, sizes and checksums of files at an address. */
import { createHash } from "node:crypto";
import { DataError, readOr } from "../../shared/errors.js";
import { RemoteFile } from "../remote/ranged-file.js";

/** Most bytes of a text: descriptors and manifests are shorter. */
export const MAX_TEXT_BYTES = 16 * 1024 * 1024;
/** Bytes fetched at a time for a checksum: more than this thread keeps in blocks. */
const READ_BYTES = 32 * 1024 * 1024;

/** @throws DataError when there is no such object or it is too long, BusyError */
export function remoteText(address: string): string {
  const file = new RemoteFile(address);
  if (file.size > MAX_TEXT_BYTES) throw new DataError(`it has ${file.size} bytes, more than any descriptor`);
  const bytes = new Uint8Array(file.size);
  file.read(bytes, 0);
  return new TextDecoder().decode(bytes);
}

/** The size of an object; null if it cannot be fetched. Throws BusyError. */
export function remoteSize(address: string): number | null {
  return readOr(
    () => new RemoteFile(address).size,
    () => null,
  );
}

/** @throws DataError, BusyError */
export function remoteDigest(address: string): { bytes: number; sha256: string } {
  const file = new RemoteFile(address);
  const hash = createHash("sha256");
  for (let at = 0; at < file.size; at += READ_BYTES) {
    const length = Math.min(READ_BYTES, file.size - at);
    const range = new Uint8Array(length);
    file.withRanges([{ position: at, length }], () => file.read(range, at));
    hash.update(range);
  }
  return { bytes: file.size, sha256: hash.digest("hex") };
}

/** The address of a file by its path relative to a folder; `{step}` stays unchanged. */
export function addressIn(folder: string, file: string): string {
  const escaped = (name: string) => encodeURIComponent(name).replace(/%(7B|7D|3A)/g, decodeURIComponent);
  return `${folder}/${file.split("/").map(escaped).join("/")}`;
}
