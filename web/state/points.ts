/**
 * The points of a text: three numbers a line, separated by blanks, commas or semicolons. Lines of words before the
 * first point are headers. @param most points that are read; more are a problem
 */
export function pointsIn(
  text: string,
  most: number,
): { readonly points: readonly (readonly number[])[]; readonly problem: string | null } {
  const points: number[][] = [];
  for (const [i, line] of text.split("\n").entries()) {
    const parts = line.split(/[\s,;]+/).filter((part) => part !== "");
    const numbers = parts.map(Number);
    if (parts.length === 0 || (points.length === 0 && numbers.every(Number.isNaN))) continue;
    if (numbers.length !== 3 || !numbers.every(Number.isFinite))
      return { points, problem: `Line ${i + 1} should have three numbers: ${line.trim().slice(0, 40)}` };
    if (points.length === most) return { points, problem: `There are more than ${most} points.` };
    points.push(numbers);
  }
  return { points, problem: points.length === 0 ? "There is no point." : null };
}
