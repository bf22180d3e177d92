/** Producers by rows of facts, and codes whose files are refused with advice. */
import { DataError } from "../../shared/errors.js";
import type { AxisName } from "../dataset/dataset.js";
import { type Contents, type Layout, periodicAxis, tableAxis } from "./layout.js";
import { isMarked, type ProducerAxis, type ProducerRow } from "./producer.js";

const VELOCITY_XYZ = ["/Velocity_X", "/Velocity_Y", "/Velocity_Z"];

const OPERATORS = "/info_simul/params/oper";

/** @throws DataError unless each axis is named once */
function fluidsimOrder(contents: Contents): string {
  const said = contents.texts("/", "axes")?.join(" ") ?? "";
  const axes = [...said.toLowerCase()].filter((letter) => "xyz".includes(letter));
  if ([...axes].sort().join("") !== "xyz")
    throw new DataError(`the attribute axes is "${said}", which does not name x, y and z once each`);
  return axes.join(" ");
}

/** An axis of Channelflow: the cells of a period, or the Chebyshev nodes between the walls at a and b. */
function channelflowAxis(contents: Contents, axis: AxisName, nodes: number, heights: string): ProducerAxis {
  if (axis === "y") return { axis: { ...tableAxis(contents, heights), faces: "wall" } };
  return { axis: periodicAxis(nodes, contents.number("/", `L${axis}`) as number) };
}

const CHANNELFLOW_REASONS = (contents: Contents, heights: string): string[] => [
  `x, z: periodic with the lengths Lx = ${contents.number("/", "Lx")} and Lz = ${contents.number("/", "Lz")} of the file attributes.`,
  `y: Chebyshev nodes from ${heights} between the walls a and b, descending; field and axis are flipped.`,
  "velocity: the deviation from the base flow, which the code keeps apart from the file.",
];

/** Values of Channelflow are in c x y z although the dataset is declared as (Nd, Nz, Ny, Nx); y descends. */
export const CHANNELFLOW: ProducerRow = {
  producer: "Channelflow 2",
  marks: ["/data/u", "/geom/x", "/geom/y", "/geom/z", "@Nx", "@Ny", "@Nz", "@Nd", "@Lx", "@Lz", "@a", "@b"],
  check: (contents) => {
    const { shape = [] } = contents.dataset("/data/u") ?? {};
    if (shape.length !== 4 || shape[0] !== 3)
      throw new DataError(`/data/u has shape ${shape.join(" x ")}, not 3 x Nz x Ny x Nx`);
  },
  reasons: (contents) => [
    "dimensions: c x y z, the order of the code's memory; the declared shape (Nd, Nz, Ny, Nx) is not that of the values.",
    ...CHANNELFLOW_REASONS(contents, "/geom/y"),
  ],
  order: "c x y z",
  shape: ([components, nz, ny, nx]) => [components, nx, ny, nz],
  fields: [["velocity", "/data/u"]],
  axis: (contents, axis, { nodes }) => channelflowAxis(contents, axis, nodes, "/geom/y"),
};

/**
 * Dimensions have scales; `Nx` and `Nz` are the nodes with padding, of which fewer are stored.
 *
 * Source: FlowField::writeNetCDF of Channelflow 2.0.
 */
export const CHANNELFLOW_NETCDF: ProducerRow = {
  producer: "Channelflow 2 (NetCDF)",
  marks: ["@channelflow_version", "@Nx", "@Nz", "@Lx", "@Lz", "@a", "@b", "/X", "/Y", "/Z"],
  attributes: [],
  check: (contents) => {
    const names = VELOCITY_XYZ.map((path) => contents.scaleNames(path).join(" "));
    if (names.some((order) => order !== "Z Y X"))
      throw new DataError(`the dimensions of ${VELOCITY_XYZ.join(", ")} are not Z Y X: ${names.join(", ")}`);
  },
  reasons: (contents) => [
    "dimensions: z y x, the order of their scales.",
    ...CHANNELFLOW_REASONS(contents, "/Y"),
    `nodes: as stored; Nx = ${contents.number("/", "Nx")} and Nz = ${contents.number("/", "Nz")} count the padding too.`,
  ],
  order: "z y x",
  fields: [["velocity", VELOCITY_XYZ.join(" ")]],
  axis: (contents, axis, { nodes }) => channelflowAxis(contents, axis, nodes, "/Y"),
};

export const FLUIDSIM: ProducerRow = {
  producer: "fluidsim",
  marks: ["/state_phys/vx", "/state_phys/vy", "/state_phys/vz"],
  reasons: (contents) => [`dimensions: ${fluidsimOrder(contents)}, from the file attribute axes.`],
  order: fluidsimOrder,
  fields: [
    ["velocity", "/state_phys/vx /state_phys/vy /state_phys/vz"],
    ["pressure", "/state_phys/p"],
    ["pressure", "/state_phys/pressure"],
  ],
  axis: (contents, axis) => {
    const length = contents.number(OPERATORS, `L${axis}`);
    return {
      length: length === null ? null : { value: length, where: OPERATORS },
      origin: { value: 0, where: "the code, which always starts there" },
      periodic: { value: true, where: "the code, whose axes always are" },
    };
  },
  times: (contents) => {
    const time = contents.number("/state_phys", "time");
    return time === null ? null : { value: [time], where: "/state_phys; one file holds one time" };
  },
};

/** Files of PDEBench have one time more than frames. */
export const PDEBENCH: ProducerRow = {
  producer: "PDEBench",
  marks: ["/Vx", "/x-coordinate", "/t-coordinate"],
  check: (contents) => {
    const { shape = [] } = contents.dataset("/Vx") ?? {};
    if (shape.length !== 5 || !isMarked(contents, ["/Vy", "/Vz"]))
      throw new DataError(
        `/Vx is ${shape.join(" x ")}: arrays of fewer than three dimensions are not served; store each with a third dimension of one node`,
      );
  },
  reasons: () => ["dimensions: n t x y z, the order of the format."],
  order: "n t x y z",
  runs: ["sample", "samples"],
  fields: [
    ["velocity", "/Vx /Vy /Vz"],
    ["pressure", "/pressure"],
    ["density", "/density"],
  ],
  axis: ({ name }, axis) => {
    const path = `/${axis}-coordinate`;
    return { coordinates: { value: { file: name, path }, where: path } };
  },
  times: (contents, { frames }) => {
    const path = "/t-coordinate";
    return { value: [...contents.numbers(path)].slice(0, frames), where: path };
  },
};

const ADVICE =
  "its values lie in blocks, often of several levels, which are not one grid; resample them (in yt: ds.covering_grid or " +
  "ds.arbitrary_grid) and write u, v, w and x, y, z with h5py";

/** Codes with adaptive meshes, and the marks of their files. */
const ADAPTIVE_MARKS: readonly (readonly [producer: string, marks: ProducerRow["marks"]])[] = [
  ["Athena++", ["@NumMeshBlocks", "@MaxLevel"]],
  ["FLASH", ["/block size", "/node type", "/refine level"]],
  ["Enzo", [/^Grid\d{8}$/]],
  ["AMReX or Chombo", ["/Chombo_global"]],
  ["AMReX or Chombo", ["@num_levels", "/level_0"]],
];

/** Refuses files whose blocks of several levels are not one grid. */
export const ADAPTIVE: readonly Layout[] = ADAPTIVE_MARKS.map(([producer, marks]) => ({
  producer,
  recognise: (contents) => {
    if (isMarked(contents, marks)) throw new DataError(ADVICE);
    return null;
  },
}));
