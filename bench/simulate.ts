/** `npm run bench:simulate -- [--hedgeMs 0] [--choice random] ...`: prints the figures of a cluster by a model of it. */
import { parseArgs } from "node:util";
import { placementFigures, runModel } from "./cluster-model.js";

/** The cluster of docs/cluster.md. */
const DEFAULTS = {
  workers: 128,
  threads: 16,
  replicas: 2,
  load: 0.8,
  queries: 20_000,
  batches: 31,
  batchMs: 10,
  gatewayMs: 0,
  slow: 0.01,
  slowFactor: 10,
  hedgeMs: 30,
  hedgeShare: 0.05,
  seed: 1,
};

const names = Object.keys(DEFAULTS) as (keyof typeof DEFAULTS)[];
const { values } = parseArgs({
  options: {
    ...Object.fromEntries(names.map((name) => [name, { type: "string" as const }])),
    choice: { type: "string", default: "least" },
  },
});
const given = Object.fromEntries(
  names.map((name) => [name, Number((values as Record<string, string | undefined>)[name] ?? DEFAULTS[name])]),
) as typeof DEFAULTS;
const choice = values.choice === "random" ? "random" : "least";

const { maxToMean, moved } = placementFigures(given.workers, given.replicas);
const tail = runModel({ ...given, choice, hedgeMs: given.hedgeMs === 0 ? null : given.hedgeMs });
const percent = (share: number): string => `${(100 * share).toFixed(2)} %`;
const ms = (time: number): string => `${time.toFixed(1)} ms`;
for (const [name, value] of [
  ["shards, most on a worker / mean", maxToMean.toFixed(3)],
  ["copies moved when one worker is lost", percent(moved)],
  ["query p50", ms(tail.p50)],
  ["query p99", ms(tail.p99)],
  ["query p99.9", ms(tail.p999)],
  ["batches sent twice", percent(tail.hedged)],
] as const)
  console.log(`${name.padEnd(40)}${value}`);
