/** `answerCutout` sends stored numbers of a box of nodes: float32 and NumPy files as they are read, NetCDF whole. */

import { join } from "node:path";
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import type { FastifyReply, FastifyRequest } from "fastify";
import { compileExpression, componentsIn } from "../../../analysis/expression.js";
import { namesFor } from "../../../analysis/names.js";
import { componentsOf, type Dataset, isStaggered } from "../../../engine/contract/dataset.js";
import { fieldNamed } from "../../../engine/contract/fields-asked.js";
import type { Query } from "../../../engine/contract/query.js";
import type { CutoutThread } from "../../../engine/cutouts/cutout-thread.js";
import { operationOf } from "../../../shared/operations.js";
import { acceptsGzip, negotiate } from "../../http/negotiate.js";
import { sendStream } from "../../http/send-answer.js";
import type { Service } from "../../http/service.js";
import { checksUnits, derivedFor, readFilter, schemeOf, tellWidths } from "../analysis/analysis-request.js";
import { npyHeader, npzStream, numberArray, textArray } from "../answer/numpy-files.js";
import { isUnchanged, originTexts, tellOrigin } from "../answer/origin.js";
import { sendWritten } from "../answer/send-written.js";
import { nodesOfField } from "../describe.js";
import { readRequest, refuse, textsOfQueryString } from "../parameters.js";
import { addCorners, regionQuery, takeRegion } from "../region.js";
import { CLOSED, optionalText } from "../schemas.js";
import { compute } from "../serve-operation.js";
import { type DescribedCutout, gridOf, placesIn, timeOf } from "./cutout-forms.js";

/** The operation behind the route, and the values of the members that may be left out. */
const OPERATION = operationOf("GetAnyCutoutWeb");
const DEFAULTS: ReadonlyMap<string, readonly string[]> = new Map(
  ["x_step", "y_step", "z_step", "filter_width"].map((name) => [name, ["1"]]),
);

/** Forms of a cutout, the default first. */
export const CUTOUT_FORMS = [
  "application/octet-stream",
  "application/x-npy",
  "application/x-npz",
  "application/netcdf",
] as const;

const text = (description: string): TSchema => Type.String({ description });
const corner = (axis: string): Readonly<Record<string, TSchema>> => ({
  [`${axis}_start`]: optionalText(`Older spelling: first node along ${axis}, counted from 1.`),
  [`${axis}_end`]: optionalText(`Older spelling: last node along ${axis}, which belongs to the box.`),
  [`${axis}_step`]: optionalText("Older spelling of the stride in nodes; 1 by default."),
});

/** Query string of a cutout. */
export const CUTOUT_QUERY = Type.Object(
  {
    field: optionalText("A field by its name or letter: u (velocity), b (magnetic), a (vector potential), p, d or t."),
    quantity: optionalText(
      "Instead of a field, a quantity as docs/analysis.md describes it: the components of a vector or of a tensor, by rows.",
    ),
    derivatives: optionalText("Of a quantity: None_Fd4 (default), None_Fd6, None_Fd8, or spectral on periodic axes."),
    filter: optionalText(
      "Of a quantity: `gaussian,0.8`, `sharp,0.8` or `tophat,0.8` give bar_u, tau, ... their meaning.",
    ),
    units: optionalText("Of a quantity: check (default), or ignore the units that the dataset states."),
    T: text("Number of the stored frame, counted from 1 at the first queryable time."),
    ...regionQuery("x, y and z"),
    ...corner("x"),
    ...corner("y"),
    ...corner("z"),
    filter_width: optionalText("Odd number of nodes per axis over which each value is averaged; 1 by default."),
  },
  CLOSED,
);

/** The bytes of parts; one may be read until the next one is asked for, as passages of answers are. */
export async function* bytesOf(parts: AsyncIterable<Float32Array>, head?: Buffer): AsyncGenerator<Buffer, undefined> {
  if (head !== undefined) yield head;
  for await (const { buffer, byteOffset, byteLength } of parts) {
    yield Buffer.from(buffer, byteOffset, byteLength);
  }
}

type QuantityMembers = Record<"quantity" | "derivatives" | "filter" | "filter_width" | "units", string | undefined>;

/** Reads a quantity and what belongs to it. @throws RequestError */
function quantityOf(
  { quantity, derivatives, filter: filterText, filter_width = "1", units }: QuantityMembers,
  dataset: Dataset,
): Pick<Query, "quantity"> {
  if (quantity === undefined) {
    if (derivatives !== undefined) throw refuse("derivatives", "derivatives: a field has none; give a quantity.");
    if (filterText !== undefined) throw refuse("filter", "filter: a field takes a filter_width; give a quantity.");
    return {};
  }
  if (filter_width !== "1") throw refuse("filter_width", "filter_width: a quantity takes a filter.");
  const filter = readFilter(filterText);
  const scheme = schemeOf(derivatives);
  const names = { ...namesFor(dataset, checksUnits(units)), isFiltered: filter !== undefined };
  const { inputs, shape } = compileExpression(quantity, names, "quantity");
  const derived = derivedFor(inputs, dataset, names, filter ?? null, scheme);
  const columns = componentsIn(quantity, shape);
  return {
    quantity: {
      expression: quantity,
      columns,
      order: scheme === "spectral" ? 4 : scheme,
      names,
      ahead: [0, 0, 0],
      derived,
    },
  };
}

function fieldAtNodes(dataset: Dataset): string {
  const names = Object.keys(dataset.fields);
  return names.find((name) => !isStaggered(dataset, name)) ?? (names[0] as string);
}

/** Coordinates and origin come first, so that the numbers can be sent as they are read. */
function npzOf(cutout: DescribedCutout, bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer, undefined> {
  const places = placesIn(cutout).map(({ name, coordinates }) => numberArray(name, coordinates));
  const origin = Object.entries(originTexts(cutout.dataset, "cutout", cutout.options)).map(([name, text]) =>
    textArray(name, text),
  );
  const time = { ...numberArray("time", [timeOf(cutout)]), shape: [] };
  return npzStream([...places, time, ...origin], { name: "values", type: "<f4", shape: cutout.shape }, bytes);
}

/** Answers `GET /datasets/{name}/cutout`. */
export function answerCutout(
  service: Service,
  name: string,
  request: FastifyRequest,
  reply: FastifyReply,
  thread: CutoutThread,
): Promise<FastifyReply> {
  const { config } = service;
  return compute(service, OPERATION, request, reply, async (life) => {
    const form = negotiate(request.headers.accept, CUTOUT_FORMS);
    const dataset = life.dataset(name);
    const { quantity, derivatives, filter, units, ...own } = request.query as Static<typeof CUTOUT_QUERY>;
    const texts = textsOfQueryString(OPERATION, own);
    const asked = quantityOf({ quantity, derivatives, filter, units, filter_width: own.filter_width }, dataset);
    if (asked.quantity !== undefined && own.field === undefined) texts.set("field", [fieldAtNodes(dataset)]);
    else if (asked.quantity !== undefined) throw refuse("field", "field: either a field or a quantity is cut out.");
    const ahead = addCorners(texts, takeRegion(texts), OPERATION, dataset);
    for (const [member, usual] of DEFAULTS) texts.set(member, texts.get(member) ?? usual);
    const { query: read } = readRequest(OPERATION, name, texts, null);
    const query = { ...read, ...(asked.quantity === undefined ? {} : { quantity: { ...asked.quantity, ahead } }) };
    const coding = config.gzip !== "off" && acceptsGzip(request.headers["accept-encoding"]) ? "gzip" : "";
    if (isUnchanged(service, request, reply, dataset, `${form} ${coding}`)) return reply.code(304).send();
    const evaluation = life.start(query);
    const field = fieldNamed(query.field, dataset);
    // A file is not sent as it is read: its numbers are kept, and once more by the thread that writes it.
    if (form === "application/netcdf") {
      const components = asked.quantity?.columns.length ?? componentsOf(dataset, field);
      await life.reserve(evaluation.nodes, (2 * components) / 3);
    }
    await life.enter();
    const result = await evaluation.finish();
    life.onEnd(() => result.release());
    const shape = result.shape ?? [];
    const parts = result.stream as AsyncIterable<Float32Array>;
    const content = asked.quantity === undefined ? { field } : { expression: asked.quantity.expression };
    const cutout = { dataset, query, ahead, content, shape, options: request.query as Record<string, string> };
    tellOrigin(reply, dataset, request.query as Record<string, string>);
    reply.header("fieldprobe-shape", shape.join(","));
    tellWidths(reply, filter, dataset);
    if (asked.quantity === undefined && isStaggered(dataset, field))
      reply.header("fieldprobe-nodes", JSON.stringify(nodesOfField(dataset, field)));
    if (form === "application/netcdf") {
      const grid = await gridOf(cutout, parts, life.slices);
      const values = grid.variables.map((one) => one.values as Float32Array);
      await life.computed([{ values }, { values }]);
      reply.type(form);
      return sendWritten(life, reply, "cutout.nc", (folder) => thread.writeGrid(grid, join(folder, "cutout.nc")));
    }
    await life.computed([result]);
    life.stream();
    const head = form === "application/x-npy" ? npyHeader(shape) : undefined;
    const bytes = form === "application/x-npz" ? npzOf(cutout, bytesOf(parts)) : bytesOf(parts, head);
    await sendStream(reply, form, bytes, service, life.reader);
    return reply;
  });
}
