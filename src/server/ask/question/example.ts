/** An example of a call for a dataset, shown when a question lacks a member. */
import type { Dataset } from "../../../engine/contract/dataset.js";
import { withoutNoise } from "../../../float32/format.js";
import { type CallName, callOf } from "../../../shared/calls.js";
import { spanOf, timesOf } from "../../http/describe.js";
import { defaultWhat } from "./what.js";

/** The example of the table with what, where and when of a dataset, as text; empty without the velocity that it takes. */
export function exampleFor(call: CallName, dataset: Dataset): string {
  const { fields, axes, time } = dataset;
  const [usual] = defaultWhat(dataset).map(({ text }) => text) as [string];
  const norm = usual === "u" || fields[usual]?.components === 3 ? `norm(${usual})` : usual;
  const scalar = fields.pressure === undefined ? norm : "p";
  const centre = axes.map((axis) => withoutNoise(spanOf(axis).first + spanOf(axis).length / 2));
  const { 0: first = 0, 1: last = first + 1, length: times } = timesOf(time);
  const { members, example } = callOf(call);
  const isTracked = members.includes("integrator");
  if (isTracked && fields.velocity === undefined) return "";
  const known: Readonly<Record<string, string | number>> = {
    ...{ what: call === "flow_map" ? "ftle" : isTracked || call === "values" ? usual : scalar, z: centre[2] ?? 0 },
    points: call === "dispersion" ? '{"random":10,"seed":1}' : centre.join(","),
    where: `${scalar} > rms(${scalar})`,
    ...{ time: isTracked ? `${first}:${last}` : first, step: withoutNoise((last - first) / 4) },
  };
  const texts = Object.entries(example).map(([name, text]) => `${name}=${known[name] ?? text}`);
  if (times === 1 && members.includes("frozen")) texts.push("frozen=true");
  const isSmall = axes.some(({ nodes, periodic }) => !periodic && nodes < 8);
  if (isSmall && (isTracked || call === "values")) texts.push("method=nearest");
  return `; for example ${texts.join(" ")}`;
}
