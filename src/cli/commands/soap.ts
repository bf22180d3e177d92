/** `fieldprobe soap`: one operation over SOAP by the typed client, its records as CSV. */
import { Command } from "commander";
import { type Answer, connect } from "../../client/index.js";
import { ALL_OPERATIONS, dialectOf, type OperationName, type WireMember } from "../../shared/operations.js";
import { withAnswers } from "../input/answer-flags.js";
import { MisuseError, NUMBER } from "../input/arguments.js";
import { readPoints } from "../input/points.js";
import { csv } from "../output/print.js";
import { type ServiceFlags, withService, withServiceFlags } from "./own-service.js";

type Row = (typeof ALL_OPERATIONS)[number];
const OPERATIONS = ALL_OPERATIONS.filter(({ name }) => dialectOf(name) !== null);
type SoapFlags = ServiceFlags & Readonly<Record<string, string | undefined>>;

const ONES: readonly string[] = ["nlayers", "filter_width", "x_step", "y_step", "z_step"];
const defaultOf = (name: string): string | undefined =>
  name === "temporalInterpolation" ? "PCHIP" : ONES.includes(name) ? "1" : undefined;

/** Members that are optional in the WSDL but that every operation needs. */
const ALWAYS_REQUIRED: readonly string[] = ["dataset", "field", "points"];

/** `spatialInterpolation` -> `spatial-interpolation`, `x_start` -> `x-start`, `Xwidth` -> `xwidth`. */
const flagOf = (name: string): string => name.replaceAll(/(?<=[a-z])(?=[A-Z])|_/g, "-").toLowerCase();
const camel = (flag: string): string => flag.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
const isList = ({ type }: WireMember): boolean => type.startsWith("ArrayOf");

const MEMBERS = new Map<string, WireMember>(
  OPERATIONS.flatMap(({ request }) => request.map((member) => [member.name, member] as const)),
);

const membersOf = ({ request }: Row): readonly WireMember[] => request.filter(({ name }) => name !== "authToken");

export function soapCommand(): Command {
  const names = OPERATIONS.map(({ name }) => name);
  const command = new Command("soap").argument("<operation>", "one of the operations below", (text) => {
    if ((names as readonly string[]).includes(text)) return text;
    const near = names.find((name) => name.toLowerCase() === text.toLowerCase());
    const hint = near === undefined ? "fieldprobe soap --help lists all" : `did you mean ${near}?`;
    throw new MisuseError(`there is no operation ${text} (${hint})`);
  });
  for (const [name, member] of MEMBERS) {
    if (name === "authToken") continue;
    const fallback = defaultOf(name) === undefined ? "" : `; ${defaultOf(name)} unless given`;
    const meaning = isList(member) ? "a file of x,y,z, or - for standard input" : `the member ${name}`;
    command.option(`--${flagOf(name)} <value>`, `${meaning}${fallback}`);
  }
  const flagsOf = (row: Row) => membersOf(row).map(({ name }) => `--${flagOf(name)}`);
  const lines = OPERATIONS.map((row) => `  ${row.name}  ${flagsOf(row).join(" ")}`);
  return withAnswers(withServiceFlags(command), true)
    .addHelpText(
      "after",
      `\nOperations and their flags:\n${lines.join("\n")}\n\nExample:\n  echo 1,2,3 | fieldprobe soap GetVelocity --dataset isotropic32 --time 0.5 --spatial-interpolation Lag8 --points -`,
    )
    .action(run);
}

async function run(operation: OperationName, flags: SoapFlags): Promise<void> {
  const row = OPERATIONS.find(({ name }) => name === operation) as Row;
  const { points, ...members } = await requestOf(row, flags);
  const answer = await withService(String(members.dataset ?? ""), flags, async (url, dataset) => {
    const client = await connect(url, flags.token === undefined ? {} : { token: flags.token });
    const method = client[operation as keyof typeof client] as (request: object) => Promise<Answer>;
    const lists = [0, 1, 2].map((axis) => points?.filter((_, i) => i % 3 === axis));
    const places = row.family === "arrays" ? lists : points;
    const named = members.dataset === undefined ? {} : { dataset };
    return method({ ...members, ...named, ...(points && { points: places }) });
  });
  const { components, values } = answer;
  // Array forms answer any number of numbers per point; a search has no points, and one list of records.
  const perPoint = row.family === "arrays" ? values.length / ((points?.length ?? 3) / 3) : answer.recordsPerPoint;
  for (const text of csv({ components, recordsPerPoint: perPoint, points: points ?? null, values }))
    if (!process.stdout.write(text)) await new Promise((resolve) => process.stdout.once("drain", resolve));
}

/** @throws MisuseError for a flag that the operation does not take, or lacks */
async function requestOf(row: Row, flags: SoapFlags) {
  const members = membersOf(row);
  const taken = new Set(["authToken", ...members.map(({ name }) => name)]);
  const takenFlags = members.map(({ name }) => `--${flagOf(name)}`).join(" ");
  for (const name of MEMBERS.keys())
    if (flags[camel(flagOf(name))] !== undefined && !taken.has(name))
      throw new MisuseError(`--${flagOf(name)}: ${row.name} does not take it, but ${takenFlags}`);
  const request: Record<string, string | number | Float32Array> & { points?: Float32Array } = {};
  for (const member of members) {
    const { name, type } = member;
    const text = flags[camel(flagOf(name))] ?? defaultOf(name);
    if (text === undefined) {
      if (!member.required && !ALWAYS_REQUIRED.includes(name)) continue;
      throw new MisuseError(`--${flagOf(name)} is missing: ${row.name} needs it`);
    }
    if (isList(member)) request[name] = await readPoints(text);
    else if (type !== "float" && type !== "int") request[name] = text;
    else if (!NUMBER.test(text) || (type === "int" && !Number.isInteger(Number(text))))
      throw new MisuseError(`--${flagOf(name)}: ${text} is not a${type === "int" ? " whole" : ""} number`);
    else request[name] = Number(text);
  }
  return request;
}
