/** The token command: what it writes is what the service takes. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { pino } from "pino";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { watchTokens } from "../../../src/server/http/auth.js";
import { LIMITS } from "../../../src/shared/config.js";
import { fieldprobe, stdoutOf } from "../../support/run-command.js";
import { folderIn, scratchFolder } from "../../support/scratch.js";

const folder = scratchFolder();
const file = join(folder, "tokens.json");

const BIN = fileURLToPath(new URL("../../../bin/fieldprobe.js", import.meta.url));
beforeAll(() => void vi.stubEnv("FIELDPROBE_TOKENS", file));
afterAll(() => void vi.unstubAllEnvs());
const fails = (...words: string[]) => fieldprobe("token", ...words);
const run = (...words: string[]) => stdoutOf("token", ...words);

it("R108: adds, lists and disables tokens; the file holds digests only", async () => {
  const token = (await run("add", "lab")).trim();
  const small = (await run("add", "guest", "--limit", "4096", "--per-minute", "60", "--concurrent", "2")).trim();
  expect(token).toMatch(/^[\w-]{32}$/);
  expect(readFileSync(file, "utf8")).not.toContain(token);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const auth = watchTokens(file, false, LIMITS, pino({ level: "silent" }));
  expect(auth.authorise(token).points).toBe(0);
  expect(auth.authorise(small).points).toBe(4096);
  auth.close();
  await run("disable", "lab");
  expect(await run("list")).toMatch(
    /^lab\t[0-9a-f]{8}\tdisabled\nguest\t[0-9a-f]{8}\t4096 points per call\t60 requests per minute\t2 at a time\n$/,
  );
  const later = watchTokens(file, false, LIMITS, pino({ level: "silent" }));
  expect(() => later.authorise(token)).toThrow("Disabled identification token");
  later.close();
});

it("enables a disabled token with the limits it had, and removes one for good", async () => {
  const own = join(folder, "changing.json");
  const token = (await run("add", "lab", "--limit", "500", "--file", own)).trim();
  const judge = () => {
    const auth = watchTokens(own, false, LIMITS, pino({ level: "silent" }));
    try {
      return auth.authorise(token).points;
    } catch (error) {
      return (error as Error).message.split(" ", 1)[0];
    } finally {
      auth.close();
    }
  };
  expect(await run("disable", "lab", "--file", own)).toMatch(/^lab\t[0-9a-f]{8}\tdisabled\n$/);
  await run("disable", "lab", "--file", own);
  expect(judge()).toBe("Disabled");
  expect(await run("enable", "lab", "--file", own)).toMatch(/^lab\t[0-9a-f]{8}\t500 points per call\n$/);
  await run("enable", "lab", "--file", own);
  expect(judge()).toBe(500);
  expect(await run("remove", "lab", "--file", own)).toBe("");
  expect(judge()).toBe("Invalid");
  expect((await fails("enable", "lab", "--file", own)).stderr).toBe(`fieldprobe: ${own} has no token named lab\n`);
});

it("leaves a token without a limit as it is when it is enabled twice", async () => {
  const own = join(folder, "free.json");
  await run("add", "lab", "--file", own);
  const listed = await run("list", "--file", own);
  expect(listed).toMatch(/^lab\t[0-9a-f]{8}\tany number of points\n$/);
  expect(await run("enable", "lab", "--file", own)).toBe(listed);
  await run("disable", "lab", "--file", own);
  expect(await run("enable", "lab", "--file", own)).toBe(listed);
});

it("rotates a token: the old one is valid for the time that is said, then as one that nobody has", async () => {
  const own = join(folder, "rotating.json");
  const first = (await run("add", "lab", "--limit", "500", "--concurrent", "2", "--file", own)).trim();
  const second = (await run("rotate", "lab", "--keep", "2h", "--file", own)).trim();
  expect((await run("list", "--file", own)).trim().split("\n")).toEqual([
    expect.stringMatching(/^lab\t[0-9a-f]{8}\t500 points per call\t2 at a time\texpires \d{4}-[0-9T:-]+Z$/),
    expect.stringMatching(/^lab\t[0-9a-f]{8}\t500 points per call\t2 at a time$/),
  ]);
  let now = Date.now();
  const auth = watchTokens(own, false, LIMITS, pino({ level: "silent" }), { date: () => now });
  expect([auth.authorise(first).points, auth.authorise(second).points]).toEqual([500, 500]);
  now += 2 * 3_600_000 - 5_000;
  expect(auth.authorise(first).points).toBe(500);
  now += 10_000;
  expect(() => auth.authorise(first)).toThrow("Invalid identification token.");
  expect(auth.authorise(second).points).toBe(500);
  auth.close();
  const third = (await run("rotate", "lab", "--keep", "0m", "--file", own)).trim();
  expect((await run("list", "--file", own)).trim().split("\n")).toHaveLength(1);
  expect(new Set([first, second, third]).size).toBe(3);
});

it("gives a rotated token the expiry of the old one, or the one that is said", async () => {
  const own = join(folder, "dated.json");
  const newest = () => JSON.parse(readFileSync(own, "utf8")).tokens.at(-1);
  await run("add", "lab", "--expires", "30d", "--limit", "7", "--file", own);
  const { expires } = newest();
  await run("rotate", "lab", "--file", own);
  expect(newest()).toMatchObject({ limit: 7, expires });
  await run("rotate", "lab", "--expires", "60d", "--file", own);
  expect(Date.parse(newest().expires) - Date.now()).toBeGreaterThan(59.9 * 86_400_000);
  await run("rotate", "lab", "--expires", "never", "--file", own);
  expect(newest()).not.toHaveProperty("expires");
  writeFileSync(own, JSON.stringify({ version: 1, tokens: [{ ...newest(), expires: "2026-01-01T00:00:00Z" }] }));
  expect(await fails("rotate", "lab", "--file", own)).toMatchObject({
    status: 2,
    stderr: "fieldprobe: lab expired 2026-01-01T00:00:00Z: say how long the new token is valid with --expires\n",
  });
  await run("rotate", "lab", "--expires", "1h", "--file", own);
  expect(newest()).toMatchObject({ name: "lab", limit: 7 });
});

it("shows when a token expires, and that it has", async () => {
  const own = join(folder, "expiring.json");
  await run("add", "soon", "--expires", "30d", "--file", own);
  const { tokens } = JSON.parse(readFileSync(own, "utf8"));
  expect(Date.parse(tokens[0].expires) - Date.now()).toBeGreaterThan(29.9 * 86_400_000);
  writeFileSync(own, JSON.stringify({ version: 1, tokens: [{ ...tokens[0], expires: "2026-01-01T00:00:00Z" }] }));
  expect(await run("list", "--file", own)).toMatch(/\texpired 2026-01-01T00:00:00Z\n$/);
  for (const time of ["30", "-1d", "1w", "soon"]) expect((await fails("add", "x", "--expires", time)).status).toBe(2);
});

it("keeps tokens.json in a folder, for command and service, and leaves nothing else there", async () => {
  const mounted = folderIn(folder, "mounted");
  const token = (await run("add", "lab", "--file", mounted)).trim();
  await run("rotate", "lab", "--file", mounted);
  expect(readdirSync(mounted)).toEqual(["tokens.json"]);
  const auth = watchTokens(mounted, false, LIMITS, pino({ level: "silent" }));
  expect(auth.authorise(token).points).toBe(0);
  auth.close();
});

it("keeps permissions, owner and links of the file that it changes", async () => {
  const [real, link] = [join(folder, "real.json"), join(folder, "link.json")];
  await run("add", "lab", "--file", real);
  chmodSync(real, 0o640);
  if (process.getuid?.() === 0) chownSync(real, 4711, 4712);
  const { uid, gid } = statSync(real);
  symlinkSync(real, link);
  await run("add", "guest", "--file", link);
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  const { mode, ...after } = statSync(real);
  expect([mode & 0o777, after.uid, after.gid]).toEqual([0o640, uid, gid]);
  expect((await run("list", "--file", real)).trim().split("\n")).toHaveLength(2);
});

it("does not replace a disabled token by another one that nobody can use", async () => {
  const own = join(folder, "disabled.json");
  await run("add", "lab", "--file", own);
  await run("disable", "lab", "--file", own);
  expect(await fails("rotate", "lab", "--file", own)).toMatchObject({
    status: 2,
    stderr: expect.stringContaining("lab is disabled: enable it first"),
  });
});

const names = (path: string): string[] =>
  JSON.parse(readFileSync(path, "utf8")).tokens.map((entry: { name: string }) => entry.name);

it("loses no change when commands run at once, and leaves no lock", async () => {
  const shared = folderIn(folder, "shared");
  const wanted = ["a", "b", "c", "d"];
  const adding = (name: string) => promisify(execFile)(process.execPath, [BIN, "token", "add", name, "--file", shared]);
  await Promise.all(wanted.map(adding));
  expect(names(join(shared, "tokens.json")).toSorted()).toEqual(wanted);
  expect(readdirSync(shared)).toEqual(["tokens.json"]);
});

it("waits, and says so in one line, while another process changes the file, and then reads it", async () => {
  const own = join(folder, "waited.json");
  await run("add", "first", "--file", own);
  const other = readFileSync(own, "utf8").replace("first", "second");
  writeFileSync(`${own}.lock`, `${process.pid} ${hostname()}\n`);
  const child = spawn(process.execPath, [BIN, "token", "add", "third", "--file", own], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = once(child, "close");
  const [said] = await once(child.stderr.setEncoding("utf8"), "data");
  expect(said).toBe(`fieldprobe: waiting for process ${process.pid} to change ${own}\n`);
  writeFileSync(own, other);
  rmSync(`${own}.lock`);
  expect(await ended).toEqual([0, null]);
  expect(names(own)).toEqual(["second", "third"]);
});

it("misuse is one line and exit code 2", async () => {
  for (const words of [
    ["add", "guest"],
    ["add", "x", "--limit", "-1"],
    ["add", "x", "--expires", "0m"],
    ["add", "two\nlines"],
    ["add", "\u001b[31mred"],
    ["add", "x", "--per-minute", "0"],
    ["add"],
    ["explode"],
  ]) {
    const { status, stderr } = await fails(...words);
    expect([words, status]).toEqual([words, 2]);
    expect(
      stderr
        .trim()
        .split("\n")
        .filter((line) => /^(fieldprobe|error):/.test(line)).length,
    ).toBeLessThanOrEqual(1);
  }
  expect((await fails("disable", "nobody")).stderr).toBe(`fieldprobe: ${file} has no token named nobody\n`);
  const nowhere = join(folder, "none", "tokens.json");
  expect((await fails("list", "--file", nowhere)).stderr).toMatch(/^fieldprobe: .*: there is no such file; .*\n$/);
  expect((await fails("add", "x", "--file", nowhere)).stderr).toBe(
    `fieldprobe: the token file ${nowhere} cannot be written: no such file or folder\n`,
  );
});

it.each([
  ["{", /^the token file .*tokens\.json cannot be read: .*JSON/],
  ["[]", /^.*tokens\.json is not a token file: .*expected object/],
  [`{"version":1,"tokens":[{"name":"a","sha256":"zz","limit":0}]}`, /: tokens: 0: sha256: must be 64 of 0-9 a-f$/],
])("a token file that holds %s is named in one line by command and service", async (content, message) => {
  writeFileSync(file, content);
  const { status, stderr } = await fails("list");
  expect(status).toBe(2);
  expect(stderr).toMatch(/^fieldprobe: .*\n$/);
  expect(stderr.slice("fieldprobe: ".length, -1)).toMatch(message);
  expect(() => watchTokens(file, false, LIMITS, pino({ level: "silent" }))).toThrow(message);
});
