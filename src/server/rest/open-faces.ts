/**
 * Reads the parameter `openFaces`: what becomes of particles that leave through faces of the domain that are no walls.
 */
import { Type } from "@sinclair/typebox";
import { OPEN_FACES, type OpenFaces } from "../../engine/contract/dataset.js";
import { RequestError } from "../../errors.js";
import type { Operation } from "../../operations.js";
import type { AskedQuery } from "./pending-query.js";

/** The parameter of a query string; it is not in the body, where points may come before it. */
export const OPEN_FACES_QUERY = {
  openFaces: Type.Optional(
    Type.Unsafe({
      type: "string",
      enum: [...OPEN_FACES],
      description:
        "Particles that leave through an open face: fail refuses the query, stop ends their paths there and adds the time of the exit (null while inside) to each record. What the dataset says unless given.",
    }),
  ),
};

/** The fate of particles at open faces, by a parameter of a query string. @throws RequestError for another value */
export function leavingOf({ family }: Operation, given?: unknown): Pick<AskedQuery, "leaving"> {
  if (family !== "track") return {};
  if (given === undefined) return { leaving: "as the dataset says" };
  const leaving = OPEN_FACES.find((value) => value === given);
  if (leaving !== undefined) return { leaving: leaving satisfies OpenFaces };
  throw new RequestError("InvalidRequest", `openFaces must be one of ${OPEN_FACES.join(", ")}.`, {
    member: "openFaces",
  });
}
