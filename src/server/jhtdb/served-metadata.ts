/** Metadata that clients read first: variables, methods and datasets. */
import { createHash } from "node:crypto";
import { type Axes, type Axis, type Dataset, fieldOf } from "../../engine/contract/dataset.js";
import type { Limits } from "../../shared/config.js";
import type { Operation, SpatialInterpolation } from "../../shared/operations.js";
import { componentNodes, DECIMALS } from "./component-nodes.js";
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
/** Significant digits of a multiple of a step, without the rounding error of the product. */
const TIME_DIGITS = 14;

/** Spatial options of a dataset for an operation; none if it lacks a field. */
export type OptionsOf = (dataset: Dataset, operation: Operation) => readonly SpatialInterpolation[];

/** Numbers of nodes to the left and to the right of a point. */
const bucket = (nodes: number): readonly [number, number] => [Math.max(0, nodes / 2 - 1), Math.max(1, nodes / 2)];

function nodesAround(method: string): number {
  const spline = /^m\dq(\d+)$/.exec(method);
  if (spline) return Number(spline[1]);
  if (method === "none") return 2;
  if (method === "fd4lag4") return 8;
  const differences = /^fd(\d)noint$/.exec(method);
  if (differences) return Number(differences[1]) + 2;
  return Number(method.replace("lag", ""));
}

/** `2pi` if it is a whole multiple of pi to within 1e-12, else a number. */
function endText(value: number): string {
  const multiple = Math.round(value / Math.PI);
  const isMultiple = multiple > 0 && Math.abs(value - multiple * Math.PI) < 1e-12 * value;
  return isMultiple ? `${multiple}pi` : String(value);
}

/** SHA-256 of stretched axes, as float64, whose coordinates clients have under a known name. */
const KNOWN_NODES: ReadonlyMap<string, string> = new Map([
  ["6fc74e65b8ae94fe406730fe8bc06fe2dc076c65aa9431107bb3500a3604e0de", "irregular channel dy"],
  ["7095f24e8cb1c55337d7da20ea15157453875be2c567730915643d5aaf49ff88", "irregular channel5200 dy"],
  ["6a1081c92ad4503899d314297fc4a4cfd50ecb95ca3f0020fd69e55e031d21b1", "irregular transition bl dy"],
]);

/** The spacing as a number or as the name of known nodes; for other stretched axes the mean. */
function spacingOf({ coordinates, spacing, nodes }: Axis): number | string {
  if (coordinates === null) return spacing;
  const known = KNOWN_NODES.get(createHash("sha256").update(coordinates).digest("hex"));
  return known ?? (coordinates[nodes - 1] - coordinates[0]) / (nodes - 1);
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
    spacing: spacingOf(axis),
  };
}

/** @param name of the dataset or an alias, as used by the client */
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
 * First nodes of a variable, in separate entries such as `velocity_w` if its components differ. Clients request some
 * velocities as `velocity_uv` and `velocity_w`, others as `velocity`, whatever the nodes, so it has all three.
 */
function offsetsOf(dataset: Dataset, variable: Variable) {
  const { code, field = operationFor(variable, "field")?.fields[0] } = variable;
  if (field === undefined || fieldOf(dataset, field) === undefined) return [{ code, coordinate: [0, 0, 0] }];
  const firstOf = (axes: Axes): number[] => axes.map(({ coordinates, origin }) => (coordinates === null ? origin : 0));
  const groups = componentNodes(dataset, field, firstOf);
  const [shared] = groups;
  const codes = new Map([[code, shared.axes]]);
  if (groups.length > 1) for (const { letters, axes } of groups) codes.set(`${code}_${letters}`, axes);
  if (field === "velocity") {
    const last = groups.find(({ letters }) => letters.includes("w")) ?? shared;
    for (const [letters, axes] of [
      ["uv", shared.axes],
      ["w", last.axes],
    ] as const)
      codes.set(`${code}_${letters}`, codes.get(`${code}_${letters}`) ?? axes);
  }
  return [...codes].map(([name, axes]) => ({ code: name, coordinate: firstOf(axes) }));
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

/** @param limits most points of a request, and most numbers of a cutout */
export function describeForClients(
  datasets: readonly Dataset[],
  answers: OptionsOf,
  limits: Pick<Limits, "query.points" | "cutout.values">,
) {
  const variables = [undefined, ...datasets].flatMap((dataset) => variablesOf(dataset));
  const byCode = new Map(variables.map((variable) => [variable.code, variable]));
  return {
    name: "fieldprobe",
    description: "The datasets of this service.",
    pickled_metadata_filepath: "none",
    variables: [...byCode.values()].map(({ code, name, columns }) => ({
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
      decimals: DECIMALS,
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
