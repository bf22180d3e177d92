/** Answers `statistics`: reductions at nodes, optionally only where a condition holds, or at points. */
import { compileExpression, componentsIn } from "../../../analysis/expression.js";
import type { GroupAnswer } from "../../../analysis/reductions.js";
import type { Context } from "../context.js";
import { wrong } from "../faults.js";
import type { MemberValues, RequestedQuantity } from "../question/member-values.js";
import { pointDerivatives } from "../question/schemes.js";
import { defaultWhat, whatText } from "../question/what.js";
import { type AnalysedNodes, DIRECTIONS, keptAxes, regrouped } from "./analysed-nodes.js";
import { type Analysis, analysisOf, analysisOfPoints, type Tabled, tabled } from "./analysis.js";
import { budgetOf } from "./budgets.js";
import { countNodesWhere, nanUnless } from "./conditions.js";
import { type ExpandedRequest, higherMoments, quantiles } from "./distributions.js";
import { signsOf, symmetryOf } from "./fold.js";
import { renamed } from "./given-names.js";
import { withMeans } from "./means.js";
import { aboutTexts, checkKinds, checkRow, checkRows, computeReductions, type ReductionRequest } from "./reductions.js";
import { wallUnitsOf } from "./wall-units.js";

/** Members of reductions that hold quantities. */
const QUANTITIES_OF = ["moments", "covariance", "histogram", "joint", "conditional", "on", "extremes"];

interface StatisticsPlan {
  /** The quantities of a question without `reduce`. */
  readonly what: readonly RequestedQuantity[];
  readonly analysis: Analysis;
  readonly isOverPoints: boolean;
  readonly requests: readonly ReductionRequest[];
  /** What each request needs. */
  readonly expanded: readonly ExpandedRequest[];
  /** The reductions of all requests, and the member that holds each. */
  readonly reductions: readonly ReductionRequest[];
  readonly members: readonly string[];
  /** All quantities and the condition: the means in them are computed first. */
  readonly texts: readonly string[];
  /** Whether each axis and time are kept in the result. */
  readonly resolvedAxes: ReturnType<typeof keptAxes>;
  /** Of `fold`. */
  readonly symmetry: ReturnType<typeof symmetryOf>;
  /** The reductions restricted to `where`. */
  readonly masked: ReturnType<typeof maskReductions> | null;
}

/** Makes all checks that need no data. Throws RequestError. */
async function planStatistics(context: Context, question: MemberValues): Promise<StatisticsPlan> {
  const { dataset } = context;
  const { reduce, points, where, over = DIRECTIONS, weights, u_tau, units } = question;
  if (u_tau !== undefined && units !== "plus") throw wrong("u_tau", "it is for units=plus");
  if (reduce !== undefined && question.what !== undefined)
    throw wrong("what", "reduce names its quantities; give one of both");
  const what = question.what ?? defaultWhat(dataset);
  const requests = reduce ?? what.map(({ text }) => ({ moments: text }));
  const isOverPoints = points !== undefined;
  if ((points ?? where) !== undefined && requests.some((request) => "budget" in request || "quantiles" in request))
    throw wrong("reduce", "budgets and quantiles are of nodes, without a condition");
  if (isOverPoints && where !== undefined)
    throw wrong("where", "conditions are of nodes; over points put them into what");
  if (isOverPoints && weights !== undefined) throw wrong("weights", "they are of nodes; points weigh 1 each");
  if (isOverPoints && units === "plus") throw wrong("units", "plus is of nodes, not of points");
  const analysis = isOverPoints ? await analysisOfPoints(context, question) : analysisOf(context, question);
  const { nodes } = analysis;
  const symmetry = symmetryOf(question, dataset);
  if (symmetry !== null && (isOverPoints || nodes.base.extent[symmetry.axis] < dataset.axes[symmetry.axis].nodes))
    throw wrong("fold", "it is of nodes, and of all along its axis");
  const expanded = requests.map((request, i) => expandRequest(request, i, question, nodes));
  const reductions = expanded.flatMap(({ reductions: rows }) => rows);
  const texts = [...reductions.flatMap(quantitiesIn), ...(where === undefined ? [] : [where])];
  const resolvedAxes = keptAxes(over, nodes.publicFrames.length);
  checkKinds(requests, question, regrouped(nodes, resolvedAxes));
  for (const text of texts) compileExpression(text, nodes.base.names, memberOf(text, question));
  const members = expanded.flatMap(({ reductions: rows }, i) => rows.map(() => `reduce[${i}]`));
  checkRows(reductions, members, nodes);
  const masked = where === undefined ? null : maskReductions(reductions, where, nodes);
  return {
    what,
    analysis,
    isOverPoints,
    requests,
    expanded,
    reductions,
    members,
    texts,
    resolvedAxes,
    symmetry,
    masked,
  };
}

export async function statistics(context: Context, question: MemberValues): Promise<Tabled> {
  const plan = await planStatistics(context, question);
  const { what, analysis, isOverPoints, requests, texts, resolvedAxes, masked } = plan;
  const { where, over = DIRECTIONS, by } = question;
  const wall = question.units === "plus" ? await wallUnitsOf(analysis) : null;
  const { analysis: analysisWithMeans, about } = isOverPoints
    ? { analysis, about: {} }
    : await withMeans(analysis, texts, over, (text) => memberOf(text, question));
  const nodes = regrouped(analysisWithMeans.nodes, resolvedAxes);
  const [nodesWithin, nodesLeftOut] =
    where === undefined ? [] : await countNodesWhere(analysisWithMeans, nodes, [where, `!(${where})`]);
  const extras = { where, ...about, held: nodesWithin, left_out: nodesLeftOut };
  const scale = wall === null ? 1 : wall.nu / wall.u_tau ** 4;
  const reduced = await runReductions(plan, { ...analysisWithMeans, nodes }, by, scale);
  const originalTexts = masked === null ? {} : aboutTexts([...masked.names.values()], nodes);
  // Budgets in u_tau^4/nu have no units.
  const isBudgetInWallUnits = wall !== null && requests.some((request) => "budget" in request);
  const body = { ...reduced, ...originalTexts, ...wall?.about, ...(isBudgetInWallUnits ? { units: {} } : {}) };
  const answer = { ...extras, ...(masked === null ? body : (renamed(body, masked.names) as GroupAnswer)) };
  return tabled(answer, {
    ...(question.reduce === undefined ? { what: what.map(whatText) } : {}),
    ...analysis.time,
    over,
    ...(isOverPoints ? { derivatives: pointDerivatives(question), weights: undefined } : { method: undefined }),
  });
}

/** Runs the reductions in common passes, and makes the result of each request from theirs. */
async function runReductions(plan: StatisticsPlan, analysis: Analysis, by: number | undefined, scale: number) {
  const { expanded, members, masked, symmetry } = plan;
  const { names } = analysis.nodes.base;
  const fold = symmetry && { axis: symmetry.axis, signsOf: (text: string) => signsOf(text, names, symmetry) };
  const onlyNamed = new Set(expanded.flatMap(({ namesOnly: isOwn, reductions: rows }) => (isOwn ? rows : [])));
  const options = { by, fold, onlyNamed, members };
  const reduced = await computeReductions(masked?.reductions ?? plan.reductions, analysis, options);
  const ofReductions = reduced.results as GroupAnswer[];
  const results: GroupAnswer[] = [];
  let first = 0;
  for (const { finish, reductions } of expanded) {
    results.push(await finish(ofReductions.slice(first, first + reductions.length), analysis, scale));
    first += reductions.length;
  }
  return { ...reduced, results };
}

/** The reductions that a request needs, and how its result follows from theirs. Throws RequestError. */
function expandRequest(
  request: ReductionRequest,
  index: number,
  question: MemberValues,
  nodes: AnalysedNodes,
): ExpandedRequest {
  const { over = DIRECTIONS, where } = question;
  const { base, transforms, publicFrames } = nodes;
  checkRow(request, `reduce[${index}]`);
  const { quantiles: text, at } = request;
  if (text !== undefined) return quantiles(text as string, at as readonly number[], index, base.names);
  const frames = over.includes("t") ? publicFrames : [0];
  if (request.budget !== undefined) return budgetOf(String(request.budget), transforms.dataset, frames, base.names);
  const higher = higherMoments(request, index, base.names, where);
  return higher ?? { reductions: [request], finish: ([result]) => result as GroupAnswer };
}

function quantitiesIn(request: ReductionRequest): readonly string[] {
  const members = Object.entries(request).filter(([name]) => QUANTITIES_OF.includes(name));
  return members.flatMap(([, value]) => [value].flat().filter((text) => typeof text === "string"));
}

/** The member of the question that holds a text, for refusals. */
function memberOf(text: string, { reduce, where }: MemberValues): string {
  if (text === where) return "where";
  if (reduce === undefined) return "what";
  const index = reduce.findIndex((request) => quantitiesIn(request).includes(text));
  const kind = QUANTITIES_OF.find((name) => [reduce[index]?.[name]].flat().includes(text));
  return kind === undefined ? "reduce" : `reduce[${index}].${kind}`;
}

/**
 * Reductions of values that are NaN where a condition fails. `names` maps each masked text to the text of the caller.
 * Throws RequestError.
 */
function maskReductions(requests: readonly ReductionRequest[], condition: string, { base }: AnalysedNodes) {
  const names = new Map<string, string>();
  const mask = (value: unknown, hasComponents: boolean): string => {
    const text = String(value);
    const { shape } = compileExpression(text, base.names, "reduce");
    if (shape !== "scalar" && !hasComponents) throw wrong("where", `${text} is a ${shape}; ask components, or norm`);
    const masked = shape === "scalar" ? nanUnless(condition, text) : `(${nanUnless(condition, "1")}) * (${text})`;
    const components = componentsIn(text, shape);
    for (const [i, component] of componentsIn(masked, shape).entries()) names.set(component, components[i]);
    return masked;
  };
  const maskRequest = (request: ReductionRequest): ReductionRequest => {
    const members = Object.entries(request).map(([name, value]) => {
      if (!QUANTITIES_OF.includes(name)) return [name, value];
      const hasComponents = name === "moments" || name === "covariance";
      return [name, Array.isArray(value) ? value.map((text) => mask(text, hasComponents)) : mask(value, hasComponents)];
    });
    return Object.fromEntries(members);
  };
  return { reductions: requests.map(maskRequest), names };
}
