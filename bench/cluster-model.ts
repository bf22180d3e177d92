/**
 * Planning model of a cluster: processor time and bytes read of one large query, from its work, the processes and their
 * caches. `npm run bench:cluster` compares it with measurements. It leaves out other queries at the same time, warm-up,
 * and more threads than cores.
 */

/** A query as the model sees it. */
export interface Workload {
  /**
   * Processor time that one process of one thread takes in cache for as many points in one process' part of the grid,
   * in milliseconds: points that lie closer share more work, in PCHIP the combination of four frames.
   */
  readonly cpuMs: number;
  readonly points: number;
  /** Float32 values of the answer to one point. */
  readonly values: number;
  /** Bytes of bricks that it touches. */
  readonly touchedBytes: number;
  /** Bricks along each edge of the grid. */
  readonly bricks: number;
}

/** A cluster as the model sees it. */
export interface ClusterShape {
  readonly processes: number;
  /** Cores that compute, of all machines together. */
  readonly cores: number;
  /** Cache of one process in bytes. */
  readonly cacheBytes: number;
  /** Machines, each with a disk and a network of its own; 1: all processes on one, over loopback. */
  readonly machines: number;
}

/** Costs as measured by `npm run bench:cluster` on the machine of docs/performance.md. */
const COSTS = {
  /** The asking process: to divide and merge a point. */
  divideNs: 20,
  /** Both sides and the NATS server together, for a byte that is sent: its copies, and the garbage of the client. */
  byteNs: 12,
  /** Both sides together, for a piece in addition to its bytes. */
  pieceMs: 1.5,
  /** Processor time to read a byte into the cache, decoding included. */
  readNs: 0.9,
} as const;

/** Bytes that a query sends and receives between processes. */
function bytesMoved({ points, values }: Workload, processes: number): number {
  return (points * (12 + 4 * values) * (processes - 1)) / processes;
}

/**
 * Bytes that all processes read together over the bytes touched: each reads a box of the grid and the bricks that
 * follow it. A power of two of processes cuts z first, then y, then x.
 */
export function overlap(bricks: number, processes: number): number {
  const cuts = [1, 1, 1];
  for (let a = 0, left = processes; left > 1; left /= 2, a = (a + 1) % 3) cuts[a] = (cuts[a] as number) * 2;
  return cuts.reduce((product, cut) => product * (cut === 1 ? 1 : (bricks / cut + 1) / (bricks / cut)), 1);
}

/** Bytes that a later query reads: none where the caches hold what it touches, else all of it again. */
export function bytesRead({ touchedBytes, bricks }: Workload, { processes, cacheBytes }: ClusterShape): number {
  const whole = touchedBytes * overlap(bricks, processes);
  return whole > processes * cacheBytes ? whole : 0;
}

/** Processor time of all processes together, in milliseconds. @param read bytes that are read */
export function predictCpu(work: Workload, { processes }: ClusterShape, read: number): number {
  const reading = (COSTS.readNs * read) / 1e6;
  if (processes === 1) return work.cpuMs + reading;
  const moving = (COSTS.divideNs * work.points + COSTS.byteNs * bytesMoved(work, processes)) / 1e6;
  return work.cpuMs + reading + moving + COSTS.pieceMs * (processes - 1);
}
