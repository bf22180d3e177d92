/** Writes the metadata that clients of the REST interface read first: variables, methods and the datasets served. */
import type { Limits } from "../../config.js";
import { type Axis, axesOfField, type Dataset, fieldOf, partsOfField } from "../../engine/contract/dataset.js";
import type { Operation, SpatialInterpolation } from "../../operations.js";
import { countsFrames } from "./values-query.js";
import {
  METHODS,
  OPERATORS,
  type Operator,
  operationFor,
  TEMPORAL_METHODS,
  type Variable,
  variablesOf,
} from "./variables.js";

const MIB = 2 ** 20;
/** Digits of a time that is a multiple of a step: enough for every step, and without the error of the product. */
const TIME_DIGITS = 14;

/** The spatial options of a dataset for an operation, none if it lacks a field. */
export type OptionsOf = (dataset: Dataset, operation: Operation) => readonly SpatialInterpolation[];

/** Nodes to the left and right of a point that a method with a number of nodes along an axis takes. */
const bucket = (nodes: number): readonly [number, number] => [Math.max(0, nodes / 2 - 1), Math.max(1, nodes / 2)];

/** Nodes along an axis around a point, by the method's name. */
function nodesAround(method: string): number {
  const spline = /^m\dq(\d+)$/.exec(method);
  if (spline) return Number(spline[1]);
  if (method === "none") return 2;
  if (method === "fd4lag4") return 8;
  const differences = /^fd(\d)noint$/.exec(method);
  if (differences) return Number(differences[1]) + 2;
  return Number(method.replace("lag", ""));
}

/** An end of an axis as clients read it: `2pi` if it is a whole multiple of pi to within 1e-12, else a number. */
function endText(value: number): string {
  const multiple = Math.round(value / Math.PI);
  const isMultiple = multiple > 0 && Math.abs(value - multiple * Math.PI) < 1e-12 * value;
  return isMultiple ? `${multiple}pi` : String(value);
}

function axisLimits(axis: Axis) {
  const last = axis.coordinates?.[axis.nodes - 1] ?? axis.origin + (axis.nodes - 1) * axis.spacing;
  const upper = axis.periodic ? axis.origin + axis.nodes * axis.spacing : last;
  const first = axis.coordinates?.[0] ?? axis.origin;
  return {
    lower: axis.periodic ? endText(first) : String(first),
    upper: axis.periodic ? endText(upper) : String(upper),
    n: axis.nodes,
    isPeriodic: axis.periodic,
    spacing: axis.coordinates === null ? axis.spacing : (last - first) / (axis.nodes - 1),
  };
}

/** @param name of the dataset, or an alias, by which a client asks */
function timeLimits(dataset: Dataset, name: string) {
  const { time } = dataset;
  const at = (k: number): number => time.values?.[k] ?? Number((time.origin + k * time.step).toPrecision(TIME_DIGITS));
  const first = time.guardBefore;
  const last = time.count - time.guardAfter - 1;
  const n = last - first + 1;
  const counted = { lower: "1", upper: String(n), n, isPeriodic: false, isDiscrete: true, dt: 1 };
  if (countsFrames(name, dataset)) return { ...counted, timeIndexShift: { getcutout: -1, getdata: -1 } };
  return {
    lower: String(at(first)),
    upper: String(at(last)),
    n,
    isPeriodic: false,
    isDiscrete: false,
    dt: n > 1 ? (at(last) - at(first)) / (n - 1) : 0,
    timeIndexShift: { getcutout: -1, getdata: 0 },
  };
}

/**
 * The coordinates of the first nodes of a variable, those of a stretched axis being listed elsewhere. Components with
 * others have an entry each, those with the same share one: `velocity_uv` and `velocity_w`.
 */
function offsetsOf(dataset: Dataset, variable: Variable) {
  const { code, field = operationFor(variable, "field")?.fields[0] } = variable;
  if (field === undefined || fieldOf(dataset, field) === undefined) return [{ code, coordinate: [0, 0, 0] }];
  const letters = field === "velocity" ? "uvw" : "xyz";
  const groups = new Map<string, string>();
  for (const [c, part] of partsOfField(dataset, field).entries()) {
    const first = axesOfField(dataset, part).map(({ coordinates, origin }) => (coordinates === null ? origin : 0));
    const place = JSON.stringify(first);
    groups.set(place, `${groups.get(place) ?? ""}${letters[c]}`);
  }
  return [...groups].map(([place, components]) => ({
    code: groups.size === 1 ? code : `${code}_${components}`,
    coordinate: JSON.parse(place) as number[],
  }));
}

function physicalVariable(dataset: Dataset, variable: Variable, answers: OptionsOf) {
  const taken = OPERATORS.flatMap((operator: Operator) => {
    const operation = operationFor(variable, operator);
    const options = operation === null ? [] : answers(dataset, operation);
    const methods = [...METHODS].filter(([, option]) => options.includes(option)).map(([name]) => name);
    return methods.length === 0 ? [] : [{ operator, methods }];
  });
  if (taken.length === 0) return [];
  return [
    {
      code: variable.code,
      name: variable.name,
      isPersistent: variable.code !== "position",
      offsets: offsetsOf(dataset, variable),
      spatialOperatorMethods: taken,
      temporalMethods: variable.code === "position" ? ["pchip"] : Object.keys(TEMPORAL_METHODS),
    },
  ];
}

/** The variables of all datasets, each code once. */
function everyVariable(datasets: readonly Dataset[]): readonly Variable[] {
  const all = [undefined, ...datasets].flatMap((dataset) => variablesOf(dataset));
  return [...new Map(all.map((variable) => [variable.code, variable])).values()];
}

/**
 * The metadata of the datasets served.
 *
 * @param limits points that a request may have, and numbers of a cutout
 */
export function describeForClients(
  datasets: readonly Dataset[],
  answers: OptionsOf,
  limits: Pick<Limits, "query.points" | "cutout.values">,
) {
  return {
    name: "fieldprobe",
    description: "The datasets of this service.",
    pickled_metadata_filepath: "none",
    variables: everyVariable(datasets).map(({ code, name, columns }) => ({
      code,
      name,
      component_codes: [...columns],
      cardinality: columns.length,
    })),
    spatial_operators: OPERATORS.map((code) => ({ code, name: code })),
    spatial_methods: [...METHODS.keys()].map((code) => ({
      code,
      name: code,
      bucketIndices: [...bucket(nodesAround(code))],
    })),
    temporal_methods: Object.keys(TEMPORAL_METHODS).map((code) => ({ code, name: code })),
    giverny_constants: {
      maximum_processes: 1,
      missing_value_placeholder: -999.9,
      bytes_per_datapoint: 4,
      max_cutout_size: 16,
      max_local_cutout_size: Math.floor((4 * limits["cutout.values"]) / MIB),
      max_data_points: Math.min(limits["query.points"], 2_000_000),
      max_num_chunks: 262_144,
      decimals: 7,
      pyJHTDB_testing_token: "none",
      turbulence_email_address: "none",
    },
    datasets: datasets.flatMap((dataset) =>
      [dataset.name, ...dataset.aliases].map((code) => ({
        code,
        name: dataset.title,
        storage: { filepath: "none", chunks: [...(Object.values(dataset.fields)[0]?.bricking.edge ?? [0, 0, 0])] },
        simulation: {
          tlims: timeLimits(dataset, code),
          xlims: axisLimits(dataset.axes[0]),
          ylims: axisLimits(dataset.axes[1]),
          zlims: axisLimits(dataset.axes[2]),
        },
        physicalVariables: variablesOf(dataset).flatMap((variable) => physicalVariable(dataset, variable, answers)),
      })),
    ),
  };
}
