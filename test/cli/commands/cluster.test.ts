/** `fieldprobe cluster` as far as it needs no cluster. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { statusTable } from "../../../src/cli/commands/cluster.js";
import type { PeerReport } from "../../../src/cluster/piece.js";

const BIN = fileURLToPath(new URL("../../../bin/fieldprobe.js", import.meta.url));
const fieldprobe = (...args: string[]) =>
  spawnSync(process.execPath, [BIN, ...args], { encoding: "utf8", env: { PATH: process.env.PATH } });

const MIB = 1024 * 1024;
const status = (more: Partial<PeerReport> = {}): PeerReport => ({
  ...{ id: "1", version: "0.1.0", build: "0123456789".padEnd(64, "a"), draining: false },
  ...{
    threads: 16,
    running: 12,
    progress: 9,
    queued: 3,
    cache: { bytes: 1000 * MIB, used: 250 * MIB, read: 7 },
    datasets: 2,
  },
  ...more,
});

describe("cluster status", () => {
  it("has a line for each process", () => {
    const lines = statusTable([
      ["a:9080", status()],
      ["b:9080", status({ draining: true })],
      ["c:9080", "connection refused"],
    ]).split("\n");
    expect(lines).toEqual([
      "peer    state                     version         busy   queued  cache MiB  datasets",
      "a:9080  ready                     0.1.0 01234567  12/16  3       250/1000   2",
      "b:9080  draining                  0.1.0 01234567  12/16  3       250/1000   2",
      "c:9080  lost: connection refused",
      "",
    ]);
  });

  it("needs peers, fails where one does not answer, and wants keys beyond this machine", () => {
    expect(fieldprobe("cluster", "status")).toMatchObject({
      status: 2,
      stderr: "fieldprobe: cluster status needs --peers\n",
    });
    const lost = fieldprobe("cluster", "status", "--peers", "127.0.0.1:1");
    expect(lost.status).toBe(1);
    expect(lost.stdout).toMatch(/^127\.0\.0\.1:1 {2}lost: /m);
    const open = fieldprobe("cluster", "status", "--peers", "10.0.0.1:9080");
    expect(open.status).toBe(2);
    expect(open.stderr).toMatch(/10\.0\.0\.1:9080 is not a loopback address.*FIELDPROBE_PEER_CERT/);
    expect(fieldprobe("cluster", "status", "--peers", "here").stderr).toMatch(/here is neither an address like/);
  });
});
