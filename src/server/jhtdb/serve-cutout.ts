/** `serveCutout` answers `GET cutout/api/local`: the stored numbers of a box in the form of an xarray dataset. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Result } from "../../engine/query.js";
import { excerpt, LimitError, NotFoundError, RequestError } from "../../errors.js";
import type { Axis, Dataset } from "../../storage/dataset.js";
import { sendBlocks } from "../http/answer.js";
import { RequestLife } from "../http/request-life.js";
import type { Service } from "../http/service.js";
import { timesOf } from "../rest/describe.js";
import { PendingQuery } from "../rest/pending-query.js";
import { nested } from "../rest/write-answer.js";
import { type CutoutQuery, type Range, readCutoutQuery, readCutoutTexts } from "./cutout-query.js";
import { JSON_TYPE, tokenIn } from "./serve-values.js";

/** Coordinates of the nodes of a range; those behind the seam of a periodic axis go on growing. */
function coordinatesOf(axis: Axis, { first, count, stride }: Range): number[] {
  return Array.from({ length: count }, (_, i) => {
    const node = first + i * stride;
    return axis.coordinates?.[node] ?? axis.origin + node * axis.spacing;
  });
}

/** Writes the nodes of a box into the query, x fastest. */
async function addNodes(
  pending: PendingQuery,
  [x, y, z]: readonly (readonly number[])[],
  { slices }: Service,
): Promise<void> {
  const writer = pending.writer("points");
  slices.begin();
  try {
    for (const zk of z ?? []) {
      for (const yj of y ?? []) {
        for (const xi of x ?? []) writer.add(xi, yj, zk);
        const wait = pending.admit();
        await (wait ? slices.outside(wait) : slices.pause());
      }
    }
    writer.flush();
  } finally {
    slices.end();
  }
}

/** Head and tail of the answer around the arrays of `names`. */
function* frame(
  coordinates: readonly (readonly number[])[],
  names: readonly string[],
  results: readonly Result[],
): Generator<Buffer> {
  const axes = ["xcoor", "ycoor", "zcoor"];
  const coords = Object.fromEntries(
    axes.map((name, i) => [name, { dims: [name], attrs: {}, data: coordinates[i] }]).reverse(),
  );
  const dims = [...axes].reverse().concat("values");
  const components = results[0]?.components ?? 0;
  const shape = [...coordinates.map((list) => list.length).reverse(), components];
  const sizes = Object.fromEntries(dims.map((name, i) => [name, shape[i]]));
  yield Buffer.from(`${JSON.stringify({ coords, attrs: {}, dims: sizes }).slice(0, -1)},"data_vars":{`);
  for (const [k, result] of results.entries()) {
    const head = `${JSON.stringify(names[k])}:{"dims":${JSON.stringify(dims)},"attrs":{},"data":`;
    yield Buffer.from(`${k > 0 ? "," : ""}${head}`);
    yield* nested([result], shape);
    yield Buffer.from("}");
  }
  yield Buffer.from("}}");
}

/** The nodes and frames asked for must fit the limit on points. @throws LimitError */
function checkSize({ axes, frames }: CutoutQuery, points: number): void {
  const nodes = axes.reduce((product, { count }) => product * count, frames.count);
  if (nodes > points) {
    throw new LimitError("query.points", `The cutout has ${nodes} nodes; at most ${points} are answered.`);
  }
}

function datasetOf(life: RequestLife, name: string | undefined): Dataset {
  if (name === undefined) throw new RequestError("InvalidRequest", "dataset is missing.", { member: "dataset" });
  const dataset = life.find(name);
  if (dataset === undefined) throw new NotFoundError(`Invalid set name: ${excerpt(name)}`);
  return dataset;
}

/** Answers a cutout; the numbers are those that `None` returns at the nodes. */
export async function serveCutout(
  service: Service,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const life = await RequestLife.begin(service, request, reply, "values");
  try {
    life.authorise(tokenIn(request.query, "token"));
    const texts = readCutoutTexts(request.query);
    const dataset = datasetOf(life, texts.get("dataset"));
    const times = timesOf(dataset.time);
    const query = readCutoutQuery(texts, dataset, times.length);
    const { limits } = service.config;
    checkSize(query, life.limit({ points: limits["query.points"], name: "query.points" }).points);
    const { operation, frames, variable } = query;
    request.facts.operation = operation.name;
    const asked = Array.from({ length: frames.count }, (_, k) => frames.first + k * frames.stride);
    const pending = new PendingQuery(
      life,
      limits,
      { operation, dataset: dataset.name, recordEvery: null },
      new Map(
        Object.entries({
          time: asked.map((k) => String(times[k])),
          spatialInterpolation: ["None"],
          temporalInterpolation: ["None"],
        }),
      ),
    );
    const coordinates = dataset.axes.map((axis, i) => coordinatesOf(axis, query.axes[i] as Range));
    await addNodes(pending, coordinates, service);
    await life.enter();
    const { results } = await pending.finish();
    life.onEnd(() => {
      for (const result of results) result.release();
    });
    await life.computed(results);
    const names = asked.map((k) => `${variable.code}_${String(k + 1).padStart(4, "0")}`);
    await sendBlocks(reply, JSON_TYPE, frame(coordinates, names, results), service, life);
    return reply;
  } catch (error) {
    if (life.giveUp(error)) return reply;
    throw error;
  }
}
