/** `fieldprobe levels` makes coarser levels of a dataset; if interrupted, the same command continues. */
import { setTimeout as delay } from "node:timers/promises";
import { Command } from "commander";
import { sendOnce } from "../../client/plain-http.js";
import { withAnswers } from "../input/answer-flags.js";
import { PROGRESS_HELP, progressOf } from "../output/progress.js";
import { type ServiceFlags, withService, withServiceFlags } from "./own-service.js";

interface LevelsFlags extends ServiceFlags {
  readonly what?: string;
}

interface LevelsAnswer {
  readonly what: readonly string[];
  readonly levels: readonly { readonly cubes: readonly number[] }[];
  readonly making: number | null;
  readonly problem: string | null;
}

const POLL_MS = 300;

export async function makeLevels(dataset: string, { what, ...flags }: LevelsFlags): Promise<void> {
  // A reading with levels outlasts the call, and its levels lie with it, apart from those of other readings.
  const make = async (url: string, name: string): Promise<void> => {
    const { signal } = new AbortController();
    const get = async (path: string, body?: object) => {
      const post = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
      return (await sendOnce(url, path, body === undefined ? { method: "GET" } : post, flags.token, signal)).json();
    };
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
  };
  await withService(dataset, flags, make, true);
}

export function levelsCommand(): Command {
  const command = new Command("levels")
    .argument("<dataset>", "a dataset by name, or its file, store or folder")
    .option("--what <expressions>", "quantities that get levels besides the fields, for example norm(omega),Q")
    .addHelpText("after", PROGRESS_HELP)
    .action(makeLevels);
  return withAnswers(withServiceFlags(command), true);
}
