/**
 * Answers `POST /datasets/{name}/flow-map`: where the seeds of a plane or a box go, the gradient of that map, and how
 * much it stretches.
 */
import { type Static, Type } from "@sinclair/typebox";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Dataset } from "../../../engine/contract/dataset.js";
import type { Query } from "../../../engine/contract/query.js";
import { tooManyPoints } from "../../../shared/errors.js";
import { RECORDS, type SpatialInterpolation, VALUES } from "../../../shared/operations.js";
import { negotiate } from "../../http/negotiate.js";
import type { RequestLife } from "../../http/request-life.js";
import { addVary, sendPassages } from "../../http/send-answer.js";
import type { Service } from "../../http/service.js";
import { npyHeader } from "../answer/numpy-files.js";
import { originOf } from "../answer/origin.js";
import { nested } from "../answer/write-answer.js";
import type { BatchAnswer } from "../batch-answer.js";
import { readWhole } from "../body/read-body.js";
import { refuse } from "../parameters.js";
import { checkRegion, REGION_OF_SEEDS } from "../region.js";
import { layBox, layPlane, pointsOf, type SampleGrid, writeGrid } from "../sample-grid.js";
import { compute } from "../serve-operation.js";
import { TripleWriter } from "../triple-writer.js";
import { checkSchema, readAnalysis } from "./analysis-request.js";

const BODY_BYTES = 64 * 1024;
const NPY = "application/x-npy";
const FORMS = ["application/json", "application/octet-stream", NPY] as const;
const closed = { additionalProperties: false } as const;
const count = Type.Integer({ minimum: 1, maximum: 65_536 });
export const scheme = (about: string) =>
  Type.Union(
    VALUES.map((name) => Type.Literal(name)).concat(["None_Fd4", "Fd4Lag4"].map((name) => Type.Literal(name)) as never),
    { description: about },
  );
const axis = Type.Union([Type.Literal("x"), Type.Literal("y"), Type.Literal("z")]);
const NUMBERS = { map: [0, 3], gradient: [3, 9], eigenvalues: [12, 3], ftle: [15, 1] } as const;
type FlowMapQuantity = keyof typeof NUMBERS;

export const FLOW_MAP = Type.Object(
  {
    start: Type.Number({ description: "Time at which the particles are at their seeds." }),
    end: Type.Number({ description: "Time up to which they are tracked, in either direction." }),
    dt: Type.Number({ exclusiveMinimum: 0, description: "Length of a step." }),
    plane: Type.Optional(
      Type.Object(
        { normal: axis, at: Type.Number(), count: Type.Optional(Type.Array(count, { minItems: 1, maxItems: 2 })) },
        { ...closed, description: "Seeds on a plane: columns and rows; at the nodes without a count." },
      ),
    ),
    box: Type.Optional(
      Type.Object(
        { count: Type.Optional(Type.Array(count, { minItems: 1, maxItems: 3 })) },
        { ...closed, description: "Seeds in all of the domain, or of the region; at the nodes without a count." },
      ),
    ),
    region: REGION_OF_SEEDS,
    window: REGION_OF_SEEDS,
    integrator: Type.Optional(Type.Union([Type.Literal("rk4"), Type.Literal("heun")], { default: "rk4" })),
    method: Type.Optional(scheme("Interpolation of the velocity; Lag8 by default.")),
    derivatives: Type.Optional(
      scheme("Scheme of its gradient: by default that of `method` if it is a spline, or Fd4Lag4."),
    ),
    quantities: Type.Optional(
      Type.Array(Type.Union((["map", "gradient", "eigenvalues", "ftle"] as const).map((name) => Type.Literal(name))), {
        minItems: 1,
        default: ["ftle"],
      }),
    ),
  },
  closed,
);

/** A flow map that works on the included dataset. */
export const FLOW_MAP_EXAMPLE = {
  ...{ start: 0.4, end: 1.4, dt: 0.05, plane: { normal: "z", at: 1.5, count: [8, 8] } },
  quantities: ["map", "ftle"],
};

type AskedFlowMap = Static<typeof FLOW_MAP>;

export function serveFlowMap(
  service: Service,
  name: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  return compute(service, { name: "flow-map" }, request, reply, async (life) => {
    const type = negotiate(request.headers.accept, FORMS);
    const asked = readAnalysis(FLOW_MAP, await readWhole(life, BODY_BYTES));
    if (type === NPY && quantitiesOf(asked).length > 1)
      throw refuse("quantities", "quantities: a NumPy file holds one of them.");
    const { result, columns, head } = await track(life, life.dataset(name), asked);
    await life.computed([result]);
    const { shape } = head;
    reply.header("fieldprobe-shape", shape.join(","));
    addVary(reply, "Accept");
    const bytes = type === FORMS[0] ? json(head, columns, shape) : octets(columns, type === NPY ? shape : null);
    await sendPassages(reply, type, bytes, service, life.reader);
    return reply;
  });
}

/** Answers a flow map as a query of a batch. */
export async function flowMapInBatch(life: RequestLife, dataset: Dataset, members: object): Promise<BatchAnswer> {
  checkSchema(FLOW_MAP, members, "");
  const { columns, head } = await track(life, dataset, members as AskedFlowMap);
  return { head, values: columns.map(({ values }) => values), json: () => json(head, columns, head.shape) };
}

function quantitiesOf({ quantities = ["ftle"] }: AskedFlowMap): readonly FlowMapQuantity[] {
  return [...new Set(quantities)];
}

/** Tracks the seeds, whose result is held until the request is over. */
async function track(life: RequestLife, dataset: Dataset, asked: AskedFlowMap) {
  const grid = seedsOf(asked, dataset);
  const evaluation = life.start(queryOf(asked, dataset));
  const { points, name: limit, tracking } = life.limit(evaluation.limit);
  if (pointsOf(grid) > points) throw tooManyPoints(limit, pointsOf(grid), points, tracking);
  await life.admit(pointsOf(grid));
  const writer = new TripleWriter(evaluation.points, { points, name: limit });
  await writeGrid(grid, writer, life.slices);
  await life.enter();
  const result = await evaluation.finish();
  life.onEnd(() => result.release());
  const shape = grid.filter((_, i) => i > 0 || asked.plane === undefined).map((one) => one.count);
  const columns = quantitiesOf(asked).map((quantity) => columnsOf(quantity, result.values, pointsOf(grid)));
  return { result, columns, head: { ...originOf(dataset, "flow-map", asked), axes: axesOf(grid), shape } };
}

/**
 * The seeds; `window` is the older name of the region.
 *
 * @throws RequestError unless they are a plane or a box, with a region of as many directions
 */
function seedsOf({ plane, box, window, region: asked = window }: AskedFlowMap, dataset: Dataset): SampleGrid {
  const member = asked === window ? "window" : "region";
  if (asked !== window && window !== undefined)
    throw refuse("window", "window and region are the same; give one of them.");
  const region = checkRegion(asked, member);
  if ((plane === undefined) === (box === undefined)) throw refuse("plane", "Either plane or box must be given.");
  const sides = plane === undefined ? 3 : 2;
  const wrong = Object.entries(region ?? {}).find(([, numbers]) => numbers.length !== sides);
  if (wrong !== undefined) throw refuse(member, `${member}: ${wrong[0]} must be ${sides} numbers.`);
  if (plane !== undefined) return layPlane(dataset, plane.normal, plane.at, plane.count ?? [], region);
  return layBox(dataset, box?.count ?? [], region);
}

function queryOf(asked: AskedFlowMap, dataset: Dataset): Query {
  const { start, end, dt, integrator = "rk4", method = "Lag8", derivatives } = asked;
  const gradient = derivatives ?? (method.startsWith("M") ? method : "Fd4Lag4");
  const flowMap = gradient as SpatialInterpolation;
  const spatialInterpolation = method as SpatialInterpolation;
  const times = { StartTime: start, EndTime: end, dt };
  return { operation: "GetPositionByEnd", dataset: dataset.name, ...times, spatialInterpolation, integrator, flowMap };
}

interface Column {
  readonly quantity: FlowMapQuantity;
  readonly width: number;
  readonly values: Float32Array;
}

function columnsOf(quantity: FlowMapQuantity, parts: readonly Float32Array[], points: number): Column {
  const [first, width] = NUMBERS[quantity];
  const values = new Float32Array(width * points);
  const record = RECORDS.FlowMap.length;
  let point = 0;
  for (const part of parts)
    for (let at = 0; at < part.length; at += record, point++)
      values.set(part.subarray(at + first, at + first + width), width * point);
  return { quantity, width, values };
}

function axesOf(grid: SampleGrid) {
  return grid.map(({ axis: name, count: nodes, origin, spacing }) => ({ axis: name, count: nodes, origin, spacing }));
}

function* json(head: object, columns: readonly Column[], shape: readonly number[]): Generator<Buffer> {
  yield Buffer.from(JSON.stringify(head).slice(0, -1));
  for (const column of columns) {
    yield Buffer.from(`,"${column.quantity}":`);
    yield* nested({ values: [column.values] }, [...shape, ...componentsOf(column)]);
  }
  yield Buffer.from("}\n");
}

/** Dimensions of a quantity of a seed. */
function componentsOf({ width }: Column): readonly number[] {
  if (width === 1) return [];
  return width === 9 ? [3, 3] : [width];
}

/** The quantities one after another, each of all seeds; given the shape of the seeds, with the header of NumPy. */
function* octets(columns: readonly Column[], shape: readonly number[] | null): Generator<Buffer> {
  for (const column of columns) {
    if (shape !== null) yield npyHeader([...shape, ...componentsOf(column)]);
    const { values } = column;
    yield Buffer.from(values.buffer, values.byteOffset, values.byteLength);
  }
}
