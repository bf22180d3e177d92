/** Conditions of questions. */

/** What is where a condition holds, and not a number elsewhere. */
export function whereHolds(condition: string, text: string): string {
  return `(${condition}) ? (${text}) : (0/0)`;
}
