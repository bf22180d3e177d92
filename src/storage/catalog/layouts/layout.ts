/** A layout recognises the files of one producer and describes them as a descriptor, with a reason for each decision. */
import { DataError } from "../../../errors.js";
import type { AttributeValue, H5File, Stored } from "../../hdf5/file.js";
import type { DescriptorInput } from "../descriptor.js";

/** Description of a file that was recognised. */
export interface Recognition {
  /** Descriptor without its name; paths name the file by its base name. */
  readonly plan: Omit<DescriptorInput, "schemaVersion" | "name">;
  /** One line per decision: what, and why. */
  readonly reasons: readonly string[];
  /** What the reader of the data should know before believing it. */
  readonly warnings: readonly string[];
}

export interface Layout {
  /** Name of the producer. */
  readonly producer: string;
  /**
   * @returns null when the fingerprint is not there
   * @throws DataError when it is, but the file cannot be served
   */
  recognise(contents: Contents): Recognition | null;
}

type Time = DescriptorInput["time"];
type AxisInput = DescriptorInput["axes"]["x"];

/** An open file as fingerprints look at it; what is missing or a refused link is null. */
export class Contents {
  readonly file: H5File;
  /** Base name, as descriptors spell it. */
  readonly name: string;
  /** Trajectory to take where a file holds several. */
  readonly trajectory: number;

  constructor(file: H5File, name: string, trajectory: number) {
    this.file = file;
    this.name = name;
    this.trajectory = trajectory;
  }

  #find(path: string, kind: "group" | "dataset"): string | null {
    try {
      const resolved = this.file.resolve(path);
      return resolved !== null && this.file.kind(resolved) === kind ? resolved : null;
    } catch (error) {
      if (error instanceof DataError) return null;
      throw error;
    }
  }

  /** Names in a group, or null when it is none. */
  group(path: string): string[] | null {
    const found = this.#find(path, "group");
    return found === null ? null : this.file.names(found);
  }

  /** Names of the datasets in a group. */
  datasets(path: string): string[] {
    return (this.group(path) ?? []).filter((name) => this.dataset(`${path}/${name}`) !== null);
  }

  dataset(path: string): Stored | null {
    const found = this.#find(path, "dataset");
    return found === null ? null : this.file.describe(found);
  }

  /** Numbers of a small dataset. @throws DataError when there is no such dataset */
  numbers(path: string): Float64Array {
    const found = this.#find(path, "dataset");
    if (found === null) throw new DataError(`${this.file.path} has no dataset ${path}.`);
    return this.file.numbers(found);
  }

  /** An attribute of a group or dataset, or null. */
  attribute(path: string, name: string): AttributeValue | null {
    const found = this.#find(path, "group") ?? this.#find(path, "dataset");
    return found === null ? null : (this.file.attributes(found).get(name) ?? null);
  }

  /** An attribute as a number, or null. */
  number(path: string, name: string): number | null {
    const value = this.attribute(path, name);
    if (typeof value === "number") return value;
    return value instanceof Float64Array && value.length === 1 ? value[0] : null;
  }

  /** An attribute as texts, or null. */
  texts(path: string, name: string): readonly string[] | null {
    const value = this.attribute(path, name);
    if (typeof value === "string") return [value];
    return Array.isArray(value) ? value : null;
  }

  /** Base names of the dimension scales of a dataset, one per dimension, null where there is none. */
  scaleNames(path: string): (string | null)[] {
    const found = this.#find(path, "dataset");
    if (found === null) return [];
    return this.file.scales(found).map(([scale]) => scale?.split("/").pop() ?? null);
  }
}

/** Times of stored frames as a descriptor says them: a snapshot, uniform to 1e-6 of the step, or a list. */
export function describeTimes(values: readonly number[]): Time {
  const [origin, second] = values as [number, number | undefined];
  if (second === undefined) return { count: 1, origin };
  const step = (values[values.length - 1] - origin) / (values.length - 1);
  const even = values.every((value, index) => Math.abs(value - origin - index * step) <= 1e-6 * step);
  return even ? { origin, step, count: values.length } : { values: [...values] };
}

/** A periodic axis of a given period. */
export function periodicAxis(nodes: number, origin: number, period: number): AxisInput {
  return { nodes, origin, spacing: period / nodes, periodic: true };
}

/** An axis from a table in the file. */
export function tableAxis(contents: Contents, path: string, periodic = false): AxisInput {
  return { coordinates: { file: contents.name, path }, periodic };
}

/** Even labels as a descriptor says them. @throws DataError when the steps between them differ */
export function evenLabels(labels: readonly number[], what: string): { firstStep: number; stepIncrement: number } {
  const [firstStep, second] = labels as [number, number | undefined];
  const stepIncrement = second === undefined ? 1 : second - firstStep;
  if (labels.some((label, index) => label !== firstStep + index * stepIncrement))
    throw new DataError(`the labels of ${what} (${labels.join(", ")}) are not evenly spaced, which a series must be`);
  return { firstStep, stepIncrement };
}
