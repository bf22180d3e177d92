/** Answers `find`: nodes where a condition holds, sorted by the first quantity, largest first. */
import { compileScalar } from "../../../analysis/expression.js";
import type { Extremes } from "../../../analysis/extremes.js";
import type { Moments } from "../../../analysis/moments.js";
import type { Four } from "../../../analysis/plan.js";
import type { Dataset } from "../../../engine/contract/dataset.js";
import { LETTERS } from "../analysis/analysed-nodes.js";
import { analysisOf } from "../analysis/analysis.js";
import { nanUnless } from "../analysis/conditions.js";
import { withMeans } from "../analysis/means.js";
import { type CallAnswer, columnOf, type RowsAnswer } from "../answer.js";
import { answered, type Context } from "../context.js";
import { wrong } from "../faults.js";
import { emptyBoxesOf } from "../levels/skip.js";
import type { MemberValues } from "../question/member-values.js";
import { compileWhat, type Quantity } from "../question/what.js";
import { coordinateOf, type NodeRun, runsIn } from "../question/where.js";
import { unitOf } from "./values.js";

const USUAL_ROWS = 1000;

export async function find(context: Context, question: MemberValues): Promise<CallAnswer<RowsAnswer>> {
  const { dataset } = context;
  const { what = [], where, limit = USUAL_ROWS, over = LETTERS } = question;
  if (what.length === 0 && where === undefined)
    throw wrong("where", "give a condition, or what is to be largest; for example where='p > 0.5' what=p");
  const plain = analysisOf(context, question);
  const quantities = compileWhat(what, plain.nodes.base.names);
  const [first] = quantities;
  if (first !== undefined && first.shape.length > 0)
    throw wrong(
      "what",
      `nodes are sorted by the first quantity, which is a scalar: norm(${first.name}), or ${first.columns[0]}`,
    );
  const texts = [...(where === undefined ? [] : [where]), ...what.map(({ text }) => text)];
  const { analysis, about } = await withMeans(plain, texts, over, "where");
  const { nodes, reduce } = analysis;
  const key = where === undefined ? (first as Quantity).text : nanUnless(where, first?.text ?? "1");
  compileScalar(key, nodes.base.names, "where");
  // Nodes where the condition holds count even where the first quantity has no value.
  const counted = [key, where === undefined ? key : nanUnless(where, "1")];
  const values = quantities.flatMap(({ components }) => components);
  const columns = [...counted, ...values];
  const reductions = [
    { kind: "extremes", of: 0, count: limit, apart: 0, also: values.map((_, c) => counted.length + c) },
    ...[0, 1].map((of) => ({ kind: "moments", of, order: 1 }) as const),
  ] as const;
  const skipped = await emptyBoxesOf(context, question, where, nodes.frames, Number.NaN);
  const merged = await reduce(nodes, { columns, reductions, ...skipped });
  const { highest } = merged.states(0)[0] as Extremes;
  const [known, total] = [1, 2].map((n) => (merged.states(n)[0] as Moments).count) as [number, number];
  const rows = rowsAt(
    highest.map(({ node }) => node),
    nodes.base.extent,
    dataset,
    runsIn(question, dataset, dataset.axes),
  );
  const count = highest.length;
  const times = highest.map(({ frame }) => nodes.base.times[frame]);
  const numbers = quantities.map(({ columns }) => new Float32Array(columns.length * count));
  for (const [row, { more = [] }] of highest.entries()) {
    let at = 0;
    for (const [q, { columns: own }] of quantities.entries())
      for (let c = 0; c < own.length; c++) numbers[q][row * own.length + c] = more[at++];
  }
  const length = unitOf(dataset, "length");
  const leadColumns = [
    ...["i", "j", "k"].map((name, a) => columnOf(name, rows.indices[a])),
    ...["x", "y", "z"].map((name, a) => columnOf(name, rows.coordinates[a], length)),
    ...(analysis.isList ? [columnOf("t", Float64Array.from(times), unitOf(dataset, "time"))] : []),
  ];
  const more = { total, ...(known < total ? { missing: total - known } : {}), ...about };
  const answer: RowsAnswer = {
    ...{ kind: "rows", count, leadColumns, shape: [count], more },
    quantities: quantities.map((one, q) => answered(one, numbers[q])),
  };
  return { answer, restatements: analysis.time };
}

/** Indices and coordinates of nodes, in columns. */
function rowsAt(found: readonly number[], [nx, ny]: Four, { axes }: Dataset, runs: readonly NodeRun[]) {
  const indices = [0, 1, 2].map(() => new Int32Array(found.length));
  const coordinates = [0, 1, 2].map(() => new Float64Array(found.length));
  for (const [row, node] of found.entries()) {
    const inRegion = [node % nx, Math.floor(node / nx) % ny, Math.floor(node / (nx * ny))];
    for (let a = 0; a < 3; a++) {
      const { from, step } = runs[a] as NodeRun;
      const index = from + inRegion[a] * step;
      indices[a][row] = index;
      coordinates[a][row] = coordinateOf(axes[a as 0], index);
    }
  }
  return { indices, coordinates };
}
