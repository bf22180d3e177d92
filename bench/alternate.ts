/** Compares several things: they run in turn, so that other work of the machine slows all of them. */
import { type Row, ratioRow, summarise } from "./row.js";

/** Shortest warm-up of each: until then WebAssembly may still run in its first, unoptimised form. */
const WARM_UP_NS = { full: 2e8, quick: 3e7 } as const;

/** One of several things; `run` does the work once and returns a sample in the row's unit. */
export interface Contestant {
  readonly run: () => number | Promise<number>;
  readonly row: Omit<Row, "value" | "spread" | "rounds">;
}

/**
 * A row of how two contestants of the same rounds compare: `over` divided by `under`, with the parameters of the
 * former.
 */
export interface Comparison {
  readonly case: string;
  readonly unit: string;
  readonly over: Contestant;
  readonly under: Contestant;
}

/**
 * Rows of the contestants after `rounds` rounds, then those of the comparisons; the warm-up, a short one when `quick`,
 * is not counted.
 */
export async function alternate(
  contestants: readonly Contestant[],
  rounds: number,
  quick = false,
  comparisons: readonly Comparison[] = [],
): Promise<Row[]> {
  const warmUp = quick ? WARM_UP_NS.quick : WARM_UP_NS.full;
  for (const { run } of contestants) {
    const start = process.hrtime.bigint();
    do await run();
    while (Number(process.hrtime.bigint() - start) < warmUp);
  }
  const runs = contestants.map(({ run }) => run);
  const samples = await inTurn<number>(runs, rounds);
  const samplesOf = (contestant: Contestant) => samples[contestants.indexOf(contestant)] ?? [];
  return [
    ...contestants.map(({ row }, i) => ({ ...row, ...summarise(samples[i] as number[]) })),
    ...comparisons.map(({ case: name, unit, over, under }) => {
      const { bench, params } = over.row;
      return ratioRow({ bench, case: name, unit, params }, samplesOf(over), samplesOf(under));
    }),
  ];
}

/** Samples of each run, one a round; every second round goes backwards, so that none always follows the same other. */
export async function inTurn<T>(runs: readonly (() => T | Promise<T>)[], rounds: number): Promise<T[][]> {
  const samples = runs.map((): T[] => []);
  const order = [...runs.entries()];
  for (let round = 0; round < rounds; round++) {
    for (const [i, run] of round % 2 === 0 ? order : order.toReversed()) samples[i]?.push(await run());
  }
  return samples;
}

/** Nanoseconds that `work` takes. */
export function nanoseconds(work: () => void): number {
  const start = process.hrtime.bigint();
  work();
  return Number(process.hrtime.bigint() - start);
}

/** Nanoseconds of CPU that `work` takes, of all threads of this process: what other processes do hardly changes it. */
export function cpuNanoseconds(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return 1000 * (user + system);
}
