/** `manifest.json`: what the files of a dataset folder must be. Its sizes are compared at every scan, its sums by `check`. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Manifest } from "../hdf5/write.js";

export const MANIFEST_NAME = "manifest.json";

const inside = z.string().refine((name) => !name.split(/[\\/]/).includes("..") && !/^([\\/]|[A-Za-z]:)/.test(name));
const manifestSchema = z.object({
  files: z.record(inside, z.object({ bytes: z.number().int().min(0), sha256: z.string() })),
});

/** The manifest of a folder and its text; null when there is none. */
export function readManifest(folder: string): { manifest: Manifest; text: string } | { problems: string[] } | null {
  const path = join(folder, MANIFEST_NAME);
  if (!existsSync(path)) return null;
  const text = readFileSync(path, "utf8");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { problems: [`${MANIFEST_NAME} is not JSON`] };
  }
  const parsed = manifestSchema.safeParse(value);
  if (!parsed.success) {
    const where = parsed.error.issues[0]?.path.join(".");
    return { problems: [`${MANIFEST_NAME} is not a manifest of files below its folder: ${where}`] };
  }
  const problems = sizeProblems(folder, parsed.data);
  return problems.length > 0 ? { problems } : { manifest: parsed.data, text };
}

function sizeProblems(folder: string, { files }: Manifest): string[] {
  return Object.entries(files).flatMap(([name, { bytes }]) => {
    const size = statSync(join(folder, name), { throwIfNoEntry: false })?.size;
    if (size === bytes) return [];
    return [`${name} has ${size ?? "no"} bytes, ${MANIFEST_NAME} says ${bytes} (fieldprobe check compares the rest)`];
  });
}
