/** bin/fieldprobe.js says in one line why the program cannot start, before it loads anything. */
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { scratchFolder } from "../support/scratch.js";

const BIN = fileURLToPath(new URL("../../bin/fieldprobe.js", import.meta.url));
const folder = scratchFolder();

const run = (file: string, ...flags: string[]) => spawnSync(process.execPath, [...flags, file], { encoding: "utf8" });

it("names the version of Node that is needed", () => {
  const older = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "18.20.4" } })`;
  const { status, stdout, stderr } = run(BIN, "--import", `data:text/javascript,${encodeURIComponent(older)}`);
  expect([status, stdout]).toEqual([1, ""]);
  expect(stderr).toBe("fieldprobe: Node 20.19 or later is needed, this is 18.20.4\n");
});

it("needs the version that package.json states, and no syntax that older ones lack", () => {
  const { engines } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  const text = readFileSync(BIN, "utf8");
  expect(engines.node).toBe(`>=${JSON.parse(/needed = (\[.*\]);/.exec(text)?.[1] ?? "").join(".")}`);
  for (const one of [text, readFileSync(join(BIN, "..", "program.js"), "utf8")])
    expect(one).not.toMatch(/\?\.|\?\?|#\w+\s*[=(]|^await/m);
});

it("asks for npm ci where nothing has been built, and where packages are missing", () => {
  mkdirSync(join(folder, "bin"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const bin = join(folder, "bin", "fieldprobe.js");
  for (const name of ["fieldprobe.js", "program.js"]) copyFileSync(join(BIN, "..", name), join(folder, "bin", name));
  const unbuilt = run(bin);
  expect([unbuilt.status, unbuilt.stdout]).toEqual([1, ""]);
  expect(unbuilt.stderr).toMatch(/^fieldprobe: the program has not been built: run `npm ci` in .*\n$/);
  mkdirSync(join(folder, "dist", "cli"), { recursive: true });
  writeFileSync(join(folder, "dist", "cli", "index.js"), 'import "a-package-that-is-not-there";');
  const bare = run(bin);
  expect([bare.status, bare.stdout]).toEqual([1, ""]);
  expect(bare.stderr).toMatch(/^fieldprobe: a package is missing: run `npm ci` in .*\n$/);
});

it("says how flags are given to npm start", () => {
  const started = (args: readonly string[], kept: Record<string, string>) => {
    const env = { PATH: process.env.PATH, npm_lifecycle_event: "start", ...kept };
    const { status, stderr } = spawnSync(process.execPath, [BIN, "serve", ...args], {
      cwd: folder,
      encoding: "utf8",
      env,
    });
    expect(status).toBe(2);
    return stderr;
  };
  const advice = "fieldprobe: npm has kept --data for itself; type npm start -- --data /runs\n";
  expect(started([], { npm_config_data: "/runs" })).toBe(advice);
  // npm start --data /runs: npm keeps the flag as one without a value and passes the value on.
  expect(started(["/runs"], { npm_config_data: "true" })).toBe(advice);
  expect(started(["/runs", "80"], { npm_config_data: "true", npm_config_port: "true" })).toMatch(
    /npm start -- --port VALUE --data VALUE\n$/,
  );
  expect(started(["/runs"], {})).toBe("fieldprobe: /runs: there is no such file\n");
});
