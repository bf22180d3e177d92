/** Origin of an answer: dataset, version, question, and the filter as applied. */
import type { FieldFilter } from "../../../analysis/derived.js";
import { version } from "../../../shared/build.js";
import type { Outcome } from "../answer.js";
import { widthsOf } from "../transforms.js";

export function originOf({ question, dataset, levelNote: level, others }: Outcome): Readonly<Record<string, unknown>> {
  const assumed = dataset.assumed.length === 0 ? {} : { assumed: dataset.assumed.map(({ question: text }) => text) };
  const [kind, text] = String(question.filter ?? "").split(":");
  const filter = { kind, width: Number(text) } as FieldFilter;
  // The filter as applied: a top hat has a whole number of nodes.
  const acting = text === undefined ? {} : { filter: { ...filter, widths: widthsOf(filter, dataset) } };
  const digests = Object.entries(others ?? {}).map(([name, { digest }]) => [name, digest] as const);
  const manifests = others === undefined ? {} : { manifests: Object.fromEntries(digests) };
  const moving = dataset.frameVelocity.some((speed) => speed !== 0) ? { frame_velocity: dataset.frameVelocity } : {};
  const own = { dataset: dataset.name, version, manifest: dataset.digest, ...manifests, ...moving, ...assumed };
  return { ...own, question, ...level, ...acting };
}

/** The same as texts for a file, and what `find` has counted. */
export function aboutOf(answered: Outcome): Readonly<Record<string, string>> {
  const { answer } = answered;
  const total = answer.kind === "rows" && answer.more?.total !== undefined ? { total: answer.more.total } : {};
  const members = Object.entries({ ...originOf(answered), ...total });
  return Object.fromEntries(members.map(([name, one]) => [name, typeof one === "string" ? one : JSON.stringify(one)]));
}

export const attributesOf = (answered: Outcome): Readonly<Record<string, string>> => ({
  title: `${answered.question.call} of ${answered.dataset.name}`,
  ...Object.fromEntries(Object.entries(aboutOf(answered)).map(([name, text]) => [`fieldprobe_${name}`, text])),
});
