/**
 * Recognises Channelflow 2: `/data/u` with values in c x y z although the dataset is declared (Nd, Nz, Ny, Nx); y
 * descends.
 */
import { DataError } from "../../../errors.js";
import { timesOf } from "./grid.js";
import { Findings, type Layout, periodicAxis, tableAxis } from "./layout.js";

const MARKS = ["Nx", "Ny", "Nz", "Nd", "Lx", "Lz", "a", "b"];

export const channelflow: Layout = {
  producer: "Channelflow 2",
  recognise(contents) {
    const stored = contents.dataset("/data/u");
    const geometry = contents.datasets("/geom");
    if (stored === null || !["x", "y", "z"].every((axis) => geometry.includes(axis))) return null;
    if (MARKS.some((mark) => contents.number("/", mark) === null)) return null;
    const [nd, nz, ny, nx] = stored.shape as [number, number, number, number];
    if (stored.shape.length !== 4 || nd !== 3)
      throw new DataError(`/data/u has shape ${stored.shape.join(" x ")}, not 3 x Nz x Ny x Nx`);
    const [lx, lz] = [contents.number("/", "Lx") as number, contents.number("/", "Lz") as number];
    const findings = new Findings();
    findings.addReason(
      "dimensions: c x y z, the order of the code's memory; the declared shape (Nd, Nz, Ny, Nx) is not that of the values.",
    );
    findings.addReason(`x, z: periodic with the lengths Lx = ${lx} and Lz = ${lz} of the file attributes.`);
    findings.addReason(
      "y: Chebyshev nodes from /geom/y between the walls a and b, descending; field and axis are flipped.",
    );
    return {
      plan: {
        title: contents.name,
        axes: {
          x: periodicAxis(nx, lx),
          y: { ...tableAxis(contents, "/geom/y"), faces: "wall" },
          z: periodicAxis(nz, lz),
        },
        time: timesOf(1, null, null, contents.answers, findings),
        fields: {
          velocity: { file: contents.name, path: "/data/u", dimensions: ["c", "x", "y", "z"], shape: [3, nx, ny, nz] },
        },
      },
      findings,
    };
  },
};
