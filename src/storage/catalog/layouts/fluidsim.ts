/** Recognises fluidsim: `state_phys/vx, vy, vz` of one time; the file attribute `axes` names the order. */
import { DataError } from "../../../errors.js";
import { AXIS_NAMES } from "../../dataset.js";
import type { DescriptorInput } from "../descriptor.js";
import { type Layout, periodicAxis } from "./layout.js";

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
    const reasons = [`dimensions: ${dimensions.join(" ")}, from the file attribute axes.`];
    const warnings: string[] = [];
    const axes = AXIS_NAMES.map((axis) => {
      const nodes = shape[dimensions.indexOf(axis)];
      const length = contents.number(OPERATORS, `L${axis}`);
      if (length === null) {
        warnings.push(`${axis}: the file does not say its length (${OPERATORS}); its spacing is taken as 1.`);
        return [axis, { nodes, origin: 0, spacing: 1 }];
      }
      reasons.push(`${axis}: periodic with length ${length}, from ${OPERATORS}.`);
      return [axis, periodicAxis(nodes, 0, length)];
    });
    const time = contents.number("/state_phys", "time");
    if (time === null) warnings.push("The file does not say its time, which is taken as 0.");
    else reasons.push(`time: ${time}, from /state_phys; one file holds one time.`);
    const place = (name: string) => ({ file: contents.name, path: `/state_phys/${name}` });
    const pressure = names.find((name) => name === "p" || name === "pressure");
    return {
      plan: {
        title: contents.name,
        axes: Object.fromEntries(axes) as DescriptorInput["axes"],
        time: { count: 1, origin: time ?? 0 },
        fields: {
          velocity: { components: [place("vx"), place("vy"), place("vz")], dimensions },
          ...(pressure === undefined ? {} : { pressure: { ...place(pressure), dimensions } }),
        },
      },
      reasons,
      warnings,
    };
  },
};
