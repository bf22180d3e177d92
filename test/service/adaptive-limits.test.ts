/** Adaptive steps against the limits of a service: steps really taken count, and such queries are never small. */
import { expect, it } from "vitest";
import { OwnServices } from "../support/service.js";

const own = new OwnServices({ WORKERS: "2" });
const serve = (settings: Readonly<Record<string, string>>) => own.serve(settings);

function post(url: string, { headers, ...more }: RequestInit): Promise<Response> {
  return fetch(url, { method: "POST", headers: { "content-type": "application/json", ...headers }, ...more });
}

interface Asked {
  readonly tolerance: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

/** Asks for the place of a particle two steps of 0.5 later, at most 12 evaluations by the steps that are stated. */
function track(url: string, { tolerance, method = "Lag6", headers = {}, signal }: Asked): Promise<Response> {
  const question = { points: [[1, 2, 3]], time: "0.2:1.2", step: 0.5, last: true, method, integrator: "dopri5" };
  return post(`${url}/api/datasets/isotropic32/paths`, {
    headers,
    body: JSON.stringify({ ...question, tolerance }),
    ...(signal === undefined ? {} : { signal }),
  });
}

it("refuses a tolerance that float64 cannot keep, and names the least one", async () => {
  const url = await serve({});
  for (const tolerance of ["1e-30", "1e-20", "5e-13"]) {
    const answer = await track(url, { tolerance });
    expect([answer.status, await answer.json()]).toMatchObject([
      422,
      { code: "OutOfRange", member: "tolerance", detail: expect.stringMatching(/ask for at least 6\.1e-13\.$/) },
    ]);
  }
  expect((await track(url, { tolerance: "7e-13" })).status).toBe(200);
});

it("counts the steps that particles try against the limit of steps, in calls and in jobs", async () => {
  const url = await serve({ QUERY_PARTICLE_STEPS: "450" });
  const answer = await track(url, { tolerance: "1e-4" });
  const { columns, rows } = (await answer.json()) as { columns: { name: string }[]; rows: number[][] };
  expect(rows[0]?.[columns.findIndex(({ name }) => name === "steps")]).toBeLessThan(150);
  const problem = "The particles need more than 150 steps to keep the tolerance";
  const refused = await track(url, { tolerance: "1e-12" });
  expect([refused.status, await refused.json()]).toMatchObject([
    413,
    { limit: "query.particleSteps", detail: expect.stringContaining(problem) },
  ]);
  // Steps are shortest with "nearest", whose velocity jumps between nodes.
  const job = await track(url, { tolerance: "7e-13", method: "nearest", headers: { prefer: "respond-async" } });
  expect([job.status, job.status === 202 ? "" : await job.text()]).toEqual([202, ""]);
  const events = await (await fetch(`${url}${job.headers.get("location")}/events`)).text();
  const last = JSON.parse(events.trim().split("\n").at(-1)?.slice("data: ".length) ?? "") as object;
  expect(last).toMatchObject({ state: "failed", problem: expect.stringContaining(problem.replace("150", "2400")) });
});

it("leaves slots to one-point queries, however many particles with adaptive steps are asked for", async () => {
  const url = await serve({ ENGINE_INFLIGHT: "8", WORKERS: "1" });
  const leave = new AbortController();
  const crowd = Array.from({ length: 40 }, () =>
    track(url, { tolerance: "7e-13", method: "nearest", signal: leave.signal }).then(
      ({ status }) => status,
      () => 0,
    ),
  );
  const body = JSON.stringify({ time: 0.5, method: "Lag6", points: [[1, 2, 3]] });
  const statuses: number[] = [];
  for (let i = 0; i < 50; i++) statuses.push((await post(`${url}/api/datasets/isotropic32/values`, { body })).status);
  leave.abort();
  expect(new Set(await Promise.all(crowd))).toEqual(new Set([0]));
  expect(new Set(statuses)).toEqual(new Set([200]));
});
