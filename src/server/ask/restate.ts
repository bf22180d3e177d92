/** Restates a question with all its members, so that asking it again gives the same bytes. */
import { type CallName, callOf, type MemberName, memberOf } from "../../shared/calls.js";
import type { Restated } from "./answer.js";
import type {
  MemberValues,
  RequestedFrames,
  RequestedNodes,
  RequestedRegion,
  RequestedScale,
  RequestedSpan,
  RequestedTimes,
} from "./question/member-values.js";
import { pointsText } from "./question/points.js";
import { pointDerivatives } from "./question/schemes.js";
import { whatText } from "./question/what.js";

/** Defaults of omitted members; other omitted members are not restated unless the call reports them. */
const DEFAULTS: Restated = {
  method: "Lag8",
  time_method: "PCHIP",
  integrator: "rk4",
  every: 1,
  last: false,
  open_faces: "stop",
  weights: "volume",
  units: "check",
  remove: "mean",
  level: 0,
  map: "viridis",
  scale: "linear",
  limit: 1000,
  connectivity: "26",
  least: 1,
  labels: false,
};
const PICTURE_MEMBERS: readonly MemberName[] = ["map", "range", "scale"];
/** Calls whose derivatives are taken between nodes. */
const AT_POINTS: readonly CallName[] = ["values", "grid", "paths", "flow_map", "dispersion"];

/**
 * Restates the members of a call.
 * @param restatements members that the call has determined: they override given ones; undefined leaves a member out
 */
export function restate(call: CallName, question: MemberValues, restatements: Restated): Restated {
  const isPicture = question.format === "png" || !callOf(call).formats.includes("png");
  const restated: Record<string, unknown> = {};
  for (const name of callOf(call).members) {
    if (name === "format" || name === "job" || (!isPicture && PICTURE_MEMBERS.includes(name))) continue;
    const given = question[name];
    const derivatives = AT_POINTS.includes(call) ? pointDerivatives(question) : "Fd4";
    const defaultValue = name === "derivatives" ? derivatives : DEFAULTS[name];
    const value = name in restatements ? restatements[name] : given === undefined ? defaultValue : textOf(name, given);
    // A single place has no samples along any axis.
    if (value !== undefined && !(Array.isArray(value) && value.length === 0)) restated[name] = value;
  }
  return restated;
}

function textOf(name: MemberName, value: unknown): unknown {
  switch (memberOf(name).type) {
    case "what":
      return (value as NonNullable<MemberValues["what"]>).map(whatText);
    case "points":
      return pointsText(value as NonNullable<MemberValues["points"]>);
    case "along":
    case "nodes":
      return spanText(value as RequestedSpan | RequestedNodes);
    case "region":
      return Object.fromEntries((value as RequestedRegion).flatMap((of, a) => (of ? [["xyz"[a], of.join(":")]] : [])));
    case "times":
      return timesText(value as RequestedTimes);
    case "frames":
      return framesText(value as RequestedFrames);
    case "filter": {
      const { kind, width } = value as NonNullable<MemberValues["filter"]>;
      return `${kind}:${width}`;
    }
    case "scale": {
      const scale = value as RequestedScale;
      return scale.kind === "symlog" ? `symlog:${scale.linear}` : scale.kind;
    }
    default:
      return value;
  }
}

function spanText(span: RequestedSpan | RequestedNodes): unknown {
  if ("at" in span) return span.at;
  if ("node" in span) return span.node;
  if ("last" in span) return `${span.first}:${span.last}`;
  return `${span.first ?? ""}:${span.end ?? ""}${span.stride === 1 ? "" : `:${span.stride}`}`;
}

function timesText(time: RequestedTimes): unknown {
  if (time === "all") return time;
  if ("at" in time) return time.at;
  if ("list" in time) return [...time.list];
  if ("each" in time) return time.each === null ? "each" : `each:${time.each}`;
  return `${time.first}:${time.last}${time.step === null ? "" : `:${time.step}`}`;
}

function framesText(frame: RequestedFrames): unknown {
  if (frame === "all" || "at" in frame || "list" in frame) return timesText(frame);
  if ("node" in frame) return frame.node;
  return `${frame.first ?? ""}:${frame.end ?? ""}:${frame.stride}`;
}

/** Times as they were found; frames are restated as frames, by number if known. */
export function timeText(
  { frame }: MemberValues,
  times: readonly number[],
  isList: boolean,
  frames?: readonly number[],
): Restated {
  if (frame === undefined) return { time: isList ? [...times] : times[0] };
  if (frame === "all" || frames === undefined) return {};
  return { frame: isList ? [...frames] : frames[0] };
}
