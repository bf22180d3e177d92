/** Answers `POST /datasets/{name}/structure-functions`: moments of increments between nodes along axes. */
import { type Static, Type } from "@sinclair/typebox";
import { compileExpression } from "../../analysis/expression.js";
import { type Increments, termsOf } from "../../analysis/increments.js";
import type { AnyReduction, GroupAnswer } from "../../analysis/reductions.js";
import type { Dataset } from "../../engine/contract/dataset.js";
import { PLACES, placesOf, reductionOf } from "./analysis-request.js";
import { refuse } from "./parameters.js";
import { AskedColumns, formulasOf, framesIn, type Reduce } from "./statistics.js";

const LETTERS = ["x", "y", "z"] as const;

export const STRUCTURE_FUNCTIONS = Type.Object(
  {
    ...PLACES,
    of: Type.Optional(Type.String({ default: "u", description: "A velocity, or a scalar quantity." })),
    orders: Type.Optional(
      Type.Array(Type.Integer({ minimum: 1, maximum: 16 }), { minItems: 1, maxItems: 16, default: [2, 3] }),
    ),
    separations: Type.Object(
      { nodes: Type.Array(Type.Integer({ minimum: 1 }), { minItems: 1, maxItems: 256 }) },
      { additionalProperties: false },
    ),
    axes: Type.Optional(
      Type.Array(Type.Union([Type.Literal("x"), Type.Literal("y"), Type.Literal("z")]), { minItems: 1, maxItems: 3 }),
    ),
  },
  { additionalProperties: false },
);
type StructureFunctions = Static<typeof STRUCTURE_FUNCTIONS>;

type Increment = AnyReduction & { readonly kind: "increments" };

/** Computes the answer: all pairs of nodes along each axis, which wrap on axes taken for their whole period. */
export async function structureFunctions(
  asked: StructureFunctions,
  dataset: Dataset,
  reduce: Reduce,
): Promise<GroupAnswer> {
  const places = placesOf(asked, dataset);
  const { of: text = "u", orders = [2, 3], axes = LETTERS, separations } = asked;
  const { shape } = compileExpression(text, places.base.names, "of");
  if (shape === "tensor") throw refuse("of", "of: increments are of a vector or a scalar, not of a tensor.");
  const answers: GroupAnswer[] = [];
  for (const letter of axes) {
    const axis = LETTERS.indexOf(letter) as 0 | 1 | 2;
    const nodes = places.base.extent[axis];
    if (separations.nodes.some((separation) => separation >= nodes))
      throw refuse("separations.nodes", `separations.nodes: the region has ${nodes} nodes along ${letter}.`);
    const columns = new AskedColumns(places);
    const of = columnsOf(text, shape, letter, dataset).map((column) => columns.of(column, "of"));
    const periodic = places.wraps[axis];
    const reduction: Increment = { kind: "increments", of, axis, separations: separations.nodes, orders, periodic };
    const merged = await reduce(reductionOf(places, { columns: columns.texts, reductions: [reduction] }), places);
    answers.push(...answerOf(reduction, merged.states(0)[0] as Increments, dataset));
  }
  return { frames: framesIn(places), formulas: formulasOf([text]), separations: answers };
}

/** The columns of a vector, or of a scalar and the velocity along the axis. */
function columnsOf(text: string, shape: "scalar" | "vector", letter: string, { fields }: Dataset): readonly string[] {
  if (shape === "vector") return LETTERS.map((component) => `(${text}).${component}`);
  return fields.velocity === undefined ? [text] : [text, `u.${letter}`];
}

function answerOf(
  { of, axis, separations, orders }: Increment,
  { pairs, sums, missing }: Increments,
  { axes }: Dataset,
): readonly GroupAnswer[] {
  const terms = termsOf(of.length, orders);
  return separations.map((nodes, s) => {
    const mean = (term: string): number =>
      (sums[s * terms.length + terms.indexOf(term)] as number) / (pairs[s] as number);
    const powers = (value: (order: number) => number) =>
      Object.fromEntries(orders.map((order) => [order, value(order)]));
    const { coordinates, spacing } = axes[axis];
    const length = coordinates === null ? nodes * spacing : null;
    const head = { axis: LETTERS[axis], nodes, length, pairs: pairs[s], missing };
    if (of.length < 3) {
      const yaglom = of.length === 2 ? { yaglom: mean("yaglom") } : {};
      return { ...head, scalar: powers((order) => mean(`D${order}`)), ...yaglom };
    }
    return {
      ...head,
      longitudinal: powers((order) => mean(`L${order}`)),
      transverse: powers((order) => (mean(`N${order}`) + mean(`M${order}`)) / 2),
      mixed: mean("mixed"),
      R_LL: mean("R_LL"),
      R_NN: mean("R_NN"),
    };
  });
}
