/** The one schema of bench results, how rows are printed, and the statistics behind them. */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";

/** One measured figure. */
export interface Row {
  /** Name of the bench, e.g. `kernel`, `soap`, `cluster`. */
  readonly bench: string;
  /** Kernel or operation, e.g. `lag8` or `GetVelocity`. */
  readonly case: string;
  /**
   * What computed it: `simd`, `plain`, `fieldprobe`, or the name of a peer; `ratio` in rows that compare two others.
   */
  readonly backend: string;
  readonly value: number;
  readonly unit: string;
  /** Half the distance between the quartiles of the rounds, in the same unit. */
  readonly spread: number;
  readonly rounds: number;
  readonly params: Readonly<Record<string, string | number>>;
}

/** Command line of a bench: `--json FILE` also writes the rows as an array, `--quick` measures less. */
export interface BenchOptions {
  readonly json: string | null;
  readonly quick: boolean;
}

/** The options that every bench has, for `parseArgs`. */
export const OPTIONS = { json: { type: "string" }, quick: { type: "boolean", default: false } } as const;

/** Reads them; throws for any other. */
export function readOptions(args: readonly string[] = process.argv.slice(2)): BenchOptions {
  const { json = null, quick } = parseArgs({ args: [...args], options: OPTIONS }).values;
  return { json, quick };
}

/** The quantile `q` (0 .. 1) of some numbers, linear between neighbours. */
export function quantile(numbers: readonly number[], q: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const at = q * (sorted.length - 1);
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  const high = sorted[Math.ceil(at)] ?? Number.NaN;
  return low + (high - low) * (at - Math.floor(at));
}

/** Median and spread of the rounds of a figure. */
export function summarise(rounds: readonly number[]): { value: number; spread: number; rounds: number } {
  return {
    value: quantile(rounds, 0.5),
    spread: (quantile(rounds, 0.75) - quantile(rounds, 0.25)) / 2,
    rounds: rounds.length,
  };
}

/** A row of the quotients of two figures, round by round: their median and spread. */
export function ratioRow(
  row: Pick<Row, "bench" | "case" | "unit" | "params">,
  over: readonly number[],
  under: readonly number[],
): Row {
  return { ...row, backend: "ratio", ...summarise(over.map((value, round) => value / (under[round] as number))) };
}

/** Prints a row as one line. */
export function printRow({ bench, case: name, backend, value, unit, spread, params }: Row): void {
  const about = Object.entries(params).map(([key, setting]) => `${key}=${setting}`);
  const figure = `${value.toPrecision(4)} ± ${spread.toPrecision(2)} ${unit}`;
  process.stdout.write(
    `${bench.padEnd(9)} ${name.padEnd(32)} ${backend.padEnd(15)} ${figure.padEnd(36)} ${about.join(" ")}\n`,
  );
}

/** Writes rows as a JSON array when asked to. */
export function writeRows(rows: readonly Row[], { json }: Pick<BenchOptions, "json">): void {
  const broken = rows.find(({ value, spread }) => !Number.isFinite(value) || !Number.isFinite(spread));
  if (broken) throw new Error(`a figure is not a number: ${JSON.stringify(broken)}`);
  if (json !== null) writeFileSync(json, `${JSON.stringify(rows, null, 2)}\n`);
}

/** Prints the rows, and writes them. */
export function report(rows: readonly Row[], options: BenchOptions): void {
  for (const row of rows) printRow(row);
  writeRows(rows, options);
}
