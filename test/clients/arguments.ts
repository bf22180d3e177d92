/** The calls that every toolkit sends: one good call per operation, and what it must read back. */
import { OLDER_OPERATIONS, RECORDS } from "../../src/shared/operations.js";
import { NAMESPACE, type Version } from "../support/soap-service.js";

type Value = string | number | readonly (readonly number[])[];

const POINTS = [
  [1, 2, 3],
  [4, 5, 6],
] as const;
const VELOCITIES = [
  [0.1, 0.2, 0.3],
  [0.4, 0.5, 0.6],
] as const;
const DERIVED = /Gradient|Hessian|Laplacian/;

function argumentOf(operation: string, member: string): Value {
  const tracks = operation.startsWith("GetPosition");
  const values = new Map<string, Value>([
    ["authToken", "a"],
    ["dataset", "isotropic32"],
    ["time", 0.1],
    ["StartTime", 0.1],
    ["EndTime", 0.3],
    ["Tp", 0.5],
    ["dt", 0.02],
    ["nt", 3],
    ["filterlength", 0.6],
    ["nlayers", 1],
    ["spatialInterpolation", tracks ? "Lag4" : DERIVED.test(operation) ? "None_Fd4" : "Lag8"],
    ["temporalInterpolation", operation.startsWith("GetBoxFilter") ? "None" : "PCHIP"],
    ["points", POINTS],
    ["InitialV", VELOCITIES],
  ]);
  const value = values.get(member);
  if (value === undefined) throw new Error(`no value for ${member}`);
  return value;
}

/** Members by operation, in schema order. */
export type Calls = Readonly<Record<string, Readonly<Record<string, Value>>>>;

export const ARGUMENTS: Calls = Object.fromEntries(
  OLDER_OPERATIONS.map(({ name, request }) => [
    name,
    Object.fromEntries(request.map((member) => [member.name, argumentOf(name, member.name)])),
  ]),
);

/** A line per operation: its name and the values of its members with bars between them, points as `1,2,3;4,5,6`. */
export function asLines(calls: Calls): string {
  const text = (value: Value): string =>
    Array.isArray(value) ? value.map((row) => row.join(",")).join(";") : `${value}`;
  return Object.entries(calls)
    .map(([name, members]) => [name, ...Object.values(members).map(text)].join("|"))
    .join("\n");
}

/** The answers read without any toolkit: a plain POST and a regular expression. */
export async function plainAnswers(url: string, version: Version): Promise<Record<string, number[][]>> {
  const env =
    version === "1.1" ? "http://schemas.xmlsoap.org/soap/envelope/" : "http://www.w3.org/2003/05/soap-envelope";
  const type = version === "1.1" ? "text/xml" : "application/soap+xml";
  const answers: Record<string, number[][]> = {};
  for (const { name, result } of OLDER_OPERATIONS) {
    const members = Object.entries(ARGUMENTS[name] ?? {}).map(([member, value]) => {
      const item = member === "InitialV" ? "Vector3" : "Point3";
      const content = Array.isArray(value)
        ? value.map(([x, y, z]) => `<${item}><x>${x}</x><y>${y}</y><z>${z}</z></${item}>`).join("")
        : value;
      return `<${member}>${content}</${member}>`;
    });
    const body = `<s:Envelope xmlns:s="${env}"><s:Body><${name} xmlns="${NAMESPACE}">${members.join("")}</${name}></s:Body></s:Envelope>`;
    const response = await fetch(url, { method: "POST", headers: { "content-type": type }, body });
    const numbers = [...(await response.text()).matchAll(/>(-?[0-9.]+(?:e-?[0-9]+)?)</g)].map((match) =>
      Number(match[1]),
    );
    const width = RECORDS[result].length;
    answers[name] = Array.from({ length: numbers.length / width }, (_, i) => numbers.slice(i * width, (i + 1) * width));
  }
  return answers;
}
