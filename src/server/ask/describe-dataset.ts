/** What may be asked of a dataset: its quantities, methods, and calls with their limits. */
import { compileExpression } from "../../analysis/expression.js";
import { formulaOf, type Names, nameList, namesFor } from "../../analysis/names.js";
import type { Dataset } from "../../engine/contract/dataset.js";
import { CALL_NAMES, type CallName, callOf, choicesOf, MEMBERS } from "../../shared/calls.js";
import type { Config } from "../../shared/config.js";
import { describe } from "../http/describe.js";

/** A name as `what` knows it; none if the dataset lacks what it is made of. */
function quantityOf(name: string, names: Names): readonly object[] {
  try {
    const { shape, unit } = compileExpression(name, names, "what");
    const formula = formulaOf(name, names);
    const isPlain = formula !== undefined && !/_|\bvelocity\b|\bpressure\b/.test(formula);
    return [{ name, shape, ...(unit === null ? {} : { unit }), ...(isPlain ? { formula } : {}) }];
  } catch {
    return [];
  }
}

/** The limit of a call, by the name of its setting, and what it counts to. */
function limitOf(call: CallName, { limits }: Config) {
  if (call === "find") return { rows: MEMBERS.limit.most };
  if (callOf(call).members.includes("integrator")) return { particleSteps: limits["query.particleSteps"] };
  if (callOf(call).kind === "table") return { numbers: limits["analysis.numbers"] };
  return { points: limits["query.points"] };
}

/** A dataset as `GET /api/datasets/NAME` describes it. */
export function describeDataset(dataset: Dataset, config: Config) {
  const names = { ...namesFor(dataset), refusesEarlier: true };
  const least = Math.min(...dataset.axes.map(({ nodes, periodic }) => (periodic ? Number.POSITIVE_INFINITY : nodes)));
  return {
    ...describe(dataset),
    what: nameList(names).flatMap((name) => quantityOf(name, names)),
    // Their numbers are the nodes that they need along an axis.
    methods: choicesOf("method", "values").filter((name) => least >= Number(/\d+$/.exec(name)?.[0] ?? 1)),
    calls: CALL_NAMES.map((name) => ({ name, ...limitOf(name, config) })),
  };
}
