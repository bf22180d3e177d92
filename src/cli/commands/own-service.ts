/** The service that a command uses: the service at `--url`, or one that this process runs until the command ends. */
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Command, Option } from "commander";
import { type Logger, pino } from "pino";
import { Agent, setGlobalDispatcher } from "undici";
import { startService } from "../../main.js";
import { isAddress, withoutFileScheme } from "../../shared/addresses.js";
import { loadConfig } from "../../shared/config.js";
import { nameOf } from "../../storage/catalog/scan-folders.js";
import type { Dataset } from "../../storage/dataset/dataset.js";
import { realPath } from "../../storage/dataset/files.js";
import { isStore } from "../../storage/dataset/folder-names.js";
import { type AnswerOptions, answersOf } from "../input/answer-flags.js";
import { MisuseError } from "../input/arguments.js";
import { confirmIn, confirmToServe } from "./inspect.js";

const PUBLIC = /^FIELDPROBE_(HOST|PORT|TOKENS?|ANONYMOUS|TLS|BASE_URL|HTTP|EVENTS|NATS)(_|$)/;

export interface ServiceFlags extends AnswerOptions {
  readonly url?: string;
  readonly token?: string;
  readonly data?: string;
  readonly descriptors?: string;
}

export function withServiceFlags(command: Command): Command {
  return command
    .option("--url <url>", "a running service; without it this process answers by itself")
    .option("--token <token>", "with --url: the token to send")
    .addOption(new Option("--data <folders>", "without --url: data folders, as FIELDPROBE_DATA").conflicts("url"))
    .addOption(
      new Option("--descriptors <folder>", "without --url: a separate folder of descriptors").conflicts("url"),
    );
}

/**
 * Runs `use` on a service, with its address and the name of the dataset there. @param dataset a name; without `--url`
 * also a file, a store, a folder with a slash, or an address @param keeps whether answers outlast the call
 */
export async function withService<T>(
  dataset: string,
  flags: ServiceFlags,
  use: (url: string, name: string) => Promise<T>,
  keeps = false,
): Promise<T> {
  if (flags.url !== undefined) return use(flags.url, dataset);
  const place = flags.data === undefined ? placeOf(dataset) : null;
  const requested = place === null ? dataset : null;
  const data = place ?? flags.data;
  const ask = (descriptors: string | undefined) =>
    answered(data, descriptors, requested, (url, datasets) => use(url, requested ?? only(place ?? dataset, datasets)));
  if (Object.keys(answersOf(flags)).length === 0) return ask(flags.descriptors);
  if (place === null) throw new MisuseError(`answers such as --dims are for a file; ${dataset} is a name`);
  if (keeps) return confirmToServe([place], flags).then(() => ask(undefined));
  if (flags.yes !== true) throw new MisuseError("answers hold for this call with --yes, once inspect shows them right");
  const own = mkdtempSync(join(tmpdir(), "fieldprobe-"));
  try {
    await confirmIn(own, place, flags);
    return await ask(own);
  } finally {
    rmSync(own, { recursive: true });
  }
}

/** The path or address of an argument; null for a name. Throws MisuseError for a path that does not exist. */
function placeOf(dataset: string): string | null {
  if (isAddress(dataset)) return dataset;
  const path = resolve(withoutFileScheme(dataset));
  const status = statSync(path, { throwIfNoEntry: false });
  const isPath = /[/\\]/.test(dataset);
  if (status === undefined && isPath) throw new MisuseError(`${dataset}: there is no such file or folder`);
  const isData = status?.isFile() || (status?.isDirectory() && (isPath || isStore(readdirSync(path))));
  return isData ? path : null;
}

/** The dataset of a path; if it is refused, its name, for which the service gives the reason. */
function only(place: string, datasets: readonly Dataset[]): string {
  const real = realPath(place);
  const own = datasets.filter(({ files, location }) =>
    [location, ...files.map(({ path }) => path)].includes(real ?? place),
  );
  const [name, ...others] = (own.length > 0 ? own : datasets).map((one) => one.name);
  if (others.length === 0) return name ?? nameOf(place);
  throw new MisuseError(`${place} holds ${[name, ...others].join(", ")}: name one, with --data ${place}`);
}

function plainLog(requested: string | null): Logger {
  const write = (line: string): void => {
    const { msg, dataset } = JSON.parse(line) as { readonly msg: string; readonly dataset?: string };
    const names = dataset?.toLowerCase().split(", ");
    if (requested !== null && names?.includes(requested.toLowerCase()) === false) return;
    process.stderr.write(`fieldprobe: ${dataset === undefined ? "" : `${dataset}: `}${msg}\n`);
  };
  return pino({ level: process.env.FIELDPROBE_LOG_LEVEL ?? "warn", base: null }, { write });
}

async function answered<T>(
  data: string | undefined,
  descriptors: string | undefined,
  requested: string | null,
  use: (url: string, datasets: readonly Dataset[]) => Promise<T>,
): Promise<T> {
  const own = Object.entries(process.env).filter(([name]) => !PUBLIC.test(name));
  // Nobody else waits: an answer may take a day.
  const env = { FIELDPROBE_QUERY_DEADLINE_MS: "86400000", ...Object.fromEntries(own) };
  setGlobalDispatcher(new Agent({ headersTimeout: 0, bodyTimeout: 0 }));
  const given = Object.entries({ PORT: "0", DATA: data, DESCRIPTORS: descriptors });
  const settings = Object.fromEntries(given.filter(([, value]) => value !== undefined)) as Record<string, string>;
  const service = await startService(loadConfig(settings, env), plainLog(requested), true);
  try {
    return await use(service.url, service.engine.datasets());
  } finally {
    await service.close();
  }
}
