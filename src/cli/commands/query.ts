/** `fieldprobe query` runs one operation at the points of a file, on a running service or on one started for this query. */
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { SingleBar } from "cli-progress";
import { Argument, Command, Option } from "commander";
import { type Answer, type CallOptions, ClientError, connect } from "../../client/index.js";
import { OPERATIONS, type OperationName } from "../../operations.js";
import { version } from "../../version.js";
import { MisuseError } from "../input/arguments.js";
import { readPoints } from "../input/points.js";
import { EXAMPLE, FLAG_ENTRIES, flagsOf, type Given, readRequest } from "../input/query-request.js";
import { csv, json } from "../output/print.js";

/** Asks the service for the manifest digest of a dataset; null where it has none. */
async function manifestDigest(base: string, dataset: string, token: string | undefined): Promise<string | null> {
  const url = `${base}/api/datasets/${encodeURIComponent(dataset)}`;
  const response = await fetch(url, token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } });
  if (!response.ok) return null;
  const { digest } = (await response.json()) as { digest?: string };
  return digest ?? null;
}

/** The message of an error of the service, with a hint at the remedy. */
async function explain(error: ClientError, base: string): Promise<string> {
  const named = error.message.includes(base);
  if (error.code === "Network") return named ? error.message : `there is no service at ${base}: ${error.message}`;
  if (error.limit !== undefined) return `${error.message} (limit ${error.limit})`;
  if (error.code === "AuthenticationFailed") return `${error.message} (--token gives one)`;
  return error.code === "UnknownDataset" ? error.message + (await namesAt(base)) : error.message;
}

/** The names of the datasets of a service, in parentheses; empty where it does not list them. */
async function namesAt(base: string): Promise<string> {
  const response = await fetch(`${base}/api/datasets`).catch(() => null);
  if (!response?.ok) return "";
  const { datasets } = (await response.json()) as { datasets: readonly { readonly name: string }[] };
  const names = datasets.slice(0, 10).map(({ name }) => name);
  if (names.length === 0) return " (there is no dataset in the data folders)";
  return ` (there is ${names.join(", ")}${datasets.length > names.length ? ", ..." : ""})`;
}

/** Draws the progress of a call on stderr if that is a terminal; `stop` ends the drawing. */
function progressBar(): { readonly options: CallOptions; stop(): void } {
  if (!process.stderr.isTTY) return { options: {}, stop() {} };
  const bar = new SingleBar({ format: "{bar} {percentage}% | {value}/{total} points | {eta_formatted} left" });
  const onProgress = (done: number, total: number) => {
    if (!bar.isActive) bar.start(total, 0);
    bar.update(done);
  };
  return { options: { onProgress }, stop: () => bar.stop() };
}

async function print(text: Iterable<string>): Promise<void> {
  try {
    await pipeline(Readable.from(text), process.stdout, { end: false });
  } catch (error) {
    // The reader of a pipe may stop early, as `head` does.
    if ((error as NodeJS.ErrnoException).code !== "EPIPE") throw error;
  }
}

async function query(operation: OperationName, given: Given): Promise<void> {
  if (given.json && given.csv) throw new MisuseError("--json and --csv exclude each other");
  const request = readRequest(operation, given);
  if (given.points === "-" && given.initialVelocity === "-") {
    throw new MisuseError("--points and --initial-velocity cannot both be standard input");
  }
  const points = await readPoints(given.points as string);
  const lists = {
    points,
    ...(typeof given.initialVelocity === "string" && { InitialV: await readPoints(given.initialVelocity) }),
  };
  const token = typeof given.token === "string" ? given.token : undefined;

  const call = async (url: string, base: string): Promise<void> => {
    const client = await connect(url, token === undefined ? {} : { token });
    const progress = progressBar();
    // The flags were matched with the operation's row above; the compiler cannot follow a name that varies.
    const method = client[operation] as (request: object, options: CallOptions) => Promise<Answer>;
    const answer = await method({ ...request, ...lists }, progress.options).finally(() => progress.stop());
    const { authToken: _, dataset = null, ...options } = request;
    const manifest = given.json && dataset !== null ? await manifestDigest(base, String(dataset), token) : null;
    const facts = { version, operation, dataset, manifest, options, record: answer.record };
    await print((given.json ? json : csv)({ facts, ...answer, points }));
  };
  const ask = async (url: string): Promise<void> => {
    const base = url.replace(/\/service\/turbulence\.asmx$|\/+$/, "");
    try {
      await call(url, base);
    } catch (error) {
      throw error instanceof ClientError ? new Error(await explain(error, base)) : error;
    }
  };
  if (typeof given.url === "string") return ask(given.url);
  const { withLocalService } = await import("../local-service.js");
  const { data, dataset } = given as { readonly data?: string; readonly dataset?: string };
  await withLocalService(data, dataset, ask);
}

/** The flags of every operation, one line each. */
function flagTable(): string {
  const width = Math.max(...OPERATIONS.map(({ name }) => name.length));
  return OPERATIONS.map((operation) => `  ${operation.name.padEnd(width)}  ${flagsOf(operation)}`.trimEnd()).join("\n");
}

/** The command, with the flags of every operation. */
export function queryCommand(): Command {
  const command = new Command("query")
    .description("ask for values at points and print them as CSV or JSON")
    .addArgument(new Argument("<operation>").choices(OPERATIONS.map(({ name }) => name)))
    .option("--url <URL>", "address of a running service; without it one is started for this query")
    .option("--data <FOLDERS>", "data folders of the service that is started; as FIELDPROBE_DATA");
  for (const [, flag] of FLAG_ENTRIES) {
    const about = flag.fallback === undefined ? flag.about : `${flag.about} (${flag.fallback} unless given)`;
    const option = new Option(`--${flag.name} <${flag.value}>`, about);
    if (flag.choices) option.choices(flag.choices);
    command.addOption(option.makeOptionMandatory(flag.name === "points"));
  }
  return command
    .option("--csv", "print CSV: x,y,z and the components of the record (default)")
    .option("--json", "print JSON with version, dataset, manifest digest and options")
    .addHelpText("after", `\nOperations and their flags, besides --points:\n${flagTable()}\n\nExample:\n  ${EXAMPLE}`)
    .action(query);
}
