/** Each region is cached by its owner, and by one more process when that one has been away; counters show it. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine, Query } from "../../../src/engine/contract/query.js";
import { writeCube } from "../../../tools/generate/cube.js";
import { NO_NATS, useNatsServers } from "../../support/nats.js";
import { scratchFolder } from "../../support/scratch.js";
import { answerOf, randomPoints } from "./queries.js";
import { openMember, type Setup, usable } from "./support.js";

const QUERY = {
  operation: "GetVelocity",
  dataset: "cube",
  time: 0,
  spatialInterpolation: "Lag8",
} as const satisfies Query;
/** Regions of 64 nodes along the edges of 128: eight, two for each of four processes. */
const REGIONS = 8;

describe.skipIf(NO_NATS)("regions of a dataset larger than one cache", () => {
  const folder = scratchFolder();
  const startNats = useNatsServers();
  const points = randomPoints(40_000, 3);
  let setup: Setup;
  let members: Engine[];

  beforeAll(async () => {
    mkdirSync(join(folder, "cube"));
    const cube = { kind: "random", nodes: [128, 128, 128], steps: 1, chunk: [16, 16, 16], filter: "none" } as const;
    await writeCube({ ...cube, seed: 5, name: "cube", folder: join(folder, "cube") }, () => {});
    setup = { nats: (await startNats()).url, data: [folder], cacheMiB: 14 };
    members = await Promise.all([0, 1, 2, 3].map(() => openMember(setup)));
    for (const member of members) await usable(member, 3);
  }, 60_000);
  afterAll(async () => {
    for (const member of members) await member.close(1000);
  });

  /** By region, how many processes hold more than half of its 64 bricks. */
  const holders = (): number[] => {
    const counts = new Array<number>(REGIONS).fill(0);
    for (const member of members) {
      const bricks = new Array<number>(REGIONS).fill(0);
      for (const brick of member.held().flatMap(({ bricks: some }) => some)) {
        const [x, y, z] = [brick % 8, Math.floor(brick / 8) % 8, Math.floor(brick / 64)].map((i) => Math.floor(i / 4));
        const region = ((z as number) * 2 + (y as number)) * 2 + (x as number);
        bricks[region] = (bricks[region] as number) + 1;
      }
      for (const [region, count] of bricks.entries()) if (count > 32) counts[region] = (counts[region] as number) + 1;
    }
    return counts;
  };
  const read = (): number => members.reduce((sum, member) => sum + member.status().bytesRead, 0);

  it("are cached by their owners alone, whoever is asked, and read once", { timeout: 60_000 }, async () => {
    const expected = await answerOf(members[0] as Engine, QUERY, points);
    // Each process reads its two regions, a box of 8 x 4 x 4 bricks, and the bricks that follow them: the row along x
    // closes.
    const brickBytes = 12 * 16 ** 3;
    const first = read();
    expect(first).toBeGreaterThan(8 ** 3 * brickBytes);
    expect(first).toBeLessThanOrEqual(4 * 9 * 5 * 5 * brickBytes);
    for (const member of members) expect((await answerOf(member, QUERY, points)).equals(expected)).toBe(true);
    expect(read()).toBe(first);
    expect(holders()).toEqual(new Array(REGIONS).fill(1));
    for (const member of members) {
      expect(member.regions()).toEqual({ owned: 2, cached: 2 });
      expect(member.status().pieces).toMatchObject({ asked: expect.any(Number), refused: 0, late: 0 });
    }
    const answered = members.reduce((sum, member) => sum + (member.status().pieces?.answered ?? 0), 0);
    expect(answered).toBe(members.reduce((sum, member) => sum + (member.status().pieces?.asked ?? 0), 0));
  });

  it("are cached by two at most when a process goes", { timeout: 60_000 }, async () => {
    const gone = members.pop() as Engine;
    await gone.close(1000);
    const [one] = members as [Engine];
    const expected = await answerOf(one, QUERY, points);
    for (const member of members) await usable(member, 2);
    for (const member of members) expect((await answerOf(member, QUERY, points)).equals(expected)).toBe(true);
    expect(members.reduce((sum, member) => sum + (member.regions()?.owned ?? 0), 0)).toBe(REGIONS);
    for (const count of holders()) expect(count).toBeLessThanOrEqual(2);
  });
});
