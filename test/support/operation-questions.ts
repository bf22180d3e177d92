/** Asks operations of the SOAP service as questions, for tests whose values have not changed. */
import { type Answer, connect, type FieldClient } from "../../src/client/index.js";

type Members = Readonly<Record<string, unknown>>;

/** Symmetric tensors of the operations: xx, xy, xz, yy, yz, zz of all nine. */
const UPPER = [0, 1, 2, 4, 5, 8];

/** A quantity, and which of its columns the records of an operation have; absent: all. */
type Asked = readonly [what: string, columns?: readonly number[]];

const fieldName = (field: string): string =>
  ({ velocity: "u", pressure: "p", "velocity.x": "u.x", "velocity.y": "u.y", "velocity.z": "u.z" })[field] ?? field;

function quantityOf(operation: string, field: string): Asked {
  const name = fieldName(field);
  const [component, c] = name === "u" ? [name, -1] : [name, ["u.x", "u.y", "u.z"].indexOf(name)];
  const hessianOfVector = [0, 1, 2].flatMap((row) => UPPER.map((at) => 9 * row + at));
  const known: Readonly<Record<string, Asked>> = {
    GetVelocity: ["u"],
    GetPressure: ["p"],
    GetVelocityAndPressure: ["u, p"],
    GetVelocityGradient: ["A"],
    GetPressureGradient: ["grad(p)"],
    GetVelocityLaplacian: ["lap(u)"],
    GetVelocityHessian: ["hess(u)", hessianOfVector],
    GetPressureHessian: ["hess(p)", UPPER],
    GetField: [name],
    GetFieldGradient: c >= 0 ? [[0, 1, 2].map((j) => `A[${c}][${j}]`).join(", ")] : [`grad(${component})`],
    GetFieldHessian: [`hess(${component})`, UPPER],
    GetFieldLaplacian: [`lap(${component})`],
  };
  const found = known[operation];
  if (found === undefined) throw new Error(`no question is known for ${operation}`);
  return found;
}

const scheme = (name: unknown): string => (name === "None" ? "nearest" : String(name).replace("None_", ""));

/** The members of `values` for an operation at points. */
export function operationQuestion(
  operation: string,
  { time, spatialInterpolation, temporalInterpolation, field = "", points }: Members,
): Members {
  const [what] = quantityOf(operation, String(field));
  const isValue = /^Get(Velocity|Pressure|VelocityAndPressure|Field)$/.test(operation);
  return {
    what,
    points,
    ...(time === undefined ? {} : { time }),
    ...(spatialInterpolation === undefined
      ? {}
      : { [isValue ? "method" : "derivatives"]: scheme(spatialInterpolation) }),
    ...(temporalInterpolation === undefined ? {} : { time_method: scheme(temporalInterpolation) }),
  };
}

/** The records of an operation at points, asked as a question. @throws Error with the problem */
export async function operationValues(
  url: string,
  dataset: string,
  operation: string,
  members: Members,
): Promise<number[][]> {
  const response = await fetch(`${url}/api/datasets/${dataset}/values`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(operationQuestion(operation, members)),
  });
  const { rows, detail } = (await response.json()) as { readonly rows: number[][]; readonly detail?: string };
  if (!response.ok) throw new Error(detail);
  const [, columns] = quantityOf(operation, String(members.field ?? ""));
  return rows.map((row) => (columns === undefined ? row.slice(3) : columns.map((c) => row[3 + c] as number)));
}

/** The records of an operation over SOAP. @throws ClientError */
export async function soapRecords(
  url: string,
  dataset: string,
  operation: string,
  members: Members,
): Promise<number[][]> {
  const client = (await connect(url)) as unknown as Readonly<Record<string, (request: object) => Promise<Answer>>>;
  const { values, components } = await (client[operation] as (request: object) => Promise<Answer>)({
    dataset,
    ...members,
  });
  const width = components.length;
  return Array.from({ length: values.length / width }, (_, i) => [...values.subarray(width * i, width * (i + 1))]);
}

/** The ends of paths, asked with the members of the tracking operations: x, y, z, exit, then steps of dopri5. */
export async function pathEnds(
  client: string | FieldClient,
  dataset: string,
  { StartTime, EndTime, dt, nt = 1, points, spatialInterpolation, ...more }: Members,
): Promise<number[][]> {
  const end = EndTime ?? Number((Number(StartTime) + Number(dt) * Number(nt)).toPrecision(12));
  const question = { points, time: `${StartTime}:${end}`, step: Math.abs(Number(dt)), last: true };
  const asked = { ...question, method: scheme(spatialInterpolation), ...more };
  const fields = typeof client === "string" ? await connect(client) : client;
  const { rows } = (await fields.paths(dataset, asked as never)) as unknown as { readonly rows: number[][] };
  return rows.map((row) => row.slice(2));
}
