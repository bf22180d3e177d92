/**
 * Reads the parameters of tracking that only `/api` has: the integrator, its tolerance, and what happens to particles
 * that leave through open faces.
 */

import { Type } from "@sinclair/typebox";
import { OPEN_FACES } from "../../engine/contract/dataset.js";
import { INTEGRATORS, type Operation } from "../../shared/operations.js";
import { refuse } from "./parameters.js";
import type { AskedQuery } from "./pending-query.js";
import { oneOf } from "./schemas.js";

/** The parameters of a query string; they are not in the body, where points may come before them. */
export const TRACKING_QUERY = {
  openFaces: Type.Optional(
    oneOf(
      OPEN_FACES,
      "Particles that leave through an open face: fail refuses the query, stop ends their paths there and adds the time of the exit (null while inside) to each record. By default, what the dataset says.",
    ),
  ),
  integrator: Type.Optional(
    Type.Unsafe({
      type: "string",
      enum: [...INTEGRATORS],
      default: INTEGRATORS[0],
      description:
        "heun is of second order in the step, rk4 (classical Runge-Kutta) of fourth, dopri5 (Dormand-Prince) chooses steps that keep a tolerance and adds their number to each record; drag needs heun.",
    }),
  ),
  tolerance: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      description:
        "With dopri5: the error of a path, as a distance, at which its steps aim; by default 1e-6 of the smallest spacing.",
    }),
  ),
};

/** Reads the tracking options of a query string. @throws RequestError for a value that a parameter does not have */
export function trackingOf(
  { family }: Operation,
  given: Readonly<Record<string, unknown>> = {},
): Pick<AskedQuery, "tracking"> {
  if (family !== "track") return {};
  const integrator = choiceOf("integrator", INTEGRATORS, given.integrator) ?? INTEGRATORS[0];
  const openFaces = choiceOf("openFaces", OPEN_FACES, given.openFaces);
  const tolerance = given.tolerance === undefined ? undefined : Number(given.tolerance);
  if (tolerance !== undefined && !(tolerance > 0 && tolerance < Number.POSITIVE_INFINITY))
    throw refuse("tolerance", "tolerance must be a number above 0.");
  return {
    tracking: {
      integrator,
      ...(tolerance === undefined ? {} : { tolerance }),
      ...(openFaces === undefined ? {} : { openFaces }),
    },
  };
}

function choiceOf<T extends string>(name: string, choices: readonly T[], given: unknown): T | undefined {
  const choice = choices.find((value) => value === given);
  if (choice !== undefined || given === undefined) return choice;
  throw refuse(name, `${name} must be one of ${choices.join(", ")}.`);
}
