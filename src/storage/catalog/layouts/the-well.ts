/** Recognises The Well: `t0_fields` and `t1_fields`, trajectories first, then t x y z c. */
import { DataError } from "../../../errors.js";
import { AXIS_NAMES, type AxisName } from "../../file/dataset.js";
import type { DescriptorInput } from "../descriptor.js";
import { facesOf, timesOf } from "./grid.js";
import { askOrderOfComponents, type Contents, Findings, type Layout, tableAxis } from "./layout.js";

const MARKS = ["dataset_name", "grid_type", "n_spatial_dims", "n_trajectories"];
type WellDimension = "n" | "t" | "x" | "y" | "z" | "c";

export const theWell: Layout = {
  producer: "The Well",
  recognise(contents) {
    if (MARKS.some((mark) => contents.attribute("/", mark) === null)) return null;
    if (contents.group("/dimensions") === null) return null;
    const dims = contents.number("/", "n_spatial_dims");
    if (dims !== 3) throw new DataError(`the file has ${dims} spatial dimensions, not 3`);
    const trajectories = contents.number("/", "n_trajectories") ?? 1;
    const { trajectory = 0 } = contents.answers;
    if (trajectory >= trajectories)
      throw new DataError(`the file has trajectories 0 to ${trajectories - 1}, not ${trajectory}`);
    const findings = new Findings();
    const order = spatialOrder(contents, findings);
    findings.addReason(`trajectory: ${trajectory} of ${trajectories} (--trajectory takes another).`);
    const boundaries = boundariesOf(contents, findings);
    const velocity = field(contents, "/t1_fields/velocity", [...order, "c"]);
    if (velocity !== null) askOrderOfComponents(contents, velocity.path, order, findings);
    const pressure = field(contents, "/t0_fields/pressure", order);
    const magnetic = varying(contents, "/t1_fields/magnetic_field", [...order, "c"]);
    const density = varying(contents, "/t0_fields/density", order);
    const temperature = varying(contents, "/t0_fields/temperature", order);
    const stored = times(contents, trajectory);
    if (velocity === null && pressure === null) throw new DataError("the file has neither velocity nor pressure");
    if (trajectories > 1)
      findings.addWarning(`The file holds ${trajectories} trajectories; one dataset is one of them.`);
    const name = contents.texts("/", "dataset_name")?.[0] ?? contents.name;
    return {
      plan: {
        title: `${name}, trajectory ${trajectory}`,
        axes: Object.fromEntries(
          AXIS_NAMES.map((axis) => {
            const kind = boundaries.get(axis) ?? "";
            const table = tableAxis(contents, `/dimensions/${axis}`, kind === "periodic");
            if (kind === "periodic") return [axis, table];
            const stated = /^(wall|open)$/.test(kind) ? { value: kind === "wall", where: "boundary_conditions" } : null;
            return [axis, { ...table, ...facesOf(axis, stated, contents.answers, findings) }];
          }),
        ) as DescriptorInput["axes"],
        time: timesOf(stored.length, { value: stored, where: "/dimensions/time" }, null, contents.answers, findings),
        fields: {
          ...(velocity === null ? {} : { velocity: { ...velocity, index: trajectory } }),
          ...(pressure === null ? {} : { pressure: { ...pressure, index: trajectory } }),
          ...(magnetic === null ? {} : { magnetic: { ...magnetic, index: trajectory } }),
          ...(density === null ? {} : { density: { ...density, index: trajectory } }),
          ...(temperature === null ? {} : { temperature: { ...temperature, index: trajectory } }),
        },
        source: `${name}, from The Well.`,
      },
      findings,
    };
  },
};

/** The order in which `dimensions` names the axes; x y z where it does not. */
function spatialOrder(contents: Contents, findings: Findings): AxisName[] {
  const named =
    contents.texts("/dimensions", "spatial_dims")?.flatMap((text) => text.match(/[A-Za-z]+/g) ?? []) ?? null;
  const order = named?.map((name) => name.toLowerCase()) ?? [...AXIS_NAMES];
  if ([...order].sort().join() !== "x,y,z")
    throw new DataError(`spatial_dims names ${order.join(", ")}; only the axes x, y and z are served`);
  const why = named === null ? "the order of the format" : "from dimensions/spatial_dims";
  findings.addReason(`dimensions: trajectory t ${order.join(" ")} (c), ${why}.`);
  return order as AxisName[];
}

/** Times of the chosen trajectory: one list for all, or one each. */
function times(contents: Contents, trajectory: number): number[] {
  const all = [...contents.numbers("/dimensions/time")];
  const [, each] = contents.dataset("/dimensions/time")?.shape ?? [];
  return each === undefined ? all : all.slice(trajectory * each, (trajectory + 1) * each);
}

/** Trajectory and time are there unless the field says that it does not vary with them. */
function field(contents: Contents, path: string, last: readonly WellDimension[]) {
  const stored = contents.dataset(path);
  if (stored === null) return null;
  const all: WellDimension[] = ["n", "t", ...last];
  const missing = all.length - stored.shape.length;
  if (missing !== 0)
    throw new DataError(`${path} has ${stored.shape.length} dimensions: a field that does not vary cannot be served`);
  return { file: contents.name, path, dimensions: all };
}

/** A field beside velocity and pressure; one that does not vary is left out. */
function varying(contents: Contents, path: string, order: Parameters<typeof field>[2]) {
  const rank = contents.dataset(path)?.shape.length ?? 0;
  return rank === 2 + order.length ? field(contents, path, order) : null;
}

/** The boundary condition of each axis, in small letters; one that differs from end to end has none. */
function boundariesOf(contents: Contents, findings: Findings): Map<AxisName, string> {
  const kinds = new Map<AxisName, string>();
  for (const name of contents.group("/boundary_conditions") ?? []) {
    const path = `/boundary_conditions/${name}`;
    const type = contents.texts(path, "bc_type")?.[0] ?? "";
    const named = contents.texts(path, "associated_dims") ?? [name[0]?.toLowerCase() ?? ""];
    for (const axis of AXIS_NAMES.filter((axis) => named.includes(axis))) {
      const known = kinds.get(axis) ?? type.toLowerCase();
      kinds.set(axis, known === type.toLowerCase() ? known : "");
      findings.addReason(`${axis}: ${path} says ${type === "" ? "nothing" : type.toLowerCase()}.`);
    }
  }
  return kinds;
}
