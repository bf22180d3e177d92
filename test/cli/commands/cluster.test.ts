/** `fieldprobe cluster` and `worker` as far as they need no message server. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { statusTable } from "../../../src/cli/commands/cluster.js";
import type { Heartbeat } from "../../../src/cluster/wire/heartbeat.js";

const BIN = fileURLToPath(new URL("../../../bin/fieldprobe.js", import.meta.url));
const fieldprobe = (...args: string[]) =>
  spawnSync(process.execPath, [BIN, ...args], { encoding: "utf8", env: { PATH: process.env.PATH } });

const MIB = 1024 * 1024;
const beat = (node: string, more: Partial<Heartbeat> = {}): Heartbeat => ({
  version: 1,
  node,
  threads: 16,
  queued: 3,
  running: 12,
  draining: false,
  cache: { capacity: 1000 * MIB, used: 250 * MIB, hits: 300, misses: 100, bytesRead: 7 },
  datasets: [["isotropic32", "0123456789".padEnd(64, "a")]],
  ...more,
});

describe("cluster status", () => {
  it("has a line for each worker", () => {
    const idle = { capacity: MIB, used: 0, hits: 0, misses: 0, bytesRead: 0 };
    const lines = statusTable([beat("a"), beat("b", { cache: idle }), beat("old", { draining: true })], 2).split("\n");
    expect(lines).toEqual([
      "node  state     busy   queued  cache MiB  hits  shards  datasets",
      "a     ready     12/16  3       250/1000   75 %  4096    isotropic32@01234567",
      "b     ready     12/16  3       0/1        -     4096    isotropic32@01234567",
      "old   draining  12/16  3       250/1000   75 %  0       isotropic32@01234567",
      "",
    ]);
  });

  it("needs a server to be named, and says which one it cannot reach", () => {
    expect(fieldprobe("cluster", "status")).toMatchObject({
      status: 2,
      stderr: "fieldprobe: cluster status needs --nats\n",
    });
    const { status, stderr } = fieldprobe("cluster", "status", "--nats", "nats://127.0.0.1:1");
    expect(status).toBe(1);
    expect(stderr).toMatch(/^fieldprobe: no connection to NATS at nats:\/\/127\.0\.0\.1:1: .*\n$/);
    expect(fieldprobe("worker")).toMatchObject({ status: 2, stderr: "fieldprobe: a worker needs --nats\n" });
    expect(fieldprobe("serve", "--role", "gateway").stderr).toMatch(/FIELDPROBE_ROLE=gateway needs FIELDPROBE_NATS/);
  });
});
