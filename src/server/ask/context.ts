/** Context in which a question is answered, and the division of its answer into parts. */
import type { Dataset } from "../../engine/contract/dataset.js";
import type { CutoutThread } from "../../engine/cutouts/cutout-thread.js";
import type { TaskPart } from "../../jobs/job-runner.js";
import type { Jobs } from "../../jobs/jobs.js";
import { LimitError } from "../../shared/errors.js";
import type { Values } from "../../storage/tools/long-numbers.js";
import type { RequestLife } from "../http/request-life.js";
import type { Service } from "../http/service.js";
import type { AnsweredQuantity } from "./answer.js";
import type { Quantity } from "./question/what.js";

/** The numbers of an answer that can be computed in parts. */
export interface Work {
  /** Number of points, samples or nodes (elements) at each time. */
  readonly count: number;
  readonly times: number;
  readonly widths: readonly number[];
  /** Parts have a multiple of this number of elements. */
  readonly granularity?: number;
  /** Whether the elements are shares of a pass over the data. */
  readonly inPasses?: true;
  /** Computes the numbers of elements `from` to `to - 1` at time number `time`. */
  fill(time: number, from: number, to: number, into: readonly Float32Array[]): Promise<void>;
}

/** Ends the call of a task that has computed its part, or null if tasks have to make another pass over the data. */
export class EndOfTask extends Error {
  readonly numbers: readonly Float32Array[] | null;

  constructor(numbers: readonly Float32Array[] | null) {
    super("the task has ended");
    this.numbers = numbers;
  }
}

/** Passed in place of a part to find out how a call divides, and whether it is refused; nothing is computed. */
export class DryRun {
  /** Set by the call; null if it is a single task. */
  work: Work | null = null;
}

export type Part = TaskPart | DryRun;

export interface Context {
  readonly life: RequestLife;
  readonly service: Service;
  readonly thread: CutoutThread;
  readonly dataset: Dataset;
  readonly jobs: Jobs | null;
  /** The part of the answer to compute; null: the whole answer. */
  readonly part: Part | null;
}

/** Checks that points times times are within the limit. Throws LimitError that says how many of either would fit. */
export function checkFits(
  { life, service }: Context,
  count: number,
  times: number,
  of: "points" | "samples" | "nodes",
): void {
  const most = service.config.limits["query.points"];
  const { points, name } = life.limit({ points: most, name: "query.points" });
  if (count * times <= points) return;
  const [each, some] = [Math.floor(points / times), Math.floor(points / count)];
  const fits = [
    ...(some > 0 ? [`${some} of ${times} times with as many ${of}`] : []),
    ...(each > 0 ? [`${each} ${of}${times > 1 ? ` at ${times} times` : ""}`] : []),
  ];
  const what = fits.length === 0 ? "" : `: ${fits.join(", or ")} would fit`;
  const job = of === "points" && name !== "token.points" ? "; a job may take more (job: true)" : "";
  throw new LimitError(name, `Request size too large (${count * times} > ${points})${what}${job}`);
}

export function answered({ name, columns, shape, unit }: Quantity, values: Values): AnsweredQuantity {
  return { name, columns, shape, unit, values };
}
