/** Files of PDEBench: samples of arrays in the order n t x y z. */
import { DataError } from "../../shared/errors.js";
import { isMarked, type ProducerRow } from "./producer.js";

/** Files of PDEBench have one time more than frames. */
export const PDEBENCH: ProducerRow = {
  producer: "PDEBench",
  marks: ["/Vx", "/x-coordinate", "/t-coordinate"],
  check: (contents) => {
    const { shape = [] } = contents.dataset("/Vx") ?? {};
    const refusal =
      "arrays of fewer than three dimensions are not served; store each with a third dimension of one node";
    if (shape.length !== 5 || !isMarked(contents, ["/Vy", "/Vz"]))
      throw new DataError(`/Vx is ${shape.join(" x ")}: ${refusal}`);
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
