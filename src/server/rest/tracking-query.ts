/**
 * Reads the parameters of tracking that only `/api` has: the integrator, and what happens to particles that leave
 * through open faces.
 */
import { Type } from "@sinclair/typebox";
import { OPEN_FACES } from "../../engine/contract/dataset.js";
import { RequestError } from "../../errors.js";
import { INTEGRATORS, type Operation } from "../../operations.js";
import type { AskedQuery } from "./pending-query.js";

/** The parameters of a query string; they are not in the body, where points may come before them. */
export const TRACKING_QUERY = {
  openFaces: Type.Optional(
    Type.Unsafe({
      type: "string",
      enum: [...OPEN_FACES],
      description:
        "Particles that leave through an open face: fail refuses the query, stop ends their paths there and adds the time of the exit (null while inside) to each record. By default, what the dataset says.",
    }),
  ),
  integrator: Type.Optional(
    Type.Unsafe({
      type: "string",
      enum: [...INTEGRATORS],
      default: INTEGRATORS[0],
      description: "heun is of second order in the step, rk4 (classical Runge-Kutta) of fourth; drag needs heun.",
    }),
  ),
};

/** Reads the tracking options of a query string. @throws RequestError for a value that a parameter does not have */
export function trackingOf(
  { family }: Operation,
  given: Readonly<Record<string, unknown>> = {},
): Pick<AskedQuery, "leaving" | "integrator"> {
  if (family !== "track") return {};
  const integrator = choiceOf("integrator", INTEGRATORS, given.integrator);
  const leaving = choiceOf("openFaces", OPEN_FACES, given.openFaces) ?? "as the dataset says";
  return integrator === undefined ? { leaving } : { leaving, integrator };
}

function choiceOf<T extends string>(name: string, choices: readonly T[], given: unknown): T | undefined {
  const choice = choices.find((value) => value === given);
  if (choice !== undefined || given === undefined) return choice;
  throw new RequestError("InvalidRequest", `${name} must be one of ${choices.join(", ")}.`, { member: name });
}
