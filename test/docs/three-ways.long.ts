/** The questions of docs/questions.md give the same numbers to curl, the command line and Python. */
import { execFile, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningService } from "../../src/main.js";
import { CALL_NAMES, type CallName, callOf } from "../../src/shared/calls.js";
import { SHOWN, shellWords } from "../support/examples.js";
import { fieldprobe } from "../support/run-command.js";
import { scratchFolder } from "../support/scratch.js";
import { serveTestData } from "../support/service.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);
const PYTHON = "/usr/bin/python3";
const noCurl = spawnSync("curl", ["--version"]).status === 0 ? "" : " (skipped: curl is missing)";
const noNumpy = spawnSync(PYTHON, ["-c", "import numpy"]).status === 0 ? "" : " (skipped: Python has no numpy)";

const SECTION = /^### (.+)\n[\s\S]*?```sh\n(curl .+)\n(npx fieldprobe .+)\n```\n```python\n(.+)\n```/gm;
/** The questions of the page: a heading, and a line of each way to ask. */
const EXAMPLES = readFileSync(join(ROOT, "docs/questions.md"), "utf8")
  .split(/^(?=### )/m)
  .flatMap((section) => [...section.matchAll(SECTION)])
  .map(([, title = "", curl = "", command = "", python = ""]) => ({ title, curl, command, python }));

const folder = scratchFolder();
let service: RunningService;
const before = process.cwd();
/** What the lines of Python give, by their order. */
let pythonic: Promise<readonly (readonly (number | null)[])[]>;

/** Runs all lines of Python in one program; an answer is its numbers in the order of JSON. */
const PROGRAM = `
import json, sys, numpy as np, fieldprobe
def listed(answer):
    if isinstance(answer, fieldprobe.Rows):
        return np.stack(list(answer.values()), axis=-1).ravel().tolist()
    if isinstance(answer, fieldprobe.Table):
        return [one for name, value in answer.items() if name not in ("question", "formulas", "units") for one in numbers(value)]
    if isinstance(answer, fieldprobe.Grid):
        return [one for array in answer.arrays.values() for one in array.ravel().tolist()]
    arrays = list(answer.values()) if isinstance(answer, dict) else [answer]
    return np.hstack([array.reshape(len(array), -1) for array in arrays]).ravel().tolist()
def numbers(value):
    if isinstance(value, dict):
        return [one for part in value.values() for one in numbers(part)]
    if isinstance(value, (list, np.ndarray)):
        return [one for part in value for one in numbers(part)]
    return [] if value is None or isinstance(value, (str, bool, np.bool_)) or value != value else [float(value)]
fp = fieldprobe.connect(sys.argv[1])
ds = fp["isotropic64"]
print(json.dumps([[None if one != one else one for one in listed(eval(line))] for line in json.load(sys.stdin)]))
`;

beforeAll(async () => {
  process.chdir(folder);
  writeFileSync("p.csv", "x,y,z\n1,2,3\n4,5,6\n0.5,0.25,6.25\n");
  service = await serveTestData([], { DATA: join(ROOT, "data"), EVENTS: "off", STATE: join(folder, "state") });
  pythonic = noNumpy === "" ? askPython() : Promise.resolve([]);
}, 60_000);
afterAll(async () => {
  process.chdir(before);
  await service.close();
});

async function askPython(): Promise<readonly (readonly (number | null)[])[]> {
  const env = { ...process.env, PYTHONPATH: join(ROOT, "python/src"), PYTHONDONTWRITEBYTECODE: "1" };
  const asked = run(PYTHON, ["-c", PROGRAM, service.url], { env, maxBuffer: 2 ** 28 });
  asked.child.stdin?.end(JSON.stringify(EXAMPLES.map(({ python }) => python)));
  return JSON.parse((await asked).stdout);
}

type Answer = Readonly<Record<string, unknown>>;

/** A line of curl as it is typed, but for JSON. */
async function askCurl(line: string): Promise<Answer> {
  const [, ...words] = shellWords(line.replaceAll(SHOWN, service.url).replace(/&format=\w+/, ""));
  const json = words.filter((word, i) => !word.startsWith("format=") && !words[i + 1]?.startsWith("format="));
  const { stdout } = await run("curl", json, { maxBuffer: 2 ** 28 });
  return JSON.parse(stdout);
}

/** A line of the command line, but for JSON from the running service. */
async function askCommandLine(line: string): Promise<{ call: CallName; answer: Answer }> {
  const [, , name = "", ...words] = shellWords(line.replaceAll(/ --out \S+/g, ""));
  const call = name.replaceAll("-", "_") as CallName;
  const { status, stdout, stderr } = await fieldprobe(name, ...words, "--format", "json", "--url", service.url);
  expect([status, stderr]).toEqual([0, ""]);
  return { call, answer: JSON.parse(stdout) };
}

/** The numbers of an answer: of values without the points, of tables without what the numbers are called. */
function numbersOf(call: CallName, answer: Answer): readonly (number | null)[] {
  const { columns, rows, data, question: _, formulas: __, units: ___, ...table } = answer;
  if (rows !== undefined) {
    const lead =
      call === "values" ? (columns as { name: string }[]).filter(({ name }) => /^[xyzt]$/.test(name)).length : 0;
    return (rows as (number | null)[][]).flatMap((row) => row.slice(lead));
  }
  if (data !== undefined) return flat(data);
  return flat(table).filter((one) => one !== null);
}

function flat(value: unknown): (number | null)[] {
  if (typeof value === "number" || value === null) return [value];
  return typeof value === "object" ? Object.values(value).flatMap(flat) : [];
}

const rounded = (numbers: readonly (number | null)[]) => numbers.map((one) => (one === null ? null : Math.fround(one)));

it("docs/questions.md asks every call", () => {
  const calls = new Set(EXAMPLES.map(({ command }) => shellWords(command)[2]));
  expect(EXAMPLES.length).toBeGreaterThanOrEqual(20);
  expect(calls.size).toBe(CALL_NAMES.length);
});

describe(`curl, command line and Python${noCurl}${noNumpy}`, () => {
  it.each(EXAMPLES.map((example, i) => ({ ...example, i })))("$title", { timeout: 120_000 }, async (example) => {
    const { call, answer } = await askCommandLine(example.command);
    const numbers = numbersOf(call, answer);
    expect(numbers.length).toBeGreaterThan(0);
    if (noCurl === "") expect(await askCurl(example.curl)).toEqual(answer);
    if (noNumpy !== "") return;
    const found = (await pythonic)[example.i] ?? [];
    if (callOf(call).kind === "table") expect(found).toEqual(numbers);
    else expect(rounded(found)).toEqual(rounded(numbers));
  });
});
