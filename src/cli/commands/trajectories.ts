/** `fieldprobe trajectories` tracks particles and writes places, times and quantities on the way. */
import { extname } from "node:path";
import { Command, Option } from "commander";
import { connect, type ParticlePaths, type TrajectoriesRequest } from "../../client/index.js";
import { INTEGRATORS, VALUES } from "../../shared/operations.js";
import { OPEN_FACES } from "../../storage/file/dataset.js";
import { trajectoryCsv, trajectoryNpy, writeTrajectoryFile } from "../../storage/tools/trajectory-file.js";
import { MisuseError, NUMBER } from "../input/arguments.js";
import { readPoints } from "../input/points.js";
import { writeWhole } from "../output/write-whole.js";
import { type ServiceFlags, withService } from "./own-service.js";

const ENDINGS = [".csv", ".npy", ".nc"] as const;

interface TrajectoryFlags extends ServiceFlags {
  readonly points: string;
  readonly startTime?: number;
  readonly endTime?: number;
  readonly dt: number;
  readonly nt?: number;
  readonly method: string;
  readonly every?: number;
  readonly integrator?: (typeof INTEGRATORS)[number];
  readonly tolerance?: number;
  readonly openFaces?: (typeof OPEN_FACES)[number];
  readonly with: readonly string[];
  readonly derivatives?: string;
  readonly out?: string;
}

async function trajectories(dataset: string, flags: TrajectoryFlags): Promise<void> {
  const ending = flags.out === undefined ? ".csv" : extname(flags.out);
  if (!(ENDINGS as readonly string[]).includes(ending)) throw new MisuseError(`--out ends in ${ENDINGS.join(", ")}`);
  if ((flags.endTime === undefined) === (flags.nt === undefined))
    throw new MisuseError("either --end-time or --nt must be given");
  const { points, times } = await readPoints(flags.points);
  if (times === null && flags.startTime === undefined)
    throw new MisuseError("--start-time is missing, and the points have no column t");
  const starts = flags.startTime === undefined ? times : null;
  const request = requestOf(flags, points, starts);
  const paths = await withService(flags, async (url) => {
    const client = await connect(url, flags.token === undefined ? {} : { token: flags.token });
    return client.trajectories(dataset, request);
  });
  await write(paths, starts, dataset, flags.out, ending);
}

function requestOf(flags: TrajectoryFlags, points: Float32Array, starts: Float64Array | null): TrajectoriesRequest {
  const { startTime, endTime, dt, nt, method, every, integrator, tolerance, openFaces, derivatives } = flags;
  const given = { every, integrator, tolerance, openFaces, derivatives, nt, EndTime: endTime };
  return {
    ...{ points, dt, spatialInterpolation: method, with: flags.with },
    operation: nt === undefined ? "GetPositionByEnd" : "GetPosition",
    ...(starts === null ? { StartTime: startTime as number } : { startTimes: [...starts] }),
    ...(Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as object),
  };
}

async function write(
  paths: ParticlePaths,
  starts: Float64Array | null,
  dataset: string,
  out: string | undefined,
  ending: string,
): Promise<void> {
  if (out === undefined) {
    for (const text of trajectoryCsv(paths, starts)) process.stdout.write(text);
  } else if (ending === ".nc") await writeTrajectoryFile(out, paths, starts, dataset);
  else if (ending === ".npy") writeWhole(out, trajectoryNpy(paths, starts));
  else writeWhole(out, [...trajectoryCsv(paths, starts)].join(""));
}

function number(text: string): number {
  if (NUMBER.test(text.trim())) return Number(text);
  throw new MisuseError(`${text} is not a number`);
}

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];

export function trajectoriesCommand(): Command {
  return new Command("trajectories")
    .argument("<dataset>", "a dataset by name")
    .requiredOption(
      "--points <file>",
      "lines of x,y,z (x,y,z,t with the start of each path), or a .npy file; - reads standard input",
    )
    .option("--start-time <time>", "time at which the particles are at the points", number)
    .option("--end-time <time>", "time up to which they are tracked", number)
    .option("--nt <n>", "instead of --end-time: the number of steps", number)
    .requiredOption("--dt <step>", "time step; with --nt, negative steps track backward", number)
    .addOption(new Option("--method <method>", "spatial interpolation").choices([...VALUES]).default("Lag6"))
    .option("--every <n>", "steps from one record to the next", number)
    .addOption(new Option("--integrator <scheme>", "heun unless given").choices([...INTEGRATORS]))
    .option("--tolerance <distance>", "with dopri5: the error of a path, as a distance, at which its steps aim", number)
    .addOption(new Option("--open-faces <what>", "fail, or stop and tell the time of exit").choices([...OPEN_FACES]))
    .option(
      "--with <quantity>",
      "a quantity at each record, as docs/analysis.md describes; may be repeated",
      collect,
      [],
    )
    .option("--derivatives <scheme>", "the scheme of derivatives in --with")
    .option(
      "--out <file>",
      "write .csv, .npy (named columns) or .nc (NetCDF, CF trajectories), instead of printing CSV",
    )
    .option("--url <url>", "a running service; without it this process answers by itself")
    .option("--token <token>", "with --url: the token to send")
    .addOption(new Option("--data <folders>", "without --url: the folders of data").conflicts("url"))
    .action(trajectories);
}
