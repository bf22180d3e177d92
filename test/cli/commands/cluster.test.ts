/** `fieldprobe cluster status`: its table, what it compares, and the servers that it asks. */
import { describe, expect, it } from "vitest";
import { comparison, statusTable } from "../../../src/cli/commands/cluster.js";
import type { Announcement } from "../../../src/cluster/members.js";
import { NO_NATS, useNatsServers } from "../../support/nats.js";
import { fieldprobe } from "../../support/run-command.js";

const MIB = 1024 * 1024;
const [SAME, OTHER] = ["a".repeat(32), "b".repeat(32)] as const;
const said = (name: string, more: Partial<Announcement> = {}): Announcement => ({
  ...{ id: "0".repeat(16), name, since: 1, rank: 0, state: "ready", version: "0.1.0", build: "0123456789abcdef" },
  ...{ revision: 1, generations: { cube: SAME, flow: SAME }, unverified: [] },
  ...{ cores: 16, threads: 16, running: 12, queued: 3, datasets: 2, progress: 9 },
  cache: { bytes: 1000 * MIB, used: 250 * MIB, read: 7 },
  pieces: { own: 1, asked: 10, refused: 0, late: 0, answered: 10 },
  ...more,
});

describe("cluster status", () => {
  it("has a line for each process", () => {
    expect(statusTable([said("a/1"), said("node-b/22", { state: "draining", rank: null })]).split("\n")).toEqual([
      "process    rank  state     version         busy   queued  cache MiB  datasets",
      "a/1        0     ready     0.1.0 01234567  12/16  3       250/1000   2",
      "node-b/22  -     draining  0.1.0 01234567  12/16  3       250/1000   2",
      "",
    ]);
  });

  it("says who shares what with whom, and which copies are unverified", () => {
    const others = said("b/2", { generations: { cube: SAME }, unverified: ["cube"] });
    expect(comparison([said("a/1"), others])).toEqual({
      lines: [
        "shared by a/1, b/2: cube",
        "shared by a/1: flow",
        "b/2 has not compared 1 of its datasets yet",
        "unverified copy on b/2: cube (fieldprobe check compares all bytes)",
      ],
      problems: [],
    });
  });

  it("fails for other bytes, other code, pieces that are all refused, and if no process answers", () => {
    const problemsOf = (...all: Announcement[]) => comparison(all).problems;
    expect(problemsOf(said("a/1"), said("b/2", { generations: { cube: OTHER, flow: SAME } }))).toEqual([
      "cube is not the same everywhere: a/1 | b/2",
    ]);
    expect(problemsOf(said("a/1"), said("b/2", { build: "other" }))).toEqual([
      "not all processes run the same code with the same libraries",
    ]);
    const pieces = { own: 0, asked: 4, refused: 4, late: 0, answered: 0 };
    expect(problemsOf(said("a/1", { pieces }), said("b/2", { pieces }))).toEqual([
      "all 8 pieces of queries were refused",
    ]);
    expect(problemsOf()).toEqual(["no process answers"]);
  });

  it("needs servers that it can reach", async () => {
    expect(await fieldprobe("cluster", "status")).toMatchObject({
      status: 2,
      stderr: "fieldprobe: cluster status needs --nats\n",
    });
    const lost = await fieldprobe("cluster", "status", "--nats", "127.0.0.1:1");
    expect([lost.status, lost.stderr]).toEqual([1, "fieldprobe: NATS (127.0.0.1:1): connection refused\n"]);
    const wrong = await fieldprobe("cluster", "status", "--nats", "http://here");
    expect([wrong.status, wrong.stderr]).toEqual([
      2,
      "fieldprobe: configuration: FIELDPROBE_NATS: here is not an address like nats://10.0.0.1:4222\n",
    ]);
  });

  describe.skipIf(NO_NATS)("beside a NATS server", () => {
    const startNats = useNatsServers();

    it("fails as long as there is no process", { timeout: 30_000 }, async () => {
      const { url } = await startNats();
      const { status, stdout } = await fieldprobe("cluster", "status", "--nats", url);
      expect([status, stdout]).toEqual([1, expect.stringContaining("process  rank  state")]);
    });
  });
});
