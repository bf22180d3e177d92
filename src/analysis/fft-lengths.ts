/** Numbers of nodes for which Fourier transforms are available. */

/** Whether a length can be transformed: 2^a 3^b 5^c. */
export function isFftLength(n: number): boolean {
  let rest = n;
  for (const prime of [2, 3, 5]) while (rest % prime === 0 && rest > 0) rest /= prime;
  return rest === 1;
}

/** The nearest FFT lengths at or below `n`, which is at least 1, and at or above it. */
export function nearestFftLengths(n: number): readonly [below: number, above: number] {
  let [below, above] = [n, n];
  while (!isFftLength(below)) below--;
  while (!isFftLength(above)) above++;
  return [below, above];
}
