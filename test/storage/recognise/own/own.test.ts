/**
 * Files written as solvers and tools write them come to the values of the polynomials that they hold, or to a question.
 */
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { openDataset } from "../../../../src/storage/bricks/brick-reader.js";
import { recogniseSeries } from "../../../../src/storage/catalog/series.js";
import { verify } from "../../../../src/storage/catalog/verify.js";
import { type Dataset, SUBJECTS } from "../../../../src/storage/dataset/dataset.js";
import { openQuestions } from "../../../../src/storage/dataset/descriptor.js";
import "../../../support/hdf5-library.js";
import { type Recognised, recognise } from "../../../../src/storage/recognise/recognise.js";
import { CASES, type Case, POLYNOMIALS, PRESSURE, unpackCase } from "../../../support/foreign-files.js";
import { readNodes } from "../../../support/read-nodes.js";
import { scratchFolder } from "../../../support/scratch.js";

const SCRATCH = scratchFolder();

/** The fields by the letters of cases, and the functions that they hold. */
const FIELDS = {
  v: { name: "velocity", functions: POLYNOMIALS },
  p: { name: "pressure", functions: [PRESSURE] },
  d: { name: "density", functions: [() => 1] },
} as const;
type Field = (typeof FIELDS)[keyof typeof FIELDS];

/** The largest difference from the polynomials at all nodes of a field, and the nodes that have no value. */
function worstOf(dataset: Dataset, { name: field, functions }: Field): { worst: number; holes: number } {
  const at = dataset.axes.map(({ nodes, origin, spacing, coordinates }) =>
    Array.from({ length: nodes }, (_, i) => coordinates?.[i] ?? origin + i * spacing),
  ) as [number[], number[], number[]];
  const open = openDataset(dataset);
  let [worst, holes] = [0, 0];
  for (let frame = 0; frame < dataset.time.count; frame++) {
    const t = dataset.time.values?.[frame] ?? dataset.time.origin + frame * dataset.time.step;
    const values = readNodes(dataset, open, field, frame);
    let index = 0;
    for (const z of at[2])
      for (const y of at[1])
        for (const x of at[0])
          for (const polynomial of functions) {
            const value = values[index++] as number;
            if (Number.isNaN(value)) holes++;
            else worst = Math.max(worst, Math.abs(value - polynomial(x, y, z, t)));
          }
  }
  open.close();
  return { worst, holes };
}

function datasetOf(found: Recognised, path: string): Dataset {
  const outcome = verify(
    { descriptor: found.descriptor, folder: dirname(path), location: path, digest: "", warnings: [] },
    2 ** 26,
  );
  if ("problems" in outcome) throw new Error(outcome.problems.join("; "));
  return outcome.dataset;
}

function examine(entry: Case): { found: Recognised; dataset: Dataset } {
  const paths = unpackCase(entry, SCRATCH);
  const [path] = paths as [string];
  const answers = entry.answers ?? {};
  const found = paths.length > 1 ? recogniseSeries(paths, answers) : recognise(path, answers);
  if (found === null) throw new Error("not recognised");
  return { found, dataset: datasetOf(found, path) };
}

const served = CASES.filter(({ expect }) => expect === "served");
const refused = CASES.filter(({ expect }) => expect.startsWith("refused: "));
const asked = CASES.filter((entry) => !served.includes(entry) && !refused.includes(entry));

describe("files of others", () => {
  it.each(served.map((entry) => [entry.name, entry] as const))("%s is read as it was meant", (_, entry) => {
    const { found, dataset } = examine(entry);
    expect(openQuestions(found.descriptor)).toEqual([]);
    const fields = [...entry.fields].map((letter) => FIELDS[letter as keyof typeof FIELDS]);
    expect(Object.keys(dataset.fields)).toEqual(fields.map(({ name }) => name));
    if (entry.time !== undefined) expect(dataset.time).toMatchObject({ origin: entry.time, count: 1 });
    expect(dataset.axes.map(({ periodic }) => periodic)).toEqual(
      [..."xyz"].map((axis) => (entry.periodic ?? "").includes(axis) || entry.name === "state_phys"),
    );
    for (const field of fields) {
      const { worst, holes } = worstOf(dataset, field);
      expect(worst).toBeLessThan(entry.tolerance ?? 3e-6);
      expect(holes).toBe(entry.holes === true ? (field.name === "velocity" ? 6 : 2) : 0);
    }
  });

  it.each(asked.map((entry) => [entry.name, entry] as const))("%s is refused with a question", (_, entry) => {
    const [path] = unpackCase(entry, SCRATCH) as [string];
    const found = recognise(path, {}) as Recognised;
    const open = openQuestions(found.descriptor).map((line) => line.split(/:| of /)[0]);
    expect([...new Set(open)].join(" ")).toBe(entry.expect);
    const despite = recognise(path, { despite: SUBJECTS }) as Recognised;
    const red = found.descriptor.questions.filter((line) => line.red === true);
    expect(despite.descriptor.questions.filter((line) => line.red === true)).toEqual([]);
    expect(despite.descriptor.assumed.length).toBeGreaterThanOrEqual(red.length);
  });

  it.each(asked.filter(({ answers }) => answers !== undefined).map((entry) => [entry.name, entry] as const))(
    "%s is read as it was meant with the answer to its question",
    (_, entry) => {
      const { found, dataset } = examine(entry);
      expect(openQuestions(found.descriptor)).toEqual([]);
      expect(worstOf(dataset, FIELDS.v).worst).toBeLessThan(3e-6);
    },
  );

  it.each(CASES.filter(({ says }) => says !== undefined).map((entry) => [entry.name, entry] as const))(
    "of %s, inspect says only what is true",
    (_, entry) => {
      const { reasons, descriptor } = recognise((unpackCase(entry, SCRATCH) as [string])[0], {}) as Recognised;
      const told = [...reasons, ...openQuestions(descriptor)].join("\n");
      for (const text of entry.says as readonly string[]) expect(told).toContain(text);
    },
  );

  it.each(refused.map((entry) => [entry.name, entry] as const))("%s is refused by name", (_, entry) => {
    expect(() => examine(entry)).toThrow(entry.expect.slice("refused: ".length));
  });
});
