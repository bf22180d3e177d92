/**
 * Parities of quantities under a symmetry of the flow, found by computing them from inputs with and without their
 * signs. The mirror of an axis changes the sign of each index along it, the rotation by 180 degrees about an axis those
 * of the other two: so du_i/dx_j has the sign s_i s_j, and the vorticity that of a pseudo-vector.
 */
import { compileExpression } from "./expression.js";
import type { Moments } from "./moments.js";
import { type InputKey, type Names, otherDataset, partsOfInput } from "./names.js";
import { type AnyReduction, type Covariance, mergeStates, type ReductionState } from "./reductions.js";

/** A symmetry about the middle of an axis. */
export interface Symmetry {
  readonly axis: 0 | 1 | 2;
  /** The sign of an index along x, y and z. */
  readonly signs: readonly [number, number, number];
  /** The middle of each axis. */
  readonly middle: readonly [number, number, number];
  /** Names of fields whose sign changes in addition. */
  readonly odd: readonly string[];
}

/** Nodes at which a quantity is computed: enough for values on both sides of any threshold in it. */
const NODES = 4096;
/** Decades of the inputs; at even nodes all have one magnitude, so that every term of a sum shows. */
const DECADES = 18;

type Signs = readonly number[];
/** Signs of the components of expressions by their texts, as far as they have been found. */
type Found = Map<string, Signs>;

/** The sign of each component of a quantity. Throws Error with the reason why it is neither even nor odd. */
export function paritiesOf(text: string, names: Names, symmetry: Symmetry, found: Found = new Map()): Signs {
  const expression = compileExpression(text, names);
  let state = 1;
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const magnitudes = Float64Array.from({ length: NODES }, () => 10 ** (DECADES * (random() - 0.5)));
  const anyValue = (_: number, node: number): number => {
    const magnitude = node % 2 === 0 ? (magnitudes[node] as number) : 10 ** (DECADES * (random() - 0.5));
    return (random() < 0.5 ? -1 : 1) * (0.1 + random()) * magnitude;
  };
  const drawn = new Map<string, Float64Array>();
  const valuesOf = (isTurned: boolean): readonly Float64Array[] =>
    expression.evaluate({
      count: NODES,
      scratch: () => new Float64Array(NODES),
      computed: new Map(),
      input(key, component) {
        const name = `${key} ${component}`;
        const a = ["x", "y", "z"].indexOf(key);
        // Coordinates stay near the middle, so that sums with them keep their digits.
        const own = drawn.get(name) ?? new Float64Array(NODES).map(a < 0 ? anyValue : () => 2.2 * (random() - 0.5));
        drawn.set(name, own);
        const [sign, from] =
          a < 0 ? [signOf(key, component, names, symmetry, found), 0] : [symmetry.signs[a], symmetry.middle[a]];
        return own.map((one) => from + (isTurned ? sign : 1) * one);
      },
    });
  const [plain, turned] = [valuesOf(false), valuesOf(true)].map((list) => list.map((one) => one.slice()));
  return plain.map((values, c) => {
    const is = (sign: number): boolean =>
      values.every((one, i) => {
        const other = sign * turned[c][i];
        const most = 1e-9 * Math.max(Math.abs(one), Math.abs(other));
        return Number.isNaN(one) === Number.isNaN(other) && !(Math.abs(one - other) > most);
      });
    if (!is(1) && !is(-1)) throw new Error(`${text} is neither even nor odd`);
    return is(1) ? 1 : -1;
  });
}

/** The sign of a component of an input. */
function signOf(key: InputKey, c: number, names: Names, symmetry: Symmetry, found: Found): number {
  const { signs } = symmetry;
  const parts = partsOfInput(key);
  if (parts === null) return 1;
  const { kind, field, option, expression } = parts;
  if (kind === "shift" && option.split(",").some((one) => signs["xyz".indexOf(one[0])] < 0))
    throw new Error(`shift(${expression}, ${option.replace(/(?<=[xyz])/g, ", ")}) is of other nodes on each side`);
  const [i, j] = [Math.floor((c % 9) / 3), c % 3];
  if (expression !== null) {
    const other = names.others?.[otherDataset(parts) ?? ""];
    if (other === undefined && !found.has(expression))
      found.set(expression, paritiesOf(expression, names, symmetry, found));
    const inner = other ? paritiesOf(expression, other, symmetry) : (found.get(expression) as Signs);
    const along = {
      gradient: [Math.floor(c / 3), signs[j]],
      secondDerivative: [Math.floor(c / 3), 1],
      hessian: [0, signs[i] * signs[j]],
    };
    const [component, sign] = along[kind as "gradient"] ?? [c, 1];
    return inner[component] * sign;
  }
  const { averaged = [], ...plain } = names;
  if (averaged.includes(field)) return paritiesOf(field, plain, symmetry)[c];
  const odd = symmetry.odd.includes(field) ? -1 : 1;
  const isVector = names.fields[field] === 3;
  if (kind === "value" || kind === "laplacian" || kind === "filtered") return odd * (isVector ? signs[c] : 1);
  if (kind === "hessian") return odd * signs[i] * signs[j] * (isVector ? signs[Math.floor(c / 9)] : 1);
  return odd * (isVector ? signs[i] * signs[j] : signs[j]);
}

/** Averages groups that are symmetric: along the axis the first half and the middle remain. `extent`: of groups. */
export function foldStates(
  reduction: AnyReduction,
  states: readonly ReductionState[],
  extent: readonly number[],
  axis: number,
  signs: readonly number[],
): readonly ReductionState[] {
  const n = extent[axis];
  const stride = extent.slice(0, axis).reduce((product, one) => product * one, 1);
  const turned = (state: ReductionState): ReductionState => {
    if (reduction.kind === "covariance") {
      const { means, products, ...rest } = state as Covariance;
      const sign = (ij: number): number => signs[Math.floor(ij / signs.length)] * signs[ij % signs.length];
      return {
        ...rest,
        means: means.map((one, i) => signs[i] * one),
        products: products.map((one, ij) => sign(ij) * one),
      };
    }
    const { mean, m3, min, max, ...rest } = state as Moments;
    return signs[0] > 0 ? state : { ...rest, mean: -mean, m3: -m3, min: -max, max: -min };
  };
  return states.flatMap((state, g) => {
    const j = Math.floor(g / stride) % n;
    if (2 * j > n - 1 || (2 * j === n - 1 && !signs.includes(-1))) return 2 * j > n - 1 ? [] : [state];
    return [mergeStates(reduction, state, turned(states[g + (n - 1 - 2 * j) * stride]))];
  });
}

/** Means over groups and their mirror images; NaN where neither has a value. `extent`: of groups. */
export function foldMeans(groups: readonly Moments[], extent: readonly number[], axis: number, sign: number) {
  const n = extent[axis];
  const stride = extent.slice(0, axis).reduce((product, one) => product * one, 1);
  return Float64Array.from(groups, ({ mean, weight }, g) => {
    const { mean: far, weight: w } = groups[g + (n - 1 - 2 * (Math.floor(g / stride) % n)) * stride];
    return (weight / (weight + w)) * mean + (w / (weight + w)) * sign * far;
  });
}
