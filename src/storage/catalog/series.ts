/** Describes a series of files as one dataset: the pattern of their names, and a common descriptor. */
import { basename, dirname } from "node:path";
import { DataError } from "../../errors.js";
import { type DescriptorInput, parseDescriptor } from "./descriptor.js";
import { describeTimes, evenLabels } from "./layouts/layout.js";
import { type Recognised, recognise } from "./layouts/recognise.js";

type FieldInput = NonNullable<DescriptorInput["fields"]["velocity"]>;

/** Names that differ in one run of digits, all of one width or without leading zeros: the pattern and the numbers. */
export function findPattern(names: readonly string[]): { pattern: string; labels: number[] } {
  const [first] = names as [string];
  for (const { index, 0: digits } of [...first.matchAll(/\d+/g)].reverse()) {
    const [head, tail] = [first.slice(0, index), first.slice(index + digits.length)];
    const runs = names.map((name) =>
      name.startsWith(head) && name.endsWith(tail) ? name.slice(head.length, name.length - tail.length) : "",
    );
    if (!runs.every((run) => /^\d+$/.test(run))) continue;
    const [width, padded] = [Math.min(...runs.map((run) => run.length)), runs.some((run) => /^0\d/.test(run))];
    if (padded && runs.some((run) => run.length > width && run.startsWith("0"))) continue;
    return { pattern: `${head}{step:0${width}d}${tail}`, labels: runs.map(Number) };
  }
  throw new DataError(`the names ${names.slice(0, 3).join(", ")}, ... do not differ in one number`);
}

/**
 * Describes files that hold one time each as one dataset, in the order of their numbers.
 *
 * @throws DataError when a file is not recognised, differs from the first, holds several times, or the numbers are uneven
 */
export function recogniseSeries(paths: readonly string[], trajectory: number): Recognised {
  const folders = new Set(paths.map((path) => dirname(path)));
  if (folders.size > 1) throw new DataError(`the files of a series must stand in one folder, not ${folders.size}`);
  const { pattern, labels } = findPattern(paths.map((path) => basename(path)));
  const ordered = paths.map((path, index) => ({ path, label: labels[index] })).sort((a, b) => a.label - b.label);
  const found = ordered.map(({ path }) => recogniseOne(path, trajectory));
  const [first] = found as [Recognised];
  for (const [index, other] of found.entries()) {
    if (shapeOf(other) !== shapeOf(first))
      throw new DataError(`${ordered[index]?.path} is laid out differently from ${ordered[0]?.path}`);
  }
  const series = evenLabels(
    ordered.map(({ label }) => label),
    "the files",
  );
  const times = found.map(({ descriptor: { time } }) => ("values" in time ? time.values[0] : time.origin));
  const ascending = times.every((time, index) => index === 0 || time > times[index - 1]);
  const inSeries = (field: FieldInput): FieldInput =>
    "components" in field
      ? { ...field, ...series, components: field.components.map((part) => ({ ...part, file: pattern })) as never }
      : { ...field, ...series, file: pattern };
  const fields = Object.entries(first.written.fields).map(([name, field]) => [name, inSeries(field as FieldInput)]);
  const name = pattern.slice(0, pattern.indexOf("{")).replace(/[^A-Za-z0-9]+$/, "");
  const written: DescriptorInput = {
    ...first.written,
    name: name === "" ? "series" : name,
    title: `${found.length} files ${pattern}`,
    time: describeTimes(ascending ? times : labels.toSorted((a, b) => a - b)),
    fields: Object.fromEntries(fields) as DescriptorInput["fields"],
  };
  const parsed = parseDescriptor(JSON.stringify(written));
  if ("problems" in parsed) throw new DataError(`the series cannot be described: ${parsed.problems.join("; ")}`);
  return {
    producer: first.producer,
    descriptor: parsed.descriptor,
    written,
    reasons: [
      `series: ${found.length} files ${pattern}, step ${series.firstStep} and every ${series.stepIncrement} on.`,
      ...(ascending ? ["time: from each file."] : []),
      ...first.reasons,
    ],
    warnings: [
      ...first.warnings,
      ...(ascending ? [] : ["The files give no times; the numbers in their names are taken as times."]),
    ],
  };
}

function recogniseOne(path: string, trajectory: number): Recognised {
  const found = recognise(path, trajectory);
  if (found === null) throw new DataError(`the layout of ${path} is not recognised`);
  if ("values" in found.descriptor.time || found.descriptor.time.count > 1)
    throw new DataError(`${path} holds several times; a series has one per file`);
  return found;
}

/** Everything of a description that must agree between the files of a series. */
function shapeOf({ producer, written }: Recognised): string {
  const text = JSON.stringify({ producer, axes: written.axes, fields: written.fields });
  return text.replaceAll(/"file":"[^"]*"/g, "");
}
