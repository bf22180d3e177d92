/** Puts the analyses of the page into the members of the table of calls. */
import { AXES } from "./plane-geometry.js";

type Body = Readonly<Record<string, unknown>>;

/** Quantities of the page by the expressions that stand for them. */
const TEXTS: Readonly<Record<string, string>> = {
  ...{ ux: "u.x", uy: "u.y", uz: "u.z", wx: "omega.x", wy: "omega.y", wz: "omega.z" },
  ...{ fx: "force.x", fy: "force.y", fz: "force.z", bx: "magnetic.x", by: "magnetic.y", bz: "magnetic.z" },
  ...{ ax: "potential.x", ay: "potential.y", az: "potential.z", b: "norm(magnetic)" },
  ...{ gradpressure: "norm(grad(p))", lapp: "lap(p)", lapux: "lap(u).x", lapuy: "lap(u).y", lapuz: "lap(u).z" },
  ...{ graddensity: "norm(grad(density))", gradtemperature: "norm(grad(temperature))" },
};

/** A quantity of the page as an expression. */
function textOf(quantity: unknown): string {
  return String(quantity).replaceAll(/(?<![\w.])[a-z]+(?!\w|\s*\()/g, (name) => TEXTS[name] ?? name);
}

/** Members of reductions that hold quantities. */
const OF_QUANTITIES = ["moments", "covariance", "histogram", "joint", "conditional", "on", "extremes"];

function reductionOf(reduction: Body): Body {
  const members = Object.entries(reduction).map(([name, value]) => {
    if (!OF_QUANTITIES.includes(name)) return [name, value];
    return [name, Array.isArray(value) ? value.map(textOf) : textOf(value)];
  });
  return Object.fromEntries(members) as Body;
}

/** The side of a threshold: above a number, or above or below a multiple of the rms. */
function conditionOf(of: string, { above, below }: Body): string {
  const [sign, side] = above === undefined ? ["<", below] : [">", above];
  return `${of} ${sign} ${typeof side === "number" ? side : `(${(side as { rms: number }).rms})*rms(${of})`}`;
}

/** A call of the page and its members. */
export interface PageQuestion {
  readonly call: string;
  readonly members: Body;
}

/** An analysis of the page as a question. */
export function questionOf(call: string, body: Body): PageQuestion {
  const { times, derivatives, region, reduce, of, axes, above, below, ...rest } = body as Body & {
    readonly region?: { readonly origin: readonly number[]; readonly extent: readonly number[] };
    readonly reduce?: readonly Body[];
    readonly separations?: { readonly nodes: readonly number[] };
  };
  const quantity = of === undefined ? null : textOf(of);
  const places = AXES.flatMap((axis, a) => {
    const [from, length] = [region?.origin[a], region?.extent[a]];
    return from === undefined || length === undefined ? [] : [[axis, `${from}:${from + length}`] as const];
  });
  const isStructures = call === "structures" && quantity !== null;
  return {
    call: call.replace("-", "_"),
    members: {
      ...rest,
      ...(times === undefined ? {} : { time: times }),
      ...(derivatives === undefined ? {} : { derivatives: String(derivatives).replace("None_", "") }),
      ...Object.fromEntries(places),
      ...(reduce === undefined ? {} : { reduce: reduce.map(reductionOf) }),
      ...(quantity === null ? {} : { what: isStructures ? [`${nameOf(String(of))} = ${quantity}`] : [quantity] }),
      ...(isStructures ? { where: conditionOf(quantity, { above, below }) } : {}),
      ...(axes === undefined ? {} : { axis: axes }),
    },
  };
}

/** A name of the page as the name of a column. */
function nameOf(quantity: string): string {
  return /^[A-Za-z_]\w*$/.test(quantity) ? `shown_${quantity}` : "shown";
}

/** The answer of structures with the names and the threshold that the page shows. */
export function structuresShown<T extends object>(answer: T, body: Body): T {
  const { means = {}, structures = [] } = answer as {
    readonly means?: Readonly<Record<string, number>>;
    readonly structures?: readonly { readonly properties: Readonly<Record<string, unknown>> }[];
  };
  const { above, below, of } = body as {
    above?: number | { rms: number };
    below?: number | { rms: number };
    of?: string;
  };
  const side = above ?? below;
  const [rms = Number.NaN] = Object.values(means);
  const threshold = typeof side === "object" ? side.rms * rms : side;
  const named = structures.map((one) => ({ ...one, properties: { [String(of)]: Object.values(one.properties)[0] } }));
  return { ...answer, threshold, structures: named };
}

/** A layer of stretching as a question: FTLE of the plane. */
export function stretchingQuestion({
  start,
  end,
  dt,
  method,
  plane,
  region,
}: {
  readonly start: number;
  readonly end: number;
  readonly dt: number;
  readonly method: string;
  readonly plane: { readonly normal: "x" | "y" | "z"; readonly at: number; readonly count: readonly number[] };
  readonly region: { readonly origin: readonly number[]; readonly extent: readonly number[] };
}): PageQuestion {
  const sides = AXES.filter((axis) => axis !== plane.normal);
  const ranges = sides.map((axis, i) => {
    const from = region.origin[i] as number;
    return [axis, `${from}:${from + (region.extent[i] as number)}`] as const;
  });
  const places = { [plane.normal]: plane.at, ...Object.fromEntries(ranges) };
  const scheme = method === "None" ? "nearest" : method;
  return {
    call: "flow_map",
    members: {
      what: "ftle",
      ...places,
      samples: plane.count,
      time: `${start}:${end}`,
      step: Math.abs(dt),
      method: scheme,
    },
  };
}
