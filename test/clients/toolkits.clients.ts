/** R102: every toolkit loads the description, calls every operation in each SOAP it speaks, and is told of faults. */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningService } from "../../src/main.js";
import { OLDER_OPERATIONS } from "../../src/shared/operations.js";
import { scratchFolder } from "../support/scratch.js";
import { serveTestData } from "../support/service.js";
import { PATH, VERSIONS, type Version } from "../support/soap-service.js";
import { ARGUMENTS, asLines, type Calls, plainAnswers } from "./arguments.js";
import { type Build, gsoap, jaxws, mono, strongSoap } from "./builds.js";
import { missing, PYTHON, TOOLKITS } from "./packages.js";

const run = promisify(execFile);
const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const script =
  (program: string, name: string): Build =>
  async () => [program, here(name)];

let service: RunningService;
let url: string;
const folder = scratchFolder();
beforeAll(async () => {
  service = await serveTestData([], { STATE: join(folder, "state") });
  url = service.url + PATH;
});
afterAll(() => service.close());

const make = async (build: Build, version: Version): Promise<[string, ...string[]]> => [
  ...(await build(mkdtempSync(join(folder, "client-")), `${url}?wsdl`, version)),
];

/** Compares what a toolkit printed with what a plain request gives; every number is a float32. */
async function check(version: Version, printed: string): Promise<void> {
  const singles = (answers: Record<string, number[][]>) =>
    Object.fromEntries(
      Object.entries(answers).map(([name, records]) => [name, records.map((record) => record.map(Math.fround))]),
    );
  const expected = await plainAnswers(url, version);
  expect(Object.keys(expected)).toHaveLength(OLDER_OPERATIONS.length);
  expect(singles(JSON.parse(printed))).toEqual(singles(expected));
  expect(new Set(Object.values(expected).map((records) => records.length))).toEqual(new Set([2]));
}

const asJson = (calls: Calls): string => JSON.stringify(calls);
/** Perl's hashes have no order: it is told that of the members beside them. */
const asOrderedJson = (calls: Calls): string => {
  const order = Object.fromEntries(Object.entries(calls).map(([name, members]) => [name, Object.keys(members)]));
  return JSON.stringify({ ...calls, order });
};
/** The calls are compiled in; only the dataset is not. */
const asDataset = (calls: Calls): string => String(calls.GetVelocity?.dataset);

describe.each([
  { toolkit: TOOLKITS.zeep, versions: VERSIONS, build: script(PYTHON, "zeep_client.py"), form: asJson },
  { toolkit: TOOLKITS.suds, versions: ["1.1"] as const, build: script(PYTHON, "suds_client.py"), form: asJson },
  { toolkit: TOOLKITS.php, versions: VERSIONS, build: script("php", "php_client.php"), form: asJson },
  { toolkit: TOOLKITS.perl, versions: VERSIONS, build: script("perl", "soap_lite_client.pl"), form: asOrderedJson },
  { toolkit: TOOLKITS.gsoap, versions: VERSIONS, build: gsoap("gsoap_client.c"), form: asDataset },
  { toolkit: TOOLKITS.jaxws, versions: VERSIONS, build: jaxws, form: asLines },
  { toolkit: TOOLKITS.mono, versions: VERSIONS, build: mono, form: asLines },
  { toolkit: TOOLKITS.strong, versions: VERSIONS, build: strongSoap, form: asJson },
])("$toolkit.name", ({ toolkit, versions, build, form }) => {
  const reason = missing(toolkit);
  it.for(versions)("R79, R102: SOAP %s", async (version, { skip }) => {
    skip(reason !== null, reason ?? "");
    const [program, ...words] = await make(build, version);
    const { stdout } = await run(program, [...words, url, version, form(ARGUMENTS)]);
    await check(version, stdout);

    const wrong = { GetVelocity: { ...ARGUMENTS.GetVelocity, dataset: "nowhere" } } as Calls;
    const failure = await run(program, [...words, url, version, form(wrong)]).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: expect.any(Number) });
    const { stdout: out, stderr: err } = failure as { stdout: string; stderr: string };
    expect(out + err).toContain("Invalid set name: nowhere");
  });
});

describe("examples", () => {
  const example = (name: string): string => here(`../../examples/${name}`);
  it.for([
    { name: "python.py", toolkit: TOOLKITS.zeep, build: script(PYTHON, example("python.py")), query: "?wsdl" },
    { name: "php.php", toolkit: TOOLKITS.php, build: script("php", example("php.php")), query: "?wsdl" },
    { name: "perl.pl", toolkit: TOOLKITS.perl, build: script("perl", example("perl.pl")), query: "" },
    { name: "gsoap.c", toolkit: TOOLKITS.gsoap, build: gsoap(example("gsoap.c")), query: "" },
  ])("$name prints the velocity", async ({ toolkit, build, query }, { skip }) => {
    const reason = missing(toolkit);
    skip(reason !== null, reason ?? "");
    const [program, ...words] = await make(build, "1.1");
    const { stdout } = await run(program, [...words, url + query]);
    await checkExample(stdout);
  });

  it("matlab.m finds the velocity in Octave, where curl takes the place of webwrite", async ({ skip }) => {
    const reason = missing(TOOLKITS.octave);
    skip(reason !== null, reason ?? "");
    const program = join(folder, "matlab.m");
    const source = readFileSync(example("matlab.m"), "utf8");
    const [before, after] = source.split("http://127.0.0.1:8080/service/turbulence.asmx");
    expect(after).toBeDefined();
    writeFileSync(program, `${before}${url}${after};\nprintf('%.9g ', velocity);\n`);
    const { stdout } = await run("octave-cli", ["--norc", "--quiet", "--path", here("octave"), program]);
    await checkExample(stdout.trim().split("\n").at(-1) ?? "");
  });
});

/** The first point of the plain answers is the one the examples ask for. */
async function checkExample(printed: string): Promise<void> {
  const expected = (await plainAnswers(url, "1.1")).GetVelocity?.[0];
  expect(printed.trim().split(" ").map(Number).map(Math.fround)).toEqual(expected?.map(Math.fround));
}
