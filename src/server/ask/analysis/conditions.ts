/** Conditions of questions. */
import { type AnalysedNodes, together } from "./analysed-nodes.js";
import { type Analysis, momentsOf } from "./analysis.js";

/** What is where a condition holds, and not a number elsewhere. */
export function whereHolds(condition: string, text: string): string {
  return `(${condition}) ? (${text}) : (0/0)`;
}

/** How many nodes hold each of some conditions. */
export async function countsOf(
  analysis: Pick<Analysis, "reduce">,
  nodes: AnalysedNodes,
  conditions: readonly string[],
): Promise<readonly number[]> {
  const columns = conditions.map((condition) => whereHolds(condition, "1"));
  return (await momentsOf(analysis, together(nodes), columns)).map(([one]) => one?.count as number);
}
