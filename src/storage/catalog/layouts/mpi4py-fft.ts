/** Recognises mpi4py-fft, spectralDNS and shenfun: `/<name>/3D/<step>`, axes in `domain` (origin, length) or `mesh`; x y z. */
import { DataError } from "../../../errors.js";
import { AXIS_NAMES } from "../../dataset.js";
import type { DescriptorInput } from "../descriptor.js";
import { type Contents, describeTimes, evenLabels, type Layout, periodicAxis, tableAxis } from "./layout.js";

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
    const axes = axesOf(contents, first, labels[0]);
    return {
      plan: {
        title: contents.name,
        axes: axes.axes,
        time: describeTimes(labels),
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
      reasons: [
        `velocity: ${velocity === undefined ? "none" : `/${velocity.join(", /")}`}; pressure: ${scalar ?? "none"}.`,
        "dimensions: (c) x y z, the order of these codes.",
        ...axes.reasons,
      ],
      warnings: [
        "The file knows steps, not times: a step is taken as one unit of time. Set time in a descriptor.",
        ...axes.warnings,
      ],
    };
  },
};

function steps(contents: Contents, group: string): number[] {
  return contents
    .datasets(`/${group}/3D`)
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);
}

function axesOf(contents: Contents, group: string, step: number) {
  const shape = contents.dataset(`/${group}/3D/${step}`)?.shape.slice(-3) as number[];
  const reasons: string[] = [];
  const warnings: string[] = [];
  const axes = AXIS_NAMES.map((axis, index) => {
    const nodes = shape[index];
    if (contents.dataset(`/${group}/domain/x${index}`) !== null) {
      const [origin, length] = contents.numbers(`/${group}/domain/x${index}`) as unknown as [number, number];
      reasons.push(`${axis}: periodic with origin ${origin} and length ${length}, from /${group}/domain/x${index}.`);
      return [axis, periodicAxis(nodes, origin, length)];
    }
    if (contents.dataset(`/${group}/mesh/x${index}`) !== null) {
      reasons.push(`${axis}: coordinates from /${group}/mesh/x${index}; not periodic, a mesh does not say that it is.`);
      return [axis, tableAxis(contents, `/${group}/mesh/x${index}`)];
    }
    warnings.push(`${axis}: the file has neither domain nor mesh; its spacing is taken as 1.`);
    return [axis, { nodes, origin: 0, spacing: 1 }];
  });
  return { axes: Object.fromEntries(axes) as DescriptorInput["axes"], reasons, warnings };
}
