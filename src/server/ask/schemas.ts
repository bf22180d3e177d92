/** JSON Schemas of datasets and problems, for the document of the interface. */
import { Type } from "@sinclair/typebox";
import { CALLER_CODES, SERVER_CODES } from "../../shared/errors.js";
import { PROBLEM_TYPE } from "../http/problem.js";

export const oneOf = <const T extends readonly string[]>(values: T, description?: string) =>
  Type.Unsafe<T[number]>({ type: "string", enum: [...values], ...(description === undefined ? {} : { description }) });

export const anyObject = (description: string) => Type.Object({}, { additionalProperties: true, description });

export const NAME = Type.Object({ name: Type.String({ description: "Name or alias of a dataset, any letter case." }) });
export interface Named {
  Params: { name: string };
}

export const CLOSED = { additionalProperties: false } as const;

const PROBLEM = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    code: oneOf([...CALLER_CODES, ...SERVER_CODES]),
    member: Type.Optional(Type.String({ description: "The member at fault." })),
    limit: Type.Optional(Type.String({ description: "The limit that was exceeded." })),
    requestId: Type.String(),
  },
  { description: "A problem (RFC 9457)." },
);

/** Answers of every route except success. */
export const FAILURES = {
  "4xx": { description: "The caller's fault.", content: { [PROBLEM_TYPE]: { schema: PROBLEM } } },
  "5xx": { description: "The service's fault.", content: { [PROBLEM_TYPE]: { schema: PROBLEM } } },
};

const AXIS = Type.Object({
  name: Type.String(),
  nodes: Type.Integer(),
  first: Type.Number(),
  last: Type.Number(),
  length: Type.Number({ description: "Period, or distance of the end nodes." }),
  spacing: Type.Number(),
  periodic: Type.Boolean(),
  faces: Type.Optional(Type.Array(Type.String(), { description: "wall or open, at the first and the last node." })),
  coordinates: Type.Optional(Type.Array(Type.Number())),
  edges: Type.Optional(Type.Array(Type.Number(), { description: "Edges of the cells around the nodes, if stated." })),
});

const NAMES = { name: Type.String(), title: Type.String(), aliases: Type.Array(Type.String()) };

const SUMMARY = Type.Object({
  ...NAMES,
  nodes: Type.Array(Type.Integer()),
  times: Type.Object({ count: Type.Integer(), first: Type.Number(), last: Type.Number() }),
  fields: Type.Array(Type.String()),
});

/** The list of datasets, and what a client needs to know of the service. */
export const CATALOGUE = Type.Object({
  version: Type.String(),
  namespace: Type.String({ description: "XML namespace of the SOAP service." }),
  service: Type.String({ description: "Path of the SOAP service, relative to the root of the service." }),
  points: Type.Integer({ description: "Points allowed in one request, with the token that was sent if any." }),
  jobs: Type.Boolean({ description: "Whether calls may become jobs." }),
  datasets: Type.Array(SUMMARY),
});

export const DESCRIPTION = Type.Object({
  ...NAMES,
  digest: Type.String({ description: "SHA-256 that identifies the data." }),
  axes: Type.Array(AXIS),
  times: Type.Object({
    count: Type.Integer(),
    first: Type.Number(),
    last: Type.Number(),
    stored: Type.Array(Type.Number()),
    guardBefore: Type.Integer(),
    guardAfter: Type.Integer(),
  }),
  fields: Type.Array(
    Type.Object({
      name: Type.String(),
      components: Type.Integer(),
      unit: Type.Optional(Type.String()),
      title: Type.Optional(Type.String()),
      nodes: Type.Optional(
        Type.Array(Type.Object({ of: Type.String(), axes: Type.Array(Type.Any()) }), {
          description: "The nodes of the field, or of each component, if they are not those of the axes.",
        }),
      ),
    }),
  ),
  units: Type.Record(Type.String(), Type.String()),
  forcing: Type.String(),
  dnsStep: Type.Union([Type.Number(), Type.Null()]),
  viscosity: Type.Union([Type.Number(), Type.Null()]),
  frameVelocity: Type.Array(Type.Number()),
  openFaces: Type.String({ description: "fail or stop: what happens to particles that leave through open faces." }),
  source: Type.String(),
  warnings: Type.Array(Type.String()),
  assumed: Type.Array(Type.String(), { description: "Accepted guesses about the data." }),
  what: Type.Array(anyObject("A quantity: name, shape (scalar, vector or tensor), unit, and formula if it has one.")),
  methods: Type.Array(Type.String(), { description: "Methods of interpolation in space." }),
  calls: Type.Array(anyObject("A call: name, and the limit of a request.")),
});
