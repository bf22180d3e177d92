/** `GET cutout/api/local`: stored numbers of a box in the form of an xarray dataset, sent as they are read. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { checkAvailable } from "../../engine/contract/check-available.js";
import { AXIS_NAMES, componentsOf, type Dataset, type FieldName } from "../../engine/contract/dataset.js";
import type { Evaluation, FrameBox, Result } from "../../engine/contract/query.js";
import { LimitError, tooManyPoints } from "../../shared/errors.js";
import { compute } from "../http/compute.js";
import { timesOf } from "../http/describe.js";
import { refuse } from "../http/refusal.js";
import type { RequestLife } from "../http/request-life.js";
import { sendStream } from "../http/send-answer.js";
import type { Service } from "../http/service.js";
import { componentNodes, coordinatesOf } from "./component-nodes.js";
import { type CutoutQuery, readCutoutQuery, readCutoutTexts } from "./cutout-query.js";
import { JSON_TYPE, tokenIn } from "./serve-values.js";
import { nestedArrays } from "./write-rows.js";

function boxesOf({ variable, operation, axes, frames }: CutoutQuery, dataset: Dataset): ReadonlyMap<string, FrameBox> {
  const [x, y, z] = axes;
  const box = {
    field: variable.field ?? operation.fields[0],
    first: [x.first, y.first, z.first] as const,
    count: [x.count, y.count, z.count] as const,
    stride: [x.stride, y.stride, z.stride] as const,
  };
  const steps = Array.from({ length: frames.count }, (_, k) => frames.first + k * frames.stride);
  return new Map(
    steps.map((step) => [
      `${variable.code}_${String(step + 1).padStart(4, "0")}`,
      { ...box, frame: dataset.time.guardBefore + step },
    ]),
  );
}

/** Dimensions, outermost first, and coordinates along x, y and z by name. */
interface ArrayForm {
  readonly dims: readonly string[];
  readonly shape: readonly number[];
  readonly coordinates: readonly (readonly [name: string, data: readonly number[]])[];
}

/** Components on nodes of their own have separate coordinates, such as `zcoor_uv` and `zcoor_w`. */
function layoutOf(dataset: Dataset, field: FieldName, query: CutoutQuery, components: number): ArrayForm {
  const byAxis = AXIS_NAMES.map((axis, a) => {
    const groups = componentNodes(dataset, field, (axes) => [axes[a].origin, axes[a].spacing, axes[a].coordinates]);
    return groups.map(({ letters, axes }) => {
      const name = groups.length === 1 ? `${axis}coor` : `${axis}coor_${letters}`;
      return [name, coordinatesOf(axes[a], query.axes[a])] as const;
    });
  });
  return {
    dims: [...byAxis.map(([[name]]) => name).reverse(), "values"],
    shape: [...query.axes.map(({ count }) => count).reverse(), components],
    coordinates: byAxis.flat(),
  };
}

/** Writes coordinates, then an array for each frame. `results`: of each frame by its name, requested in order. */
async function* write(
  { dims, shape, coordinates }: ArrayForm,
  results: AsyncIterable<readonly [string, Result]>,
): AsyncGenerator<Buffer, undefined> {
  const coords = Object.fromEntries(
    coordinates.map(([name, data]) => [name, { dims: [name], attrs: {}, data }]).reverse(),
  );
  const sizes = Object.fromEntries(dims.map((name, i) => [name, shape[i]]));
  yield Buffer.from(`${JSON.stringify({ coords, attrs: {}, dims: sizes }).slice(0, -1)},"data_vars":{`);
  let separator = "";
  for await (const [name, result] of results) {
    yield Buffer.from(`${separator}${JSON.stringify(name)}:{"dims":${JSON.stringify(dims)},"attrs":{},"data":`);
    yield* nestedArrays(result.stream as AsyncIterable<Float32Array>, shape);
    yield Buffer.from("}");
    separator = ",";
  }
  yield Buffer.from("}}");
}

/** Reads frame after frame, the first one under way; each is given back when the next is requested. */
async function* frames(
  life: RequestLife,
  boxes: ReadonlyMap<string, FrameBox>,
  start: (box: FrameBox) => Evaluation,
  first: Result,
): AsyncGenerator<readonly [string, Result], undefined> {
  let ready: Result | null = first;
  for (const [name, box] of boxes) {
    const evaluation = ready === null ? start(box) : null;
    const result: Result = ready ?? (await (evaluation as Evaluation).finish());
    ready = null;
    try {
      yield [name, result];
    } finally {
      result.release();
      if (evaluation !== null) life.forget(evaluation);
    }
  }
}

/** @throws LimitError */
function checkSize(
  { axes, frames: { count } }: CutoutQuery,
  components: number,
  life: RequestLife,
  most: number,
): void {
  const nodes = axes.reduce((product, range) => product * range.count, count);
  const { points, name } = life.limit({ points: Number.POSITIVE_INFINITY, name: "token.points" });
  if (nodes > points) throw tooManyPoints(name, nodes, points);
  if (nodes * components > most) {
    throw new LimitError("cutout.values", `The cutout has ${nodes * components} numbers; at most ${most} are allowed.`);
  }
}

/** Serves a cutout. Nothing is sent before the first numbers are ready, so most failures still get their own status. */
export function serveCutout(service: Service, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const caller = { name: "values", token: tokenIn(request.query, "token") };
  const steps = async (life: RequestLife): Promise<FastifyReply> => {
    const texts = readCutoutTexts(request.query);
    const name = texts.get("dataset");
    if (name === undefined) throw refuse("dataset", "dataset is missing.");
    const dataset = life.dataset(name);
    const query = readCutoutQuery(texts, dataset, timesOf(dataset.time).length);
    const { operation } = query;
    request.facts.operation = operation.name;
    checkAvailable(operation, dataset);
    const field = query.variable.field ?? (operation.fields[0] as FieldName);
    const components = componentsOf(dataset, field);
    checkSize(query, components, life, service.config.limits["cutout.values"]);
    const boxes = boxesOf(query, dataset);
    const start = (nodes: FrameBox): Evaluation =>
      life.start({ operation: "GetAnyCutoutWeb", dataset: dataset.name, nodes });
    const [box] = boxes.values();
    const evaluation = start(box);
    await life.acquireSlot((boxes.size - 1) * evaluation.work);
    const first = await evaluation.finish();
    life.onEnd(() => first.release());
    await life.finishComputing([first]);
    life.clearDeadline();
    const chunks = write(layoutOf(dataset, field, query, components), frames(life, boxes, start, first));
    await sendStream(reply, JSON_TYPE, chunks, service, life.reader);
    return reply;
  };
  return compute(service, null, request, reply, steps, caller);
}
