/**
 * Budgets of the Reynolds stresses R_ij = <u_i' u_j'> and of k = R_ii / 2, each term a mean of an expression:
 * dR_ij/dt = production + dissipation + pressure strain + pressure, turbulent and viscous diffusion + convection.
 */
import { commonOf, dimensionText } from "../../../analysis/dimensions.js";
import { compileExpression } from "../../../analysis/expression.js";
import type { Names } from "../../../analysis/names.js";
import type { Dataset } from "../../../engine/contract/dataset.js";
import { unitFactors } from "../../../shared/quantities.js";
import { timesOf } from "../../http/describe.js";
import { wrong } from "../faults.js";
import type { ExpandedRequest } from "./distributions.js";

/** The terms in the order of answers, named after the files of Moser, Kim and Mansour. */
const TERMS = ["dissip", "produc", "p-strain", "p-diff", "t-diff", "v-diff", "convection", "d/dt"];
const LETTERS = ["x", "y", "z"] as const;

/** The expressions of the terms. Throws RequestError for quantities without a budget. */
function expressionsOf(name: string, dataset: Dataset, frames: readonly number[]): Readonly<Record<string, string>> {
  const { viscosity } = dataset;
  if (viscosity === undefined) throw wrong("reduce", "a budget needs nu, and the dataset states no viscosity");
  for (const field of ["velocity", "pressure"])
    if (dataset.fields[field] === undefined) throw wrong("reduce", `a budget needs the ${field}, which is not stored`);
  const stored = timesOf(dataset.time);
  const [first = 0, last = 0] = [Math.min(...frames), Math.max(...frames)];
  const { time = "" } = dataset.units;
  const unit = unitFactors(time.trim()) === null ? " + 0*t" : `[${time}]`;
  const step = stored[last] - stored[first];
  const rate = (of: string): Readonly<Record<string, string>> =>
    last === first ? {} : { "d/dt": `(field(${of}, ${last}) - field(${of}, ${first}))/(${step}${unit})` };
  if (name === "k") {
    const k = "dot(fluc(u),fluc(u))/2";
    return {
      dissip: "-nu*ddot(grad(fluc(u)),grad(fluc(u)))",
      produc: "-dot(fluc(u),grad(mean(u))*fluc(u))",
      "p-strain": "fluc(p)*div(fluc(u))",
      "p-diff": "-div(mean(fluc(p)*fluc(u)))",
      "t-diff": `-div(mean(fluc(u)*(${k})))`,
      "v-diff": `nu*lap(mean(${k}))`,
      convection: `-dot(mean(u),grad(mean(${k})))`,
      ...rate(k),
    };
  }
  const [i, j, ...more] = [...name].map((letter) => LETTERS["uvw".indexOf(letter)]);
  if (i === undefined || j === undefined || more.length > 0)
    throw wrong("reduce", `budgets are of k, uu, vv, ww, uv, uw and vw, not of ${name}`, "budget:k");
  const [a, b] = [`fluc(u.${i})`, `fluc(u.${j})`];
  return {
    dissip: `-2*nu*dot(grad(${a}),grad(${b}))`,
    produc: `-${a}*dot(fluc(u),grad(mean(u.${j})))-${b}*dot(fluc(u),grad(mean(u.${i})))`,
    "p-strain": `fluc(p)*(d(${a},${j})+d(${b},${i}))`,
    "p-diff": `-d(mean(fluc(p)*${a}),${j})-d(mean(fluc(p)*${b}),${i})`,
    "t-diff": `-div(mean(fluc(u)*${a}*${b}))`,
    "v-diff": `nu*lap(mean(${a}*${b}))`,
    convection: `-dot(mean(u),grad(mean(${a}*${b})))`,
    ...rate(`${a}*${b}`),
  };
}

/** A budget from the means of its terms, and their sum. Throws RequestError. */
export function budgetOf(name: string, dataset: Dataset, frames: readonly number[], names: Names): ExpandedRequest {
  const of = expressionsOf(name, dataset, frames);
  const terms = TERMS.filter((term) => of[term] !== undefined);
  const added = terms.map((term) => compileExpression(of[term], names, "reduce"));
  const dimensions = added.map(({ dimension }) => dimension);
  const units = [...new Set(dimensions.map(dimensionText))].join(" and ");
  if (commonOf(dimensions) === undefined)
    throw wrong("reduce", `terms in ${units} have no sum: ask them by hand with p over a density, or units=ignore`);
  return {
    reductions: terms.map((term) => ({ moments: of[term], order: 1 })),
    finish(results, _analysis, scale) {
      const members = terms.map((term, i) => [term, timesScale(results[i]?.mean, scale)] as const);
      const zero = timesScale(results[0]?.mean, 0);
      const sum = members.reduce((sums, [term, mean]) => sumOf(sums, mean, term === "d/dt" ? -1 : 1), zero);
      const { coordinates } = results[0] as { readonly coordinates?: object };
      return { budget: name, of, ...(coordinates && { coordinates }), ...Object.fromEntries(members), sum };
    },
  };
}

function timesScale(value: unknown, scale: number): unknown {
  if (Array.isArray(value)) return value.map((one) => timesScale(one, scale));
  return typeof value === "number" ? scale * value : null;
}

function sumOf(a: unknown, b: unknown, sign: number): unknown {
  if (Array.isArray(a)) return a.map((one, i) => sumOf(one, (b as unknown[])[i], sign));
  return typeof a === "number" && typeof b === "number" ? a + sign * b : null;
}
