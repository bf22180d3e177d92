/** Recognises fluidsim: `state_phys/vx, vy, vz` of one time; the file attribute `axes` names the order. */
import { DataError } from "../../../errors.js";
import { AXIS_NAMES } from "../../file/dataset.js";
import type { DescriptorInput } from "../descriptor.js";
import { axisOf, NO_CLUES, timesOf } from "./grid.js";
import { Findings, type Layout } from "./layout.js";

const COMPONENTS = ["vx", "vy", "vz"];
const OPERATORS = "/info_simul/params/oper";

export const fluidsim: Layout = {
  producer: "fluidsim",
  recognise(contents) {
    const names = contents.datasets("/state_phys");
    if (!COMPONENTS.every((name) => names.includes(name))) return null;
    const said = contents.texts("/", "axes")?.join(" ") ?? "";
    const dimensions = [...said.toLowerCase()].filter((letter) => "xyz".includes(letter)) as ("x" | "y" | "z")[];
    if (dimensions.length !== 3 || new Set(dimensions).size !== 3)
      throw new DataError(`the attribute axes is "${said}", which does not name x, y and z once each`);
    const shape = contents.dataset("/state_phys/vx")?.shape ?? [];
    const findings = new Findings();
    findings.addReason(`dimensions: ${dimensions.join(" ")}, from the file attribute axes.`);
    const { answers } = contents;
    const axes = AXIS_NAMES.map((axis) => {
      const length = contents.number(OPERATORS, `L${axis}`);
      const where = OPERATORS;
      const clues = {
        ...NO_CLUES,
        length: length === null ? null : { value: length, where },
        origin: { value: 0, where: "the code, which always starts there" },
        periodic: { value: true, where: "the code, whose axes always are" },
      };
      return [axis, axisOf(axis, shape[dimensions.indexOf(axis)], clues, answers, findings)];
    });
    const time = contents.number("/state_phys", "time");
    const stated = time === null ? null : { value: [time], where: "/state_phys; one file holds one time" };
    const place = (name: string) => ({ file: contents.name, path: `/state_phys/${name}` });
    const pressure = names.find((name) => name === "p" || name === "pressure");
    return {
      plan: {
        title: contents.name,
        axes: Object.fromEntries(axes) as DescriptorInput["axes"],
        time: timesOf(1, stated, null, answers, findings),
        fields: {
          velocity: { components: [place("vx"), place("vy"), place("vz")], dimensions },
          ...(pressure === undefined ? {} : { pressure: { ...place(pressure), dimensions } }),
        },
      },
      findings,
    };
  },
};
