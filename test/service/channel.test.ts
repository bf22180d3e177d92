/** A channel-like dataset, y tabulated and ended, answers everything but box filters. */
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine, Query } from "../../src/engine/contract/query.js";
import { openEngine } from "../../src/engine/main/engine.js";
import { loadConfig } from "../../src/shared/config.js";
import { ALL_OPERATIONS, type Operation } from "../../src/shared/operations.js";
import { channelPoints, writeChannel } from "../support/channel.js";
import { generator, runQuery, velocityAt } from "../support/run-query.js";
import { scratchFolder } from "../support/scratch.js";

describe("a channel-like dataset", () => {
  const folder = scratchFolder();
  let engine: Engine;
  beforeAll(async () => {
    await writeChannel(folder);
    const settings = { DATA: folder, WORKERS: "1", CACHE_BYTES: "67108864" };
    engine = await openEngine(loadConfig(settings, {}), pino({ level: "silent" }));
  });
  afterAll(() => engine.close(1000));

  const points = channelPoints(100, generator(6));
  /** Operations at points, and tracking, of velocity and pressure. */
  const asked = ALL_OPERATIONS.filter(({ family, fields }: Operation) => {
    const held = fields.every((field) => field === "velocity" || field === "pressure");
    return held && (family === "points" || family === "track");
  });
  const cases = asked.flatMap(({ name, spatial }) =>
    (spatial as readonly NonNullable<Query["spatialInterpolation"]>[])
      .filter((method) => !/^M\dQ/.test(method) || /^M(1Q4|2Q8)$/.test(method))
      .map((method) => [name, method] as const),
  );
  it.each(cases)("%s %s gives finite numbers from wall to wall", async (operation, method) => {
    const common = { operation, dataset: "channel", spatialInterpolation: method } as const;
    const times = {
      GetPosition: { StartTime: 0.1, dt: 0.05, nt: 4 },
      GetPositionByEnd: { StartTime: 0.1, EndTime: 0.2, dt: 0.03 },
      GetPositionParticleControl: { StartTime: 0.1, EndTime: 0.2 },
      GetPositionInertialParticle: { StartTime: 0.1, EndTime: 0.2, Tp: 0.05 },
    };
    const tracked = times[operation as keyof typeof times];
    const query: Query = { ...common, ...(tracked ?? { time: 0.17, temporalInterpolation: "PCHIP", field: "u" }) };
    const answer = await runQuery(engine, query, points);
    expect(answer.length).toBeGreaterThan(0);
    expect(answer.every(Number.isFinite)).toBe(true);
    if (!tracked) return;
    for (let i = 1; i < answer.length; i += 3) expect(Math.abs(answer[i] as number)).toBeLessThanOrEqual(1);
  });

  it("refuses points beyond a wall, and box filters", async () => {
    const query = velocityAt(0, "Lag4", "None", "channel");
    await expect(runQuery(engine, query, [0, 1.01, 0])).rejects.toThrow(
      "The given y value is greater than the largest",
    );
    const filter = {
      operation: "GetBoxFilterVelocity",
      dataset: "channel",
      time: 0,
      filterlength: 1,
      nlayers: 1,
      temporalInterpolation: "None",
    } as const;
    await expect(runQuery(engine, filter, [0, 0, 0])).rejects.toThrow("Invalid dataset specified!");
  });
});
