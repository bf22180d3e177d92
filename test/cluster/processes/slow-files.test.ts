/** Data on a slow file system, ten milliseconds a call, keep no query on other data waiting. */
import { copyFileSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeCube } from "../../../tools/generate/cube.js";
import { scratchFolder } from "../../support/scratch.js";
import { type Running, startPeer } from "./support.js";

const FILES = 300;
const OPTIONS = "time=0&method=Lag4&time_method=nearest";
/** Loaded before the program: calls on paths below `slow` take ten milliseconds. */
const SLOW_CALLS = `
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
const cell = new Int32Array(new SharedArrayBuffer(4));
for (const name of ["openSync", "statSync", "lstatSync", "readdirSync", "realpathSync"]) {
  const call = fs[name];
  fs[name] = (path, ...rest) => {
    if (String(path).includes("/slow")) Atomics.wait(cell, 0, 0, 10);
    return call(path, ...rest);
  };
  Object.assign(fs[name], call);
}
syncBuiltinESMExports();
`;

describe("a process with data on a slow file system", () => {
  const folder = scratchFolder();
  const [fast, slow] = [join(folder, "fast"), join(folder, "slow")];
  let running: Running;

  beforeAll(async () => {
    for (const path of [join(fast, "cube"), slow]) mkdirSync(path, { recursive: true });
    const cube = { kind: "random", nodes: [16, 16, 16], steps: 1, chunk: [16, 16, 16], filter: "none" } as const;
    await writeCube({ ...cube, seed: 5, name: "cube", folder: join(fast, "cube") }, () => {});
    for (let i = 0; i < FILES; i++) copyFileSync(join(fast, "cube/cube.h5"), join(slow, `other${i}.h5`));
    writeFileSync(join(folder, "slow-calls.mjs"), SLOW_CALLS);
    const options = `${process.env.NODE_OPTIONS ?? ""} --import ${join(folder, "slow-calls.mjs")}`;
    const setup = { data: [fast, slow], cacheMiB: 64 };
    running = await startPeer(setup, undefined, { NODE_OPTIONS: options });
  }, 120_000);
  afterAll(() => running?.end());

  it("answers queries on other data while it scans, with one worker thread", { timeout: 60_000 }, async () => {
    const ask = async (): Promise<void> => {
      const points = Float32Array.from({ length: 300 }, (_, i) => i / 100);
      const response = await fetch(`${running.url}/api/datasets/cube/values?what=u&${OPTIONS}`, {
        method: "POST",
        headers: { "content-type": "application/octet-stream", accept: "application/octet-stream" },
        body: points.buffer,
      });
      expect(response.status).toBe(200);
      await response.arrayBuffer();
    };
    const served = async (): Promise<number> => {
      const { datasets } = (await (await fetch(`${running.url}/api/datasets`)).json()) as {
        datasets: { name: string }[];
      };
      return datasets.filter(({ name }) => name.startsWith("fresh")).length;
    };
    await ask();
    for (let scan = 1; scan <= 2; scan++) {
      const made = join(folder, `made${scan}`);
      mkdirSync(made);
      const cube = { kind: "random", nodes: [8, 8, 8], steps: 1, chunk: [8, 8, 8], filter: "none" } as const;
      await writeCube({ ...cube, seed: 5, name: `fresh${scan}`, folder: made }, () => {});
      renameSync(made, join(fast, `fresh${scan}`));
      running.child.kill("SIGHUP");
      // A look at three hundred files takes three seconds, in which a query that waits for the scan would be the only
      // one.
      let answers = 0;
      for (; (await served()) < scan; answers++) await ask();
      expect(answers).toBeGreaterThan(20);
    }
  });
});
