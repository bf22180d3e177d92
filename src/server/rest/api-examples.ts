/** Lists an example request for each operation of `/api`, all of data that the package ships, and its subjects. */
import { findOperation, type Operation } from "../../shared/operations.js";
import type { ApiExample, ApiGroup } from "../http/reference-page.js";
import { ANSWERS } from "./example-answers.js";
import { parametersOf } from "./parameters.js";

const DATASET = "/api/datasets/isotropic32";

/** The operation that an address answers; undefined if it is none of the table. */
const operationAt = (address: string): Operation | undefined => findOperation(address.split("/").at(-1) ?? "");
const isOf =
  (...families: readonly Operation["family"][]) =>
  (address: string): boolean => {
    const family = operationAt(address)?.family;
    return family !== undefined && families.includes(family);
  };

/** Subjects of the page, in their order. */
export const API_GROUPS: readonly ApiGroup[] = [
  { name: "Datasets", has: (address) => /^\/api\/(datasets(\/\{name\})?\/?$|drafts)/.test(address) },
  {
    name: "Derivatives at points",
    has: (address) => isOf("points")(address) && /Gradient|Hessian|Laplacian|Invariant/.test(address),
  },
  { name: "Fields at points", has: isOf("points", "force") },
  { name: "Filters at points", has: isOf("filter", "box") },
  { name: "Particles", has: (address) => isOf("track")(address) || /trajectories/.test(address) },
  { name: "Searches", has: isOf("search") },
  { name: "Slices, volumes and cutouts", has: (address) => /\/(slice|volume|cutout)/.test(address) },
  { name: "Jobs and inputs", has: (address) => /^\/api\/(jobs|inputs)/.test(address) },
];

/** Values of members in examples. */
const VALUES: Readonly<Record<string, unknown>> = {
  ...{ time: 0.5, temporalInterpolation: "PCHIP", StartTime: 0.4, EndTime: 0.5, dt: 0.05, nt: 2, Tp: 0.1 },
  ...{ filterlength: 0.4, nlayers: 1, filterwidth: 0.6, spacing: 0.2, threshold: 12 },
  ...{ x_start: 1, y_start: 1, z_start: 1, x_end: 8, y_end: 8, z_end: 8, points: [[1, 2, 3]] },
};
const FIELDS: Readonly<Record<string, string>> = {
  ...{ GetThreshold: "vorticity", GetBoxFilterSGStensor: "ub", GetBoxFilterSGSvector: "up" },
  GetBoxFilterSGSscalar: "pp",
};

function operationExample(operation: Operation, address: string): ApiExample {
  const { name, request, spatial, family } = operation;
  const own: Readonly<Record<string, unknown>> = {
    field: FIELDS[name] ?? "velocity",
    spatialInterpolation: family === "search" ? "None_Fd4" : (spatial.find((one) => one !== "None") ?? "None"),
  };
  const lists = request.some((member) => member.name === "points") ? ["points"] : [];
  const names = [...parametersOf(operation).map((member) => member.name), ...lists];
  const body = Object.fromEntries(names.map((member) => [member, own[member] ?? VALUES[member]]));
  return { address: address.replace("{name}", "isotropic32"), body };
}

const POINT = { operation: "GetVelocity", dataset: "isotropic32", time: 0.5, points: [[1, 2, 3]] };
const PLAIN: Readonly<Record<string, ApiExample>> = {
  "get /api/datasets": { address: "/api/datasets" },
  "get /api/datasets/{name}": { address: DATASET },
  "post /api/datasets/{name}/trajectories": {
    address: `${DATASET}/trajectories?every=2`,
    body: { StartTime: 0.4, dt: 0.05, nt: 4, spatialInterpolation: "Lag6", points: [[1, 2, 3]] },
  },
  "get /api/datasets/{name}/slice": { address: `${DATASET}/slice?field=speed&time=0.5&axis=z&at=1&nodes=4,4` },
  "get /api/datasets/{name}/volume": { address: `${DATASET}/volume?field=p&time=0.5&nodes=4,4,4` },
  "get /api/datasets/{name}/cutout": {
    address: `${DATASET}/cutout?field=velocity&T=1&x_start=1&x_end=4&y_start=1&y_end=4&z_start=1&z_end=1`,
  },
  "get /api/datasets/{name}/cutout.h5": { address: `${DATASET}/cutout.h5?fields=pressure&start=1,1,1&end=4,4,4` },
  "get /api/datasets/{name}/cutout.xmf": { address: `${DATASET}/cutout.xmf?fields=pressure&start=1,1,1&end=4,4,4` },
  "post /api/batch": {
    address: "/api/batch",
    body: { queries: [{ ...POINT, spatialInterpolation: "Lag6", temporalInterpolation: "PCHIP" }] },
  },
};

/** The example of an operation; undefined for jobs, which answer by steps that docs/jobs.md shows. */
export function exampleOf(method: string, address: string): ApiExample | undefined {
  const operation = operationAt(address);
  if (operation?.family === "echo") return { address, body: { points: [[1, 2, 3]] } };
  if (operation !== undefined) return operationExample(operation, address);
  return PLAIN[`${method} ${address}`];
}

/** The example of an operation, with the answer to it. */
export function withAnswer(method: string, address: string): ApiExample | undefined {
  const example = exampleOf(method, address);
  const answer = ANSWERS[`${method} ${address}`];
  return example === undefined || answer === undefined ? example : { ...example, answer };
}
