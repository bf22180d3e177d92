/** The one schema of bench results, how rows are printed, and the statistics behind them. */
import { writeFileSync } from "node:fs";

/** One measured figure. */
export interface Row {
  /** Which bench: `kernel`, `engine`, `storage`, `service`, `soap`, `codec`, `events`, `peer`. */
  readonly bench: string;
  /** Kernel or operation, e.g. `lag8` or `GetVelocity`. */
  readonly case: string;
  /** What computed it: `simd`, `plain`, `fieldprobe`, or the name of a peer. */
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

export function readOptions(args: readonly string[] = process.argv.slice(2)): BenchOptions {
  const at = args.indexOf("--json");
  return { json: at < 0 ? null : (args[at + 1] ?? null), quick: args.includes("--quick") };
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

/** Prints a row as one line. */
export function printRow({ bench, case: name, backend, value, unit, spread, params }: Row): void {
  const about = Object.entries(params).map(([key, setting]) => `${key}=${setting}`);
  const figure = `${value.toPrecision(4)} ± ${spread.toPrecision(2)} ${unit}`;
  process.stdout.write(
    `${bench.padEnd(8)} ${name.padEnd(28)} ${backend.padEnd(12)} ${figure.padEnd(30)} ${about.join(" ")}\n`,
  );
}

/** Prints the rows, and writes them as JSON when asked to. */
export function report(rows: readonly Row[], { json }: BenchOptions): void {
  for (const row of rows) printRow(row);
  if (json !== null) writeFileSync(json, `${JSON.stringify(rows, null, 2)}\n`);
}
