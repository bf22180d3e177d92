/** Lists the content of an HDF5 file as lines of text. */
import { DataError } from "../../shared/errors.js";
import { type AttributeValue, type Stored, typeText } from "../dataset/stored.js";
import type { StoredFile } from "../dataset/stored-file.js";

/** Most members listed before the rest is only counted, and most of one group. */
const MAX_LINES = 400;
const MAX_DEPTH = 12;
const MAX_VALUE = 60;

export function describeStorage(stored: Stored): string {
  const { element, size, littleEndian, shape, chunks, filters, virtual } = stored;
  const named = typeText(stored);
  const type = size === 1 || element === "string" || littleEndian ? named : `${named} big-endian`;
  const filtered = filters.length === 0 ? "no filter" : filters.join(" + ");
  const layout = virtual ? "virtual" : chunks === null ? "contiguous" : `chunks ${chunks.join(" x ")}, ${filtered}`;
  return `${type}, ${shape.length === 0 ? "scalar" : shape.join(" x ")}, ${layout}`;
}

/** The tree of a file: groups, datasets with their storage, links, attributes. No dataset is read. */
export function describeTree(file: StoredFile): string[] {
  const lines: string[] = [];
  let unlisted = 0;
  const add = (line: string) => {
    if (lines.length < MAX_LINES) lines.push(line);
    else unlisted++;
  };
  const visit = (path: string, depth: number) => {
    const indent = "  ".repeat(depth);
    for (const [name, value] of attributesOf(file, path)) add(`${indent}@${name} = ${shortened(value)}`);
    if (depth === MAX_DEPTH || file.kind(path) !== "group") return;
    for (const name of file.names(path)) {
      const child = path === "/" ? `/${name}` : `${path}/${name}`;
      const { line, enter } = describeMember(file, child, name);
      add(`${indent}${line}`);
      if (enter && lines.length < MAX_LINES) visit(child, depth + 1);
    }
  };
  visit("/", 0);
  if (unlisted > 0) lines.push(`... and ${unlisted} more`);
  return lines;
}

function describeMember(file: StoredFile, path: string, name: string): { line: string; enter: boolean } {
  try {
    const resolved = file.resolve(path);
    if (resolved === null) return { line: `${name}  soft link to nothing`, enter: false };
    if (resolved !== path) return { line: `${name}  soft link to ${resolved}`, enter: false };
    const kind = file.kind(path);
    if (kind === "group") return { line: `${name}/`, enter: true };
    return {
      line: `${name}  ${kind === "dataset" ? describeStorage(file.describe(path)) : "a named type"}`,
      enter: true,
    };
  } catch (error) {
    if (!(error instanceof DataError)) throw error;
    return { line: `${name}  ${error.message}`, enter: false };
  }
}

function attributesOf(file: StoredFile, path: string): [string, AttributeValue | null][] {
  try {
    return [...file.attributes(path)];
  } catch (error) {
    if (error instanceof DataError) return [];
    throw error;
  }
}

function shortened(value: AttributeValue | null): string {
  if (value === null) return "(neither a number nor text)";
  const text = typeof value === "string" ? value : typeof value === "number" ? String(value) : `[${value.join(", ")}]`;
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}...` : text;
}
