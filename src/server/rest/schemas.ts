/** Makes the JSON Schemas that document the interface from the operation table. */
import { type TSchema, Type } from "@sinclair/typebox";
import { CALLER_CODES, SERVER_CODES } from "../../shared/errors.js";
import {
  type Member,
  type MemberType,
  type Operation,
  SPATIAL_INTERPOLATION,
  TEMPORAL_INTERPOLATION,
  VALUES,
} from "../../shared/operations.js";
import { PROBLEM_TYPE } from "../http/problem.js";
import { ANSWER_TYPES } from "./answer/write-answer.js";
import { REQUEST_TYPES } from "./body/read-body.js";
import { arraysOf, mayBeList, optionalArraysOf, parametersOf } from "./parameters.js";
import { REGION, regionQuery } from "./region.js";

/** A member of a query string that is optional, as text. */
export const optionalText = (description: string) => Type.Optional(Type.String({ description }));

/** A member that is one of a list of names. */
export const oneOf = <const T extends readonly string[]>(values: T, description?: string) =>
  Type.Unsafe<T[number]>({ type: "string", enum: [...values], ...(description === undefined ? {} : { description }) });

/** A schema without other members. */
export const CLOSED = { additionalProperties: false } as const;

const TRIPLE = Type.Array(Type.Number(), { minItems: 3, maxItems: 3 });

const TYPES: Readonly<Record<MemberType, TSchema>> = {
  string: Type.String(),
  float: Type.Number({ format: "float" }),
  int: Type.Integer({ format: "int32" }),
  SpatialInterpolation: oneOf(SPATIAL_INTERPOLATION),
  TemporalInterpolation: oneOf(TEMPORAL_INTERPOLATION),
  ArrayOfPoint3: Type.Array(TRIPLE),
  ArrayOfVector3: Type.Array(TRIPLE),
  ArrayOfArrayOfFloat: Type.Array(Type.Array(Type.Number())),
};

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
});

/** A dataset in a list. */
const SUMMARY = Type.Object({
  name: Type.String(),
  title: Type.String(),
  aliases: Type.Array(Type.String()),
  nodes: Type.Array(Type.Integer()),
  times: Type.Object({ count: Type.Integer(), first: Type.Number(), last: Type.Number() }),
  fields: Type.Array(Type.String()),
});

/** The list of datasets, and what a client needs to know of the service. */
export const CATALOGUE = Type.Object({
  version: Type.String(),
  namespace: Type.String({ description: "XML namespace of the SOAP service." }),
  service: Type.String({ description: "Path of the SOAP service, relative to the root of the service." }),
  points: Type.Integer({
    description: "Points allowed in one request, with the token that was sent if any.",
  }),
  jobs: Type.Boolean({ description: "Whether calls may become jobs." }),
  datasets: Type.Array(SUMMARY),
});

/** A dataset in full. */
export const DESCRIPTION = Type.Object({
  name: Type.String(),
  title: Type.String(),
  aliases: Type.Array(Type.String()),
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
  operations: Type.Array(
    Type.Object({
      name: Type.String(),
      available: Type.Boolean(),
      parameters: Type.Array(Type.Object({ name: Type.String(), type: Type.String(), required: Type.Boolean() })),
      spatialInterpolation: Type.Array(Type.String()),
      result: Type.String(),
      components: Type.Array(Type.String()),
    }),
  ),
});

function schemaOf(operation: Operation, member: Member): TSchema {
  const schema = TYPES[member.type];
  const spatial = operation.family === "track" ? VALUES : operation.spatial;
  if (member.type === "SpatialInterpolation") return oneOf(spatial);
  return mayBeList(member) ? Type.Union([schema, Type.Array(schema)]) : schema;
}

/** Parameters in a query string: optional there, because a JSON body may hold them. */
export function querySchema(operation: Operation, own: Readonly<Record<string, TSchema>> = {}): TSchema {
  const entries = parametersOf(operation).map((member) => [member.name, Type.Optional(schemaOf(operation, member))]);
  const arrays = optionalArraysOf(operation).map((name) => [
    name,
    Type.Optional(oneOf(["false"], `Says that an octet-stream holds no ${name}.`)),
  ]);
  const region = operation.family === "search" ? regionQuery("x, y and z") : {};
  return Type.Object({ ...own, ...region, ...Object.fromEntries([...entries, ...arrays]) });
}

function jsonBody(operation: Operation): TSchema {
  const members = [...parametersOf(operation), ...arraysOf(operation)];
  return Type.Object(
    {
      ...(operation.family === "search" ? { region: REGION } : {}),
      ...Object.fromEntries(members.map((member) => [member.name, Type.Optional(schemaOf(operation, member))])),
    },
    { ...CLOSED, title: operation.name },
  );
}

/** The body in each of its forms, for a route that serves one operation or several. */
export function bodySchema(first: Operation, ...more: readonly Operation[]) {
  const arrays = new Set([first, ...more].flatMap((operation) => arraysOf(operation).map((member) => member.name)));
  const octets = Type.String({
    format: "binary",
    description: `Little-endian float32: the three numbers of ${[...arrays].join(", then of ")} for each point.`,
  });
  const [asJson, asOctets] = REQUEST_TYPES;
  const json = more.length === 0 ? jsonBody(first) : Type.Union([first, ...more].map(jsonBody));
  return { content: { [asJson]: { schema: json }, [asOctets]: { schema: octets } } };
}

/** The answer in each of its forms. */
export function answerSchema(...more: readonly string[]) {
  const json = Type.Object({
    version: Type.String(),
    operation: Type.String(),
    dataset: Type.Optional(Type.String()),
    manifest: Type.Optional(Type.String({ description: "SHA-256 that identifies the data." })),
    assumed: Type.Optional(Type.Array(Type.String(), { description: "Accepted guesses about the data." })),
    options: Type.Record(Type.String(), Type.Unknown()),
    times: Type.Optional(Type.Array(Type.Number())),
    components: Type.Array(Type.String()),
    shape: Type.Array(Type.Integer()),
    values: Type.Array(Type.Unknown(), { description: "Nested as `shape` says; null if a value is not finite." }),
  });
  const [asJson, asCsv, ...asBytes] = [...ANSWER_TYPES, ...more] as const;
  return {
    description: "Records in the order of the points; times and layers vary slower. Fieldprobe-Shape gives the shape.",
    headers: {
      "fieldprobe-shape": Type.String({ description: "Dimensions in C order, comma separated." }),
      "fieldprobe-times": Type.Optional(
        Type.String({
          description: "With records: time of the first, interval from one to the next, time of the last.",
        }),
      ),
      "fieldprobe-columns": Type.Optional(
        Type.String({ description: "Of trajectories: names of the numbers of a record, as JSON." }),
      ),
    },
    content: {
      [asJson]: { schema: json },
      [asCsv]: { schema: Type.String() },
      ...Object.fromEntries(asBytes.map((type) => [type, { schema: Type.String({ format: "binary" }) }])),
    },
  };
}
