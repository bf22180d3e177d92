/** Measuring several things against each other: they run in turn, so that what the machine does beside hits all of them. */
import { type Row, summarise } from "./row.js";

/** Shortest warm-up of each: until then WebAssembly may still run in its first, unoptimised form. */
const WARM_UP_NS = { full: 2e8, quick: 3e7 } as const;

/** One of several things; `run` does the work once and returns a sample in the row's unit. */
export interface Contestant {
  readonly run: () => number | Promise<number>;
  readonly row: Omit<Row, "value" | "spread" | "rounds">;
}

/** Rows of the contestants after `rounds` rounds; the warm-up, a short one when `quick`, is not counted. */
export async function alternate(contestants: readonly Contestant[], rounds: number, quick = false): Promise<Row[]> {
  const warmUp = quick ? WARM_UP_NS.quick : WARM_UP_NS.full;
  for (const { run } of contestants) {
    const start = process.hrtime.bigint();
    do await run();
    while (Number(process.hrtime.bigint() - start) < warmUp);
  }
  const samples = contestants.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [i, { run }] of contestants.entries()) (samples[i] as number[]).push(await run());
  }
  return contestants.map(({ row }, i) => ({ ...row, ...summarise(samples[i] as number[]) }));
}

/** Nanoseconds that `work` takes. */
export function nanoseconds(work: () => void): number {
  const start = process.hrtime.bigint();
  work();
  return Number(process.hrtime.bigint() - start);
}
