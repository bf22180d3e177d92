/** Puts analyses in the members of version 1 into questions, for tests whose numbers have not changed. */
import { presentName } from "../../src/analysis/names.js";

type Body = Readonly<Record<string, unknown>>;

/** A quantity in the names of version 1 as it is written now. */
export function present(text: unknown): unknown {
  if (Array.isArray(text)) return text.map(present);
  if (typeof text !== "string") return text;
  return text.replaceAll(/(?<![\w.])[A-Za-z_]\w*(?!\w|\s*\()/g, (name) =>
    name === "w" ? "omega" : (presentName(name) ?? name),
  );
}

const QUANTITIES = ["moments", "covariance", "histogram", "joint", "conditional", "on", "extremes"];

const reductionOf = (one: Body): Body =>
  Object.fromEntries(
    Object.entries(one).map(([name, value]) => [name, QUANTITIES.includes(name) ? present(value) : value]),
  );

const scheme = (name: unknown) => (name === "None" ? "nearest" : String(name).replace("None_", ""));

/** A region as parts of axes. */
function partsOf(region: Readonly<Record<string, readonly number[]>> | undefined): Body {
  if (region === undefined) return {};
  const { origin, extent, start = [], end = [], step = [] } = region;
  if (origin !== undefined && extent !== undefined)
    return Object.fromEntries(
      ["x", "y", "z"].map((axis, a) => [axis, `${origin[a]}:${Number(origin[a]) + Number(extent[a])}`]),
    );
  return Object.fromEntries(
    ["i", "j", "k"].map((axis, a) => [axis, `${start[a] ?? ""}:${end[a] ?? ""}:${step[a] ?? 1}`]),
  );
}

function conditionOf(of: string, above: unknown, below: unknown): string {
  const [sign, side] = above === undefined ? ["<", below] : [">", above];
  return `${of} ${sign} ${typeof side === "object" ? `(${(side as { rms: number }).rms})*rms(${of})` : `(${side})`}`;
}

/** The call and the members of an analysis. */
export function earlier(name: string, body: Body): { readonly call: string; readonly members: Body } {
  const {
    times,
    frames,
    region,
    derivatives,
    at,
    reduce,
    of,
    with: terms,
    above,
    below,
    properties,
    axes,
    axis,
    seeds,
    start,
    end,
    dt,
    openFaces,
    quantities,
    plane,
    box,
    method,
    ...rest
  } = body as Record<string, never> & Body;
  const drawn = at as { random: number; seed?: number; method?: string } | undefined;
  const separations = (rest as { separations?: Body }).separations;
  const { method: ofPairs = undefined, ...distances } = (separations ?? {}) as { method?: string };
  const quantity = of === undefined ? undefined : (present(of) as string);
  const isStructures = name === "structures";
  const way = method ?? drawn?.method ?? ofPairs;
  const seeded = plane as { normal: string; at: number; count?: readonly number[] } | undefined;
  const counted = box as { count?: readonly number[] } | undefined;
  const members: Record<string, unknown> = {
    ...rest,
    ...(times === undefined ? {} : { time: times }),
    ...(frames === undefined
      ? {}
      : { frame: frames === "all" ? "all" : (frames as readonly number[]).map((one) => one - 1) }),
    ...partsOf(region),
    ...(derivatives === undefined ? {} : { derivatives: scheme(derivatives) }),
    ...(drawn === undefined || typeof drawn !== "object" ? {} : { points: { random: drawn.random, seed: drawn.seed } }),
    ...(way === undefined ? {} : { method: scheme(way) }),
    ...(reduce === undefined ? {} : { reduce: (reduce as readonly Body[]).map(reductionOf) }),
    ...(quantity === undefined || isStructures ? {} : { what: [quantity] }),
    ...(isStructures ? { where: conditionOf(String(quantity), above, below), what: present(properties ?? [of]) } : {}),
    ...(terms === undefined
      ? {}
      : {
          terms: (terms as readonly string[]).map((term) =>
            term.startsWith("cross:") ? `cross:${present(term.slice(6))}` : term,
          ),
        }),
    ...(axes === undefined ? {} : { axis: axes }),
    ...(axis === undefined ? {} : { axis: [axis] }),
    ...(separations === undefined ? {} : { separations: "nodes" in distances ? distances.nodes : distances }),
    ...(seeds === undefined ? {} : { points: (seeds as { points?: unknown }).points ?? seeds }),
    ...(start === undefined ? {} : { time: `${start}:${end}`, step: Math.abs(Number(dt)) }),
    ...(openFaces === undefined ? {} : { open_faces: openFaces }),
    ...(quantities === undefined ? {} : { what: quantities }),
    ...(seeded === undefined ? {} : { [seeded.normal]: seeded.at, samples: seeded.count }),
    ...(counted?.count === undefined ? {} : { samples: counted.count }),
  };
  return { call: name.replace("-", "_"), members };
}

/** Sends an analysis that is written in the members of version 1. */
export function askEarlier(
  url: string,
  init: { readonly body: string } & Omit<RequestInit, "body">,
): Promise<Response> {
  const [, base = "", name = ""] = /^(.*\/)([a-z-]+)$/.exec(url) ?? [];
  // Operations have their own members.
  if (name === "") return fetch(url, init);
  const { call, members } = earlier(name, JSON.parse(init.body) as Body);
  return fetch(`${base}${call}`, { ...init, body: JSON.stringify(members) });
}
