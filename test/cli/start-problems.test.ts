/** All problems of a start are one report: settings, combinations of settings, and files. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { startProblems } from "../../src/cli/start-problems.js";
import { loadConfig } from "../../src/shared/config.js";
import { folderIn, scratchFolder } from "../support/scratch.js";

const BIN = fileURLToPath(new URL("../../bin/fieldprobe.js", import.meta.url));
const DATA = fileURLToPath(new URL("../../data/isotropic32", import.meta.url));
const folder = scratchFolder();

it("reports bad settings and bad files together, in one line, before anything starts", () => {
  const tokens = join(folder, "tokens.json");
  writeFileSync(tokens, "no\nJSON\n");
  const env = {
    PATH: process.env.PATH,
    FIELDPROBE_PORT: "99999",
    FIELDPROBE_DATA: join(folder, "nowhere"),
    FIELDPROBE_TLS_CERT: join(folder, "cert.pem"),
    FIELDPROBE_TLS_KEY: join(folder, "key.pem"),
    FIELDPROBE_EVENTS_ZONE: "Mars/Olympus",
    FIELDPROBE_TOKENS: tokens,
  };
  const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, "serve"], {
    cwd: folder,
    encoding: "utf8",
    env,
  });
  expect([status, stdout, stderr.trim().split("\n").length]).toEqual([2, "", 1]);
  for (const part of [
    "FIELDPROBE_PORT",
    "FIELDPROBE_DATA",
    "FIELDPROBE_TLS_CERT",
    "FIELDPROBE_TLS_KEY",
    "FIELDPROBE_EVENTS_ZONE",
    "tokens.json",
  ])
    expect(stderr).toContain(part);
});

it("reports a public address without tokens beside other problems, and nothing for good settings", () => {
  const open = startProblems(loadConfig({ HOST: "0.0.0.0", DATA, NATS: "a:4222", NATS_CREDENTIALS: "/none" }, {}));
  expect(open).toHaveLength(2);
  expect(open[0]).toContain("FIELDPROBE_TOKENS");
  expect(open[1]).toContain("FIELDPROBE_NATS_CREDENTIALS: /none: no such file");
  expect(startProblems(loadConfig({ DATA }, {}))).toEqual([]);
});

it("takes a folder with a token file, and names what is wrong with both TLS files and the token file at once", () => {
  const mounted = folderIn(folder, "mounted");
  writeFileSync(join(mounted, "tokens.json"), '{"version": 1, "tokens": []}');
  expect(startProblems(loadConfig({ DATA, TOKENS: mounted }, {}))).toEqual([]);
  const text = join(folder, "text");
  writeFileSync(text, "[\n");
  const settings = { HOST: "0.0.0.0", DATA, TOKENS: text, TLS_CERT: text, TLS_KEY: join(folder, "none.pem") };
  const problems = startProblems(loadConfig(settings, {}));
  expect(problems.map((line) => /^(?:FIELDPROBE_TLS_(?:CERT|KEY)|the token file)/.exec(line)?.[0])).toEqual([
    "FIELDPROBE_TLS_CERT",
    "FIELDPROBE_TLS_KEY",
    "the token file",
  ]);
  for (const line of problems) expect(line).not.toContain("\n");
});
