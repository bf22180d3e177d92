/** `fieldprobe levels` makes coarser levels of a dataset; interrupted, the same command goes on. */
import { existsSync, statSync } from "node:fs";
import { dirname, join, parse } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Command, Option } from "commander";
import { ask as send } from "../../client/plain-http.js";
import { DESCRIPTOR_NAME } from "../../storage/file/folder-names.js";
import { PROGRESS_HELP, progressOf } from "../output/progress.js";
import { type ServiceFlags, withService } from "./own-service.js";

interface LevelsFlags extends ServiceFlags {
  readonly what?: string;
}

/** What the service says of the levels of a dataset. */
interface LevelsAnswer {
  readonly what: readonly string[];
  readonly levels: readonly { readonly cubes: readonly number[] }[];
  readonly making: number | null;
  readonly problem: string | null;
}

const POLL_MS = 300;

/** The folder of a dataset that is named by its file or folder, and the name that it has if it has no descriptor. */
function placeOf(dataset: string): { readonly data: string; readonly name: string } {
  const isDescribed = statSync(dataset).isDirectory() && existsSync(join(dataset, DESCRIPTOR_NAME));
  return { data: isDescribed ? dataset : dirname(dataset), name: parse(dataset).name };
}

/** Makes levels by a service, and shows the progress. */
export async function makeLevels(dataset: string, { what, ...flags }: LevelsFlags): Promise<void> {
  const place = flags.url === undefined && existsSync(dataset) ? placeOf(dataset) : null;
  await withService(place === null ? flags : { ...flags, data: place.data }, async (url) => {
    const { signal } = new AbortController();
    const get = async (path: string, body?: object) => {
      const post = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
      return (await send(url, path, body === undefined ? { method: "GET" } : post, flags.token, signal)).json();
    };
    const { datasets } = (await get("/api/datasets")) as { datasets: readonly { readonly name: string }[] };
    const only = place !== null && datasets.length === 1 ? datasets[0]?.name : undefined;
    const name = only ?? place?.name ?? dataset;
    const path = `/api/datasets/${encodeURIComponent(name)}/levels`;
    const progress = progressOf(name);
    let state = (await get(path, what === undefined ? {} : { what })) as LevelsAnswer;
    try {
      for (; state.making !== null; state = (await get(path)) as LevelsAnswer) {
        progress.update(state.making);
        await delay(POLL_MS);
      }
    } finally {
      progress.stop();
    }
    if (state.problem !== null) throw new Error(`${name}: ${state.problem}`);
    const sizes = state.levels.map(({ cubes }) => cubes.join(" x ")).join(", ");
    process.stdout.write(`${name}: levels of ${state.what.join(", ")}: ${sizes}\n`);
  });
}

export function levelsCommand(): Command {
  return new Command("levels")
    .argument("<dataset>", "a dataset by name, or its file or folder")
    .option("--what <expressions>", "quantities that get levels besides the fields, for example norm(omega),Q")
    .option("--url <url>", "a running service; without it this process makes them")
    .option("--token <token>", "with --url: the token to send")
    .addOption(new Option("--data <folder>", "without --url: the folder of the dataset").conflicts("url"))
    .addHelpText("after", PROGRESS_HELP)
    .action(makeLevels);
}
