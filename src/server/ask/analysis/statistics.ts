/** Answers `statistics`: reductions at nodes, optionally only where a condition holds, or at points. */
import { compileExpression, componentsIn } from "../../../analysis/expression.js";
import type { GroupAnswer } from "../../../analysis/reductions.js";
import type { Context } from "../context.js";
import { wrong } from "../faults.js";
import type { MemberValues } from "../question/member-values.js";
import { checkFilterUsed, compileWhat, namesOf, pointDerivatives, usualWhat, whatText } from "../question/what.js";
import { type AnalysedNodes, DIRECTIONS, keptAxes, regrouped } from "./analysed-nodes.js";
import { analysisOf, analysisOfPoints, type Tabled, tabled } from "./analysis.js";
import { budgetOf } from "./budgets.js";
import { countsOf, nanUnless } from "./conditions.js";
import { type Expanded, higherMoments, quantiles } from "./distributions.js";
import { signsOf, symmetryOf } from "./fold.js";
import { renamed } from "./given-names.js";
import { courantOf, withMeans } from "./means.js";
import { aboutTexts, checkKinds, checkReduction, computeReductions, type ReductionRequest } from "./reductions.js";
import { wallUnitsOf } from "./wall-units.js";

/** Members of reductions that hold quantities. */
const QUANTITIES_OF = ["moments", "covariance", "histogram", "joint", "conditional", "on", "extremes"];

export async function statistics(context: Context, question: MemberValues): Promise<Tabled> {
  const { dataset } = context;
  const { points, where, over = DIRECTIONS, by, u_tau, units } = question;
  if (u_tau !== undefined && units !== "plus") throw wrong("u_tau", "it is for units=plus");
  if (question.reduce !== undefined && question.what !== undefined)
    throw wrong("what", "reduce names its quantities; give one of both");
  const isDrawn = points !== undefined;
  const what = question.what ?? usualWhat(dataset);
  const wanted = question.reduce ?? what.map(({ text }) => ({ moments: text }));
  if ((isDrawn || where !== undefined) && wanted.some((row) => "budget" in row || "quantiles" in row))
    throw wrong("reduce", "budgets and quantiles are of nodes, without a condition");
  if (isDrawn && where !== undefined) throw wrong("where", "conditions are of nodes; over points put them into what");
  if (isDrawn && question.weights !== undefined) throw wrong("weights", "they are of nodes; points weigh 1 each");
  if (isDrawn && units === "plus") throw wrong("units", "plus is of nodes, not of points");
  const plain = isDrawn ? await analysisOfPoints(context, question) : analysisOf(context, question);
  const symmetry = symmetryOf(question, dataset);
  if (symmetry !== null && (isDrawn || plain.nodes.base.extent[symmetry.axis] < dataset.axes[symmetry.axis].nodes))
    throw wrong("fold", "it is of nodes, and of all along its axis");
  const expanded = wanted.map((row, i) => expand(row, i, question, plain.nodes));
  const rows = expanded.flatMap((one) => one.rows);
  const texts = [...rows.flatMap(quantitiesIn), ...(where === undefined ? [] : [where])];
  const kept = keptAxes(over, plain.nodes.publicFrames.length);
  checkKinds(wanted, question, regrouped(plain.nodes, kept));
  for (const text of texts) compileExpression(text, plain.nodes.base.names, memberOf(text, question));
  const held = where === undefined ? null : maskReductions(rows, where, plain.nodes);
  if (held === null && question.reduce === undefined)
    checkFilterUsed(question, compileWhat(what, namesOf(question, dataset)));
  const wall = units === "plus" ? await wallUnitsOf(plain) : null;
  const { analysis, about } = isDrawn
    ? { analysis: plain, about: {} }
    : await withMeans(plain, texts, over, (text) => memberOf(text, question));
  const nodes = regrouped(analysis.nodes, kept);
  const { names } = nodes.base;
  const fold = symmetry && { axis: symmetry.axis, signsOf: (text: string) => signsOf(text, names, symmetry) };
  const [count, leftOut] = where === undefined ? [] : await countsOf(analysis, nodes, [where, `!(${where})`]);
  const courant = isDrawn ? {} : await courantOf(texts, analysis);
  const beside = { where, ...about, held: count, left_out: leftOut, ...courant };
  const own = new Set(expanded.flatMap((one) => (one.isOwn ? one.rows : [])));
  const members = expanded.flatMap((one, i) => one.rows.map(() => `reduce[${i}]`));
  const reduced = await computeReductions(
    held?.rows ?? rows,
    { ...analysis, nodes },
    { by, fold, onlyNamed: own, members },
  );
  const found = reduced.results as GroupAnswer[];
  const scale = wall === null ? 1 : wall.nu / wall.u_tau ** 4;
  const results: GroupAnswer[] = [];
  for (const one of expanded)
    results.push(await one.finish(found.splice(0, one.rows.length), { ...analysis, nodes }, scale));
  const plainly = held === null ? {} : aboutTexts([...held.names.values()], nodes);
  // Budgets in u_tau^4/nu have no units.
  const scaled = wall !== null && wanted.some((row) => "budget" in row) ? { ...wall.about, units: {} } : wall?.about;
  const body = { ...reduced, ...plainly, ...scaled, results };
  return tabled(
    { ...beside, ...(held === null ? body : (renamed(body, held.names) as GroupAnswer)) },
    {
      ...(question.reduce === undefined ? { what: what.map(whatText) } : {}),
      ...{ ...analysis.time, over },
      ...(isDrawn ? { derivatives: pointDerivatives(question), weights: undefined } : { method: undefined }),
    },
  );
}

/** The reductions that a row needs, and how its result follows from theirs. Throws RequestError. */
function expand(
  row: ReductionRequest,
  index: number,
  { over = DIRECTIONS, where }: MemberValues,
  nodes: AnalysedNodes,
): Expanded {
  const { base, transforms, publicFrames } = nodes;
  checkReduction(row, `reduce[${index}]`);
  if (row.quantiles !== undefined) return quantiles(row.quantiles as string, row.at as readonly number[]);
  if (row.budget !== undefined)
    return budgetOf(String(row.budget), transforms.dataset, over.includes("t") ? publicFrames : [0], base.names);
  return higherMoments(row, index, base.names, where) ?? { rows: [row], finish: ([only]) => only as GroupAnswer };
}

/** The quantities of a reduction. */
function quantitiesIn(row: ReductionRequest): readonly string[] {
  const named = Object.entries(row).filter(([name]) => QUANTITIES_OF.includes(name));
  return named.flatMap(([, value]) => [value].flat().filter((one) => typeof one === "string"));
}

/** The member that holds a text. */
function memberOf(text: string, { reduce, where }: MemberValues): string {
  if (text === where) return "where";
  if (reduce === undefined) return "what";
  const row = reduce.findIndex((one) => quantitiesIn(one).includes(text));
  const kind = QUANTITIES_OF.find((name) => [reduce[row]?.[name]].flat().includes(text));
  return kind === undefined ? "reduce" : `reduce[${row}].${kind}`;
}

/** The reductions restricted to a condition, and their columns without it. Throws RequestError. */
function maskReductions(
  rows: readonly ReductionRequest[],
  condition: string,
  { base }: AnalysedNodes,
): { readonly rows: readonly ReductionRequest[]; readonly names: ReadonlyMap<string, string> } {
  const names = new Map<string, string>();
  const one = (value: unknown, hasComponents: boolean): string => {
    const text = String(value);
    const { shape } = compileExpression(text, base.names, "reduce");
    if (shape !== "scalar" && !hasComponents) throw wrong("where", `${text} is a ${shape}; ask components, or norm`);
    const held = shape === "scalar" ? nanUnless(condition, text) : `(${nanUnless(condition, "1")}) * (${text})`;
    const components = componentsIn(text, shape);
    for (const [i, component] of componentsIn(held, shape).entries()) names.set(component, components[i]);
    return held;
  };
  const held = rows.map((row): ReductionRequest => {
    const entries = Object.entries(row).map(([name, value]) => {
      if (!QUANTITIES_OF.includes(name)) return [name, value];
      const hasComponents = name === "moments" || name === "covariance";
      return [name, Array.isArray(value) ? value.map((text) => one(text, hasComponents)) : one(value, hasComponents)];
    });
    return Object.fromEntries(entries) as ReductionRequest;
  });
  return { rows: held, names };
}
