/** Answers that a person gives about a file, as texts: flags of the command line, and members of drafts over HTTP. */
import { RequestError } from "../../shared/errors.js";
import { FIELDS, fieldNameProblem } from "../../shared/operations.js";
import { AXIS_NAMES, type AxisName, SUBJECTS, type Subject } from "../dataset/dataset.js";
import type { Answers } from "./answers.js";
import { OTHERS } from "./usual-names.js";

/** Answers by flag, without dashes; a flag that may be repeated has several texts. */
export type AnswerTexts = ReadonlyMap<string, readonly string[]>;

export interface AnswerFlag {
  readonly flag: string;
  readonly value: string;
  readonly about: string;
  /** @param before what earlier texts have answered @throws RequestError that says what is needed */
  readonly read: (text: string, before: Answers) => Partial<Answers>;
  /** Whether each further text adds to those before. */
  readonly repeats?: true;
}

const TWICE = "it is given more than once.";
const LETTERS = ["t", "z", "y", "x", "c"];
const NUMBER = /^[+-]?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;

const PI = /^([+-])?(?:([\d.]+)(?:\/([\d.]+))?\*?)?(?:pi|π)(?:\*([\d.]+))?(?:\/([\d.]+))?$/i;

const WORDS: Readonly<Record<string, string>> = { magnetic: "magnetic field", potential: "vector potential" };

/** The row of a flag that one text answers. */
function answer<Name extends keyof Answers>(
  flag: Name,
  value: string,
  about: string,
  read: (text: string) => Answers[Name],
): AnswerFlag {
  return { flag, value, about, read: (text) => ({ [flag]: read(text) }) };
}

export const ANSWER_FLAGS: readonly AnswerFlag[] = [
  {
    flag: "dims",
    value: "order",
    about: "dimensions in stored order, as h5dump lists them: z,y,x or t,c,x,y,z; of one field: pressure=z,y,x",
    repeats: true,
    read: (text, { dims, fieldDims }) => {
      const [field = "", order] = text.split("=");
      if ((order === undefined ? dims : fieldDims?.get(fieldNamed(field))) !== undefined) throw needed(TWICE);
      if (order === undefined) return { dims: orderOf(text) };
      return { fieldDims: new Map(fieldDims).set(fieldNamed(field), orderOf(order)) };
    },
  },
  answer("components", "axes", "axes of the components of a vector in stored order: z,y,x", permutationOf),
  answer("coordinates", "paths", "datasets of the coordinates: x=/grid/xm,y=/grid/ym", coordinatesOf),
  answer("periodic", "axes", "the periodic axes: xz, or none", axesOf),
  answer(
    "cells",
    "axes",
    "the axes whose stated ends or edges are faces of cells, with the nodes in their centres: xyz, or none",
    axesOf,
  ),
  answer("walls", "axes", "the axes with walls at both ends, which hold particles: y, or none", axesOf),
  {
    flag: "length",
    value: "x,y,z",
    about: "period of a periodic axis, or distance between the end nodes of another; one for all axes, such as 2pi",
    read: (text) => ({ length: tripleOf(text, (value) => value > 0, "numbers above 0 are needed.") }),
  },
  {
    flag: "spacing",
    value: "x,y,z",
    about: "distance between neighbouring nodes, below 0 if coordinates descend; one number for all axes",
    read: (text) => ({ spacing: tripleOf(text, (value) => value !== 0, "numbers other than 0 are needed.") }),
  },
  answer("origin", "x,y,z", "coordinates of the first node; one number for all axes", (text) => tripleOf(text)),
  answer("times", "times", "FIRST:STEP, or a list with one time per frame", timesOf),
  {
    flag: "overlap",
    value: "which",
    about: "of files whose times overlap, which ones keep them: first, or last as after a restart",
    read: (text) => {
      if (text !== "first" && text !== "last") throw needed("first or last is needed.");
      return { overlap: text };
    },
  },
  answer("velocity", "paths", "the dataset of the velocity, or three of its components: /ux,/uy,/uz", pathsOf),
  answer("pressure", "path", "the dataset of the pressure", (text) => pathsOf(text)[0] as string),
  ...OTHERS.map(({ field }): AnswerFlag => {
    const isScalar = FIELDS[field] === 1;
    return {
      // `--force` of another command means something else.
      flag: field === "force" ? "force-field" : field,
      value: isScalar ? "path" : "paths",
      about: `the dataset of the ${WORDS[field] ?? field}${isScalar ? "" : ", or three of its components"}`,
      read: (text, { fields = [] }) => {
        const paths = pathsOf(text);
        if (paths.length !== 1 && paths.length !== FIELDS[field])
          throw needed(`${isScalar ? "one path is" : "one path or three are"} needed.`);
        return { fields: [...fields, { field, paths }] };
      },
    };
  }),
  {
    flag: "named",
    value: "name=paths",
    about: "any other field, by the dataset or the three components of it",
    repeats: true,
    read: (text, { fields = [] }) => {
      const [field = "", list, more] = text.split("=").map((part) => part.trim());
      if (list === undefined || more !== undefined)
        throw needed("a name and a path are needed, as in sgsenergy=/e, or with three of components.");
      const paths = pathsOf(list);
      if (paths.length !== 1 && paths.length !== 3) throw needed("one path or three are needed.");
      if (fields.some((other) => other.field === fieldNamed(field))) throw needed(TWICE);
      return { fields: [...fields, { field: fieldNamed(field), paths }] };
    },
  },
  {
    flag: "trajectory",
    value: "n",
    about: "which one to read, if a file holds several",
    read: (text) => {
      if (!/^\d{1,9}$/.test(text)) throw needed("a whole number from 0 to 1000000000 is needed.");
      return { trajectory: Number(text) };
    },
  },
  {
    flag: "despite",
    value: "lines",
    about: "override red lines by their subjects: order,values",
    repeats: true,
    read: (text, { despite = [] }) => {
      const words = partsOf(text);
      const unknown = words.find((word) => !(SUBJECTS as readonly string[]).includes(word));
      if (unknown !== undefined) throw needed(`"${unknown}" is no line: ${SUBJECTS.join(", ")}.`);
      return { despite: [...despite, ...(words as Subject[])] };
    },
  },
];

/** @throws RequestError with the flag as its member, for an unknown one too */
export function answersFrom(texts: AnswerTexts): Answers {
  let answers: Answers = {};
  for (const [name, all] of texts) {
    const row = ANSWER_FLAGS.find(({ flag }) => flag === name);
    if (row === undefined) {
      const flags = ANSWER_FLAGS.map(({ flag }) => flag).join(", ");
      throw new RequestError("InvalidRequest", `${name} is no answer; there are ${flags}.`, { member: name });
    }
    for (const [at, text] of all.entries()) {
      try {
        if (at > 0 && row.repeats !== true) throw needed(TWICE);
        answers = { ...answers, ...row.read(text, answers) };
      } catch (error) {
        if (!(error instanceof RequestError)) throw error;
        throw new RequestError("InvalidRequest", `${name}: ${error.message}`, { member: name });
      }
    }
  }
  return answers;
}

const needed = (text: string): RequestError => new RequestError("InvalidRequest", text);

const partsOf = (text: string): string[] => text.split(",").map((part) => part.trim());

function numberOf(text: string): number {
  const value = NUMBER.test(text.trim()) ? Number(text) : multipleOfPi(text);
  if (!Number.isFinite(value))
    throw needed(`"${text}" is not a number, such as 6.28, or a multiple of pi, such as 2pi.`);
  return value;
}

/** `2*pi`, `2pi`, `2π`, `pi/2`, `4/3*pi`; NaN for any other text. */
function multipleOfPi(text: string): number {
  const [all, sign, above = "1", below = "1", times = "1", over = "1"] = PI.exec(text.replaceAll(/\s/g, "")) ?? [];
  const factor = (Number(above) * Number(times)) / (Number(below) * Number(over));
  return all === undefined ? Number.NaN : (sign === "-" ? -factor : factor) * Math.PI;
}

function tripleOf(text: string, isGood: (value: number) => boolean = () => true, need = ""): number[] {
  const values = text.split(",").map(numberOf);
  if (values.length !== 1 && values.length !== 3) throw needed("three numbers x,y,z are needed, or one for all.");
  if (!values.every(isGood)) throw needed(need);
  return AXIS_NAMES.map((_, at) => values[values.length === 1 ? 0 : at] as number);
}

function permutationOf(text: string): AxisName[] {
  const letters = partsOf(text.toLowerCase());
  if (letters.toSorted().join() !== AXIS_NAMES.join())
    throw needed("the axes of the components in stored order are needed, as in z,y,x.");
  return letters as AxisName[];
}

function fieldNamed(text: string): string {
  const name = text.trim();
  const why = fieldNameProblem(name);
  if (why !== null) throw needed(`"${name}" cannot be the name of a field: ${why}.`);
  return name;
}

function coordinatesOf(text: string): ReadonlyMap<AxisName, string> {
  const pairs = text.split(",").map((part) => part.split("=").map((side) => side.trim()));
  const isPath = ([axis = "", path = "", more]: readonly string[]) =>
    (AXIS_NAMES as readonly string[]).includes(axis) && path !== "" && more === undefined;
  if (!pairs.every(isPath)) throw needed("paths by axis are needed, as in x=/grid/xm,y=/grid/ym.");
  return new Map(pairs.map(([axis, path]) => [axis as AxisName, absolute(path as string)]));
}

function orderOf(text: string): string[] {
  const letters = partsOf(text.toLowerCase());
  const isOrder = letters.every((letter) => LETTERS.includes(letter)) && new Set(letters).size === letters.length;
  if (!isOrder || !AXIS_NAMES.every((axis) => letters.includes(axis)))
    throw needed("the dimensions in stored order are needed, as in z,y,x or t,c,x,y,z.");
  return letters;
}

function axesOf(text: string): AxisName[] {
  if (text === "none") return [];
  const letters = [...text.toLowerCase().replaceAll(/[,\s]/g, "")];
  if (!letters.every((letter) => (AXIS_NAMES as readonly string[]).includes(letter)))
    throw needed("the letters of axes are needed, as in xz, or none.");
  return letters as AxisName[];
}

function timesOf(text: string): number[] | { origin: number; step: number } {
  const [origin, step, ...rest] = text.split(":");
  if (step === undefined) {
    const values = text.split(",").map(numberOf);
    if (values.some((value, index) => index > 0 && value <= (values[index - 1] as number)))
      throw needed("times must ascend.");
    return values;
  }
  if (rest.length > 0 || !(numberOf(step) > 0)) throw needed("FIRST:STEP with a step above 0 is needed.");
  return { origin: numberOf(origin as string), step: numberOf(step) };
}

function pathsOf(text: string): string[] {
  const paths = partsOf(text);
  if (paths.includes("")) throw needed("paths are needed, with commas and no blanks between them.");
  return paths.map(absolute);
}

const absolute = (path: string): string => (path.startsWith("/") ? path : `/${path}`);
