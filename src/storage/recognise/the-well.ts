/**
 * The Well: `t0_fields` and `t1_fields`, trajectories first, with boundary conditions in groups.
 *
 * Source: PolymathicAI/the_well, docs/data_format.md.
 */
import { DataError } from "../../shared/errors.js";
import { AXIS_NAMES, type AxisName } from "../dataset/dataset.js";
import type { Contents } from "./layout.js";
import type { ProducerRow } from "./producer.js";

const VELOCITY = "/t1_fields/velocity";
const PRESSURE = "/t0_fields/pressure";

const ATTRIBUTES = "sample_varying time_varying dim_varying symmetric antisymmetric associated_dims associated_fields";

export const THE_WELL: ProducerRow = {
  producer: "The Well",
  marks: ["@dataset_name", "@grid_type", "@n_spatial_dims", "@n_trajectories", "/dimensions"],
  attributes: ATTRIBUTES.split(" "),
  check: (contents) => {
    const grid = contents.texts("/", "grid_type")?.join(" ");
    if (grid?.toLowerCase() !== "cartesian") throw new DataError(`grid_type is ${grid}, and only cartesian is served`);
    const dims = contents.number("/", "n_spatial_dims");
    if (dims !== 3) throw new DataError(`the file has ${dims} spatial dimensions, not 3`);
    const stored = [VELOCITY, PRESSURE].map((path) => contents.dataset(path)?.shape.length);
    if (stored.every((rank) => rank === undefined)) throw new DataError("the file has neither velocity nor pressure");
    for (const [at, rank] of stored.entries())
      if (rank !== undefined && rank !== 6 - at)
        throw new DataError(
          `${[VELOCITY, PRESSURE][at]} has ${rank} dimensions: a field that does not vary cannot be served`,
        );
    for (const axis of AXIS_NAMES) requireFixed(contents, `/dimensions/${axis}`);
  },
  reasons: (contents) => [`dimensions: trajectory t ${spatialOrder(contents)} (c), by spatial_dims or else x y z.`],
  order: (contents) => `n t ${spatialOrder(contents)} c`,
  runs: ["trajectory", "trajectories"],
  fields: [
    ["velocity", VELOCITY],
    ["pressure", PRESSURE],
    ["magnetic", "/t1_fields/magnetic_field"],
    ["density", "/t0_fields/density"],
    ["temperature", "/t0_fields/temperature"],
  ],
  axis: (contents, axis, _, findings) => {
    const kinds = boundaryKinds(contents, axis);
    for (const [path, kind] of kinds) findings.addReason(`${axis}: ${path} says ${kind === "" ? "nothing" : kind}.`);
    // An axis that differs from end to end has no kind.
    const all = new Set(kinds.values());
    const [kind = ""] = all.size === 1 ? all : [];
    const [where, path] = ["boundary_conditions", `/dimensions/${axis}`];
    return {
      coordinates: { value: { file: contents.name, path }, where: path },
      periodic: { value: kind === "periodic", where },
      walls: /^(wall|open)$/.test(kind) ? { value: kind === "wall", where } : null,
    };
  },
  times: (contents, { run }) => {
    const path = "/dimensions/time";
    const all = [...contents.numbers(path)];
    // One list for all trajectories, or one each.
    const [, each] = contents.dataset(path)?.shape ?? [];
    return { value: each === undefined ? all : all.slice(run * each, (run + 1) * each), where: path };
  },
  descriptorMembers: (contents, run) => {
    const name = contents.texts("/", "dataset_name")?.[0] ?? contents.name;
    return { title: `${name}, trajectory ${run}`, source: `${name}, from The Well.` };
  },
};

function requireFixed(contents: Contents, path: string): void {
  const varying = ["sample_varying", "time_varying"].find((name) => (contents.number(path, name) ?? 0) !== 0);
  if (varying !== undefined)
    throw new DataError(`the attribute ${varying} of ${path} is true; only coordinates that do not vary are served`);
}

function spatialOrder(contents: Contents): string {
  const texts = contents.texts("/dimensions", "spatial_dims") ?? AXIS_NAMES;
  const order = texts.flatMap((text) => text.toLowerCase().match(/[a-z]+/g) ?? []);
  if ([...order].sort().join() !== "x,y,z")
    throw new DataError(`spatial_dims names ${order.join(", ")}; only the axes x, y and z are served`);
  return order.join(" ");
}

function boundaryKinds(contents: Contents, axis: AxisName): Map<string, string> {
  const kinds = new Map<string, string>();
  for (const name of contents.group("/boundary_conditions") ?? []) {
    const path = `/boundary_conditions/${name}`;
    const named = contents.texts(path, "associated_dims") ?? [name[0]?.toLowerCase() ?? ""];
    if (named.includes(axis)) kinds.set(path, contents.texts(path, "bc_type")?.[0]?.toLowerCase() ?? "");
  }
  return kinds;
}
