/**
 * Evaluation of small batches on the main thread, if the brick cache holds all that they read: handing fifty points to
 * a worker thread and back takes longer than evaluating them (docs/decisions/batches.md).
 */
import { METHODS, type Method, POINT_KERNELS, type PointQuantity } from "../../kernels/table.js";
import { FieldprobeError } from "../../shared/errors.js";
import { operationOf } from "../../shared/operations.js";
import { rowFor } from "../contract/requested-fields.js";
import type { BatchTask } from "../contract/task.js";
import type { InlineEvaluator, InlineSetup } from "./inline-evaluator.js";

/**
 * Largest cost of an inline batch, in node values: some 40 microseconds if the nodes are in the processor's caches, 250
 * if none of them are.
 */
const MAX_COST = 160_000;
/** Cost of a point besides its nodes. */
const POINT_COST = 250;
/** Cost of a node value where the SIMD module has no kernel: along axes with walls. */
const PLAIN_COST = 8;
/** Time per tick of the event loop for inline batches; further ones go to the workers. */
const TICK_MS = 2;
/** Small batches that workers evaluate before the evaluator is made: a command with a few queries does not need it. */
const OPEN_AFTER = 16;

/** Terms of one-dimensional weights or differences that a quantity sums, at most, with a value for each component. */
const TERMS: Readonly<Record<PointQuantity, number>> = {
  value: 1,
  gradient: 3,
  hessian: 6,
  laplacian: 3,
  laplacianOfGradient: 9,
};

export class InlineBatches {
  count = 0;
  readonly #setup: InlineSetup;
  readonly #repair: () => boolean;
  readonly #report: (error: unknown) => void;
  #evaluator: InlineEvaluator | null = null;
  /** Small batches seen before the evaluator was made. */
  #seen = 0;
  /** Milliseconds that batches have taken of this tick. */
  #spentMs = 0;
  #isCounting = false;

  /** @param repair frees the pins of this thread after an unforeseen error; false: later, so batches go to workers */
  constructor(setup: InlineSetup, repair: () => boolean, report: (error: unknown) => void) {
    this.#setup = setup;
    this.#repair = repair;
    this.#report = report;
  }

  /** Evaluates a batch and fills its `out`. Returns false if it is for the workers. */
  run(task: BatchTask): boolean {
    if (this.#spentMs >= TICK_MS || !isSmall(task)) return false;
    if (this.#evaluator === null) {
      if (++this.#seen === OPEN_AFTER) void this.#open();
      return false;
    }
    this.#noticeTick();
    const since = performance.now();
    try {
      const done = this.#evaluator.evaluate(task);
      if (done) this.count++;
      return done;
    } catch (error) {
      if (error instanceof FieldprobeError) throw error;
      this.#giveUp(error);
      return false;
    } finally {
      this.#spentMs += performance.now() - since;
    }
  }

  async #open(): Promise<void> {
    try {
      const { openInlineEvaluator } = await import("./inline-evaluator.js");
      this.#evaluator = await openInlineEvaluator(this.#setup);
    } catch (error) {
      this.#report(error);
    }
  }

  #giveUp(error: unknown): void {
    this.#evaluator = null;
    this.#report(error);
    const repair = (): void => {
      if (!this.#repair()) setTimeout(repair, 1).unref();
    };
    repair();
  }

  #noticeTick(): void {
    if (this.#isCounting) return;
    this.#isCounting = true;
    setImmediate(() => {
      this.#isCounting = false;
      this.#spentMs = 0;
    });
  }
}

/** Whether a batch is so small that it may block the event loop. */
export function isSmall({ query, dataset, fields, count, outIndices, progress }: BatchTask): boolean {
  const { family, kernel } = rowFor(operationOf(query.operation), fields, dataset);
  const interpolates = family === "points" || (family === "force" && dataset.forcing.kind === "stored");
  const target = POINT_KERNELS.get(kernel);
  const method = METHODS.get(query.spatialInterpolation ?? "None");
  if (!interpolates || target === undefined || method === undefined || outIndices !== null || progress) return false;
  const { quantity, sizes } = target;
  const frames = query.temporalInterpolation === "PCHIP" ? 4 : 1;
  const components = sizes.reduce((sum: number, size) => sum + size, 0);
  const values = frames * components * TERMS[quantity] * nodesOf(method, quantity);
  const cost = dataset.axes.every(({ periodic }) => periodic) ? 1 : PLAIN_COST;
  return cost * count * (POINT_COST + values) <= MAX_COST;
}

/** Nodes of one term of a stencil, at most. */
function nodesOf(method: Method, quantity: PointQuantity): number {
  if (method.kind === "spline") return method.nodes ** 3;
  if (method.kind === "lagrange") return quantity === "value" ? method.order ** 3 : 5;
  return method.base === 1 ? method.order + 1 : (method.base + method.order) * method.base ** 2;
}
