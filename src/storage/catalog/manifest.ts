/**
 * Reads and writes `manifest.json`, the sizes and checksums of a dataset folder. Scans compare the sizes, `check` the
 * checksums.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { isAddress } from "../../shared/addresses.js";
import { DataError } from "../../shared/errors.js";
import { writeAtomically } from "../../shared/write-atomically.js";
import { countValues } from "../dataset/documents.js";
import { DESCRIPTOR_NAME } from "../dataset/folder-names.js";
import { addressIn, MAX_TEXT_BYTES, remoteDigest, remoteSize, remoteText } from "./remote-text.js";

export const MANIFEST_NAME = "manifest.json";

export interface Manifest {
  readonly files: Readonly<Record<string, { readonly bytes: number; readonly sha256: string }>>;
}

const pathBelowFolder = z
  .string()
  .refine((name) => !name.split(/[\\/]/).includes("..") && !/^([\\/]|[A-Za-z]:)/.test(name));
const manifestSchema = z.object({
  files: z.record(pathBelowFolder, z.object({ bytes: z.number().int().min(0), sha256: z.string() })),
});

/** The manifest of a folder and its text; null when there is none. `mostBytes`: most bytes of a local manifest. */
export function readManifest(
  folder: string,
  mostBytes = MAX_TEXT_BYTES,
): { manifest: Manifest; text: string } | { problems: string[] } | null {
  const text = isAddress(folder) ? remoteManifest(folder) : localManifest(folder, mostBytes);
  if (typeof text !== "string") return text;
  let value: unknown;
  try {
    countValues(MANIFEST_NAME, Buffer.from(text));
    value = JSON.parse(text);
  } catch (error) {
    return { problems: [error instanceof DataError ? error.message : `${MANIFEST_NAME} is not JSON`] };
  }
  const parsed = manifestSchema.safeParse(value);
  if (!parsed.success) {
    const where = parsed.error.issues[0]?.path.join(".");
    return { problems: [`${MANIFEST_NAME} is not a manifest of files below its folder: ${where}`] };
  }
  const problems = sizeProblems(folder, parsed.data);
  return problems.length > 0 ? { problems } : { manifest: parsed.data, text };
}

function localManifest(folder: string, mostBytes: number): string | { problems: string[] } | null {
  const path = join(folder, MANIFEST_NAME);
  if (!existsSync(path)) return null;
  const status = statSync(path, { throwIfNoEntry: false });
  if (status?.isFile() !== true) return { problems: [`${MANIFEST_NAME} is not a regular file`] };
  if (status.size > mostBytes)
    return { problems: [`${MANIFEST_NAME} has ${status.size} bytes, more than ${mostBytes}`] };
  return readFileSync(path, "utf8");
}

/**
 * The manifest of a remote folder. Some hosts refuse missing objects instead of reporting them, so what cannot be
 * fetched counts as absent.
 */
function remoteManifest(folder: string): string | null {
  const address = `${folder}/${MANIFEST_NAME}`;
  return remoteSize(address) === null ? null : remoteText(address);
}

function sizeProblems(folder: string, { files }: Manifest): string[] {
  return Object.entries(files).flatMap(([name, { bytes }]) => {
    const size = isAddress(folder)
      ? remoteSize(addressIn(folder, name))
      : statSync(join(folder, name), { throwIfNoEntry: false })?.size;
    if (size === bytes) return [];
    return [`${name} has ${size ?? "no"} bytes, ${MANIFEST_NAME} says ${bytes} (fieldprobe check compares the rest)`];
  });
}

export function digestIn(folder: string, file: string): Promise<{ bytes: number; sha256: string }> {
  if (isAddress(folder)) return Promise.resolve(remoteDigest(addressIn(folder, file)));
  return digestFile(join(folder, file));
}

const RANGE_BYTES = 1024 * 1024;

/** Size and SHA-256 of a file; one range is read while another is hashed. */
export async function digestFile(path: string): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash("sha256");
  const file = await open(path);
  try {
    let [buffer, other] = [Buffer.allocUnsafe(RANGE_BYTES), Buffer.allocUnsafe(RANGE_BYTES)];
    let bytes = 0;
    let { bytesRead } = await file.read(buffer, 0, RANGE_BYTES, 0);
    while (bytesRead > 0) {
      bytes += bytesRead;
      const next = file.read(other, 0, RANGE_BYTES, bytes);
      hash.update(buffer.subarray(0, bytesRead));
      ({ bytesRead } = await next);
      [buffer, other] = [other, buffer];
    }
    return { bytes, sha256: hash.digest("hex") };
  } finally {
    await file.close();
  }
}

const textOf = (content: object): string => `${JSON.stringify(content, null, 2)}\n`;

/** Writes the manifest of `files` (relative, with `/`), then the descriptor that makes the folder a dataset. */
export async function completeFolder(folder: string, descriptor: object, files: readonly string[]): Promise<Manifest> {
  const entries: [string, { bytes: number; sha256: string }][] = [];
  for (const file of [...files].sort()) entries.push([file, await digestFile(join(folder, file))]);
  const manifest: Manifest = { files: Object.fromEntries(entries) };
  writeAtomically(join(folder, MANIFEST_NAME), textOf(manifest));
  writeAtomically(join(folder, DESCRIPTOR_NAME), textOf(descriptor));
  return manifest;
}
