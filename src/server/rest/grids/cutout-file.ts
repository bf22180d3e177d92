/**
 * `serveCutoutFile` sends the stored nodes of a sub-box as an HDF5 file in the JHTDB format, or the XDMF that describes
 * it.
 */

import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import type { FastifyReply, FastifyRequest } from "fastify";
import { axesOfField, type Dataset, type FieldName, fieldNames } from "../../../engine/contract/dataset.js";
import type { CutoutThread, Selection } from "../../../engine/cutouts/cutout-thread.js";
import { negotiate } from "../../http/negotiate.js";
import type { Service } from "../../http/service.js";
import { isUnchanged, tellOrigin } from "../answer/origin.js";
import { sendWritten } from "../answer/send-written.js";
import { refuse } from "../parameters.js";
import { nodesIn, readRegion, regionQuery } from "../region.js";
import { CLOSED, optionalText } from "../schemas.js";
import { compute } from "../serve-operation.js";

/** Query string of a cutout; frames count from 1, both ends included. */
export const CUTOUT_FILE_QUERY = Type.Object(
  {
    fields: optionalText("Stored fields, `velocity,pressure`; all by default."),
    ...regionQuery("x, y and z"),
    start: optionalText("Older spelling: first node along x, y and z, from 1; `1,1,1` by default."),
    end: optionalText("Older spelling: last node along x, y and z, which belongs to the box."),
    frames: optionalText("First and last stored frame, from 1; `1,1` by default."),
  },
  CLOSED,
);
export type CutoutFileQuery = Static<typeof CUTOUT_FILE_QUERY>;

/** Media types of the files by their ending. */
export const CUTOUT_FILES = { h5: "application/x-hdf5", xmf: "application/xml" } as const;

function readNumbers(
  member: keyof CutoutFileQuery,
  text: string | undefined,
  usual: readonly number[],
): readonly number[] {
  if (text === undefined) return usual;
  const numbers = text.split(",").map((part) => (/^[1-9]\d{0,8}$/.test(part) ? Number(part) : 0));
  if (numbers.length !== usual.length || numbers.includes(0)) {
    const message = `${member} must be ${usual.length} whole numbers from 1.`;
    throw refuse(member, message);
  }
  return numbers;
}

function readFields(dataset: Dataset, text: string | undefined): readonly FieldName[] {
  const stored = fieldNames(dataset);
  if (text === undefined) return stored;
  return text.split(",").map((name) => {
    const field = stored.find((candidate) => candidate === name);
    if (field !== undefined) return field;
    throw refuse("fields", `fields must be some of ${stored.join(", ")}.`);
  });
}

/** Reads the box, by its region or by its first and last nodes, which count from 1. @throws RequestError */
function readBox(
  dataset: Dataset,
  fields: readonly FieldName[],
  query: CutoutFileQuery,
): Pick<Selection, "box" | "ahead"> {
  // All fields of a file have the same nodes.
  const axes = axesOfField(dataset, fields[0] as FieldName);
  const region = readRegion(query, 3);
  const older = (["start", "end"] as const).find((name) => query[name] !== undefined);
  if (older === undefined || region !== undefined) {
    if (older !== undefined) throw refuse(older, `${older}: give a region or start and end, not both.`);
    const runs = nodesIn(region, dataset, axes);
    if (runs.some(({ step }) => step !== 1))
      throw refuse("region", "region: files have every node, so step must be 1.");
    return {
      box: { first: triple(runs.map(({ first }) => first)), count: triple(runs.map(({ count }) => count)) },
      ahead: triple(runs.map(({ first, from }) => from - first)),
    };
  }
  const start = readNumbers("start", query.start, [1, 1, 1]);
  const end = readNumbers(
    "end",
    query.end,
    axes.map((axis) => axis.nodes),
  );
  if (end.some((last, i) => last < start[i])) throw refuse("end", "end must not be before start.");
  const count = triple(end.map((last, i) => last - start[i] + 1));
  return { box: { first: triple(start.map((node) => node - 1)), count } };
}

const triple = (list: readonly number[]) => list as readonly [number, number, number];

/** Reads what to cut. @throws RequestError if it is not in the dataset */
async function readSelection(thread: CutoutThread, dataset: Dataset, query: CutoutFileQuery): Promise<Selection> {
  const [firstFrame = 1, lastFrame = 1] = readNumbers("frames", query.frames, [1, 1]);
  if (lastFrame < firstFrame) throw refuse("frames", "frames must be ascending.");
  const fields = readFields(dataset, query.fields);
  const selection: Selection = {
    fields,
    frames: { first: firstFrame - 1, count: lastFrame - firstFrame + 1 },
    ...readBox(dataset, fields, query),
  };
  const problem = thread.problem(dataset, selection);
  if (problem !== null) {
    throw refuse(["frames", "fields"].find((member) => problem.startsWith(member)) ?? "end", `${problem}.`);
  }
  return selection;
}

/** The number of nodes that a selection reads, each once for every field and frame. */
function countOf({ fields, frames, box }: Selection): number {
  return fields.length * frames.count * box.count[0] * box.count[1] * box.count[2];
}

/** The name of the file: dataset, box and frames. */
function nameOf(dataset: Dataset, { frames, box, ahead = [0, 0, 0] }: Selection): string {
  const firsts = box.first.map((first, i) => first + (ahead[i] as number));
  const sides = firsts.map((first, i) => `${first + 1}-${first + (box.count[i] as number)}`);
  return `${dataset.name}-${sides.join("_")}-t${frames.first + 1}-${frames.first + frames.count}`;
}

/**
 * Answers `GET /datasets/{name}/cutout.h5` and `cutout.xmf`. A worker thread makes the file in its own folder, which is
 * removed when the answer has been sent or, if the caller has left, when the file has been written.
 */
export function serveCutoutFile(
  service: Service,
  thread: CutoutThread,
  name: string,
  ending: keyof typeof CUTOUT_FILES,
  request: FastifyRequest<{ Querystring: CutoutFileQuery }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  return compute(service, { name: "cutout" }, request as FastifyRequest, reply, async (life) => {
    const form = negotiate(request.headers.accept, [CUTOUT_FILES[ending]]);
    const dataset = life.dataset(name);
    if (isUnchanged(service, request as FastifyRequest, reply, dataset, form)) return reply.code(304).send();
    const selection = await readSelection(thread, dataset, request.query);
    const count = countOf(selection);
    life.checkPoints(count);
    await life.admit(count);
    await life.enter(count);
    const file = nameOf(dataset, selection);
    tellOrigin(reply, dataset, request.query);
    reply.type(form).header("content-disposition", `attachment; filename="${file}.${ending}"`);
    return sendWritten(life, reply, `${file}.${ending}`, (folder) =>
      thread.write(dataset, selection, join(folder, `${file}.h5`)),
    );
  });
}
