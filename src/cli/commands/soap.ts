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

const ONES = ["nlayers", "filter_width", "x_step", "y_step", "z_step"].map((name) => [name, "1"]);
const DEFAULT_FLAGS: Readonly<Record<string, string>> = { temporalInterpolation: "PCHIP", ...Object.fromEntries(ONES) };

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
    throw new MisuseError(
      `there is no operation ${text} (${near === undefined ? "fieldprobe soap --help lists all" : `did you mean ${near}?`})`,
    );
  });
  for (const [name, member] of MEMBERS) {
    if (name === "authToken") continue;
    const usual = DEFAULT_FLAGS[name] === undefined ? "" : `; ${DEFAULT_FLAGS[name]} unless given`;
    const about = isList(member) ? "a file of x,y,z, or - for standard input" : `the member ${name}`;
    command.option(`--${flagOf(name)} <value>`, `${about}${usual}`);
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
  const dataset = String(members.dataset ?? "");
  const answer = await withService(dataset, flags, async (url, dataset) => {
    const client = await connect(url, flags.token === undefined ? {} : { token: flags.token });
    const method = client[operation as keyof typeof client] as (request: object) => Promise<Answer>;
    const lists = row.family === "arrays" && points !== undefined;
    const places = lists ? [0, 1, 2].map((axis) => (points as Float32Array).filter((_, i) => i % 3 === axis)) : points;
    const named = members.dataset === undefined ? {} : { dataset };
    return method({ ...members, ...named, ...(points && { points: places }) });
  });
  const { components, values } = answer;
  // Records of a search name their nodes; array forms answer any number of numbers per point.
  const perPoint = row.family === "arrays" ? values.length / ((points?.length ?? 3) / 3) : answer.recordsPerPoint;
  for (const text of csv({ components, recordsPerPoint: perPoint, points: points ?? null, values }))
    if (!process.stdout.write(text)) await new Promise((resolve) => process.stdout.once("drain", resolve));
}

/** @throws MisuseError for a flag that the operation does not take, or lacks */
async function requestOf(row: Row, flags: SoapFlags) {
  const taken = membersOf(row);
  for (const name of MEMBERS.keys())
    if (
      flags[camel(flagOf(name))] !== undefined &&
      !taken.some((member) => member.name === name) &&
      name !== "authToken"
    )
      throw new MisuseError(
        `--${flagOf(name)}: ${row.name} does not take it, but ${taken.map((member) => `--${flagOf(member.name)}`).join(" ")}`,
      );
  const request: Record<string, string | number | Float32Array> & { points?: Float32Array } = {};
  for (const member of taken) {
    const { name, type } = member;
    const text = flags[camel(flagOf(name))] ?? DEFAULT_FLAGS[name];
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
