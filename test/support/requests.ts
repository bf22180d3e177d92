/** A good request of every operation, from its row of the table; the shipped data answer it. */
import { OLDER_INTERPOLATION, type Operation, type WireMember } from "../../src/shared/operations.js";
import { items, NAMESPACE } from "./soap-service.js";

const VALUES: Readonly<Record<string, string>> = {
  ...{ authToken: "a", dataset: "isotropic32", time: "0.25", StartTime: "0.1", EndTime: "0.3", Tp: "0.25" },
  ...{ dt: "0.02", nt: "2", filterlength: "0.6", nlayers: "2", temporalInterpolation: "PCHIP" },
  points: items([[1, 2, 3]]),
  InitialV: items([[4, 5, 6]], "Vector3"),
};

/** A member with its content; that of a good request unless another is given. */
export function memberOf(row: Operation, { name }: WireMember, content = VALUES[name] ?? plainOption(row)): string {
  if (content === undefined) throw new Error(`no value for ${name} of ${row.name}`);
  return `<${name}>${content}</${name}>`;
}

/** The element of an operation; members by name hold something else where that is given. */
export function requestOf(row: Operation, replaced: Readonly<Record<string, string>> = {}): string {
  return around(row, row.request.map((member) => memberOf(row, member, replaced[member.name])).join(""));
}

export function around(row: Operation, content: string): string {
  return `<${row.name} xmlns="${NAMESPACE}">${content}</${row.name}>`;
}

/** The last option of an operation that both interfaces have. */
function plainOption({ spatial }: Operation): string | undefined {
  return spatial.findLast((option) => OLDER_INTERPOLATION.some((older) => older === option));
}
