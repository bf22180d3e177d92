/**
 * A planning model of a cluster: the wall time of one large query from its work, the processes, their caches, disks and network. What it
 * leaves out: other queries at the same time, uneven regions, warm-up.
 */

/** A query as the model sees it. */
export interface Workload {
  /** Processor time that one process takes, in milliseconds. */
  readonly cpuMs: number;
  readonly points: number;
  /** Float32 values of the answer to one point. */
  readonly values: number;
  /** Bytes of bricks that it touches and nobody has cached. */
  readonly readBytes: number;
}

/** A cluster as the model sees it. */
export interface ClusterShape {
  readonly processes: number;
  /** Worker threads of a process. */
  readonly threads: number;
  /** Cores that all processes share; absent: each process has its threads' number of its own. */
  readonly cores?: number;
  /** Whether the query is divided. */
  readonly divided: boolean;
}

/** What things cost, on the machine of docs/performance.md. */
export const COSTS = {
  /** The asking process: to divide and merge a point. */
  divideNs: 45,
  /** Both sides together, for a byte over a connection. */
  byteNs: 1.6,
  /** Network between machines, bytes a second: 10 Gbit/s. */
  networkBytes: 1.1e9,
  /** Storage of one machine, bytes a second, decoding included. */
  diskBytes: 4e8,
  /** Bricks along the boundaries of regions that are read on both sides. */
  overlap: 1.3,
} as const;

/** Bytes that a query sends and receives between processes. */
export function bytesMoved({ points, values }: Workload, processes: number): number {
  return (points * (12 + 4 * values) * (processes - 1)) / processes;
}

/** Processor time of all processes together, in milliseconds. */
export function predictCpu(work: Workload, { processes, divided }: ClusterShape): number {
  if (!divided || processes === 1) return work.cpuMs;
  return work.cpuMs + (COSTS.divideNs * work.points + COSTS.byteNs * bytesMoved(work, processes)) / 1e6;
}

/** Wall time in milliseconds. */
export function predictWall(work: Workload, shape: ClusterShape): number {
  const { processes, threads, cores = processes * threads, divided } = shape;
  const share = divided ? processes : 1;
  const disk = (1000 * work.readBytes * (share > 1 ? COSTS.overlap : 1)) / (share * COSTS.diskBytes);
  if (share === 1) return Math.max(work.cpuMs / Math.min(threads, cores), disk);
  const front = (COSTS.divideNs * work.points) / 1e6;
  const network = cores === processes * threads ? (1000 * bytesMoved(work, processes)) / COSTS.networkBytes : 0;
  const computing = (predictCpu(work, shape) - front) / Math.min(cores, processes * threads);
  return front + Math.max(computing, disk, network);
}

/** Processes that cache a set of data. */
export function processesFor(dataBytes: number, cacheBytes: number): number {
  return Math.max(1, Math.ceil((COSTS.overlap * dataBytes) / cacheBytes));
}
