/** R102: every toolkit loads the description and calls every operation, in each SOAP version it speaks. */
import { execFile, execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config.js";
import { type RunningService, startService } from "../../src/main.js";
import { OPERATIONS } from "../../src/operations.js";
import { PATH, VERSIONS, type Version } from "../support/soap-service.js";
import { ARGUMENTS, plainAnswers } from "./arguments.js";
import { missing, PYTHON, TOOLKITS } from "./packages.js";

const run = promisify(execFile);
const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

let service: RunningService;
let url: string;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "fieldprobe-clients-"));
  service = await startService(
    loadConfig({ PORT: "0", STATE: folder, DATA: here("../../data") }, {}),
    pino({ level: "silent" }),
    true,
  );
  url = service.url + PATH;
});
afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true });
});

/** Compares what a toolkit printed with what a plain request gives; every number is a float32. */
async function check(version: Version, printed: string): Promise<void> {
  const singles = (answers: Record<string, number[][]>) =>
    Object.fromEntries(
      Object.entries(answers).map(([name, records]) => [name, records.map((record) => record.map(Math.fround))]),
    );
  const expected = await plainAnswers(url, version);
  expect(Object.keys(expected)).toHaveLength(OPERATIONS.length);
  expect(singles(JSON.parse(printed))).toEqual(singles(expected));
  expect(new Set(Object.values(expected).map((records) => records.length))).toEqual(new Set([2]));
}

const order = Object.fromEntries(Object.entries(ARGUMENTS).map(([name, members]) => [name, Object.keys(members)]));

describe.each([
  { toolkit: TOOLKITS.zeep, versions: VERSIONS, command: [PYTHON, here("zeep_client.py")] },
  { toolkit: TOOLKITS.suds, versions: ["1.1"] as const, command: [PYTHON, here("suds_client.py")] },
  { toolkit: TOOLKITS.php, versions: VERSIONS, command: ["php", here("php_client.php")] },
  { toolkit: TOOLKITS.perl, versions: VERSIONS, command: ["perl", here("soap_lite_client.pl")] },
])("$toolkit.name", ({ toolkit, versions, command }) => {
  const reason = missing(toolkit);
  it.for(versions)("R102: SOAP %s", async (version, { skip }) => {
    skip(reason !== null, reason ?? "");
    const [program, ...words] = command as [string, ...string[]];
    const json = JSON.stringify(toolkit === TOOLKITS.perl ? { ...ARGUMENTS, order } : ARGUMENTS);
    const { stdout } = await run(program, [...words, url, version, json]);
    await check(version, stdout);
  });
});

describe("examples", () => {
  const example = (name: string): string => here(`../../examples/${name}`);
  it.for([
    { name: "python.py", toolkit: TOOLKITS.zeep, command: [PYTHON, example("python.py")], query: "?wsdl" },
    { name: "php.php", toolkit: TOOLKITS.php, command: ["php", example("php.php")], query: "?wsdl" },
    { name: "perl.pl", toolkit: TOOLKITS.perl, command: ["perl", example("perl.pl")], query: "" },
  ])("$name prints the velocity", async ({ toolkit, command, query }, { skip }) => {
    const reason = missing(toolkit);
    skip(reason !== null, reason ?? "");
    const [program, ...words] = command as [string, ...string[]];
    const { stdout } = await run(program, [...words, url + query]);
    await checkExample(stdout);
  });

  it("gsoap.c prints the velocity", async ({ skip }) => {
    const reason = missing(TOOLKITS.gsoap);
    skip(reason !== null, reason ?? "");
    const { stdout } = await run(await compile(example("gsoap.c")), [url]);
    await checkExample(stdout);
  });
});

/** The first point of the plain answers is the one the examples ask for. */
async function checkExample(printed: string): Promise<void> {
  const expected = (await plainAnswers(url, "1.1")).GetVelocity?.[0];
  expect(printed.trim().split(" ").map(Number).map(Math.fround)).toEqual(expected?.map(Math.fround));
}

/** Generates stubs from our description and compiles a client with them. */
async function compile(source: string): Promise<string> {
  const build = mkdtempSync(join(folder, "gsoap-"));
  const inside = { cwd: build, stdio: "ignore" } as const;
  writeFileSync(join(build, "service.wsdl"), await (await fetch(`${url}?wsdl`)).text());
  copyFileSync(source, join(build, "client.c"));
  execFileSync("wsdl2h", ["-c", "-o", "service.h", "service.wsdl"], inside);
  execFileSync("soapcpp2", ["-c", "-C", "-x", "-L", "service.h"], inside);
  execFileSync("gcc", ["-o", "client", "client.c", "soapC.c", "soapClient.c", "-lgsoap"], inside);
  return join(build, "client");
}

describe("gSOAP", () => {
  const reason = missing(TOOLKITS.gsoap);
  it.for(VERSIONS)("R102: SOAP %s", async (version, { skip }) => {
    skip(reason !== null, reason ?? "");
    const { stdout } = await run(await compile(here("gsoap_client.c")), [url, version]);
    await check(version, stdout);
  });
});
