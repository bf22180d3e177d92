/** The files that make.py writes as solvers and tools do: their cases, and the polynomials that they hold. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import type { Answers } from "../../src/storage/recognise/answers.js";

const FIXTURES = fileURLToPath(new URL("../storage/recognise/own/fixtures/", import.meta.url));

export interface Case {
  readonly name: string;
  readonly files: string[];
  /** `served`, the subjects of the questions that refuse it, or `refused: ` and a text of the message. */
  readonly expect: string;
  /** Fields that must be there, by their letters. */
  readonly fields: string;
  readonly answers?: Answers;
  readonly tolerance?: number;
  readonly time?: number;
  readonly periodic?: string;
  readonly holes?: boolean;
  /** Texts that `inspect` must print among its reasons and questions. */
  readonly says?: readonly string[];
}

export const CASES = JSON.parse(readFileSync(join(FIXTURES, "cases.json"), "utf8")) as Case[];

export function unpackCase({ name, files }: Case, parent: string): string[] {
  const folder = join(parent, name);
  mkdirSync(folder, { recursive: true });
  return files.map((file) => {
    const path = join(folder, file);
    writeFileSync(path, gunzipSync(readFileSync(join(FIXTURES, `${file}.gz`))));
    return path;
  });
}

export type Polynomial = (x: number, y: number, z: number, t: number) => number;

export const POLYNOMIALS: readonly [Polynomial, Polynomial, Polynomial] = [
  (x, y, z, t) => 1 + 2 * x - 3 * y + 0.5 * z + 0.25 * x * y + t,
  (x, y, z, t) => -2 + x + 0.5 * y * y - z + 2 * t,
  (x, y, z, t) => 0.5 - x + 2 * y + 3 * z + 0.1 * x * z - t,
];
export const PRESSURE: Polynomial = (x, y, z, t) => 3 + x * x - y + 2 * z + 5 * t;
