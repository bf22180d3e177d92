/** Sums of quantities at offsets around events: the nodes of a part at which a condition holds, or some nodes. */
import type { Three } from "./fragments.js";
import { groupsOf, type PartBox, type PartStates, placeOf, type ReductionPlan, weightsIn } from "./plan.js";
import type { AnyReduction, Around } from "./reductions.js";

/** Most offsets along an axis whose values are held together. */
const EDGE = 16;

/** Evaluates expressions at a box of nodes from the first node of the part on; overwrites what it returned before. */
type Evaluate = (columns: readonly string[], count: Three) => readonly Float64Array[];

/**
 * The sums of each group of a part. If it has events, columns are evaluated in boxes that hold the part and up to `EDGE`
 * offsets along each axis, one along axes with a stride.
 */
export function sumsAround(
  plan: ReductionPlan,
  { of, on, lags, at: listed }: AnyReduction & { kind: "around" },
  box: PartBox,
  stride: Three,
  evaluate: Evaluate,
): PartStates[0] {
  const sizes = lags.map((lag) => 2 * lag + 1);
  const offsets = sizes[0] * sizes[1] * sizes[2];
  const weights = listed === undefined ? weightsIn(plan, box) : null;
  const [nx, ny] = box.count;
  const isEvent = new Float64Array(nx * ny * box.count[2]);
  if (listed === undefined) isEvent.set(evaluate([plan.columns[on]], box.count)[0].map((one) => Number(0 * one === 0)));
  for (const { node, frame } of listed ?? []) {
    const [i, j, k] = placeOf(plan.extent, node).map((n, a) => n - box.from[a]);
    const isInside = [i, j, k].every((n, a) => n >= 0 && n < box.count[a]);
    if (frame === box.frame && isInside) isEvent[(k * ny + j) * nx + i] = 1;
  }
  const nodes: number[][] = [];
  const states = Array.from(groupsOf(plan, box), ([group, [i, j, k], [wide, deep, high]]): [number, Around] => {
    const own: number[] = [];
    for (let z = k; z < k + high; z++)
      for (let y = j; y < j + deep; y++)
        for (let n = (z * ny + y) * nx + i; n < (z * ny + y) * nx + i + wide; n++) if (isEvent[n] === 1) own.push(n);
    nodes.push(own);
    const [counts, shares, sums] = [0, 1, 2].map(() => new Float64Array(of.length * offsets));
    return [group, { events: own.length, counts, shares, sums }];
  });
  if (nodes.every((own) => own.length === 0)) return states;
  const edge = stride.map((step) => (step === 1 ? EDGE : 1));
  for (let z = 0; z < sizes[2]; z += edge[2])
    for (let y = 0; y < sizes[1]; y += edge[1])
      for (let x = 0; x < sizes[0]; x += edge[0]) {
        const from = [x, y, z];
        const by = from.map((low, a) => `${"xyz"[a]}, ${low - lags[a]}`).join(", ");
        const span = from.map((low, a) => Math.min(edge[a], sizes[a] - low)) as unknown as Three;
        const shape = box.count.map((n, a) => n + span[a] - 1) as unknown as Three;
        const shifted = of.map((column) => `shift(${plan.columns[column]}, ${by})`);
        for (const [c, values] of evaluate(shifted, shape).entries()) {
          const to = c * offsets + (z * sizes[1] + y) * sizes[0] + x;
          for (const [g, own] of nodes.entries())
            for (const node of own) {
              const row = Math.floor(node / nx);
              const plane = Math.floor(row / ny);
              const at = (plane * shape[1] + row - plane * ny) * shape[0] + node - row * nx;
              addBox(values, at, shape, weights === null ? 1 : weights[node], span, states[g][1], to, sizes);
            }
        }
      }
  return states;
}

/** Adds a box of `span` values from number `at` on to sums from `to` on. `shape` and `sizes`: lengths of their rows. */
function addBox(
  values: Float64Array,
  at: number,
  shape: Three,
  weight: number,
  span: Three,
  { counts, shares, sums }: Around,
  to: number,
  sizes: readonly number[],
): void {
  for (let k = 0; k < span[2]; k++)
    for (let j = 0; j < span[1]; j++) {
      const row = at + (k * shape[1] + j) * shape[0];
      const out = to + (k * sizes[1] + j) * sizes[0];
      for (let i = 0; i < span[0]; i++) {
        const value = values[row + i];
        if (0 * value !== 0) continue;
        counts[out + i]++;
        shares[out + i] += weight;
        sums[out + i] += weight * value;
      }
    }
}
