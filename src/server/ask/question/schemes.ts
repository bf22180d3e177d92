/** The schemes of a question in the names of the engine. */
import { wrong } from "../faults.js";
import type { PointOptions } from "../points/point-columns.js";
import type { MemberValues } from "./member-values.js";

export function spatialName(name: string): string {
  if (name === "nearest") return "None";
  return /^Fd[468]$/.test(name) ? `None_${name}` : name;
}

/** The engine's name of the derivatives at nodes. Throws RequestError. */
export function nodeDerivatives({ derivatives = "Fd4", filter }: MemberValues): string {
  if (filter?.kind === "box")
    throw wrong("filter", "box is the mean about points; at nodes take gaussian, sharp or tophat");
  if (/Lag|^M/.test(derivatives)) throw wrong("derivatives", "at nodes: expected one of Fd4, Fd6, Fd8, spectral");
  return spatialName(derivatives);
}

/** The scheme for derivatives between nodes: the spline, if the method is one, else Fd4Lag4. */
export function pointDerivatives({ derivatives, method = "Lag8" }: MemberValues): string {
  return derivatives ?? (method.startsWith("M") ? method : "Fd4Lag4");
}

/** The interpolation at points, in the names of the engine; analyses use stored times only. */
export function pointOptions(question: MemberValues): Omit<PointOptions, "time"> {
  const { method = "Lag8", time_method = "PCHIP", filter } = question;
  return {
    method: spatialName(method),
    derivatives: spatialName(pointDerivatives(question)),
    filter,
    temporalInterpolation: time_method === "nearest" ? "None" : "PCHIP",
  };
}
