/** Answers `find`: nodes where a condition holds, by the first quantity, largest first. */
import { compileScalar } from "../../../analysis/expression.js";
import type { Extremes } from "../../../analysis/extremes.js";
import type { Moments } from "../../../analysis/moments.js";
import { isOfExpression } from "../../../analysis/names.js";
import type { Gathered } from "../../../analysis/reductions.js";
import { timesOf } from "../../http/describe.js";
import { reductionOf } from "../analysis/analysed-nodes.js";
import { meanText, nodesOf } from "../analysis/analyses.js";
import { whereHolds } from "../analysis/conditions.js";
import { meansFor as meansIn } from "../analysis/means.js";
import { meansFor } from "../analysis/means-for.js";
import { columnOf, type RowsAnswer } from "../answer.js";
import { answered, type Context, filterText, placesText, timeText, type Understood } from "../context.js";
import { wrong } from "../faults.js";
import { skipOf } from "../levels/skip.js";
import type { MemberValues } from "../question/read-member.js";
import { coordinateOf, type NodeRun } from "../question/region.js";
import { checkFilterUsed, compileWhat, nodeDerivatives, type Quantity, whatTexts } from "../question/what.js";
import { storedIn } from "../question/when.js";
import { runsIn } from "../question/where.js";
import { fillValues, unitOf } from "./values.js";

const USUAL_ROWS = 1000;

export async function find(
  context: Context,
  asked: MemberValues,
): Promise<{ answer: RowsAnswer; understood: Understood }> {
  const { life, dataset, service } = context;
  const { what = [], where, limit = USUAL_ROWS } = asked;
  if (what.length === 0 && where === undefined)
    throw wrong("where", "give a condition, or what is to be largest; for example where='p > 0.5' what=p");
  const { frames, isList } = storedIn(asked, dataset);
  const derivatives = nodeDerivatives(asked);
  const plain = nodesOf(asked, dataset, frames);
  const quantities = compileWhat(what, plain.base.names);
  const [first] = quantities;
  if (first !== undefined && first.shape.length > 0)
    throw wrong(
      "what",
      `nodes are sorted by the first quantity, which is a scalar: norm(${first.name}), or ${first.columns[0]}`,
    );
  const means = meansFor(life, service, dataset);
  const { reduce } = means;
  const condition = where ?? null;
  const texts = [...(where === undefined ? [] : [where]), ...what.map(({ text }) => text)];
  const { places, about } = await meansIn(texts, plain, asked, dataset, means, asked.over ?? ["x", "y", "z"], "where");
  const { names } = places.base;
  const key = condition === null ? (first as Quantity).text : whereHolds(condition, first?.text ?? "1");
  const compiled = compileScalar(key, names, "where");
  checkFilterUsed(asked, [...quantities, { expressions: [compiled] }]);
  const reductions = [
    { kind: "extremes", of: 0, count: limit, apart: 0 },
    { kind: "moments", of: 0, order: 1 },
  ] as const;
  const skipped = await skipOf(context, asked, where, places.frames, Number.NaN);
  const merged = await reduce({ ...reductionOf(places, { columns: [key], reductions }), ...skipped }, places);
  const { highest } = merged.states(0)[0] as Extremes;
  const total = (merged.states(1)[0] as Moments).count;
  const runs = runsIn(asked, dataset, dataset.axes);
  const [nx, ny] = places.base.extent;
  const count = highest.length;
  const indices = [0, 1, 2].map(() => new Int32Array(count));
  const coordinates = [0, 1, 2].map(() => new Float64Array(count));
  const triples = new Float32Array(3 * count);
  for (const [row, { node }] of highest.entries()) {
    const at = [node % nx, Math.floor(node / nx) % ny, Math.floor(node / (nx * ny))];
    for (let a = 0; a < 3; a++) {
      const { from, step } = runs[a] as NodeRun;
      const number = from + (at[a] as number) * step;
      (indices[a] as Int32Array)[row] = number;
      const place = coordinateOf(dataset.axes[a as 0], number);
      (coordinates[a] as Float64Array)[row] = place;
      triples[3 * row + a] = place;
    }
  }
  const stored = timesOf(dataset.time);
  const times = highest.map(({ frame }) => stored[frames[frame] as number] as number);
  const numbers = quantities.map(({ columns }) => new Float32Array(columns.length * count));
  const options = { method: "None", derivatives, filter: asked.filter, temporalInterpolation: "None" } as const;
  // Operators of expressions are known at nodes only.
  const isAtNodes = (one: Quantity): boolean => one.expressions.some(({ reads }) => reads.some(isOfExpression));
  const atPoints = quantities.map((one) => (isAtNodes(one) ? { ...one, expressions: [], columns: [] } : one));
  for (const time of new Set(times)) await fillAt(context, atPoints, triples, times, time, options, numbers);
  const gathered = quantities.filter(isAtNodes);
  if (gathered.length > 0 && count > 0) {
    const columns = gathered.flatMap(({ components }) => components);
    const gather = {
      ...({ kind: "gather", of: columns.map((_, c) => c) } as const),
      ...{ nodes: highest.map(({ node }) => node), frames: highest.map(({ frame }) => frame) },
    };
    const base = { ...places.base, kept: [false, false, false, false] as const };
    const state = (await reduce(reductionOf({ ...places, base }, { columns, reductions: [gather] }), places)).states(
      0,
    )[0];
    for (const [row, ...values] of (state as Gathered).found) {
      let at = 0;
      for (const one of gathered)
        for (let c = 0; c < one.columns.length; c++, at++)
          (numbers[quantities.indexOf(one)] as Float32Array)[one.columns.length * (row as number) + c] = values[
            at
          ] as number;
    }
  }
  const length = unitOf(dataset, "length");
  const lead = [
    ...["i", "j", "k"].map((name, a) => columnOf(name, indices[a] as Int32Array)),
    ...["x", "y", "z"].map((name, a) => columnOf(name, coordinates[a] as Float64Array, length)),
    ...(isList ? [columnOf("t", Float64Array.from(times), unitOf(dataset, "time"))] : []),
  ];
  const more = { total, ...about };
  const answer: RowsAnswer = {
    ...{ kind: "rows", count, lead, shape: [count], more },
    quantities: quantities.map((one, q) => answered(one, numbers[q] as Float32Array)),
  };
  const understood = {
    ...(what.length === 0 ? {} : { what: whatTexts(what) }),
    ...(where === undefined ? {} : { where }),
    ...meanText(asked),
    ...{
      limit,
      ...placesText(asked),
      ...timeText(
        asked,
        frames.map((k) => stored[k] as number),
        isList,
        frames,
      ),
    },
    ...{ derivatives: asked.derivatives ?? "Fd4", ...filterText(asked), level: 0, units: asked.units ?? "check" },
  };
  return { answer, understood };
}

/** Evaluates quantities at the rows of a time. */
async function fillAt(
  context: Context,
  quantities: readonly Quantity[],
  triples: Float32Array,
  times: readonly number[],
  time: number,
  options: Omit<Parameters<typeof fillValues>[3], "time">,
  numbers: readonly Float32Array[],
): Promise<void> {
  if (quantities.length === 0) return;
  const rows = times.flatMap((one, row) => (one === time ? [row] : []));
  const points = new Float32Array(3 * rows.length);
  for (const [i, row] of rows.entries()) points.set(triples.subarray(3 * row, 3 * row + 3), 3 * i);
  const found = quantities.map(({ columns }) => new Float32Array(columns.length * rows.length));
  if (quantities.some(({ expressions }) => expressions.length > 0))
    await fillValues(context, quantities, points, { ...options, time }, found);
  for (const [q, { columns }] of quantities.entries())
    for (const [i, row] of rows.entries())
      numbers[q]?.set(
        (found[q] as Float32Array).subarray(columns.length * i, columns.length * (i + 1)),
        columns.length * row,
      );
}
