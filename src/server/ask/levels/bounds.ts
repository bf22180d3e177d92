/** Bounds of conditions by interval arithmetic, from the extrema of the quantities in them. */
import { parse, type SyntaxTree, textOf } from "../../../analysis/expression-syntax.js";

export type Interval = readonly [low: number, high: number];

/** Intervals of the components of a subexpression in a cube. */
type Bounds = (cube: number) => readonly Interval[];

const ANY: Interval = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
/** Rounding of extrema to float32, which conditions do not have. */
const ROUNDING = 2 ** -22;

function around(numbers: readonly number[]): Interval {
  return numbers.some(Number.isNaN) ? ANY : [Math.min(...numbers), Math.max(...numbers)];
}

const products = (a: Interval, b: Interval): Interval => around(a.flatMap((x) => b.map((y) => x * y)));

function squared([low, high]: Interval): Interval {
  const [least, most] = [Math.max(0, low, -high), Math.max(-low, high)];
  return [least * least, most * most];
}

/** A condition is 1 where it may hold. */
function exceeds(a: Interval, b: Interval): Interval {
  const rounding = ROUNDING * Math.max(...[...a, ...b].map(Math.abs));
  return [0, a[1] - b[0] >= -rounding || Number.isNaN(a[1] - b[0]) ? 1 : 0];
}

const isPossible = ([low, high]: Interval): boolean => low !== 0 || high !== 0;

const BINARY: Readonly<Record<string, (a: Interval, b: Interval) => Interval>> = {
  "+": (a, b) => around([a[0] + b[0], a[1] + b[1]]),
  "-": (a, b) => around([a[0] - b[1], a[1] - b[0]]),
  "*": products,
  "/": (a, b) => (b[0] <= 0 && b[1] >= 0 ? ANY : around(a.flatMap((x) => b.map((y) => x / y)))),
  "^": (a, b) => (b[0] === 2 && b[1] === 2 ? squared(a) : ANY),
  ">": exceeds,
  ">=": exceeds,
  "<": (a, b) => exceeds(b, a),
  "<=": (a, b) => exceeds(b, a),
  "&&": (a, b) => [0, isPossible(a) && isPossible(b) ? 1 : 0],
  "||": (a, b) => [0, isPossible(a) || isPossible(b) ? 1 : 0],
};

const added = (list: readonly Interval[]): Interval => list.reduce((sum, one) => BINARY["+"](sum, one));

const FUNCTIONS: Readonly<Record<string, (a: readonly Interval[]) => Interval>> = {
  norm: (a) => around(added(a.map(squared)).map(Math.sqrt)),
  abs: ([a]) => around(squared(a).map(Math.sqrt)),
  sqrt: ([a]) => around(a.map((one) => Math.sqrt(Math.max(0, one)))),
};

/** Functions that may be undefined for known values. */
const PARTIAL: readonly unknown[] = ["/", "sqrt"];

export interface BoundedCondition {
  /** Whether the condition can hold in a cube: true wherever that is unknown. */
  readonly mayHold: (cube: number) => boolean;
  /** Whether it has a value wherever the bounded quantities have one. */
  readonly isDefined: boolean;
}

/** Bounds a condition. `boundsOf`: bounds of a quantity, by its text without spaces; null if it has none. */
export function boundCondition(condition: string, boundsOf: (text: string) => Bounds | null): BoundedCondition {
  let isDefined = true;
  const unknown = (): Bounds => {
    isDefined = false;
    return () => [ANY];
  };
  const compile = (tree: SyntaxTree): Bounds => {
    const known = boundsOf(textOf(tree).replaceAll(" ", ""));
    if (known !== null) return known;
    const part = (name: string) => compile(tree[name] as SyntaxTree);
    switch (tree.type) {
      case "Literal":
        return () => [[tree.value as number, tree.value as number]];
      case "UnaryExpression": {
        const of = part("argument");
        return tree.operator === "-" ? (cube) => of(cube).map(([low, high]) => [-high, -low]) : unknown();
      }
      case "BinaryExpression":
      case "LogicalExpression": {
        const [left, right, apply] = [part("left"), part("right"), BINARY[tree.operator as string]];
        if (apply === undefined) return unknown();
        if (PARTIAL.includes(tree.operator)) isDefined = false;
        return (cube) => {
          const [a, b] = [left(cube), right(cube)];
          return a.length === 1 && b.length === 1 ? [apply(a[0], b[0])] : [ANY];
        };
      }
      case "CallExpression": {
        const [argument, ...more] = tree.arguments as SyntaxTree[];
        const name = textOf(tree.callee as SyntaxTree);
        if (argument == null || more.length > 0 || !Object.hasOwn(FUNCTIONS, name)) return unknown();
        if (PARTIAL.includes(name)) isDefined = false;
        const of = compile(argument);
        return (cube) => [FUNCTIONS[name](of(cube))];
      }
      default:
        return unknown();
    }
  };
  const bounds = compile(parse(condition));
  return { mayHold: (cube) => isPossible(bounds(cube)[0]), isDefined };
}
