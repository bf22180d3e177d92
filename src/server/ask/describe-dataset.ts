/** Describes what a dataset can answer: its quantities, methods, and calls with their limits. */
import { compileExpression } from "../../analysis/expression.js";
import { formulaOf, type Names, nameList, namesFor } from "../../analysis/names.js";
import type { Dataset } from "../../engine/contract/dataset.js";
import { CALL_NAMES, type CallName, callOf, choicesOf, MEMBERS } from "../../shared/calls.js";
import type { Config } from "../../shared/config.js";
import { describe } from "../http/describe.js";

/** The quantity with a name, as `what` takes it; empty if the dataset lacks its inputs. */
function quantityOf(name: string, names: Names): readonly object[] {
  try {
    const { shape, unit } = compileExpression(name, names, "what");
    const formula = formulaOf(name);
    return [{ name, shape, ...(unit === null ? {} : { unit }), ...(formula === undefined ? {} : { formula }) }];
  } catch {
    return [];
  }
}

/** The limit of a call, under the name of what it counts. */
function limitOf(call: CallName, { limits }: Config) {
  if (call === "find") return { rows: MEMBERS.limit.maximum };
  if (callOf(call).members.includes("integrator")) return { particleSteps: limits["query.particleSteps"] };
  if (callOf(call).kind === "table") return { numbers: limits["analysis.numbers"] };
  return { points: limits["query.points"] };
}

export function describeDataset(dataset: Dataset, config: Config) {
  const names = { ...namesFor(dataset), refusesEarlier: true };
  const fewest = Math.min(...dataset.axes.map(({ nodes, periodic }) => (periodic ? Number.POSITIVE_INFINITY : nodes)));
  return {
    ...describe(dataset),
    what: nameList(names).flatMap((name) => quantityOf(name, names)),
    // The digits at the end of a method's name are the width of its stencil in nodes.
    methods: choicesOf("method", "values").filter((name) => fewest >= Number(/\d+$/.exec(name)?.[0] ?? 1)),
    calls: CALL_NAMES.map((name) => ({ name, ...limitOf(name, config) })),
  };
}
