/** Quantities computed from the result records of an operation: `norm(omega)` from the nine of GetVelocityGradient. */
import { compileScalar } from "../../analysis/expression.js";
import { type InputKey, packedIndex } from "../../analysis/names.js";
import { FIELDS, operationOf, RECORDS } from "../../shared/operations.js";
import type { Quantity } from "../../shared/quantities.js";

/** Evaluates a quantity for `count` records of `width` numbers, from record `first` on. */
export type RecordQuantity = (
  records: ArrayLike<number>,
  width: number,
  first: number,
  count: number,
) => ArrayLike<number>;

/** Compiles a quantity; NaN if it needs a viscosity and there is none. */
export function recordQuantity(
  { expression, operation, needsViscosity }: Pick<Quantity, "expression" | "operation" | "needsViscosity">,
  viscosity: number | null | undefined,
): RecordQuantity {
  if (needsViscosity && viscosity == null)
    return (_records, _width, _first, count) => new Float64Array(count).fill(Number.NaN);
  const components: readonly string[] = RECORDS[operationOf(operation).result];
  const scalars = components.filter((name) => !/^[xyz]$/.test(name)).map((name) => [name, 1] as const);
  const names = { fields: { ...FIELDS, ...Object.fromEntries(scalars) }, units: null };
  const { evaluate } = compileScalar(expression, { ...names, viscosity: viscosity ?? undefined });
  return (records, width, first, count) => {
    const input = (key: InputKey, c: number): Float64Array => {
      const [kind, name = ""] = key.split(":");
      const component = kind === "hessian" ? packedIndex(c) : c;
      const at = first * width + Math.max(0, components.indexOf(name)) + component;
      return Float64Array.from({ length: count }, (_, i) => records[at + i * width]);
    };
    const [values] = evaluate({ count, input, scratch: () => new Float64Array(count), computed: new Map() });
    return values;
  };
}
