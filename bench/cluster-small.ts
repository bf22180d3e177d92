/**
 * Small requests over HTTP: processor time of one in processes that work alone and in those of clusters. Each process
 * is asked in turn, as if it had its own cores, and all processes of its cluster are counted: if a request costs no
 * more than alone, N processes answer N times as many.
 */
import { type Service, type Services, startServices } from "./cluster-processes.js";
import { nullOpRequest, open } from "./soap-load.js";

/** Points of the requests. */
export const SMALL = [1, 50] as const;
const MEMBERS =
  "<time>0.1</time><spatialInterpolation>Lag8</spatialInterpolation><temporalInterpolation>None</temporalInterpolation>";
const CONNECTIONS = 16;
const MIB = 1024 * 1024;
/**
 * Processes that work alone: what V8 makes of the same code differs from process to process by as much as is asked for
 * here.
 */
const ALONE = 8;

/** What is measured. */
export interface SmallOptions {
  readonly data: string;
  readonly dataset: string;
  /** Processes of the clusters. */
  readonly sizes: readonly number[];
  readonly quick: boolean;
}

/** Samples of a cluster, or of the processes that work alone (`processes` 1), one a round. */
export interface SmallFigures {
  readonly points: number;
  readonly processes: number;
  /** Microseconds of processor time of a request, of all processes of the cluster. */
  readonly cpuUs: readonly number[];
  /** Requests a second of N processes with cores of their own, over N times those of one that works alone. */
  readonly rate: readonly number[];
}

/** Asks all processes for `SMALL` points. */
export async function smallRequests({ data, dataset, sizes, quick }: SmallOptions): Promise<SmallFigures[]> {
  const [first, rounds, count] = quick ? [960, 9, 96] : [12_000, 31, 320];
  const started: Services[] = [];
  try {
    for (const processes of [...Array<number>(quick ? 2 : ALONE).fill(1), ...sizes])
      started.push(await startServices({ processes, threads: 1, cacheBytes: 256 * MIB, data }));
    const figures: SmallFigures[] = [];
    for (const points of SMALL) {
      const request = nullOpRequest(points, "GetVelocity", `<dataset>${dataset}</dataset>${MEMBERS}`);
      for (const { port } of started.flatMap(({ services }) => services)) await load(port, request, first);
      const spent = started.map(({ services }) => ({ processes: services.length, rounds: [] as number[] }));
      for (let round = 0; round < rounds; round++) {
        const turns = [...started.entries()];
        for (const [i, { services }] of round % 2 === 0 ? turns : turns.toReversed())
          spent[i]?.rounds.push(await cpuOfRequest(services, request, count));
      }
      const alone = spent.filter(({ processes }) => processes === 1);
      const one = Array.from({ length: rounds }, (_, round) => mean(alone.map((each) => each.rounds[round] as number)));
      const figure = (processes: number, cpuUs: readonly number[]): SmallFigures => {
        return { points, processes, cpuUs, rate: cpuUs.map((us, round) => (one[round] as number) / us) };
      };
      const clusters = spent.filter(({ processes }) => processes > 1);
      figures.push(figure(1, one), ...clusters.map((each) => figure(each.processes, each.rounds)));
    }
    return figures;
  } finally {
    for (const { stop } of started) stop();
  }
}

/** Microseconds of processor time of a request in a cluster: the mean of its processes, each asked `count` times. */
async function cpuOfRequest(services: readonly Service[], request: Buffer, count: number): Promise<number> {
  let spent = 0;
  for (const { port } of services) {
    const before = services.map((service) => service.cpu());
    await load(port, request, count);
    spent += services.reduce((sum, service, i) => sum + service.cpu() - (before[i] as number), 0);
  }
  return (1000 * spent) / (services.length * count);
}

/** Sends `count` requests to a process, over connections that each ask again when they are answered. */
async function load(port: number, request: Buffer, count: number): Promise<void> {
  const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => open(port)));
  await Promise.all(
    connections.map(async (connection) => {
      for (let i = 0; i < count / CONNECTIONS; i++) await connection.ask(request);
    }),
  );
  for (const connection of connections) connection.close();
}

function mean(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0) / values.length;
}
