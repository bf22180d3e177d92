/** Jobs of the calls of the table: each answers what the call answers, in every form; inputs are points. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningService } from "../../src/main.js";
import { CALL_NAMES, type CallName, callOf, FORMATS } from "../../src/shared/calls.js";
import { scratchFolder } from "../support/scratch.js";
import { serveTestData } from "../support/service.js";

let service: RunningService;
beforeAll(async () => {
  service = await serveTestData([], { STATE: scratchFolder(), EVENTS: "off" }, false);
});
afterAll(() => service.close());

const JSON_TYPE = { "content-type": "application/json" };
const post = (path: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  fetch(`${service.url}/api/${path}`, {
    method: "POST",
    headers: { ...JSON_TYPE, ...headers },
    body: JSON.stringify(body),
  });

/** The response with the result of a job, once it has ended. */
async function resultOf(started: Response): Promise<Response> {
  expect(started.status, await started.clone().text()).toBe(202);
  const location = started.headers.get("location") as string;
  expect(await (await fetch(`${service.url}${location}/events`)).text()).toContain('"state":"done"');
  return fetch(`${service.url}${location}/result`);
}

const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());

describe.each(CALL_NAMES)("a job of %s", (call: CallName) => {
  const members = callOf(call).example;
  // Examples of several quantities and of whole frames do not fit into every form.
  const fitting = callOf(call).formats.filter((form) => !(FORMATS[form].singleQuantity || form === "xmf"));
  // Jobs of values, grid and nodes in every form: jobs.test.ts.
  const forms = [fitting[0], fitting.at(-1)] as const;

  it.each(forms)("has the bytes of the call as %s", async (format = "json") => {
    const path = `datasets/isotropic32/${call}`;
    const job = await resultOf(await post(path, { ...members, format, job: true }));
    expect(job.headers.get("content-type")).toContain(FORMATS[format].type);
    const [ours, direct] = [await bytesOf(job), await bytesOf(await post(path, { ...members, format }))];
    expect(ours.length).toBe(direct.length);
    // Files of HDF5 state when they were written.
    if (format !== "nc" && format !== "h5") expect(ours.equals(direct)).toBe(true);
  });
});

describe.each(CALL_NAMES)("a job of a wrong question of %s", (call: CallName) => {
  const { example, members, kind } = callOf(call);
  const several = call === "flow_map" ? "map, ftle" : "u.x, p";
  const odd: Readonly<Record<string, unknown>>[] = [
    ...[{ what: "nothing" }, { what: "u +" }, { where: "nothing > 0" }, { reduce: [{ moments: "nothing" }] }],
    ...[{ reduce: [{ histogram: "u", bins: 4 }] }, { frame: 99, time: undefined }, { time: 77 }, { time: "77:78" }],
    ...[{ x: "-1e9:1e9" }, { i: "0:99" }, { axis: "x", along: "q" }, { points: "nan,1,2" }, { filter: "box:-1" }],
    ...[{ method: "Lag5" }, { cross: "u,nothing" }, { separations: 99 }, { step: -1 }, { lag: 99 }, { level: 9 }],
    ...(kind === "table"
      ? [{ format: "zarr" }]
      : [
          { what: several, format: "npy" },
          { what: several, format: "f32" },
        ]),
  ];
  const asked = odd.filter((one) => Object.keys(one).every((name) => (members as readonly string[]).includes(name)));

  it.each(asked)("is refused as the call refuses it: %j", async (one) => {
    const path = `datasets/isotropic32/${call}`;
    const refusalOf = async (response: Response) => {
      const { requestId: _, ...problem } = (await response.json()) as { requestId: string };
      return [response.status, problem];
    };
    const direct = await refusalOf(await post(path, { ...example, ...one }));
    expect(await refusalOf(await post(path, { ...example, ...one, job: true }))).toEqual(direct);
    expect(direct).toEqual([expect.toSatisfy((status: number) => status >= 400 && status < 500), expect.anything()]);
  });
});

describe("an input", () => {
  it("is the points of calls and jobs, as when these are listed", async () => {
    const grid = { dataset: "isotropic32", x: "1:3", y: "1:3", z: "1:3", samples: [5, 6, 10] };
    const { id } = (await (await post("inputs", { grid })).json()) as { id: string };
    const asked = { what: "u, Q", time: 0.5 };
    const path = "datasets/isotropic32/values";
    const direct = (await (await post(path, { ...asked, points: { input: id } })).json()) as { rows: number[][] };
    expect(direct.rows).toHaveLength(300);
    const job = await resultOf(await post(path, { ...asked, points: { input: id }, job: true }));
    expect(((await job.json()) as { rows: number[][] }).rows).toEqual(direct.rows);
    const listed = await post(path, { ...asked, points: direct.rows.map((row) => row.slice(0, 3)) });
    expect(((await listed.json()) as { rows: number[][] }).rows).toEqual(direct.rows);
  });

  it("that there is not is refused by name", async () => {
    const response = await post("datasets/isotropic32/values", { points: { input: "nothing" }, time: 0.5 });
    expect(await response.json()).toMatchObject({ status: 400, member: "points.input" });
  });
});

describe("an Idempotency-Key", () => {
  const started = async (what: string, headers: Readonly<Record<string, string>>) => {
    const response = await post(
      "datasets/isotropic32/values",
      { what, points: "1,2,3", time: 0.5, job: true },
      headers,
    );
    return { status: response.status, location: response.headers.get("location"), json: await response.json() };
  };

  it("answers the job of the same question, and refuses another", async () => {
    const key = { "idempotency-key": "one" };
    const first = await started("u", key);
    expect(first.status).toBe(202);
    expect((await started("u", key)).location).toBe(first.location);
    expect(await started("p", key)).toMatchObject({ status: 400, json: { member: "idempotency-key" } });
    expect((await started("u", { "idempotency-key": "two" })).location).not.toBe(first.location);
  });
});
