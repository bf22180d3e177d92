/** Jobs of a cluster whose processes differ, pause or are replaced: the result is that of one build on one copy. */
import { createHash } from "node:crypto";
import { cpSync, existsSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { type NatsServer, NO_NATS, startNats } from "../../support/nats.js";
import { scratchFolder } from "../../support/scratch.js";
import { type Running, type Setup, SHIPPED, startPeer } from "./support.js";

const CALL = "/api/datasets/isotropic32/values?what=u&time=0.5&method=Lag8";
const OCTETS = "application/octet-stream";
/** Of several tasks. */
const POINTS = 300_000;
const FORMS = {
  npy: "application/x-npy",
  csv: "text/csv",
  h5: "application/x-hdf5",
  nc: "application/netcdf",
  parquet: "application/vnd.apache.parquet",
  zarr: "application/vnd.zarr+zip",
  bin: OCTETS,
} as const;

interface Told {
  readonly state: string;
  readonly progress: number;
  readonly problem: string | null;
  readonly result: { readonly sha256: string; readonly name: string } | null;
}

/** Loaded before a program: it stops itself at a step of writing a result, before, in the middle of or after it. */
const STOPS_ITSELF = `
import fs from "node:fs/promises";
import { existsSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
const { rename, open } = fs;
const { STOP_AT, STOP_FILE } = process.env;
const stop = () => {
  if (existsSync(STOP_FILE)) return;
  writeFileSync(STOP_FILE, "");
  process.kill(process.pid, "SIGSTOP");
};
const isResult = (path) => /results.[0-9a-f]{24}[^/]*[.]partial$/.test(String(path));
fs.rename = async (from, to) => {
  if (isResult(from) && STOP_AT === "before its rename") stop();
  await rename(from, to);
  if (isResult(from) && STOP_AT === "after its rename") stop();
};
fs.open = async (path, ...rest) => {
  const file = await open(path, ...rest);
  if (isResult(path) && STOP_AT === "in the middle") {
    const write = file.writeFile.bind(file);
    file.writeFile = async (...given) => {
      await write(...given);
      stop();
    };
    // Forms of the HDF5 library are written without it: these stop before they are hashed.
    if (rest[0] === undefined) stop();
  }
  return file;
};
syncBuiltinESMExports();
`;

describe.skipIf(NO_NATS)("jobs of a cluster", () => {
  const folder = scratchFolder();
  const servers: NatsServer[] = [];
  const running: Running[] = [];
  const preload = join(folder, "stops.mjs");
  let count = 0;
  let expected = "";
  let impatient = "";

  const keep = async (one: Promise<Running>): Promise<Running> => {
    const value = await one;
    running.push(value);
    return value;
  };
  /** Settings of the processes of a cluster with a results folder. */
  const cluster = async () => {
    const own = join(folder, `${count++}`);
    const server = await startNats(["-js", "-sd", join(own, "nats")]);
    servers.push(server);
    return (name: string, data: string = SHIPPED): Setup => ({
      nats: server.url,
      data: [data],
      settings: { STATE: join(own, name), RESULTS: join(own, "results"), QUERY_POINTS: "50000" },
    });
  };
  const submit = async ({ url }: Running, accept: string = OCTETS): Promise<string> => {
    const ask = { prefer: "respond-async", accept };
    const accepted = await fetch(`${url}${CALL}&points.random=${POINTS}&points.seed=7`, {
      method: "POST",
      headers: ask,
    });
    expect(accepted.status).toBe(202);
    return accepted.headers.get("location") as string;
  };
  const look = async ({ url }: Running, location: string): Promise<Told> =>
    (await (await fetch(`${url}${location}`)).json()) as Told;
  const ended = async (at: Running, location: string): Promise<Told> => {
    // The events of a job end with it.
    await (await fetch(`${at.url}${location}/events`)).text();
    return look(at, location);
  };
  /** The digest of the bytes of a result, which has to be the one that the job states. */
  const digest = async (at: Running, location: string, { result }: Told): Promise<string> => {
    const answer = await fetch(`${at.url}${location}/result`);
    expect(answer.status).toBe(200);
    const found = createHash("sha256")
      .update(Buffer.from(await answer.arrayBuffer()))
      .digest("hex");
    expect(found).toBe(result?.sha256);
    return found;
  };
  const program = (change: (root: string) => void): string => {
    const root = join(folder, `program-${count++}`);
    for (const name of ["bin", "dist", "package.json", "data/jhtdb.json"])
      cpSync(new URL(`../../../${name}`, import.meta.url), join(root, name), { recursive: true });
    rmSync(join(root, "dist/bundle"), { recursive: true, force: true });
    symlinkSync(fileURLToPath(new URL("../../../node_modules", import.meta.url)), join(root, "node_modules"));
    change(root);
    return join(root, "bin/fieldprobe.js");
  };
  const replace = (file: string, from: string, to: string): void => {
    const text = readFileSync(file, "utf8");
    const changed = text.replace(from, to);
    expect(changed).not.toBe(text);
    writeFileSync(file, changed);
  };
  /** A build whose PCHIP gives other values. */
  const anotherBuild = (): string =>
    program((root) => {
      const [from, to] = ["weights: kept.map((i) => four[i])", "weights: kept.map((i) => 1.001 * four[i])"];
      replace(join(root, "dist/kernels/time.js"), from, to);
    });
  /** The same, but of each job it computes no more than the first two tasks. */
  const unfinishedBuild = (): string => {
    const bin = anotherBuild();
    const since = "const since = performance.now();";
    const wait = "if (number > 1) await new Promise((_, end) => signal.addEventListener('abort', end));";
    replace(join(bin, "../../dist/jobs/job-runner.js"), since, `${wait}\n${since}`);
    return bin;
  };
  /** A build whose tasks go to others after 3 s of silence, not 15 s. */
  const impatientBuild = (): string =>
    program((root) => {
      const file = join(root, "dist/jobs/jetstream-queue.js");
      replace(file, "SILENCE_MS = 15_000", "SILENCE_MS = 3_000");
      replace(file, "HEARTBEAT_MS = 5_000", "HEARTBEAT_MS = 1_000");
    });
  const anotherVersion = (): string =>
    program((root) => {
      const file = join(root, "package.json");
      writeFileSync(file, readFileSync(file, "utf8").replace(/"version": "[^"]+"/, '"version": "99.0.0"'));
    });

  beforeAll(async () => {
    writeFileSync(preload, STOPS_ITSELF);
    impatient = impatientBuild();
    const alone = await startPeer({ settings: { STATE: join(folder, "alone"), QUERY_POINTS: "50000" } });
    try {
      const location = await submit(alone);
      expected = await digest(alone, location, await ended(alone, location));
    } finally {
      await alone.end();
    }
  }, 120_000);
  afterEach(async () => {
    for (const one of running.splice(0).toReversed()) {
      one.child.kill("SIGCONT");
      await one.end();
    }
    for (const server of servers.splice(0)) await server.end();
  });

  it.each(["another build", "another version", "another copy"])(
    "with %s take no tasks",
    { timeout: 200_000 },
    async (kind) => {
      const setup = await cluster();
      const one = await keep(startPeer(setup("one")));
      const bin = kind === "another build" ? anotherBuild() : kind === "another version" ? anotherVersion() : undefined;
      let data = SHIPPED;
      if (kind === "another copy") {
        data = join(folder, "copy");
        cpSync(SHIPPED, data, { recursive: true, preserveTimestamps: true });
        const file = join(data, "isotropic32.h5");
        const bytes = readFileSync(file);
        for (let at = 100_000; at < bytes.length - 4; at += 5_000) bytes.writeFloatLE(3, at - (at % 4));
        const { atime, mtime } = statSync(join(SHIPPED, "isotropic32.h5"));
        writeFileSync(file, bytes);
        utimesSync(file, atime, mtime);
      }
      const two = await keep(startPeer(setup("two", data), bin));
      const locations = await Promise.all([1, 2, 3].map(() => submit(one)));
      for (const location of locations) {
        const job = await ended(two, location);
        expect(job).toMatchObject({ state: "done", problem: null });
        expect(await digest(two, location, job)).toBe(expected);
      }
    },
  );

  it("are started anew by a rolling upgrade, and right", { timeout: 250_000 }, async () => {
    const bin = unfinishedBuild();
    const setup = await cluster();
    const old = [await keep(startPeer(setup("one"), bin)), await keep(startPeer(setup("two"), bin))];
    const location = await submit(old[0] as Running);
    await expect
      .poll(async () => (await look(old[1] as Running, location)).progress, { timeout: 60_000 })
      .toBeGreaterThan(0);
    const fresh: Running[] = [];
    for (const [i, one] of old.entries()) {
      expect(await one.end("SIGTERM")).toBe(0);
      fresh.push(await keep(startPeer(setup(i === 0 ? "one" : "two"))));
    }
    const [at] = fresh as [Running];
    const job = await ended(at, location);
    expect(job).toMatchObject({ state: "done", problem: null });
    // The old build has computed a part, of which nothing is left.
    expect(await digest(at, location, job)).toBe(expected);
    for (const one of fresh) expect(one.log()).not.toContain("a job failed");
  });

  const cases = Object.keys(FORMS).flatMap((form) =>
    ["before its rename", "in the middle", "after its rename"].map((when) => [form, when] as const),
  );
  it.each(cases)("keep a result as %s whose writer is stopped %s", { timeout: 120_000 }, async (form, when) => {
    const setup = await cluster();
    const stopped = join(folder, `stopped-${count++}`);
    const options = `${process.env.NODE_OPTIONS ?? ""} --import ${preload}`;
    const env = { NODE_OPTIONS: options, STOP_AT: when, STOP_FILE: stopped };
    const processes = [
      await keep(startPeer(setup("one"), impatient, env)),
      await keep(startPeer(setup("two"), impatient, env)),
    ];
    const location = await submit(processes[0] as Running, FORMS[form as keyof typeof FORMS]);
    await expect.poll(() => existsSync(stopped), { timeout: 60_000, interval: 50 }).toBe(true);
    const isStopped = ({ child }: Running) => / T /.test(readFileSync(`/proc/${child.pid}/stat`, "utf8"));
    await expect.poll(() => processes.some(isStopped), { timeout: 10_000, interval: 20 }).toBe(true);
    const [writer, other] = isStopped(processes[0] as Running) ? processes : processes.toReversed();
    // The other process takes over.
    const job = await ended(other as Running, location);
    expect(job).toMatchObject({ state: "done", problem: null });
    writer?.child.kill("SIGCONT");
    // The writer goes on, finds that it is too late, and takes further tasks.
    const next = await submit(writer as Running);
    await ended(writer as Running, next);
    for (const at of processes) await digest(at, location, await look(at, location));
    if (form === "bin") expect(job.result?.sha256).toBe(expected);
  });
});
