/** Lists of times: what they cost, what they hold back, and which version of a dataset they tell of. */
import { setImmediate as immediate } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import type { Engine, Query, StartControl } from "../../../src/engine/contract/query.js";
import type { Dataset } from "../../../src/storage/dataset/dataset.js";
import { FakeEngine } from "../../support/fake-engine.js";
import { serveApi } from "./serve-api.js";

const OPTIONS = { spatialInterpolation: "None", temporalInterpolation: "None" };
const URL = "/api/datasets/isotropic32/GetVelocity";

/** An engine with one dataset, whose version changes whenever a query starts. */
class ChangingEngine extends FakeEngine {
  version = 0;
  /** Versions that queries were told to ask, by the digests of the datasets they were given. */
  readonly asked: (string | undefined)[] = [];
  running = 0;
  mostRunning = 0;

  override find(): undefined {
    const time = { count: 4, origin: 0, step: 0.2, values: null, guardBefore: 0, guardAfter: 0 };
    return {
      name: "isotropic32",
      digest: `version ${this.version}`,
      assumed: [],
      files: [],
      time,
    } as unknown as undefined;
  }

  override start(query: Query, control: StartControl): ReturnType<Engine["start"]> {
    this.asked.push((control.dataset as Dataset | undefined)?.digest);
    this.version++;
    this.mostRunning = Math.max(this.mostRunning, ++this.running);
    const evaluation = super.start(query, control);
    return { ...evaluation, finish: () => evaluation.finish().finally(() => this.running--) };
  }
}

let app: Awaited<ReturnType<typeof serveApi>> | null = null;
afterEach(async () => {
  await app?.close();
  app = null;
});

async function ask(engine: Engine, body: object, settings: Record<string, string> = {}) {
  app = await serveApi(engine, { settings });
  return app.inject({ method: "POST", url: URL, headers: { "content-type": "application/json" }, payload: body });
}

describe("a list of times", () => {
  it("asks one version of its dataset, and its label names that one", async () => {
    const engine = new ChangingEngine();
    const answer = await ask(engine, { ...OPTIONS, time: [0, 0.1, 0.2, 0.3, 0.4, 0.5], points: [[1, 2, 3]] });
    expect(answer.statusCode).toBe(200);
    expect(new Set(engine.asked)).toEqual(new Set(["version 0"]));
    expect(engine.asked).toHaveLength(6);
    expect(answer.json().manifest).toBe("version 0");
  });

  it("gives each time the numbers it has alone, wherever points and times stand in the body", async () => {
    const points = Array.from({ length: 30 }, (_, i) => [i, 2, 3]);
    const alone = (await ask(new ChangingEngine(), { ...OPTIONS, time: 0.1, points })).json().values;
    await app?.close();
    const before = (await ask(new ChangingEngine(), { points, ...OPTIONS, time: [0.1, 0.2, 0.1] })).json();
    expect(before.shape).toEqual([3, 30, 3]);
    expect(before.values).toEqual([alone, alone, alone]);
    await app?.close();
    const behind = (await ask(new ChangingEngine(), { ...OPTIONS, time: [0.1, 0.2, 0.1], points })).json();
    expect(behind.values).toEqual(before.values);
  });

  it.each([
    ["with points", 6, 2],
    ["without points", 11, 0],
  ])("counts against the limit on points, %s", async (_title, times, count) => {
    const body = { ...OPTIONS, time: Array(times).fill(0), points: Array(count).fill([1, 2, 3]) };
    const answer = await ask(new ChangingEngine({ points: 10 }), body);
    expect(answer.statusCode).toBe(413);
    expect(answer.json()).toMatchObject({ code: "LimitExceeded", limit: "query.points" });
  });

  it("starts a few queries at once, lets others have the event loop and gives every buffer back", async () => {
    const engine = new ChangingEngine();
    let turns = 0;
    let over = false;
    const watch = async (): Promise<void> => {
      for (; !over; turns++) await immediate();
    };
    const watching = watch();
    const answer = await ask(engine, { ...OPTIONS, time: Array(20_000).fill(0), points: [] });
    over = true;
    await watching;
    expect(answer.json().shape).toEqual([20_000, 0, 3]);
    expect(engine.asked).toHaveLength(20_000);
    expect(engine.mostRunning).toBeLessThanOrEqual(4);
    expect(engine.open).toBe(0);
    // One slice of 8 ms treats some hundreds of these queries; a loop that never gave way would see two or three turns.
    expect(turns).toBeGreaterThan(15);
  });
});
