/** The reductions of `statistics`, as members of `reduce`. */
import { Type } from "@sinclair/typebox";

export const QUANTITY = Type.String({ description: "A quantity: a name or an expression, as in docs/analysis.md." });
const bins = Type.Integer({ minimum: 1, maximum: 65_536 });
const range = Type.Tuple([Type.Number(), Type.Number()], { description: "First and last edge; bins are half open." });
const auto = Type.Literal("auto", { description: "From the least to the largest value; takes another pass." });
const picked = {
  count: Type.Integer({ minimum: 1, maximum: 1000 }),
  apart: Type.Optional(Type.Number({ minimum: 0, default: 0, description: "Least distance of two of them." })),
};
const closed = { additionalProperties: false } as const;

export const REDUCTIONS = {
  moments: Type.Object(
    { moments: QUANTITY, order: Type.Optional(Type.Integer({ minimum: 1, maximum: 8, default: 4 })) },
    closed,
  ),
  covariance: Type.Object({ covariance: Type.Array(QUANTITY, { minItems: 1, maxItems: 16 }) }, closed),
  histogram: Type.Object({ histogram: QUANTITY, bins, range: Type.Optional(Type.Union([range, auto])) }, closed),
  joint: Type.Object(
    {
      joint: Type.Tuple([QUANTITY, QUANTITY]),
      bins: Type.Tuple([bins, bins]),
      range: Type.Optional(Type.Union([Type.Tuple([range, range]), auto])),
    },
    closed,
  ),
  conditional: Type.Object(
    {
      conditional: QUANTITY,
      on: Type.Union([QUANTITY, Type.Tuple([QUANTITY, QUANTITY])]),
      bins: Type.Union([bins, Type.Tuple([bins, bins])]),
      range: Type.Optional(Type.Union([range, Type.Tuple([range, range]), auto])),
    },
    closed,
  ),
  extremes: Type.Object({ extremes: QUANTITY, ...picked }, closed),
  quantiles: Type.Object(
    { quantiles: QUANTITY, at: Type.Array(Type.Number({ minimum: 0, maximum: 1 }), { minItems: 1, maxItems: 32 }) },
    closed,
  ),
  budget: Type.Object({ budget: Type.String() }, closed),
} as const;

export const EVENTS = Type.Object(
  { highest: Type.Optional(QUANTITY), lowest: Type.Optional(QUANTITY), ...picked },
  closed,
);
export type ReductionKind = keyof typeof REDUCTIONS;
