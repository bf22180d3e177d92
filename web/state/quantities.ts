/** Quantities in menus and in Find: an expression of the service, its symbol and its title. */
import { AXIS_NAMES, type Dataset, hasVelocity } from "./dataset.js";
import { durationOf, hasFlowMaps } from "./flow-map.js";
import { plainNumber } from "./format.js";

export interface Quantity {
  readonly what: string;
  readonly symbol: string;
  readonly title: string;
  readonly words?: string;
  readonly needs?: "velocity" | "pressure" | "viscosity";
  /** Whether its distribution has heavy tails, which a symmetric logarithmic scale shows better. */
  readonly heavyTailed?: boolean;
  readonly group: string;
}

const componentsOf = (
  what: string,
  symbol: string,
  title: string,
  rest: Pick<Quantity, "group" | "needs" | "heavyTailed">,
) =>
  AXIS_NAMES.map(
    (axis): Quantity => ({ what: `${what}.${axis}`, symbol: symbol + axis, title: `${title} ${axis}`, ...rest }),
  );

const [VELOCITY, PRESSURE] = [{ needs: "velocity" }, { needs: "pressure", group: "Pressure" }] as const;
const VORTICES = { ...VELOCITY, group: "Vortices" } as const;
const TAILED = { ...VORTICES, heavyTailed: true } as const;

/** Quantities of every dataset with velocity or pressure. */
export const QUANTITIES: readonly Quantity[] = [
  { what: "norm(u)", symbol: "|u|", title: "Speed", words: "velocity magnitude", ...VELOCITY, group: "Velocity" },
  ...componentsOf("u", "u", "Velocity", { ...VELOCITY, group: "Velocity" }),
  { what: "p", symbol: "p", title: "Pressure", ...PRESSURE },
  { what: "norm(omega)", symbol: "|ω|", title: "Vorticity", words: "vortex enstrophy magnitude curl", ...VORTICES },
  ...componentsOf("omega", "ω", "Vorticity", TAILED),
  { what: "Q", symbol: "Q", title: "Second invariant", words: "vortex criterion", ...TAILED },
  { what: "lambda2", symbol: "λ₂", title: "Lambda 2", words: "vortex criterion eigenvalue", ...TAILED },
  { what: "R", symbol: "R", title: "Third invariant", ...TAILED },
  { what: "dot(u,omega)", symbol: "u·ω", title: "Helicity", ...TAILED },
  {
    ...{ what: "2*ddot(S,S)", symbol: "ε/ν", title: "Dissipation over viscosity", words: "strain epsilon" },
    ...{ ...VELOCITY, group: "Dissipation" },
  },
  { what: "epsilon", symbol: "ε", title: "Dissipation", needs: "viscosity", group: "Dissipation" },
  { what: "norm(grad(p))", symbol: "|∇p|", title: "Pressure gradient", ...PRESSURE },
  ...AXIS_NAMES.flatMap((component, i) =>
    AXIS_NAMES.map((axis, j) => ({
      ...{ what: `A[${i}][${j}]`, symbol: `∂u${component}/∂${axis}`, title: `Velocity gradient ${component}${axis}` },
      ...{ words: `du${component}d${axis} du/d${axis}`, ...VELOCITY, group: "Velocity gradient" },
    })),
  ),
];

const has = (dataset: Dataset, name: string) => dataset.fields.some((field) => field.name === name);

export function quantitiesOf(dataset: Dataset): Quantity[] {
  const canDifferentiate = hasDerivatives(dataset);
  const available = QUANTITIES.filter(({ what, needs }) => {
    if (!canDifferentiate && !/^(?:p|norm\(u\)|u\.[xyz])$/.test(what)) return false;
    if (needs === "viscosity") return hasVelocity(dataset) && dataset.viscosity !== null;
    return needs === undefined || has(dataset, needs);
  });
  const otherFields = dataset.fields
    .filter(({ name }) => name !== "velocity" && name !== "pressure")
    .flatMap(({ name, components, title = name }): Quantity[] =>
      components === 1
        ? [{ what: name, symbol: name, title, group: "Fields" }]
        : [
            { what: `norm(${name})`, symbol: `|${name}|`, title: `${title}, magnitude`, group: "Fields" },
            ...componentsOf(name, `${name} `, title, { group: "Fields" }),
          ],
    );
  return [...available, ...otherFields, ...flowMapsOf(dataset)];
}

/** Flow maps over a quarter of the stored times, forwards and backwards. */
function flowMapsOf(dataset: Dataset): Quantity[] {
  if (!hasFlowMaps(dataset)) return [];
  const { times } = dataset;
  const quarter = Number((((times.at(-1) as number) - times[0]) / 4).toPrecision(2));
  return [quarter, -quarter].map((duration) => flowMapOf(`ftle(${duration})`, duration));
}

const flowMapOf = (what: string, duration: number): Quantity => ({
  ...{
    what,
    symbol: `FTLE ${duration < 0 ? "" : "+"}${plainNumber(duration, 9)}`,
    title: `${duration < 0 ? "Backward" : "Forward"} stretching, T = ${plainNumber(duration, 9)}`,
  },
  ...{ words: "finite-time Lyapunov exponent flow map stretching LCS ridges", needs: "velocity", group: "Paths" },
});

/** The quantity of an expression; an expression that is in no menu is its own title. */
export function quantityOf(what: string): Quantity {
  const duration = durationOf(what);
  if (duration !== null) return flowMapOf(what, duration);
  return QUANTITIES.find((one) => one.what === what) ?? { what, symbol: what, title: what, group: "Expressions" };
}

const DIFFERENCE_NODES = 5;

export function hasDerivatives({ axes }: Dataset): boolean {
  return axes.every(({ nodes }) => nodes >= DIFFERENCE_NODES);
}

export function firstQuantity(dataset: Dataset): string {
  if (hasVelocity(dataset)) return hasDerivatives(dataset) ? "norm(omega)" : "norm(u)";
  return quantitiesOf(dataset)[0]?.what ?? "p";
}
