/** `fieldprobe analyse` asks for an analysis of a dataset, and prints, saves or plots the answer. */
import { readFileSync, writeFileSync } from "node:fs";
import { extname } from "node:path";
import { Command, Option } from "commander";
import { analysisTable, tableText } from "../../analysis/table.js";
import { postTo } from "../../client/plain-http.js";
import { MisuseError } from "../input/arguments.js";
import { analysisPlot } from "../output/analysis-plot.js";
import { writeWhole } from "../output/write-whole.js";
import { type ServiceFlags, withService } from "./own-service.js";

const KINDS = ["statistics", "structure-functions", "structures", "spectrum", "dispersion", "flow-map"] as const;
/** Kinds that have an answer as .npy, what it holds, and the member that asks for it. */
const ARRAYS = new Map([
  ["structures", { labels: true }],
  ["flow-map", {}],
]);
const ENDINGS = [".json", ".csv", ".npy", ".nc"] as const;

interface AnalyseFlags extends ServiceFlags {
  readonly json?: string;
  readonly set: readonly string[];
  readonly time?: string;
  readonly frames?: string;
  readonly over?: string;
  readonly moments: readonly string[];
  readonly of?: string;
  readonly with?: string;
  readonly out?: string;
  readonly plot?: string;
}

/** A value as JSON, or as the text that it is. */
function memberValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The body of the request, from a file and flags, which win over it. */
function bodyOf({ json, set, time, frames, over, moments, of, with: more }: AnalyseFlags): Record<string, unknown> {
  const read = json === undefined ? {} : memberValue(readFileSync(json === "-" ? 0 : json, "utf8"));
  if (typeof read !== "object" || read === null) throw new MisuseError(`${json} holds no JSON object`);
  const members = set.map((text): readonly [string, unknown] => {
    const at = text.indexOf("=");
    if (at < 1) throw new MisuseError(`--set is MEMBER=VALUE, not ${text}`);
    return [text.slice(0, at), memberValue(text.slice(at + 1))];
  });
  return {
    ...read,
    ...(time === undefined ? {} : { time: memberValue(time) }),
    ...(frames === undefined ? {} : { frames: frames === "all" ? frames : frames.split(",").map(memberValue) }),
    ...(over === undefined ? {} : { over: over.split(",") }),
    ...(of === undefined ? {} : { of }),
    ...(more === undefined ? {} : { with: more.split(",") }),
    ...(moments.length === 0 ? {} : { reduce: moments.map((quantity) => ({ moments: quantity })) }),
    ...Object.fromEntries(members),
  };
}

async function analyse(kind: string, dataset: string, flags: AnalyseFlags): Promise<void> {
  const ending = flags.out === undefined ? ".json" : extname(flags.out);
  if (!(ENDINGS as readonly string[]).includes(ending)) throw new MisuseError(`--out ends in ${ENDINGS.join(", ")}`);
  const isArray = ending === ".npy";
  if (isArray && !ARRAYS.has(kind))
    throw new MisuseError(".npy holds the labels of structures or a quantity of a flow map, and nothing else");
  const isFile = isArray || ending === ".nc";
  if (isFile && flags.plot !== undefined) throw new MisuseError(`--plot does not go with ${ending}`);
  const body = { ...bodyOf(flags), ...(isArray ? ARRAYS.get(kind) : {}) };
  const path = `${encodeURIComponent(dataset)}/${kind}`;
  const accept = isArray ? "application/x-npy" : isFile ? "application/netcdf" : "application/json";
  const ask = (url: string) => postTo(url, path, body, accept, flags.token, new AbortController().signal);
  const bytes = Buffer.from((await withService(flags, ask)).bytes);
  if (isFile) return writeFileSync(flags.out as string, bytes);
  const answer = JSON.parse(bytes.toString("utf8"));
  const text = ending === ".csv" ? tableText(analysisTable(answer)) : `${JSON.stringify(answer, null, 2)}\n`;
  if (flags.plot !== undefined) writeWhole(flags.plot, analysisPlot(analysisTable(answer), `${kind} of ${dataset}`));
  if (flags.out !== undefined) writeWhole(flags.out, text);
  else if (flags.plot === undefined) process.stdout.write(text);
}

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];

export function analyseCommand(): Command {
  return new Command("analyse")
    .argument("<kind>", KINDS.join(", "), (text) => {
      if ((KINDS as readonly string[]).includes(text)) return text;
      throw new MisuseError(`there is no analysis ${text}; analyses are ${KINDS.join(", ")}`);
    })
    .argument("<dataset>", "a dataset by name")
    .option(
      "--json <file>",
      "the body of the request, as docs/analysis.md and docs/tracking.md describe it; - is standard input",
    )
    .option("--set <member=value>", "a member of the body, as JSON or text; may be repeated", collect, [])
    .option("--time <time>", "a stored time")
    .option("--frames <list>", "stored frames: all, or numbers from 1, as 1,2")
    .option("--over <axes>", "statistics: the axes to average over, as x,z")
    .option("--moments <quantity>", "statistics: moments of a quantity; may be repeated", collect, [])
    .option("--of <quantity>", "the quantity of structures, structure functions and spectra")
    .option("--with <list>", "spectrum: what to add to the energy, as transfer,flux")
    .option(
      "--out <file>",
      "write .json, .csv, .nc, or the labels of structures or a flow map as .npy, instead of printing JSON",
    )
    .option("--plot <file>", "draw the curves of the answer as SVG")
    .option("--url <url>", "a running service; without it this process answers by itself")
    .option("--token <token>", "with --url: the token to send")
    .addOption(new Option("--data <folder>", "without --url: the folder of the dataset").conflicts("url"))
    .action(analyse);
}
