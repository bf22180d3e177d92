/**
 * Oracle for derivatives on uniform periodic grids, by their definition: differences at nodes first, then interpolation
 * of the differences. Its coefficients are typed from the literature and nothing is fused.
 */

type NodeValue = (i: number, j: number, k: number) => number;

const FIRST: Record<number, number[]> = {
  4: [2 / 3, -1 / 12],
  6: [3 / 4, -3 / 20, 1 / 60],
  8: [4 / 5, -1 / 5, 4 / 105, -1 / 280],
};
const SECOND: Record<string, number[]> = {
  "4": [4 / 3, -1 / 12],
  "6": [3 / 2, -3 / 20, 1 / 90],
  "8": [8 / 5, -1 / 5, 8 / 315, -1 / 560],
  legacy: [792 / 591, -207 / 2955, -104 / 8865, 9 / 3152],
};
const MIXED: Record<number, number[]> = {
  4: [1 / 3, -1 / 48],
  6: [3 / 8, -3 / 80, 1 / 360],
  8: [2 / 5, -1 / 20, 2 / 315, -1 / 2240],
};

const UNIT = [
  [1, 0, 0],
  [0, 1, 0],
  [0, 0, 1],
] as const;

function first(f: NodeValue, node: readonly number[], axis: number, order: number, h: number): number {
  const at = (k: number) => shifted(f, node, [[axis, k]]);
  return (FIRST[order] as number[]).reduce((sum, a, i) => sum + a * (at(i + 1) - at(-i - 1)), 0) / h;
}

function second(f: NodeValue, node: readonly number[], axis: number, order: string, h: number): number {
  const at = (k: number) => shifted(f, node, [[axis, k]]);
  return (SECOND[order] as number[]).reduce((sum, b, i) => sum + b * (at(i + 1) + at(-i - 1) - 2 * at(0)), 0) / h ** 2;
}

function mixed(
  f: NodeValue,
  node: readonly number[],
  a: number,
  b: number,
  order: number,
  ha: number,
  hb: number,
): number {
  const at = (k: number, l: number) =>
    shifted(f, node, [
      [a, k],
      [b, l],
    ]);
  return (
    (MIXED[order] as number[]).reduce((sum, m, i) => {
      const k = i + 1;
      return sum + m * (at(k, k) + at(-k, -k) - at(k, -k) - at(-k, k));
    }, 0) /
    (ha * hb)
  );
}

function shifted(f: NodeValue, node: readonly number[], moves: readonly (readonly [number, number])[]): number {
  const [i, j, k] = [0, 1, 2].map((c) =>
    moves.reduce((sum, [axis, step]) => sum + step * (UNIT[axis]?.[c] as number), node[c] as number),
  ) as [number, number, number];
  return f(i, j, k);
}

/** Lagrange basis of the nodes -1, 0, 1, 2 at a fraction. */
function basis(fraction: number): number[] {
  const nodes = [-1, 0, 1, 2];
  return nodes.map((k) => nodes.filter((m) => m !== k).reduce((product, m) => (product * (fraction - m)) / (k - m), 1));
}

/**
 * Derivatives of one component at a point, in the order of the layout's record.
 * @param f        node value by index before wrapping
 * @param spacings of x, y, z; node 0 of each axis is at 0
 */
export function derivativeByDefinition(
  f: NodeValue,
  layout: "gradient" | "hessian" | "laplacian",
  method: string,
  legacy: boolean,
  spacings: readonly number[],
  point: readonly number[],
): number[] {
  const order = method === "Fd4Lag4" ? 4 : Number(method.slice(-1));
  const pure = legacy && order === 8 ? "legacy" : String(order);
  const h = (a: number) => spacings[a] as number;
  const atNode = (node: readonly number[]): number[] => {
    const d2 = (a: number) => second(f, node, a, pure, h(a));
    const dd = (a: number, b: number) => mixed(f, node, a, b, order, h(a), h(b));
    if (layout === "gradient") return [0, 1, 2].map((a) => first(f, node, a, order, h(a)));
    if (layout === "laplacian") return [d2(0) + d2(1) + d2(2)];
    return [d2(0), dd(0, 1), dd(0, 2), d2(1), dd(1, 2), d2(2)];
  };
  const scaled = point.map((x, a) => x / h(a));
  if (method !== "Fd4Lag4") return atNode(scaled.map((s) => Math.floor(s + 0.5)));
  const cells = scaled.map(Math.floor);
  const [wx, wy, wz] = scaled.map((s, a) => basis(s - (cells[a] as number))) as [number[], number[], number[]];
  let sum: number[] | null = null;
  wz.forEach((c, k) => {
    wy.forEach((b, j) => {
      wx.forEach((a, i) => {
        const offsets = [i - 1, j - 1, k - 1];
        const values = atNode(cells.map((cell, axis) => cell + (offsets[axis] as number)));
        sum = values.map((value, v) => (sum === null ? 0 : (sum[v] as number)) + a * b * c * value);
      });
    });
  });
  return sum ?? [];
}
