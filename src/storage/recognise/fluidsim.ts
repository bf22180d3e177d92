/** Files of fluidsim: physical fields in `state_phys`, lengths among the parameters of the operators. */
import { DataError } from "../../shared/errors.js";
import { type Contents, checkStated } from "./layout.js";
import type { ProducerRow } from "./producer.js";

const OPERATORS = "/info_simul/params/oper";

function fluidsimOrder(contents: Contents): string {
  const letters = contents.texts("/", "axes")?.join(" ") ?? "";
  const axes = [...letters.toLowerCase()].filter((letter) => "xyz".includes(letter));
  if ([...axes].sort().join("") !== "xyz")
    throw new DataError(`the attribute axes is "${letters}", which does not name x, y and z once each`);
  return axes.join(" ");
}

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
  axis: (contents, axis, { nodes }, findings) => {
    const count = [`${OPERATORS}@n${axis}`, contents.number(OPERATORS, `n${axis}`)] as const;
    checkStated(findings, axis, count, ["number of nodes", nodes, 0]);
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
