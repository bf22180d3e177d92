/** Splines M{m}Q{q} by their definition: weights in exact rational arithmetic, values and derivatives in float64. */

/** m continuous derivatives, on q nodes per axis. */
export type Spline = Readonly<Record<"smoothness" | "nodes", number>>;

export function splineNamed(name: string): Spline {
  const [, smoothness, nodes] = /^M(\d)Q(\d+)$/.exec(name) as unknown as [string, string, string];
  return { smoothness: Number(smoothness), nodes: Number(nodes) };
}

export function quotient(numerator: bigint, denominator: bigint): number {
  return Number((numerator << 200n) / denominator) / 2 ** 200;
}

/**
 * Coefficients, over a common denominator, of the polynomial on 0 .. 1 whose l-th derivatives at both ends are l! times
 * the coefficients of power l of the Lagrange polynomials of node k, through the q - 1 nodes around that end: Newton's
 * form with divided differences of repeated points.
 */
export function exactWeight(
  { smoothness: m, nodes: q }: Spline,
  k: number,
): { numerators: bigint[]; denominator: bigint } {
  const n = q / 2 - 1;
  const ends = [0, 1].map((end) => {
    const node = k - n - end;
    let polynomial = [1n];
    let denominator = 1n;
    for (let other = -n; other <= n; other++) {
      if (other === node) continue;
      polynomial = [0n, ...polynomial].map((c, p) => c - BigInt(other) * (polynomial[p] ?? 0n));
      denominator *= BigInt(node - other);
    }
    return Math.abs(node) > n ? { polynomial: [], denominator: 1n } : { polynomial, denominator };
  });
  const denominator = ends.reduce((product, end) => product * end.denominator, 1n);
  const derivatives = ends.map(({ polynomial, denominator: own }) =>
    Array.from({ length: m + 1 }, (_, l) => ((polynomial[l] ?? 0n) * denominator) / own),
  ) as [bigint[], bigint[]];
  const points = Array.from({ length: 2 * m + 2 }, (_, i) => (i <= m ? 0 : 1));
  let column = points.map((point) => (derivatives[point] as bigint[])[0] as bigint);
  const newton = [column[0] as bigint];
  for (let order = 1; order < points.length; order++) {
    column = column.slice(1).map((upper, i) => {
      const [low, high] = [points[i] as number, points[i + order] as number];
      return low === high ? ((derivatives[low] as bigint[])[order] as bigint) : upper - (column[i] as bigint);
    });
    newton.push(column[0] as bigint);
  }
  const numerators = newton.reduceRight<bigint[]>((sum, c, i) => {
    const at = BigInt(points[i] as number);
    return Array.from({ length: sum.length + 1 }, (_, p) => (sum[p - 1] ?? c) - at * (sum[p] ?? 0n));
  }, []);
  return { numerators, denominator };
}

/** The records of an operation on the velocity: for each component these derivatives, as orders along x, y, z. */
export type Derivatives = readonly (readonly [number, number, number])[];

/** Evaluates a spline of a periodic cube of side 2 pi, stored as z, y, x, component, in float64. */
export function createExactSpline(spline: Spline, side: number, field: Float32Array) {
  const { smoothness, nodes: q } = spline;
  const spacing = (2 * Math.PI) / side;
  const coefficients = Array.from({ length: q }, (_, k) => {
    const { numerators, denominator } = exactWeight(spline, k);
    return Array.from({ length: 2 * smoothness + 2 }, (_, p) => quotient(numerators[p] ?? 0n, denominator));
  });
  const weights = (fraction: number, r: number): number[] =>
    coefficients.map((row) => {
      let sum = 0;
      for (let p = row.length - 1; p >= r; p--) {
        let factor = row[p] as number;
        for (let i = 0; i < r; i++) factor *= p - i;
        sum = sum * fraction + factor;
      }
      return sum / spacing ** r;
    });
  return (point: readonly number[], derivatives: Derivatives): number[] => {
    const cells = point.map((x) => x / spacing);
    const first = cells.map((cell) => Math.floor(cell) - q / 2 + 1);
    const node = (a: number, k: number) => ((first[a] as number) + k + 4 * side) % side;
    const along = cells.map((cell) => [0, 1, 2].map((r) => weights(cell - Math.floor(cell), r)));
    const sums = new Array<number>(3 * derivatives.length).fill(0);
    for (let k = 0; k < q; k++) {
      for (let j = 0; j < q; j++) {
        for (let i = 0; i < q; i++) {
          const at = 3 * ((node(2, k) * side + node(1, j)) * side + node(0, i));
          derivatives.forEach(([x, y, z], d) => {
            const weight =
              (along[0]?.[x]?.[i] as number) * (along[1]?.[y]?.[j] as number) * (along[2]?.[z]?.[k] as number);
            for (let c = 0; c < 3; c++) {
              const to = c * derivatives.length + d;
              sums[to] = (sums[to] as number) + weight * (field[at + c] as number);
            }
          });
        }
      }
    }
    return sums;
  };
}
