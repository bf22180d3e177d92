/**
 * Fields of Channelflow 2 in HDF5 and in NetCDF: deviations from the base flow between walls in y, periodic in x and z.
 * Source: FlowField::hdf5save and FlowField::writeNetCDF of Channelflow 2.0.
 */
import { DataError } from "../../shared/errors.js";
import type { AxisName } from "../dataset/dataset.js";
import type { Contents } from "./layout.js";
import type { ProducerAxis, ProducerRow } from "./producer.js";

const THE_CODE = "the code, whose channels are so";
const VELOCITY_XYZ = ["/Velocity_X", "/Velocity_Y", "/Velocity_Z"];

/** An axis of Channelflow: the cells of a period, or the Chebyshev nodes between the walls at a and b. */
function channelflowAxis(contents: Contents, axis: AxisName, nodes: number, heights: string): ProducerAxis {
  if (axis === "y") {
    const [a, b] = ["a", "b"].map((end) => contents.number("/", end) as number) as [number, number];
    const height = (_: unknown, j: number) => (a + b + (b - a) * Math.cos((Math.PI * j) / Math.max(1, nodes - 1))) / 2;
    return {
      coordinates: { value: { file: contents.name, path: heights }, where: heights },
      periodic: { value: false, where: THE_CODE },
      walls: { value: true, where: THE_CODE },
      nodes: Array.from({ length: nodes }, height),
    };
  }
  const [where, period] = [`the attribute L${axis}`, contents.number("/", `L${axis}`) as number];
  return {
    spacing: { value: period / nodes, where },
    origin: { value: 0, where: THE_CODE },
    periodic: { value: true, where: THE_CODE },
  };
}

const DEVIATION = "velocity: the deviation from the base flow, which the code keeps apart from the file.";

const titleOf = ({ name }: Contents) => ({ title: `${name}, the deviation from the base flow` });

/** Values of Channelflow are in c x y z although the dataset is declared as (Nd, Nz, Ny, Nx); y descends. */
export const CHANNELFLOW: ProducerRow = {
  producer: "Channelflow 2",
  marks: ["/data/u", "/geom/x", "/geom/y", "/geom/z", "@Nx", "@Ny", "@Nz", "@Nd", "@Lx", "@Lz", "@a", "@b"],
  check: (contents) => {
    const { shape = [] } = contents.dataset("/data/u") ?? {};
    if (shape.length !== 4 || shape[0] !== 3)
      throw new DataError(`/data/u has shape ${shape.join(" x ")}, not 3 x Nz x Ny x Nx`);
  },
  reasons: () => [
    "dimensions: c x y z, the order of the code's memory; the declared shape (Nd, Nz, Ny, Nx) is not that of the values.",
    DEVIATION,
  ],
  order: "c x y z",
  coordinates: (axis) => `/geom/${axis}`,
  shape: ([components, nz, ny, nx]) => [components, nx, ny, nz],
  fields: [["velocity", "/data/u"]],
  descriptorMembers: titleOf,
  axis: (contents, axis, { nodes }) => channelflowAxis(contents, axis, nodes, "/geom/y"),
};

/** Dimensions have scales; `Nx` and `Nz` are the nodes with padding, of which fewer are stored. */
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
    DEVIATION,
    `nodes: as stored; Nx = ${contents.number("/", "Nx")} and Nz = ${contents.number("/", "Nz")} count the padding too.`,
  ],
  order: "z y x",
  coordinates: (axis) => `/${axis.toUpperCase()}`,
  fields: [["velocity", VELOCITY_XYZ.join(" ")]],
  descriptorMembers: titleOf,
  axis: (contents, axis, { nodes }) => channelflowAxis(contents, axis, nodes, "/Y"),
};
