/**
 * The public C library, as it was in 2014 and as it is, called from C and from Fortran: its demonstrations end with the
 * first call that is refused. `TURBLIB` is a clone of github.com/idies/turblib; without it they are skipped.
 */
import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { type DestinationStream, pino } from "pino";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type RunningService, startService } from "../../src/main.js";
import { loadConfig } from "../../src/shared/config.js";
import { type CubeKind, writeCube } from "../../tools/generate/cube.js";
import { scratchFolder } from "../support/scratch.js";
import { PATH } from "../support/soap-service.js";
import { missing, TOOLKITS } from "./packages.js";

const run = promisify(execFile);
const CLONE = process.env.TURBLIB ?? "";
const ADDRESS = /http:\/\/turbulence\.pha\.jhu\.edu\/service\/turbulence\.asmx/g;
const SPACING = (2 * Math.PI) / 1024;
const even = (nodes: number, first: number, last: number): number[] =>
  Array.from({ length: nodes }, (_, i) => first + ((last - first) * i) / (nodes - 1));

/** What a dataset under a public name differs in from its cube. */
const DATASETS: Readonly<Record<string, { readonly kind: CubeKind; readonly differs: Record<string, unknown> }>> = {
  isotropic1024coarse: {
    kind: "abc",
    differs: { aliases: ["transition_bl"], forcing: { kind: "taylorGreen", amplitude: 0.25, wavenumber: 2 } },
  },
  mhd1024: { kind: "mhd", differs: {} },
  mixing: { kind: "mixing", differs: { time: { origin: 4.9, step: 0.1, count: 6 } } },
  channel: { kind: "abc", differs: {} },
};

const lines: { readonly operation?: string; readonly status?: number }[] = [];
const log: DestinationStream = { write: (line) => lines.push(JSON.parse(line)) };
const folder = scratchFolder();
let service: RunningService;

beforeAll(async () => {
  if (CLONE === "") return;
  const data = mkdtempSync(join(folder, "data-"));
  for (const [name, { kind, differs }] of Object.entries(DATASETS)) {
    const own = join(data, name);
    const shape = { nodes: [64, 64, 64], steps: 6, chunk: null, filter: "none", seed: 0 } as const;
    await writeCube({ ...shape, kind, name, folder: own }, () => undefined);
    const file = join(own, "dataset.json");
    const descriptor = JSON.parse(readFileSync(file, "utf8"));
    for (const axis of Object.values(descriptor.axes) as { spacing: number }[]) axis.spacing = SPACING;
    if (name === "channel") descriptor.axes.y = { coordinates: even(64, -1, 1), periodic: false };
    writeFileSync(file, JSON.stringify({ ...descriptor, ...differs }));
  }
  const settings = { PORT: "0", STATE: join(folder, "state"), DATA: data, WORKERS: "2" };
  service = await startService(loadConfig(settings, {}), pino({ level: "info" }, log), true);
});
afterAll(() => service?.close());

/** Compiles a revision against the service. @returns the folder of its demonstrations */
async function compile(revision: string): Promise<string> {
  const inside = { cwd: mkdtempSync(join(folder, "turblib-")) };
  const archive = join(inside.cwd, "turblib.tar");
  execFileSync("git", ["-C", CLONE, "archive", "--output", archive, revision]);
  execFileSync("tar", ["xf", archive], inside);
  const stub = join(inside.cwd, "soapClient.c");
  writeFileSync(stub, readFileSync(stub, "utf8").replace(ADDRESS, service.url + PATH));
  const sources = ["soapC.c", "soapClient.c", "stdsoap2.c", "turblib.c"];
  await run("gcc", ["-w", "-fcommon", "-fgnu89-inline", "-O0", "-c", ...sources], inside);
  return inside.cwd;
}

const FORTRAN = CLONE === "" ? "no clone" : missing(TOOLKITS.fortran);
const objects = ["soapC.o", "soapClient.o", "stdsoap2.o", "turblib.o"];

describe.skipIf(CLONE === "")("turblib", () => {
  describe.each([
    {
      year: "2014",
      revision: "4bbc535",
      calls: { turbc: 16, mhdc: 26, channelc: 11, mixingc: 19 },
      fortran: { turbf: 16, mhdf: 26, channelf: 11, mixingf: 19 },
    },
    {
      year: "2021, the last",
      revision: "8d79c39",
      calls: { DEMO_turbc: 17, DEMO_mhdc: 26, DEMO_channelc: 10, DEMO_mixingc: 19, DEMO_getCutoutc: 3 },
      // DEMO_getCutoutf sends whatever follows its field in memory.
      fortran: { DEMO_turbf: 17, DEMO_mhdf: 26, DEMO_channelf: 10, DEMO_mixingf: 19 },
    },
  ])("of $year", ({ revision, calls, fortran }) => {
    let made: string;
    beforeAll(async () => {
      made = await compile(revision);
    });

    /** Compiles a demonstration, runs it, and expects all of its calls to be answered. */
    async function demonstrate(compiler: readonly [string, ...string[]], source: string, count: number): Promise<void> {
      lines.length = 0;
      const inside = { cwd: made, maxBuffer: 2 ** 26 };
      const [command, ...flags] = compiler;
      await run(command, [...flags, "-w", "-o", "demonstration", source, ...objects, "-lm"], inside);
      await run(join(made, "demonstration"), [], inside);
      const answered = await vi.waitFor(() => {
        const found = lines.filter(({ operation }) => operation !== undefined);
        expect(found.map(({ operation, status }) => `${operation} ${status}`)).toHaveLength(count);
        return found;
      });
      expect(answered.filter(({ status }) => status !== 200)).toEqual([]);
    }

    it.each(Object.entries(calls))("%s: %i calls, all answered", (name, count) =>
      demonstrate(["gcc", "-fcommon"], `${name}.c`, count),
    );

    it.skipIf(FORTRAN !== null).each(Object.entries(fortran))("%s: %i calls, all answered", (name, count) =>
      demonstrate(["gfortran", "-fallow-argument-mismatch"], `${name}.f90`, count),
    );
  });
});
