/**
 * Budgets of the Reynolds stresses R_ij = <u_i' u_j'> and of k = R_ii / 2, each term a mean of an expression:
 *
 * dR_ij/dt = production + dissipation + pressure strain + pressure, turbulent and viscous diffusion + convection.
 */
import type { GroupAnswer } from "../../../analysis/reductions.js";
import type { Dataset } from "../../../engine/contract/dataset.js";
import { timesOf } from "../../http/describe.js";
import { wrong } from "../faults.js";
import type { MemberValues } from "../question/read-member.js";

/** The terms, in the order of answers, by the names of the files of Moser, Kim and Mansour. */
const TERMS = ["dissip", "produc", "p-strain", "p-diff", "t-diff", "v-diff", "convection", "d/dt"] as const;
type Term = (typeof TERMS)[number];
const LETTERS = ["x", "y", "z"] as const;

/** The expressions of the terms. @throws RequestError for what has no budget */
function expressionsOf(
  name: string,
  dataset: Dataset,
  frames: readonly number[],
): Readonly<Partial<Record<Term, string>>> {
  const { viscosity } = dataset;
  if (viscosity === undefined) throw wrong("reduce", "a budget needs nu, and the dataset states no viscosity");
  for (const field of ["velocity", "pressure"])
    if (dataset.fields[field] === undefined) throw wrong("reduce", `a budget needs the ${field}, which is not stored`);
  const stored = timesOf(dataset.time);
  const [first = 0, last = 0] = [Math.min(...frames), Math.max(...frames)];
  const unit = dataset.units.time === undefined ? "" : `[${dataset.units.time}]`;
  const rate = (of: string): { readonly "d/dt"?: string } =>
    last === first
      ? {}
      : {
          "d/dt": `(field(${of}, ${last}) - field(${of}, ${first}))/${(stored[last] as number) - (stored[first] as number)}${unit}`,
        };
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

type Row = Readonly<Record<string, unknown>>;

/** Reductions in which budgets are rows of their terms, and what makes budgets of the results of these. */
export function withBudgets(
  reduce: readonly Row[],
  { over = ["x", "y", "z", "t"] }: MemberValues,
  dataset: Dataset,
  frames: readonly number[],
): { readonly rows: readonly Row[]; collect(results: readonly GroupAnswer[], scale: number): readonly GroupAnswer[] } {
  const terms = reduce.map((row) =>
    row.budget === undefined ? null : expressionsOf(String(row.budget), dataset, over.includes("t") ? frames : [0]),
  );
  const rows = reduce.flatMap((row, r): readonly Row[] => {
    const own = terms[r];
    return own == null ? [row] : Object.values(own).map((text) => ({ moments: text, order: 1 }));
  });
  return {
    rows,
    collect(results, scale) {
      let at = 0;
      return reduce.map((row, r) => {
        const own = terms[r];
        if (own == null) return results[at++] as GroupAnswer;
        const parts = TERMS.filter((term) => own[term] !== undefined).map(
          (term) => [term, results[at++] as GroupAnswer] as const,
        );
        const [[, first]] = parts as [readonly [Term, GroupAnswer]];
        const members = parts.map(([term, { mean }]) => [term, timesScale(mean, scale)] as const);
        const sum = members.reduce(
          (sums, [term, mean]) => added(sums, mean, term === "d/dt" ? -1 : 1),
          timesScale(first.mean, 0),
        );
        const place = first.coordinates === undefined ? {} : { coordinates: first.coordinates };
        return {
          budget: row.budget,
          of: Object.fromEntries(Object.entries(own)),
          ...place,
          ...Object.fromEntries(members),
          sum,
        };
      });
    },
  };
}

/** Numbers in nested lists, times a factor; null stays. */
function timesScale(value: unknown, scale: number): unknown {
  if (Array.isArray(value)) return value.map((one) => timesScale(one, scale));
  return typeof value === "number" ? scale * value : null;
}

function added(a: unknown, b: unknown, sign: number): unknown {
  if (Array.isArray(a)) return a.map((one, i) => added(one, (b as unknown[])[i], sign));
  return typeof a === "number" && typeof b === "number" ? a + sign * b : null;
}
