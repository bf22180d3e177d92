/** One command for each call of the table: flags are its members, and the endings of `--out` choose the forms. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, extname } from "node:path";
import { Command, Option } from "commander";
import { analysisTable } from "../../analysis/table.js";
import { ask as send } from "../../client/plain-http.js";
import { untilAnswered } from "../../client/retries.js";
import { type CallName, callOf, FORMS, type FormName, memberOf } from "../../shared/calls.js";
import { MisuseError } from "../input/arguments.js";
import { analysisPlot } from "../output/analysis-plot.js";
import { writeWhole } from "../output/write-whole.js";
import { type ServiceFlags, withService } from "./own-service.js";

interface AskFlags extends ServiceFlags {
  readonly out: readonly string[];
  readonly question?: string;
  readonly [flag: string]: unknown;
}

/** Media types of files of points. */
const POINT_FILES: Readonly<Record<string, string>> = {
  ".csv": "text/csv",
  ".npy": "application/x-npy",
  ".bin": "application/octet-stream",
  ".f32": "application/octet-stream",
};

const dashed = (name: string): string => name.replaceAll("_", "-");
const camel = (name: string): string => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** The command of a call. */
export function askCommand(call: CallName): Command {
  const { about, members, needs } = callOf(call);
  const command = new Command(dashed(call))
    .description(about)
    .argument("<dataset>", "a dataset by name")
    .argument("[what]", memberOf("what").about);
  for (const name of members) {
    const member = memberOf(name);
    if (name === "what" || name === "job") continue;
    const usual = callOf(call).usual?.[name] ?? ("usual" in member ? member.usual : undefined);
    const words = `${member.about}${usual === undefined ? "" : ` Default: ${usual}.`}${needs.includes(name) ? " Needed." : ""}`;
    command.option(member.type === "boolean" ? `--${dashed(name)}` : `--${dashed(name)} <value>`, words);
  }
  for (const leaf of ["random", "pairs", "tetrads", "distance", "seed"])
    if (members.includes("points")) command.option(`--points.${leaf} <value>`, `The member ${leaf} of points.`);
  return command
    .option(
      "--out <file>",
      `write a file instead of printing; may be repeated: ${callOf(call)
        .forms.map((form) => `.${form}`)
        .join(" ")}${callOf(call).kind === "table" ? " .svg" : ""}`,
      (file: string, before: readonly string[]) => [...before, file],
      [] as readonly string[],
    )
    .option("--question <file>", "a question as JSON; flags win; - is standard input")
    .option("--url <url>", "a running service; without it this process answers by itself")
    .option("--token <token>", "with --url: the token to send")
    .addOption(new Option("--data <folder>", "without --url: the folder of the dataset").conflicts("url"))
    .action((dataset: string, what: string | undefined, flags: AskFlags) => run(call, dataset, what, flags));
}

/** A question: members in text, or as JSON of `--question`, and points that go as a body. */
interface CliQuestion {
  readonly members: Readonly<Record<string, unknown>>;
  readonly body: { readonly type: string; readonly bytes: Buffer } | null;
}

function questionOf(call: CallName, what: string | undefined, flags: AskFlags): CliQuestion {
  const { question } = flags;
  const read: unknown = question === undefined ? {} : JSON.parse(readFileSync(question === "-" ? 0 : question, "utf8"));
  if (typeof read !== "object" || read === null || Array.isArray(read))
    throw new MisuseError("--question holds no JSON object");
  const { dataset: _, call: __, ...members } = read as Record<string, unknown>;
  for (const name of callOf(call).members) {
    const given = flags[camel(name)];
    if (given !== undefined) members[name] = given === true ? "true" : given;
  }
  if (what !== undefined) members.what = what;
  const leaves = Object.entries(flags).flatMap(([name, value]) =>
    name.startsWith("points.") ? [[name.slice("points.".length), value] as const] : [],
  );
  if (leaves.length > 0) members.points = Object.fromEntries(leaves);
  const { points } = members;
  if (typeof points !== "string" || (points !== "-" && !existsSync(points))) return { members, body: null };
  delete members.points;
  const type = points === "-" ? "text/csv" : POINT_FILES[extname(points)];
  if (type === undefined) throw new MisuseError(`--points: a file ends in ${Object.keys(POINT_FILES).join(", ")}`);
  return { members, body: { type, bytes: readFileSync(points === "-" ? 0 : points) } };
}

/** The form of a file by its ending; `svg` is drawn of a table. */
function formOf(call: CallName, file: string): FormName | "svg" {
  const ending = file.endsWith(".zarr.zip") ? "zarr" : extname(file).slice(1);
  const { forms, kind } = callOf(call);
  if (ending === "svg" && kind === "table") return "svg";
  const form = forms.find((one) => one === ending);
  if (form !== undefined) return form;
  const list = [...forms, ...(kind === "table" ? ["svg"] : [])].map((one) => `.${one}`).join(", ");
  throw new MisuseError(`--out ${basename(file)}: ${dashed(call)} writes ${list}`);
}

async function run(call: CallName, dataset: string, what: string | undefined, flags: AskFlags): Promise<void> {
  const question = questionOf(call, what, flags);
  const forms = flags.out.map((file) => [file, formOf(call, file)] as const);
  await withService(flags, async (url) => {
    const get = (form: FormName) => answerIn(url, call, dataset, question, form, flags.token);
    if (forms.length === 0) process.stdout.write(await get((question.members.format as FormName | undefined) ?? "csv"));
    for (const [file, form] of forms)
      if (form === "svg")
        writeWhole(file, analysisPlot(analysisTable(JSON.parse(String(await get("json")))), `${call} of ${dataset}`));
      else writeFileSync(file, await get(form));
  });
}

/** The answer in a form. @throws ClientError */
async function answerIn(
  url: string,
  call: CallName,
  dataset: string,
  { members, body }: CliQuestion,
  form: FormName,
  token: string | undefined,
): Promise<Buffer> {
  const path = body === null ? "/api/ask" : `/api/datasets/${encodeURIComponent(dataset)}/${call}`;
  const { signal } = new AbortController();
  const texts = Object.entries({ ...members, format: form }).map(([name, value]) => [
    name,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  const query = body === null ? "" : `?${new URLSearchParams(texts as [string, string][])}`;
  const headers = { "content-type": body?.type ?? "application/json", accept: FORMS[form].type };
  const payload = body?.bytes ?? JSON.stringify({ dataset, call, ...members, format: form });
  return untilAnswered(async () => {
    const response = await send(
      url,
      `${path}${query}`,
      { method: "POST", headers, body: payload as never },
      token,
      signal,
    );
    return Buffer.from(await response.arrayBuffer());
  }, signal);
}
