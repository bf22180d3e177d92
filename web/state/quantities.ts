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

const GRADIENT: readonly Quantity[] = AXIS_NAMES.flatMap((component, i) =>
  AXIS_NAMES.map((axis, j) => ({
    what: `A[${i}][${j}]`,
    symbol: `∂u${component}/∂${axis}`,
    title: `Velocity gradient ${component}${axis}`,
    words: `du${component}d${axis} du/d${axis}`,
    needs: "velocity" as const,
    group: "Velocity gradient",
  })),
);

/** Quantities of every dataset with velocity or pressure. */
export const QUANTITIES: readonly Quantity[] = [
  { what: "norm(u)", symbol: "|u|", title: "Speed", words: "velocity magnitude", needs: "velocity", group: "Velocity" },
  ...AXIS_NAMES.map((axis) => ({
    what: `u.${axis}`,
    symbol: `u${axis}`,
    title: `Velocity ${axis}`,
    needs: "velocity" as const,
    group: "Velocity",
  })),
  { what: "p", symbol: "p", title: "Pressure", needs: "pressure", group: "Pressure" },
  {
    ...{ what: "norm(omega)", symbol: "|ω|", title: "Vorticity", words: "vortex enstrophy magnitude curl" },
    ...{ needs: "velocity", group: "Vortices" },
  },
  ...AXIS_NAMES.map((axis) => ({
    what: `omega.${axis}`,
    symbol: `ω${axis}`,
    title: `Vorticity ${axis}`,
    needs: "velocity" as const,
    heavyTailed: true,
    group: "Vortices",
  })),
  {
    ...{ what: "Q", symbol: "Q", title: "Second invariant", words: "vortex criterion" },
    ...{ needs: "velocity", heavyTailed: true, group: "Vortices" },
  },
  {
    ...{ what: "lambda2", symbol: "λ₂", title: "Lambda 2", words: "vortex criterion eigenvalue" },
    ...{ needs: "velocity", heavyTailed: true, group: "Vortices" },
  },
  {
    ...{ what: "R", symbol: "R", title: "Third invariant", needs: "velocity", heavyTailed: true },
    ...{ group: "Vortices" },
  },
  {
    ...{ what: "dot(u,omega)", symbol: "u·ω", title: "Helicity", needs: "velocity", heavyTailed: true },
    ...{ group: "Vortices" },
  },
  {
    ...{ what: "2*ddot(S,S)", symbol: "ε/ν", title: "Dissipation over viscosity", words: "strain epsilon" },
    ...{ needs: "velocity", group: "Dissipation" },
  },
  { what: "epsilon", symbol: "ε", title: "Dissipation", needs: "viscosity", group: "Dissipation" },
  { what: "norm(grad(p))", symbol: "|∇p|", title: "Pressure gradient", needs: "pressure", group: "Pressure" },
  ...GRADIENT,
] as Quantity[];

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
            ...AXIS_NAMES.map((axis) => ({
              what: `${name}.${axis}`,
              symbol: `${name} ${axis}`,
              title: `${title} ${axis}`,
              group: "Fields",
            })),
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

/** Whether a dataset has enough nodes for derivatives. */
export function hasDerivatives({ axes }: Dataset): boolean {
  return axes.every(({ nodes }) => nodes >= DIFFERENCE_NODES);
}

export function firstQuantity(dataset: Dataset): string {
  if (hasVelocity(dataset)) return hasDerivatives(dataset) ? "norm(omega)" : "norm(u)";
  return quantitiesOf(dataset)[0]?.what ?? "p";
}
