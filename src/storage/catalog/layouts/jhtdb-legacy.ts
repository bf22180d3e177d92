/**
 * Recognises JHTDB cutouts before 2019: `u00000` and `p00000` (step times 10), `_size` and `_start` as t x y z counted
 * from 0.
 */
import { DataError } from "../../../errors.js";
import { AXIS_NAMES, type AxisName } from "../../file/dataset.js";
import { type CutoutExtent, cutoutAxes, cutoutTimes, databaseNumbered } from "./jhtdb-databases.js";
import { evenLabels, Findings, type Layout } from "./layout.js";

const NAME = /^([upbad])(\d{5})$/;
const FIELDS = { u: "velocity", p: "pressure", b: "magnetic", a: "potential", d: "density" } as const;
const LETTERS = Object.keys(FIELDS) as (keyof typeof FIELDS)[];
const MARKS = ["_contents", "_dataset", "_size", "_start"];

export const jhtdbLegacy: Layout = {
  producer: "JHTDB cutout (before 2019)",
  recognise(contents) {
    const names = contents.datasets("/");
    if (!MARKS.every((mark) => names.includes(mark))) return null;
    const labels = new Map<keyof typeof FIELDS, number[]>();
    for (const name of [...names].sort()) {
      const match = NAME.exec(name);
      if (match === null) continue;
      const letter = match[1] as keyof typeof FIELDS;
      labels.set(letter, [...(labels.get(letter) ?? []), Number(match[2])]);
    }
    const [first] = LETTERS.flatMap((letter) =>
      labels.get(letter) === undefined ? [] : [labels.get(letter) as number[]],
    );
    if (first === undefined)
      throw new DataError("the cutout has neither velocity (u) nor pressure (p) nor another known field");
    const size = contents.numbers("/_size");
    const start = contents.numbers("/_start");
    const number = contents.numbers("/_dataset")[0];
    const database = databaseNumbered(number);
    const findings = new Findings();
    findings.addReason("dimensions: z y x c, the order of every cutout of this service.");
    findings.addReason(`database: _dataset is ${number}, ${database?.name ?? "which is not a known set"}.`);
    findings.addReason("labels: the five digits are the stored step times 10.");
    const extents = Object.fromEntries(
      AXIS_NAMES.map((axis, index) => [axis, { nodes: size[index + 1], first: start[index + 1], stride: 1 }]),
    ) as Record<AxisName, CutoutExtent>;
    const fields = [...labels].filter(([letter, its]) => {
      const same = its.join() === first.join();
      if (!same) findings.addWarning(`${FIELDS[letter]} is left out: it has labels ${its.join(", ")}.`);
      return same;
    });
    return {
      plan: {
        title: database === null ? contents.name : `Cutout of ${database.name}`,
        axes: cutoutAxes(contents, database, extents, findings),
        ...cutoutTimes(
          first.map((label) => label / 10),
          database,
          contents,
          findings,
        ),
        fields: Object.fromEntries(
          fields.map(([letter, its]) => [
            FIELDS[letter],
            {
              file: contents.name,
              path: `/${letter}{step:05d}`,
              dimensions: ["z", "y", "x", "c"],
              ...evenLabels(its, letter),
            },
          ]),
        ),
      },
      findings,
    };
  },
};
