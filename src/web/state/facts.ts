/** This file types the answers of the service about itself and about a dataset. */

export interface Catalogue {
  readonly version: string;
  readonly namespace: string;
  readonly service: string;
  readonly points: number;
  readonly datasets: readonly {
    readonly name: string;
    readonly title: string;
    readonly nodes: readonly number[];
    readonly times: { readonly count: number; readonly first: number; readonly last: number };
    readonly fields: readonly string[];
  }[];
}

export interface AxisFacts {
  readonly name: "x" | "y" | "z";
  readonly nodes: number;
  readonly first: number;
  readonly last: number;
  readonly length: number;
  readonly spacing: number;
  readonly periodic: boolean;
}

export interface OperationFacts {
  readonly name: string;
  readonly available: boolean;
  readonly spatialInterpolation: readonly string[];
  readonly components: readonly string[];
}

export interface DatasetFacts {
  readonly name: string;
  readonly title: string;
  readonly aliases: readonly string[];
  readonly digest: string;
  readonly axes: readonly AxisFacts[];
  readonly times: {
    readonly count: number;
    readonly first: number;
    readonly last: number;
    readonly stored: readonly number[];
    readonly guardBefore: number;
    readonly guardAfter: number;
  };
  readonly fields: readonly { readonly name: string; readonly components: number }[];
  readonly units: Readonly<Record<string, string>>;
  readonly forcing: string;
  readonly dnsStep: number | null;
  readonly source: string;
  readonly warnings: readonly string[];
  readonly operations: readonly OperationFacts[];
}

/** The axis of that name. */
export function axisOf(facts: DatasetFacts, name: string): AxisFacts {
  return facts.axes.find((axis) => axis.name === name) as AxisFacts;
}

/** Whether a dataset answers an operation. */
export function offers(facts: DatasetFacts, operation: string): boolean {
  return facts.operations.some((row) => row.name === operation && row.available);
}

/** The upper end of an axis: the end of its period, or its last node. */
export function endOf(axis: AxisFacts): number {
  return axis.first + axis.length;
}

const NONE = "1";

/** The unit of a measure in the dataset's own units; empty where it has none. */
export function unitOf(
  facts: DatasetFacts,
  measure: "velocity" | "pressure" | "rate" | "rateSquared" | "length" | "time",
): string {
  const unit = (name: string) => facts.units[name] ?? NONE;
  const rate = unit("time") === NONE ? "" : `1/${unit("time")}`;
  if (measure === "rate") return rate;
  if (measure === "rateSquared") return rate === "" ? "" : `1/${unit("time")}²`;
  return unit(measure) === NONE ? "" : unit(measure);
}
