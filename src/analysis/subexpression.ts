/** Subexpressions: parts of expressions whose values are computed once for a block of nodes. */
import { type Components, type ScratchArray, type Shape, SIZES } from "./array-functions.js";
import type { UnitPowers } from "./dimensions.js";
import type { InputKey } from "./names.js";

/** The nodes of a block: inputs, and parts of expressions that have been computed. */
export interface BlockInputs {
  readonly count: number;
  input(key: InputKey, component: number): Float64Array;
  /** Returns an array of `count` numbers to overwrite, which is reserved until the block is done. */
  readonly scratch: ScratchArray;
  readonly computed: Map<string, Components>;
}

/** A subexpression. Those with the same key have the same values and are computed once for a block. */
export interface Subexpression {
  readonly key: string;
  readonly shape: Shape;
  readonly dimension: UnitPowers;
  readonly run: (block: BlockInputs) => Components;
  readonly constant?: number | undefined;
  /** Set if it is an input, or components of one from `from` on: only these are read. */
  readonly source?: { readonly key: InputKey; readonly from: number; readonly step: number };
  /** What it is the mean of, whose key it has, if a level has this mean. */
  readonly meanOf?: Subexpression;
}

function once({ computed }: BlockInputs, name: string, make: () => Components): Components {
  const values = computed.get(name) ?? make();
  computed.set(name, values);
  return values;
}

export function partOf(
  key: string,
  shape: Shape,
  dimension: UnitPowers,
  run: Subexpression["run"],
  constant?: number,
): Subexpression {
  return { key, shape, dimension, constant, run: (block) => once(block, key, () => run(block)) };
}

/** Makes a subexpression of components of an input, each of which is read once for a block. */
export function inputPart(key: InputKey, from: number, shape: Shape, dimension: UnitPowers, step = 1): Subexpression {
  const names = Array.from({ length: SIZES[shape] }, (_, c) => `${key}[${from + step * c}]`);
  const run = (block: BlockInputs): Components =>
    names.map((name, c) => once(block, name, () => [block.input(key, from + step * c)])[0]);
  const own = names.length === 1 ? names[0] : `${key}[${from}-${step}-]`;
  return { key: own, shape, dimension, run, source: { key, from, step } };
}
