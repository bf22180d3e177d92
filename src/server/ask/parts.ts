/** Computes the numbers of an answer: all at once, as they are sent, or for a task of a job. */
import { type FileHandle, open, readFile } from "node:fs/promises";
import { type JobCut, rangeOf, tasksOf } from "../../jobs/job.js";
import { LongNumbers, type Values } from "../../storage/tools/long-numbers.js";
import { type Context, DryRun, EndOfTask, type Work } from "./context.js";

const WINDOW = 1 << 18;

/** Computes the numbers of each quantity. Throws EndOfTask with those of the part that a task answers. @param isStream whether they are computed as they are sent */
export async function compute(context: Context, work: Work, isStream = false): Promise<readonly Values[]> {
  const { part, life } = context;
  const { count, times, widths, fill } = work;
  const arrays = (many: number) => widths.map((width) => life.floats(width * many));
  if (part === null && isStream) return windowsOf(context, work);
  if (part === null) {
    // Each round alone might fit the slots that are reserved for small requests.
    if (times > 1) life.declareWork(Math.max(1, count) * times);
    const numbers = arrays(count * times);
    for (let round = 0; round < times; round++) {
      if (round > 0) await life.slices.pause();
      const ends = (width: number) => [width * count * round, width * count * (round + 1)] as const;
      const into = numbers.map((all, q) => all.subarray(...ends(widths[q])));
      await fill(round, 0, count, into);
    }
    return numbers;
  }
  if ("range" in part && part.range !== undefined) {
    const { round, from, to } = part.range;
    const numbers = arrays(to - from);
    await fill(round, from, to, numbers);
    throw new EndOfTask(numbers);
  }
  if ("paths" in part) return filesOf(context, part.cut, part.paths, widths);
  part.work = work;
  await fill(0, 0, 0, arrays(0));
  return widths.map((width) => new LongNumbers("<f4", width * count * times, unread));
}

/** Arrays of particles, all or those of a task. `widths`: numbers of a particle in each; `run` computes those of some. */
export async function computeRuns(
  context: Context,
  count: number,
  widths: readonly number[],
  run: (from: number, to: number) => Promise<readonly Float32Array[]>,
  granularity = 1,
): Promise<readonly Values[]> {
  if (context.part === null) return run(0, count);
  const fill = async (_time: number, from: number, to: number, into: readonly Float32Array[]): Promise<void> => {
    for (const [i, numbers] of (await run(from, to)).entries()) into[i]?.set(numbers);
  };
  return compute(context, { count, times: 1, widths, granularity, fill });
}

/** A pass of an analysis over the data, which divides into shares. */
export interface Pass {
  readonly shares: number;
  compute(share: number, of: number): Promise<Float32Array>;
  take(share: Float32Array): void;
}

/** Whether the tasks of a job compute pass number `number` of a call, or have computed it. Throws EndOfTask. */
export async function inTasks({ part }: Context, number: number, { shares, compute, take }: Pass): Promise<boolean> {
  if (part instanceof DryRun && shares > 1)
    part.work ??= { count: shares, times: 1, widths: [], inPasses: true, fill: unread };
  if (part === null || part instanceof DryRun) return false;
  const { cut, range, paths } = part;
  const own = paths.slice(number * cut.points, (number + 1) * cut.points);
  if (own.length === 0) throw new EndOfTask(range === undefined ? null : [await compute(range.from, cut.points)]);
  for (const path of own) {
    const { buffer, byteOffset, length } = await readFile(path);
    if (length > 0) take(new Float32Array(buffer.slice(byteOffset, byteOffset + length)));
  }
  return true;
}

function unread(): never {
  throw new Error("a dry run has no numbers");
}

/** Numbers computed as they are read, forwards, in parts of some hundred thousand elements. */
function windowsOf({ life }: Context, { count, times, widths, granularity = 1, fill }: Work): readonly Values[] {
  const size = granularity * Math.max(1, Math.floor(WINDOW / granularity));
  let held: { readonly number: number; readonly numbers: readonly Float32Array[] } | null = null;
  const each = Math.ceil(count / size);
  const window = async (number: number): Promise<readonly Float32Array[]> => {
    if (held?.number === number) return held.numbers;
    const [round, from] = [Math.floor(number / each), (number % each) * size];
    const to = Math.min(count, from + size);
    const numbers = widths.map((width) => new Float32Array(width * (to - from)));
    await fill(round, from, to, numbers);
    // The slot is for computing, not for waiting until the reader has taken the numbers.
    await life.finishComputing([]);
    life.clearDeadline();
    held = { number, numbers };
    return numbers;
  };
  return widths.map((width, q) =>
    pieced(width * count * times, async (at) => {
      const element = Math.floor(at / width);
      const number = Math.floor(element / count) * each + Math.floor((element % count) / size);
      const first = Math.floor(number / each) * count + (number % each) * size;
      return { numbers: (await window(number))[q] as Float32Array, from: width * first };
    }),
  );
}

/** Numbers in the files of tasks; each holds its range, quantity after quantity. */
function filesOf(
  { life }: Context,
  cut: JobCut,
  paths: readonly string[],
  widths: readonly number[],
): readonly Values[] {
  let file: { readonly number: number; readonly handle: FileHandle } | null = null;
  const opened = async (number: number): Promise<FileHandle> => {
    if (file?.number === number) return file.handle;
    await file?.handle.close();
    file = { number, handle: await open(paths[number], "r") };
    return file.handle;
  };
  life.onEnd(() => void file?.handle.close());
  const { points, times, perTask } = cut;
  const each = tasksOf(cut) / times;
  let turn: Promise<unknown> = Promise.resolve();
  return widths.map((width, q) => {
    const before = widths.slice(0, q).reduce((sum, one) => sum + one, 0);
    return pieced(width * points * times, (at, most) => {
      const element = Math.floor(at / width);
      const number = Math.floor(element / points) * each + Math.floor((element % points) / perTask);
      const { round, from, to } = rangeOf(cut, number);
      const first = width * (round * points + from);
      const many = Math.min(most, first + width * (to - from) - at);
      const read = turn.then(async () => {
        const bytes = new Uint8Array(4 * many);
        const position = 4 * (before * (to - from) + at - first);
        const { bytesRead } = await (await opened(number)).read(bytes, 0, bytes.length, position);
        if (bytesRead < bytes.length) throw new Error("the output of a task is cut short");
        return { numbers: new Float32Array(bytes.buffer), from: at };
      });
      turn = read.catch(() => undefined);
      return read;
    });
  });
}

/** Numbers in pieces. `pieceAt`: returns the piece with a number, from which on `most` numbers are wanted. */
function pieced(
  length: number,
  pieceAt: (at: number, most: number) => Promise<{ readonly numbers: Float32Array; readonly from: number }>,
): LongNumbers {
  return new LongNumbers("<f4", length, async (from, to) => {
    const out = new Float32Array(to - from);
    for (let at = from; at < to; ) {
      const { numbers, from: first } = await pieceAt(at, to - at);
      const some = numbers.subarray(at - first, to - first);
      out.set(some, at - from);
      at += some.length;
    }
    return out;
  });
}
