/** Says which numbers of nodes transforms take. */

/** Whether transforms take a length: 2^a 3^b 5^c. */
export function isTransformable(n: number): boolean {
  let rest = n;
  for (const prime of [2, 3, 5]) while (rest % prime === 0 && rest > 0) rest /= prime;
  return rest === 1;
}

/** The nearest lengths that transforms take, below and above one that they do not. */
export function nearestLengths(n: number): readonly [below: number, above: number] {
  let [below, above] = [n, n];
  while (!isTransformable(below)) below--;
  while (!isTransformable(above)) above++;
  return [below, above];
}
