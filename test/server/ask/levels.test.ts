/** Levels over HTTP: made by POST, shown by GET, asked by the name of a level. */
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningService } from "../../../src/main.js";
import { scratchFolder } from "../../support/scratch.js";
import { SHIPPED_DATA, serveTestData } from "../../support/service.js";
import { type AnyAnswer, ask, get, jsonOf } from "./ask.js";

const SCRATCH = scratchFolder();
const NAME = "isotropic32";

let service: RunningService;
beforeAll(async () => {
  const data = join(SCRATCH, "data");
  mkdirSync(data);
  cpSync(SHIPPED_DATA, join(data, NAME), { recursive: true });
  service = await serveTestData([], { DATA: data, STATE: join(SCRATCH, "state") });
});
afterAll(() => service.close());

const ofLevels = (method: string, body?: object) =>
  fetch(`${service.url}/api/datasets/${NAME}/levels`, {
    method,
    ...(body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  });

/** Values of all nodes of a frame, [z][y][x]. */
async function nodes(dataset: string, what: string): Promise<number[][][]> {
  const answer: AnyAnswer = await jsonOf(await get(service, dataset, "nodes", { what, frame: 2 }));
  return Object.values(answer.data)[0] as number[][][];
}

describe("levels over HTTP", () => {
  it("says that there are none, and why a quantity can have none", async () => {
    expect(await jsonOf(await ofLevels("GET"))).toEqual({
      ...{ dataset: NAME, what: [], levels: [], making: null, problem: null },
    });
    const refusals = [];
    for (const body of [{ what: "A" }, { what: "filter(u)" }, { what: "omega +" }, { which: "u" }]) {
      const answer = await ofLevels("POST", body);
      const { detail } = (await answer.json()) as { detail: string };
      refusals.push([answer.status, detail.split(":")[0]]);
    }
    expect(refusals).toEqual([
      [400, "what"],
      [400, "what"],
      [400, "what"],
      [400, "which"],
    ]);
  });

  it("are made by POST, with an expression of which each level is the mean", async () => {
    const started = await ofLevels("POST", { what: "norm(omega)" });
    expect(started.status).toBe(202);
    let state: AnyAnswer = await jsonOf(started);
    while (state.making !== null) state = await jsonOf(await ofLevels("GET"));
    expect(state).toMatchObject({ what: ["velocity", "pressure", "norm(omega)"], problem: null });
    expect(state.levels.map((one: AnyAnswer) => one.cubes)).toEqual([
      [16, 16, 16],
      [8, 8, 8],
    ]);
    for (const what of ["p", "norm(omega)"]) {
      const fine = await nodes(NAME, what);
      const level = service.engine.find(`${NAME}@2`);
      const field = what === "p" ? "pressure" : what;
      const evaluation = service.engine.start(
        {
          operation: "GetAnyCutoutWeb",
          dataset: `${NAME}@2`,
          nodes: {
            field,
            frame: 2 + (level?.time.guardBefore ?? 0),
            first: [0, 0, 0],
            count: [8, 8, 8],
            stride: [1, 1, 1],
          },
        },
        {},
      );
      const result = await evaluation.finish();
      const found: number[] = [];
      for await (const part of result.stream ?? result.values) found.push(...part);
      result.release();
      for (const [i, value] of found.entries()) {
        const [x, y, z] = [i % 8, Math.floor(i / 8) % 8, Math.floor(i / 64)];
        let sum = 0;
        for (let n = 0; n < 64; n++)
          sum += fine[4 * z + (n >> 4)]?.[4 * y + ((n >> 2) & 3)]?.[4 * x + (n & 3)] as number;
        expect(value).toBeCloseTo(sum / 64, 4);
      }
    }
  });

  it("are asked by name in other calls, and unknown ones are unknown datasets", async () => {
    const fine = await nodes(NAME, "u.x");
    const coarse = await nodes(`${NAME}@1`, "u.x");
    let sum = 0;
    for (let n = 0; n < 8; n++) sum += fine[n >> 2]?.[(n >> 1) & 1]?.[n & 1] as number;
    expect(coarse[0]?.[0]?.[0]).toBeCloseTo(sum / 8, 5);
    for (const name of [`${NAME}@3`, `${NAME}@0`, "other@1"])
      expect((await ask(service, { dataset: name, call: "nodes", frame: 0 })).status).toBe(404);
  });
});
