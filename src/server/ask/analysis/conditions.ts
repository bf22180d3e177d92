/** Conditions of questions: restricts reductions to the nodes where a condition holds. */
import { type AnalysedNodes, pooled } from "./analysed-nodes.js";
import { type Analysis, momentsOf } from "./analysis.js";

/** An expression whose values are NaN where the condition fails. */
export function nanUnless(condition: string, text: string): string {
  return `(${condition}) ? (${text}) : (0/0)`;
}

export async function countNodesWhere(
  analysis: Pick<Analysis, "reduce">,
  nodes: AnalysedNodes,
  conditions: readonly string[],
): Promise<readonly number[]> {
  const columns = conditions.map((condition) => nanUnless(condition, "1"));
  return (await momentsOf(analysis, pooled(nodes), columns)).map(([one]) => one?.count as number);
}
