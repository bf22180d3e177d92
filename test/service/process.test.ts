/** The service as a process of its own: start, signals, refusal to start. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { eachScratchFolder } from "../support/scratch.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const BIN = join(ROOT, "bin/fieldprobe.js");
const SHIPPED = join(ROOT, "data/isotropic32");
const TRACK =
  `<GetPosition xmlns="http://turbulence.pha.jhu.edu/"><dataset>isotropic32</dataset><StartTime>0</StartTime><dt>0.0002</dt>` +
  `<nt>10000</nt><spatialInterpolation>Lag8</spatialInterpolation><points>${"<Point3><x>1</x><y>2</y><z>3</z></Point3>".repeat(2000)}</points></GetPosition>`;
const VELOCITY =
  `<GetVelocity xmlns="http://turbulence.pha.jhu.edu/"><dataset>isotropic32</dataset><time>0.1</time><spatialInterpolation>Lag8</spatialInterpolation>` +
  `<temporalInterpolation>PCHIP</temporalInterpolation><points><Point3><x>1</x><y>2</y><z>3</z></Point3></points></GetVelocity>`;

function envelope(request: string): string {
  return `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body>${request}</e:Body></e:Envelope>`;
}

class Program {
  readonly child: ChildProcess;
  stdout = "";
  stderr = "";

  constructor(settings: Readonly<Record<string, string>>, variables: Readonly<Record<string, string>> = {}) {
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("FIELDPROBE_"));
    const given = Object.entries(settings).map(([name, value]) => [`FIELDPROBE_${name}`, value]);
    const env = Object.fromEntries([...inherited, ...given, ...Object.entries(variables)]) as NodeJS.ProcessEnv;
    this.child = spawn(process.execPath, [BIN, "serve"], { env, stdio: ["ignore", "pipe", "pipe"] });
    this.child.stdout?.on("data", (text: Buffer) => {
      this.stdout += text.toString();
      this.child.emit("said");
    });
    this.child.stderr?.on("data", (text: Buffer) => {
      this.stderr += text.toString();
      this.child.emit("said");
    });
  }

  /** Waits until what the process has written matches. */
  async says(stream: "stdout" | "stderr", pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this[stream]);
      if (found) return found;
      await once(this.child, "said");
    }
  }

  async url(): Promise<string> {
    return (await this.says("stdout", /^fieldprobe listening on (http:\S+)$/m))[1] as string;
  }

  async exit(): Promise<number | null> {
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, "exit");
    return this.child.exitCode;
  }
}

describe("the service as a process", { timeout: 60_000 }, () => {
  let folder: string;
  let program: Program | null = null;
  eachScratchFolder((path) => {
    folder = path;
    for (const name of ["data", "tmp"]) mkdirSync(join(folder, name));
  });
  afterEach(async () => {
    program?.child.kill("SIGKILL");
    await program?.exit();
  });
  const start = (settings: Readonly<Record<string, string>> = {}): Program => {
    const base = {
      PORT: "0",
      WORKERS: "1",
      DATA: join(folder, "data"),
      STATE: join(folder, "state"),
      CACHE_BYTES: "67108864",
    };
    program = new Program({ ...base, ...settings }, { TMPDIR: join(folder, "tmp") });
    return program;
  };
  const ask = (url: string, request: string): Promise<Response> =>
    fetch(`${url}/service/turbulence.asmx`, {
      method: "POST",
      headers: { "content-type": "text/xml" },
      body: envelope(request),
    });

  it("starts with bad files as log lines, and finds a dataset that came with SIGHUP", async () => {
    writeFileSync(join(folder, "data", "broken.h5"), "not HDF5");
    const service = start();
    const url = await service.url();
    await service.says("stderr", /broken\.h5/);
    await service.says("stderr", /there is no dataset in .*data/);
    expect(await (await ask(url, VELOCITY)).text()).toContain("Invalid set name: isotropic32");
    cpSync(SHIPPED, join(folder, "data", "isotropic32"), { recursive: true });
    service.child.kill("SIGHUP");
    await service.says("stderr", /dataset loaded/);
    expect((await ask(url, VELOCITY)).status).toBe(200);
    rmSync(join(folder, "data", "isotropic32"), { recursive: true });
    service.child.kill("SIGHUP");
    await service.says("stderr", /dataset removed/);
    expect(await (await ask(url, VELOCITY)).text()).toContain("Invalid set name: isotropic32");
  });

  it.each(["SIGHUP", "SIGTERM"] as const)("takes %s while it starts as it does later", async (signal) => {
    cpSync(SHIPPED, join(folder, "data", "isotropic32"), { recursive: true });
    const service = start();
    await service.says("stderr", /dataset loaded/);
    service.child.kill(signal);
    if (signal === "SIGTERM") expect(await service.exit()).toBe(0);
    else
      expect((await ask(await Promise.race([service.url(), service.exit().then(String)]), VELOCITY)).status).toBe(200);
  });

  it("R117: SIGTERM refuses new connections, lets what runs end, and exits with 0", async () => {
    cpSync(SHIPPED, join(folder, "data", "isotropic32"), { recursive: true });
    const service = start();
    const url = await service.url();
    const running = ask(url, TRACK.replace("<nt>10000</nt>", "<nt>80</nt>"));
    while (!/batches_running 1/.test(await (await fetch(`${url}/metrics`)).text()));
    service.child.kill("SIGTERM");
    await service.says("stderr", /"requests":1,"msg":"shutting down/);
    const answer = await running;
    expect(answer.status).toBe(200);
    expect((await answer.text()).split("<Point3>").length).toBe(2001);
    expect(await service.exit()).toBe(0);
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
    expect(readdirSync(join(folder, "tmp"))).toEqual([]);
  });

  it("R118: SIGTERM with a batch that outlives the grace time exits with another code", async () => {
    cpSync(SHIPPED, join(folder, "data", "isotropic32"), { recursive: true });
    const service = start({ SHUTDOWN_GRACE_MS: "200" });
    const url = await service.url();
    const running = ask(url, TRACK).catch((error: unknown) => error);
    while (!/batches_running 1/.test(await (await fetch(`${url}/metrics`)).text()));
    service.child.kill("SIGTERM");
    expect(await service.exit()).toBeGreaterThan(0);
    await running;
  });

  it("ends at once by a second Ctrl-C, whatever runs", async () => {
    cpSync(SHIPPED, join(folder, "data", "isotropic32"), { recursive: true });
    const service = start({ SHUTDOWN_GRACE_MS: "3600000" });
    const url = await service.url();
    const running = ask(url, TRACK).catch((error: unknown) => error);
    while (!/batches_running 1/.test(await (await fetch(`${url}/metrics`)).text()));
    service.child.kill("SIGINT");
    await service.says("stderr", /shutting down/);
    const impatient = setInterval(() => service.child.kill("SIGINT"), 100);
    await service.exit();
    clearInterval(impatient);
    expect(service.child.signalCode).toBe("SIGINT");
    await running;
  });

  it("lists every problem of its settings at once and exits with 2", async () => {
    const service = start({ PORT: "70000", WORKERS: "none", NO_SUCH: "1", NAMESPACE: "urn:without-slash" });
    expect(await service.exit()).toBe(2);
    for (const name of ["PORT", "WORKERS", "NO_SUCH", "NAMESPACE"])
      expect(service.stderr).toContain(`FIELDPROBE_${name}`);
    expect(service.stderr.trim().split("\n").length).toBe(1);
  });

  it("does not start on a public address with authentication off unless told so", async () => {
    const service = start({ HOST: "0.0.0.0" });
    expect(await service.exit()).toBe(2);
    expect(service.stderr).toContain("FIELDPROBE_ANONYMOUS");
  });

  it("says in one line that its port is taken", async () => {
    const first = start();
    const port = new URL(await first.url()).port;
    const second = new Program({ PORT: port, WORKERS: "1", DATA: join(folder, "data"), STATE: join(folder, "other") });
    expect(await second.exit()).toBe(1);
    expect(second.stderr).toMatch(new RegExp(`^fieldprobe: 127\\.0\\.0\\.1:${port}: the port is in use`, "m"));
    expect(second.stderr).not.toContain("    at ");
  });
});
