/**
 * Recognises PDEBench: `Vx, Vy, Vz` of several samples in n t x y z, with `x-coordinate` and one time more than there
 * are frames.
 */
import { DataError } from "../../../errors.js";
import { AXIS_NAMES } from "../../file/dataset.js";
import type { DescriptorInput } from "../descriptor.js";
import { axisOf, NO_CLUES, timesOf } from "./grid.js";
import { Findings, type Layout } from "./layout.js";

const COMPONENTS = ["Vx", "Vy", "Vz"];
const DIMENSIONS = ["n", "t", "x", "y", "z"] as const;

export const pdebench: Layout = {
  producer: "PDEBench",
  recognise(contents) {
    const names = contents.datasets("/");
    if (!["Vx", "x-coordinate", "t-coordinate"].every((name) => names.includes(name))) return null;
    const { shape } = contents.dataset("/Vx") as { shape: readonly number[] };
    if (!COMPONENTS.every((name) => names.includes(name)) || shape.length !== DIMENSIONS.length)
      throw new DataError(
        `/Vx is ${shape.join(" x ")}: arrays of fewer than three dimensions are not served; store each with a third of one node`,
      );
    const { answers } = contents;
    const { trajectory = 0 } = answers;
    const [samples, frames] = shape as [number, number];
    if (trajectory >= samples) throw new DataError(`the file has samples 0 to ${samples - 1}, not ${trajectory}`);
    const findings = new Findings();
    findings.addReason(`dimensions: ${DIMENSIONS.join(" ")}, the order of the format.`);
    findings.addReason(`trajectory: sample ${trajectory} of ${samples} (--trajectory takes another).`);
    if (samples > 1) findings.addWarning(`The file holds ${samples} samples; one dataset is one of them.`);
    const axes = AXIS_NAMES.map((axis, index) => {
      const path = `/${axis}-coordinate`;
      const coordinates = { value: { file: contents.name, path }, where: path };
      return [axis, axisOf(axis, shape[2 + index], { ...NO_CLUES, coordinates }, answers, findings)];
    });
    const times = [...contents.numbers("/t-coordinate")].slice(0, frames);
    const place = (name: string) => ({ file: contents.name, path: `/${name}` });
    const storage = { dimensions: [...DIMENSIONS], index: trajectory };
    return {
      plan: {
        title: `${contents.name}, sample ${trajectory}`,
        axes: Object.fromEntries(axes) as DescriptorInput["axes"],
        time: timesOf(frames, { value: times, where: "/t-coordinate" }, null, answers, findings),
        fields: {
          velocity: { components: [place("Vx"), place("Vy"), place("Vz")], ...storage },
          ...(names.includes("pressure") ? { pressure: { ...place("pressure"), ...storage } } : {}),
          ...(names.includes("density") ? { density: { ...place("density"), ...storage } } : {}),
        },
      },
      findings,
    };
  },
};
