/** Group K on the program as it ships: signals, dying workers, damaged and replaced data, errors outside requests. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { array, SNAPSHOT } from "../storage/zarr/numbered-cube.js";
import { expectFault } from "../support/faults.js";
import { useObjectServer } from "../support/object-server.js";
import { type Program, startProgram } from "../support/program.js";
import { scratchFolder } from "../support/scratch.js";
import {
  type Answer,
  call,
  envelope,
  expectAlive,
  expectIdle,
  getVelocity,
  items,
  PATH,
  readRecords,
  VERSIONS,
  type Version,
} from "../support/soap-service.js";
import { knownObjects, type StoreSpec, writeKnownZarr } from "../support/zarr.js";

const DATA = fileURLToPath(new URL("../../data/isotropic32", import.meta.url));
const folder = scratchFolder();
const running = new Set<Program>();
const server = useObjectServer();
afterAll(async () => {
  await Promise.all([...running].map((program) => program.stop("SIGKILL")));
});

let count = 0;
async function start(settings: Record<string, string> = {}, code = ""): Promise<Program> {
  const preload = code === "" ? [] : ["--import", `data:text/javascript,${encodeURIComponent(code)}`];
  const program = await startProgram(
    { DATA, STATE: join(folder, `state-${count++}`), WORKERS: "2", ...settings },
    preload,
  );
  running.add(program);
  return program;
}
const at = (program: Program) => ({ url: `${program.url}${PATH}` });
const metric = async (program: Program, name: string): Promise<number> => {
  const text = await (await fetch(`${program.url}/metrics`)).text();
  return Number(new RegExp(`^fieldprobe_${name} (\\S+)`, "m").exec(text)?.[1]);
};

/** Without the thread of the events, which would run the code of `inBatch` as well. */
const NO_EVENTS = { EVENTS: "off" };

/** Code for the threads of workers: `act` runs inside a batch, where the flag to stop is seen, once a file exists. */
const inBatch = (trigger: string, act: string): string => `
  import { existsSync, unlinkSync } from 'node:fs';
  import { isMainThread } from 'node:worker_threads';
  if (!isMainThread) {
    const load = Atomics.load;
    Atomics.load = (array, index) => {
      let mine = existsSync(${JSON.stringify(trigger)});
      try { if (mine) unlinkSync(${JSON.stringify(trigger)}); } catch { mine = false; }
      if (mine) { ${act} }
      return load(array, index);
    };
  }`;

const POINTS = Array.from({ length: 20_000 }, (_, i): [number, number, number] => [i % 7, (i * 3) % 7, (i * 5) % 7]);
const HEAVY = getVelocity({ points: items(POINTS) })
  .replaceAll("GetVelocity", "GetVelocityHessian")
  .replace("Lag8", "None_Fd8");

describe("ending", { timeout: 60_000 }, () => {
  it("R117: SIGTERM finishes what runs, refuses what is new, and exits 0", async () => {
    const program = await start();
    const answer = call(at(program), "1.1", HEAVY);
    while (!((await metric(program, "points_in_flight")) > 0)) await new Promise((resolve) => setImmediate(resolve));
    const code = program.stop("SIGTERM");
    expect((await answer).status).toBe(200);
    expect(await code).toBe(0);
    await expect(fetch(`${program.url}/healthz`)).rejects.toThrow();
  });

  it("a signal to npm, as a terminal, a container or a unit sends it, ends the service in order", async () => {
    const settings = { DATA, STATE: join(folder, "state-npm"), PORT: "0", EVENTS: "off", WORKERS: "1" };
    const variables = Object.entries(settings).map(([name, value]) => [`FIELDPROBE_${name}`, value]);
    const npm = spawn("npm", ["start"], {
      cwd: fileURLToPath(new URL("../..", import.meta.url)),
      env: { ...process.env, ...Object.fromEntries(variables) },
      stdio: ["ignore", "pipe", "ignore"],
    });
    let said = "";
    npm.stdout.on("data", (text: Buffer) => {
      said += text.toString();
    });
    const url = (): string | undefined => /^fieldprobe listening on (\S+)$/m.exec(said)?.[1];
    await expect.poll(url, { timeout: 50_000 }).toBeDefined();
    npm.kill("SIGTERM");
    expect(await once(npm, "exit")).toEqual([0, null]);
    await expect(fetch(`${url()}/healthz`)).rejects.toThrow();
  });

  it("R118: SIGTERM with a stuck batch exits with a code other than 0 after the grace time", async () => {
    const trigger = join(folder, "stick");
    const program = await start({ SHUTDOWN_GRACE_MS: "300", ...NO_EVENTS }, inBatch(trigger, "for (;;);"));
    writeFileSync(trigger, "");
    const answer = call(at(program), "1.1", getVelocity()).catch(() => null);
    while (await exists(trigger)) await new Promise((resolve) => setImmediate(resolve));
    const since = performance.now();
    expect(await program.stop("SIGTERM")).toBeGreaterThan(0);
    expect(performance.now() - since).toBeLessThan(300 + 3000);
    await answer;
  });

  it("SIGTERM ends the service though a chunk is a pipe that nobody fills, and its host takes requests without an answer", async () => {
    const data = join(folder, "hostile-data");
    const spec: StoreSpec = { version: 2, arrays: { p: array(["z", "y", "x"]), ...SNAPSHOT } };
    writeKnownZarr(join(data, "piped.zarr"), spec);
    await server.put("hung.zarr", knownObjects({ ...spec, consolidated: true }));
    const settings = { DATA: [DATA, data, `${server.url}/hung.zarr`].join(delimiter), SHUTDOWN_GRACE_MS: "300" };
    const program = await start({ ...settings, ...NO_EVENTS });
    const chunks = readdirSync(join(data, "piped.zarr", "p")).filter((name) => !name.startsWith("."));
    for (const chunk of chunks) {
      rmSync(join(data, "piped.zarr", "p", chunk), { recursive: true });
      execFileSync("mkfifo", [join(data, "piped.zarr", "p", chunk)]);
    }
    await server.set({ silent: true });
    const ask = (name: string): Promise<number | null> =>
      fetch(`${program.url}/api/datasets/${name}/values?what=p&time=0&method=nearest&time_method=nearest`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ points: [[1, 1, 1]] }),
      }).then(
        ({ status }) => status,
        () => null,
      );
    expect(await ask("piped")).toBeGreaterThanOrEqual(500);
    const before = server.requests;
    const hung = ask("hung");
    await expect.poll(() => server.requests, { timeout: 30_000 }).toBeGreaterThan(before);
    const since = performance.now();
    await program.stop("SIGTERM");
    expect(performance.now() - since).toBeLessThan(300 + 5000);
    expect(await hung).not.toBe(200);
    await server.set({ silent: false });
  });

  it("SIGTERM ends the service though a job runs and is followed, and callers neither read nor write", async () => {
    const program = await start({ SHUTDOWN_GRACE_MS: "300", QUERY_POINTS: "20000", ...NO_EVENTS });
    const octets = { "content-type": "application/octet-stream", accept: "application/octet-stream" };
    const path = "/api/datasets/isotropic32/values?what=hess(u)&time=0.4&derivatives=Fd8";
    const accepted = await fetch(`${program.url}${path}`, {
      method: "POST",
      headers: { ...octets, prefer: "respond-async" },
      body: Buffer.alloc(12 * 1_000_000),
    });
    const followed = await fetch(`${program.url}${accepted.headers.get("location")}/events`);
    const sockets = [20_000, 3].map((points) => {
      const socket = connect(program.port, "127.0.0.1").on("error", () => undefined);
      socket.write(
        `POST /api/datasets/isotropic32/values?what=a%3Dx&time=0.4 HTTP/1.1\r\nhost: localhost\r\ncontent-type: ${octets.accept}\r\n`,
      );
      socket.write(`accept: application/json\r\ncontent-length: ${12 * 20_000}\r\n\r\n`);
      return Object.assign(socket, { sent: socket.write(Buffer.alloc(12 * points)) });
    });
    await once(sockets[0] as Socket, "readable");
    const since = performance.now();
    await program.stop("SIGTERM");
    expect(performance.now() - since).toBeLessThan(300 + 5000);
    expect(await followed.text()).toContain('"state":"');
    for (const socket of sockets) socket.destroy();
  });

  it("SIGTERM ends a service that starts and waits for a store", async () => {
    await server.put("silent.zarr", knownObjects({ version: 2, arrays: { p: array(["z", "y", "x"]), ...SNAPSHOT } }));
    await server.set({ silent: true });
    const before = server.requests;
    const settings = {
      DATA: `${server.url}/silent.zarr`,
      STATE: join(folder, "state-silent"),
      SHUTDOWN_GRACE_MS: "300",
    };
    const variables = Object.entries({ ...settings, ...NO_EVENTS }).map(([name, value]) => [
      `FIELDPROBE_${name}`,
      value,
    ]);
    const bin = fileURLToPath(new URL("../../bin/fieldprobe.js", import.meta.url));
    const child = spawn(process.execPath, [bin, "serve"], {
      env: { PATH: process.env.PATH, TMPDIR: process.env.TMPDIR, ...Object.fromEntries(variables) },
      stdio: "ignore",
    });
    const ended = once(child, "exit");
    await expect.poll(() => server.requests, { timeout: 20_000 }).toBeGreaterThan(before);
    const since = performance.now();
    child.kill("SIGTERM");
    await ended;
    expect(performance.now() - since).toBeLessThan(300 + 5000);
    await server.set({ silent: false });
  });

  it.each(["throw new Error('outside')", "Promise.reject(new Error('outside'))"])(
    "R121: %s is logged and ends the program with a code other than 0",
    async (act) => {
      const code = `import { isMainThread } from 'node:worker_threads';
        if (isMainThread) process.once('SIGUSR2', () => { ${act} });`;
      const program = await start({}, code);
      expect(await program.stop("SIGUSR2")).toBeGreaterThan(0);
      expect(program.log()).toMatch(/"level":60.*outside/s);
    },
  );
});

async function exists(path: string): Promise<boolean> {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

describe("workers", { timeout: 60_000 }, () => {
  it("a thread of the stores that dies fails at most the queries that wait for it, and is said in one line", async () => {
    const spec: StoreSpec = { version: 2, arrays: { p: array(["z", "y", "x"]), ...SNAPSHOT }, consolidated: true };
    for (const name of ["mortal.zarr", "second.zarr"]) await server.put(name, knownObjects(spec));
    const trigger = join(folder, "stores-die");
    const dies = `
      import { existsSync, unlinkSync } from "node:fs";
      if (process.argv[1]?.endsWith("store-worker.js"))
        setInterval(() => {
          if (!existsSync(${JSON.stringify(trigger)})) return;
          unlinkSync(${JSON.stringify(trigger)});
          process.exit(9);
        }, 5).unref();`;
    const data = [DATA, `${server.url}/mortal.zarr`, `${server.url}/second.zarr`];
    const program = await start({ DATA: data.join(delimiter), ...NO_EVENTS }, dies);
    const ask = async (name: string): Promise<readonly [number, string]> => {
      const options = "what=p&time=0&method=nearest&time_method=nearest";
      const answer = await fetch(`${program.url}/api/datasets/${name}/values?${options}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ points: [[1, 1, 1]] }),
      });
      return [answer.status, JSON.stringify(await answer.json())];
    };
    const die = async (): Promise<void> => {
      writeFileSync(trigger, "");
      while (await exists(trigger)) await new Promise((resolve) => setImmediate(resolve));
    };
    const recovers = () => expect.poll(async () => (await ask("mortal"))[0], { timeout: 20_000 }).toBe(200);
    const told = () => program.log().split("the thread that reads stores has ended").length - 1;
    await server.set({ silent: true });
    let before = server.requests;
    const waiting = Array.from({ length: 8 }, () => ask("mortal"));
    await expect.poll(() => server.requests, { timeout: 30_000 }).toBeGreaterThan(before);
    await die();
    await server.set({ silent: false });
    for (const [status] of await Promise.all(waiting)) expect([200, 503]).toContain(status);
    await recovers();
    expect((await ask("isotropic32"))[0]).toBe(200);
    expect(told()).toBe(1);
    await die();
    await expect.poll(told, { timeout: 20_000 }).toBe(2);
    // Of this one nothing is in memory: the next thread knows by itself which hosts are meant, and that it is the same.
    expect((await ask("second"))[0]).toBe(200);
    await recovers();
    await server.set({ silent: true });
    before = server.requests;
    process.kill(program.pid, "SIGHUP");
    await expect.poll(() => server.requests, { timeout: 20_000 }).toBeGreaterThan(before);
    await die();
    await server.set({ silent: false });
    await expect.poll(told, { timeout: 20_000 }).toBe(3);
    await recovers();
    expect(await program.stop("SIGTERM")).toBe(0);
  });

  it("a cutout whose thread dies is written by another, and one whose thread is stuck does not outlast SIGTERM", async () => {
    const trigger = join(folder, "cutouts-die");
    const dies = `
      import fs from "node:fs";
      import { isMainThread } from "node:worker_threads";
      const write = fs.writeSync;
      if (!isMainThread)
        fs.writeSync = (...given) => {
          if (!fs.existsSync(${JSON.stringify(trigger)})) return write(...given);
          const act = fs.readFileSync(${JSON.stringify(trigger)}, "utf8");
          fs.unlinkSync(${JSON.stringify(trigger)});
          if (act === "die") process.exit(9);
          for (;;);
        };`;
    const program = await start({ ...NO_EVENTS, SHUTDOWN_GRACE_MS: "300" }, dies);
    const cutout = () => fetch(`${program.url}/api/datasets/isotropic32/nodes?what=u,p&frame=0&format=h5`);
    const whole = Buffer.from(await (await cutout()).arrayBuffer());
    writeFileSync(trigger, "die");
    const again = await cutout();
    expect([again.status, await exists(trigger)]).toEqual([200, false]);
    expect(Buffer.from(await again.arrayBuffer()).length).toBe(whole.length);
    expect(Buffer.from(await (await cutout()).arrayBuffer()).length).toBe(whole.length);
    writeFileSync(trigger, "stick");
    const stuck = cutout().catch(() => null);
    while (await exists(trigger)) await new Promise((resolve) => setImmediate(resolve));
    const since = performance.now();
    await program.stop("SIGTERM");
    expect(performance.now() - since).toBeLessThan(300 + 5000);
    expect(program.log()).toContain("a thread does not end: killing the process");
    await stuck;
  });

  it("R114: a worker that dies within a batch fails at most its request, and the pool is back to size", async () => {
    const trigger = join(folder, "die");
    const program = await start(NO_EVENTS, inBatch(trigger, "process.exit(9);"));
    const expected = await call(at(program), "1.1", getVelocity());
    writeFileSync(trigger, "");
    const versions = Array.from({ length: 6 }, (_, i) => VERSIONS[i % 2] as Version);
    const answers = await Promise.all(versions.map((version) => call(at(program), version, getVelocity())));
    expect(await exists(trigger)).toBe(false);
    const failed = answers.filter(({ status }) => status !== 200);
    for (const answer of failed)
      expectFault(answer, versions[answers.indexOf(answer)] as Version, "Server", "Internal");
    expect(failed.length).toBeLessThanOrEqual(1);
    expect(answers).toHaveLength(6);
    const body = ({ text }: Answer): string => text.slice(text.indexOf("<soap:Body>"));
    for (const answer of answers.filter(({ status }) => status === 200)) expect(body(answer)).toBe(body(expected));
    await expect.poll(() => metric(program, "workers")).toBe(2);
    await expectAlive(at(program));
    expect((await call(at(program), "1.1", HEAVY)).status).toBe(200);
  });

  it("a worker that dies while it reads or writes text fails at most its request, and what was lent is given back", async () => {
    const trigger = join(folder, "die-in-text");
    const dies = `
      import { existsSync, readFileSync, unlinkSync } from "node:fs";
      import { isMainThread } from "node:worker_threads";
      const { Instance } = WebAssembly;
      if (!isMainThread)
        WebAssembly.Instance = class {
          constructor(...given) {
            const { exports } = new Instance(...given);
            const mortal = (name) => (...parameters) => {
              if (existsSync(${JSON.stringify(trigger)}) && readFileSync(${JSON.stringify(trigger)}, "utf8") === name) {
                unlinkSync(${JSON.stringify(trigger)});
                process.exit(9);
              }
              return exports[name](...parameters);
            };
            this.exports = { ...exports };
            for (const name of ["readTriples", "writeRecords"]) if (name in exports) this.exports[name] = mortal(name);
          }
        };`;
    const program = await start(NO_EVENTS, dies);
    const request = getVelocity({ points: items([...POINTS, ...POINTS, ...POINTS, ...POINTS]) });
    const ask = async (): Promise<readonly [number, string]> => {
      const answer = await fetch(`${program.url}${PATH}`, {
        method: "POST",
        headers: { "content-type": "text/xml", soapaction: '""' },
        body: envelope("1.1", request),
      });
      return [answer.status, await answer.text().catch(() => "cut")];
    };
    const [, expected] = await ask();
    for (const name of ["readTriples", "writeRecords"]) {
      writeFileSync(trigger, name);
      const answers = await Promise.all([ask(), ask(), ask()]);
      expect(await exists(trigger)).toBe(false);
      expect(answers.filter(([, text]) => text !== expected).length).toBeLessThanOrEqual(1);
      await expect.poll(() => metric(program, "workers")).toBe(2);
      expect(await ask()).toEqual([200, expected]);
    }
    await expectIdle({ url: program.url });
    expect(await program.stop("SIGTERM")).toBe(0);
  });
});

describe("workers that cannot start", { timeout: 60_000 }, () => {
  /** Code for the threads of workers: the SIMD module does not fit while a file exists; each start is told. */
  const misfit = (flag: string): string => `
    import { existsSync as exists } from 'node:fs';
    import { isMainThread as main } from 'node:worker_threads';
    if (!main) {
      const { Instance, LinkError } = WebAssembly;
      WebAssembly.Instance = class {
        constructor(...given) {
          process.stderr.write('thread starts\\n');
          if (exists(${JSON.stringify(flag)})) throw new LinkError('import 0: a function is missing');
          return new Instance(...given);
        }
      };
    }`;
  const starts = (log: string): number => log.split("thread starts").length - 1;

  it("end the program with one clear error when it starts", async () => {
    const flag = join(folder, "misfit-at-start");
    writeFileSync(flag, "");
    const error = String(await start({ EVENTS: "off" }, misfit(flag)).catch((reason: unknown) => reason));
    expect(error).toContain("fieldprobe ended with 1");
    expect(error).toContain("fieldprobe: No worker thread could be started.");
    const reason = "kernels.wasm does not belong to this program, run npm ci: import 0";
    expect(error.split("\n").filter((line) => line.includes(reason))).toHaveLength(1);
    expect(starts(error)).toBeLessThan(12);
  });

  it("are tried a bounded number of times, requests are told so at once, and the service recovers", {
    timeout: 120_000,
  }, async () => {
    const flag = join(folder, "misfit");
    const die = join(folder, "die-once");
    const program = await start(
      { EVENTS: "off", WORKERS: "1" },
      `${misfit(flag)}\n${inBatch(die, "process.exit(9);")}`,
    );
    const expected = await call(at(program), "1.1", getVelocity());
    expect(expected.status).toBe(200);
    writeFileSync(flag, "");
    writeFileSync(die, "");
    // Small batches whose bricks are in the cache need no worker.
    for (let i = 0; i < 30; i++) {
      const answer = await call(at(program), "1.1", getVelocity());
      if (answer.status === 200) expect(answer.text).toBe(expected.text);
      else expectFault(answer, "1.1", "Server", i === 0 ? undefined : "Busy");
    }
    expect(starts(program.log())).toBeLessThan(32);
    const told = program.log().split("worker threads cannot be started").length - 1;
    expect([1, 2]).toContain(told);
    expect([await metric(program, "workers"), await metric(program, "workers_configured")]).toEqual([0, 1]);
    rmSync(flag);
    const answered = async (): Promise<string> => (await call(at(program), "1.1", getVelocity())).text;
    await expect.poll(answered, { timeout: 40_000, interval: 500 }).toBe(expected.text);
  });
});

describe("data", { timeout: 60_000 }, () => {
  it("R115: a file that is truncated or replaced while it is served gives DataError, and other datasets go on", async () => {
    const data = join(folder, "data");
    for (const name of ["good", "cut", "swapped"]) {
      cpSync(DATA, join(data, name), { recursive: true });
      rmSync(join(data, name, "manifest.json"));
      const descriptor = join(data, name, "dataset.json");
      writeFileSync(descriptor, JSON.stringify({ ...JSON.parse(readFileSync(descriptor, "utf8")), name, aliases: [] }));
    }
    writeFileSync(join(data, "no.h5"), "this is not HDF5");
    const program = await start({ DATA: data });
    const file = (name: string): string => join(data, name, "isotropic32.h5");
    const ask = (dataset: string): Promise<Answer> => call(at(program), "1.2", getVelocity({ dataset }));
    const expected = (await ask("good")).text;
    expect((await ask("cut")).text).toBe(expected);
    expect((await ask("swapped")).text).toBe(expected);
    truncateSync(file("cut"), Math.floor(statSync(file("cut")).size / 2));
    rmSync(file("swapped"));
    cpSync(file("good"), file("swapped"));
    utimesSync(file("swapped"), 1, 1);
    const later = (dataset: string, version: (typeof VERSIONS)[number]): Promise<Answer> =>
      call(at(program), version, getVelocity({ dataset, time: "1.3" }));
    const right = (await later("good", "1.2")).text;
    expectFault(await later("cut", "1.1"), "1.1", "Server", "DataError");
    const swapped = await later("swapped", "1.2");
    if (swapped.text !== right) expectFault(swapped, "1.2", "Server", "DataError");
    await expect.poll(async () => (await later("swapped", "1.2")).text, { timeout: 15_000 }).toBe(right);
    for (const version of VERSIONS) expectFault(await later("cut", version), version, "Server", "DataError");
    expect((await ask("good")).text).toBe(expected);
    expect(readRecords(await ask("good"), "GetVelocity")).toHaveLength(1);
    expect(program.log()).toContain("no.h5");
  });
});
