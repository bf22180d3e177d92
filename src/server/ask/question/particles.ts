/** How particles of a question move: integrator, diffusion and walls, for the calls that answer paths and their means. */
import type { Dataset } from "../../../engine/contract/dataset.js";
import type { Query } from "../../../engine/contract/query.js";
import type { SpatialInterpolation } from "../../../shared/operations.js";
import type { Restated } from "../answer.js";
import { wrong } from "../faults.js";
import type { MemberValues } from "./member-values.js";
import { spatialName } from "./schemes.js";
import type { Interval } from "./when.js";

export function queryOver({ start, end }: Exclude<Interval, { each: number }>, dt: number, { name }: Dataset): Query {
  return { operation: "GetPositionByEnd", dataset: name, StartTime: start, EndTime: end, dt };
}

/** Methods in space and time; particles with drag use heun only. Throws RequestError. */
export function schemeIn({ method = "Lag8", drag, integrator = drag === undefined ? "rk4" : "heun" }: MemberValues) {
  if (drag !== undefined && integrator !== "heun") throw wrong("integrator", "particles with drag are tracked by heun");
  return { spatialInterpolation: spatialName(method) as SpatialInterpolation, integrator };
}

/** Members of a query that moves particles, and what an answer restates of them. Throws RequestError. */
export function motionIn(question: MemberValues): { readonly moves: Partial<Query>; readonly found: Restated } {
  const { tolerance, drag, frozen = false, open_faces = "stop", diffusivity, seed = 0, walls } = question;
  const scheme = schemeIn(question);
  if (diffusivity === undefined && question.seed !== undefined)
    throw wrong("seed", "it is of random displacements, which diffusivity states");
  if (diffusivity === undefined && walls === "reflect")
    throw wrong("walls", "reflect is for particles with diffusivity; others stop or are held");
  if (diffusivity !== undefined && drag !== undefined)
    throw wrong("diffusivity", "particles with drag have no random displacements");
  if (diffusivity !== undefined && scheme.integrator === "dopri5")
    throw wrong("diffusivity", "random displacements are of equal steps: take rk4 or heun, not dopri5");
  if (walls === "stop" && open_faces === "fail")
    throw wrong("open_faces", "fail is not for walls that stop particles: take open_faces=stop");
  const moves: Partial<Query> = {
    ...{ ...scheme, openFaces: open_faces, exitTimes: true },
    ...(drag === undefined ? {} : { operation: "GetPositionInertialParticle", Tp: drag }),
    ...{ ...(tolerance === undefined ? {} : { tolerance }), ...(frozen ? { frozen } : {}) },
    ...(diffusivity === undefined ? {} : { diffusion: { diffusivity, seed } }),
    ...(walls === "stop" ? { walls } : {}),
  };
  const found = diffusivity === undefined ? {} : { seed, walls: walls ?? "reflect" };
  return { moves, found: { integrator: scheme.integrator, ...found } };
}
