/**
 * Recognises mpi4py-fft, spectralDNS and shenfun: `/<name>/3D/<step>`, axes in `domain` (origin, length) or `mesh`; x y
 * z.
 */
import { DataError } from "../../../errors.js";
import { AXIS_NAMES } from "../../file/dataset.js";
import type { DescriptorInput } from "../descriptor.js";
import { type AxisClues, axisOf, describeTimes, NO_CLUES, timesOf } from "./grid.js";
import { type Contents, evenLabels, Findings, type Layout } from "./layout.js";

const VECTORS = ["velocity", "u", "vel"];
const TRIPLES = [
  ["u", "v", "w"],
  ["ux", "uy", "uz"],
  ["vx", "vy", "vz"],
  ["u0", "u1", "u2"],
];
const SCALARS = ["p", "pressure"];

export const mpi4pyFft: Layout = {
  producer: "mpi4py-fft, spectralDNS or shenfun",
  recognise(contents) {
    const groups = (contents.group("/") ?? []).filter((name) => contents.datasets(`/${name}/3D`).length > 0);
    if (groups.length === 0) return null;
    const named = (wanted: string) => groups.find((group) => group.toLowerCase() === wanted);
    /** Dimensions of the first step; 0 where there is no step. */
    const rank = (group: string) => contents.dataset(`/${group}/3D/${steps(contents, group)[0]}`)?.shape.length ?? 0;
    const vector = VECTORS.map(named).find((group) => group !== undefined && rank(group) === 4);
    const triple = TRIPLES.map((names) => names.map(named)).find((found) =>
      found.every((group) => group !== undefined && rank(group) === 3),
    );
    const scalar = SCALARS.map(named).find((group) => group !== undefined && rank(group) === 3);
    const velocity = vector === undefined ? (triple as string[] | undefined) : [vector];
    const first = velocity?.[0] ?? scalar;
    if (first === undefined)
      throw new DataError(`none of the groups ${groups.join(", ")} is a velocity or pressure (u, u v w, p)`);
    const labels = steps(contents, first);
    const series = evenLabels(labels, `/${first}/3D`);
    const place = (group: string) => ({ file: contents.name, path: `/${group}/3D/{step:01d}` });
    const findings = new Findings();
    findings.addReason(
      `velocity: ${velocity === undefined ? "none" : `/${velocity.join(", /")}`}; pressure: ${scalar ?? "none"}.`,
    );
    findings.addReason("dimensions: (c) x y z, the order of these codes.");
    return {
      plan: {
        title: contents.name,
        axes: axesOf(contents, first, labels[0], findings),
        time: timeOf(contents, labels, findings),
        fields: {
          ...(velocity === undefined
            ? {}
            : {
                velocity:
                  vector === undefined
                    ? { components: velocity.map(place) as never, dimensions: ["x", "y", "z"], ...series }
                    : { ...place(vector), dimensions: ["c", "x", "y", "z"], ...series },
              }),
          ...(scalar === undefined ? {} : { pressure: { ...place(scalar), dimensions: ["x", "y", "z"], ...series } }),
        },
      },
      findings,
    };
  },
};

/** The files know steps, not times. */
function timeOf(contents: Contents, labels: readonly number[], findings: Findings): DescriptorInput["time"] {
  const { answers } = contents;
  if (answers.times !== undefined || labels.length === 1) return timesOf(labels.length, null, null, answers, findings);
  findings.ask(
    "times",
    `The file states steps (${labels.slice(0, 3).join(", ")}, ...), not times; one unit of time a step is a guess.`,
    "--times FIRST:STEP or a list, or time in a descriptor",
  );
  return describeTimes(labels);
}

function steps(contents: Contents, group: string): number[] {
  return contents
    .datasets(`/${group}/3D`)
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);
}

function axesOf(contents: Contents, group: string, step: number, findings: Findings): DescriptorInput["axes"] {
  const shape = contents.dataset(`/${group}/3D/${step}`)?.shape.slice(-3) as number[];
  const axes = AXIS_NAMES.map((axis, index) => {
    const [domain, mesh] = [`/${group}/domain/x${index}`, `/${group}/mesh/x${index}`];
    const clues = contents.dataset(domain) !== null ? domainClues(contents, domain) : meshClues(contents, mesh);
    return [axis, axisOf(axis, shape[index], clues, contents.answers, findings)];
  });
  return Object.fromEntries(axes) as DescriptorInput["axes"];
}

/** A domain states origin and length; these codes write one where the axis is periodic. */
function domainClues(contents: Contents, where: string): AxisClues {
  const [origin, length] = contents.numbers(where);
  const periodic = { value: true, where };
  return { ...NO_CLUES, origin: { value: origin, where }, length: { value: length, where }, periodic };
}

function meshClues(contents: Contents, path: string): AxisClues {
  if (contents.dataset(path) === null) return NO_CLUES;
  return { ...NO_CLUES, coordinates: { value: { file: contents.name, path }, where: path } };
}
