/** Every door refuses every one of the same questionable files, with the same question. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, describe, expect, it } from "vitest";
import { Cluster } from "../../src/cluster/cluster.js";
import type { Engine } from "../../src/engine/contract/query.js";
import { openEngine } from "../../src/engine/main/engine.js";
import { loadConfig } from "../../src/shared/config.js";
import { writeHdf5 } from "../support/cubes.js";
import { NO_NATS, useNatsServers } from "../support/nats.js";
import { QUESTIONABLE } from "../support/questionable-files.js";
import { fieldprobe } from "../support/run-command.js";
import { runQuery } from "../support/run-query.js";
import { scratchFolder } from "../support/scratch.js";
import { serveTestData } from "../support/service.js";
import { envelope, getVelocity, PATH, TYPES } from "../support/soap-service.js";

const SCRATCH = scratchFolder();
const OUT = scratchFolder();
const ROWS = QUESTIONABLE.map(({ name }) => [name] as const);
const POINTS = join(OUT, "points.csv");
const NONE = { spatialInterpolation: "None", temporalInterpolation: "None" } as const;
const pathOf = (name: string) => join(SCRATCH, `${name}.h5`);

const startNats = useNatsServers();
/** Two processes of a cluster, but for the processes. */
const engines: Engine[] = [];
writeFileSync(POINTS, "1,1,1\n");
for (const { name, write } of QUESTIONABLE) await writeHdf5(pathOf(name), write);
const service = await serveTestData([SCRATCH]);
const servers = NO_NATS === null ? { NATS: (await startNats()).url } : {};
for (let i = 0; i < 2; i++) {
  const config = loadConfig({ DATA: SCRATCH, WORKERS: "1", ...servers }, {});
  const cluster = new Cluster(config, pino({ level: "silent" }));
  engines.push(await openEngine(config, pino({ level: "silent" }), undefined, cluster));
}
afterAll(async () => {
  for (const engine of engines) await engine.close(1000);
  await service.close();
});

const POINT = { time: 0, points: [[1, 1, 1]] };

/** Requests of clients, of the page and of programs for a dataset. */
const REQUESTS: readonly (readonly [door: string, ask: (name: string) => Promise<Response>])[] = [
  ["/api", (name) => post(`/api/datasets/${name}/values`, POINT)],
  ["a job", (name) => post(`/api/datasets/${name}/values`, POINT, { prefer: "respond-async" })],
  ["a list of questions", (name) => post("/api/ask", [{ dataset: name, call: "values", ...POINT }])],
  ["the description that the page begins with", (name) => fetch(`${service.url}/api/datasets/${name}`)],
  ["a plane of the page", (name) => fetch(`${service.url}/api/datasets/${name}/grid?what=norm(u)&time=0&z=1`)],
  ["its nodes", (name) => fetch(`${service.url}/api/datasets/${name}/nodes?i=0:2&j=0:2&k=0:2&format=h5`)],
  ["statistics", (name) => post(`/api/datasets/${name}/statistics`, { time: 0, what: "u.x" })],
  ["the view as a Zarr store", (name) => fetch(`${service.url}/zarr/${name}/zarr.json`)],
  [
    "POST values",
    (name) =>
      fetch(
        `${service.url}/values?dataset=${name}&function=GetVariable&var=velocity&t=0&sint=none&sop=field&tint=none`,
        { method: "POST", body: "1\t1\t1" },
      ),
  ],
  [
    "SOAP",
    (name) =>
      fetch(`${service.url}${PATH}`, {
        method: "POST",
        headers: { "content-type": TYPES["1.1"] },
        body: envelope("1.1", getVelocity({ dataset: name, time: "0" })),
      }),
  ],
];

function post(path: string, body: object, more: Readonly<Record<string, string>> = {}): Promise<Response> {
  const headers = { "content-type": "application/json", ...more };
  return fetch(`${service.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
}

/** The plain text of an answer in JSON or XML. */
const plain = (text: string) => text.replaceAll('\\"', '"').replaceAll("&quot;", '"').replace(/\s+/g, " ");

describe("a questionable file", () => {
  it("is in no list of the service, which the page takes its datasets from, nor of a cluster", async () => {
    const text = await (await fetch(`${service.url}/api/datasets`)).text();
    for (const { name } of QUESTIONABLE) expect(text).not.toContain(`"${name}"`);
    for (const engine of engines) expect(engine.datasets()).toEqual([]);
  });

  it.each(ROWS)("%s waits, and is not served over HTTP", async (name) => {
    for (const [door, ask] of REQUESTS) {
      const answer = await ask(name);
      const text = plain(await answer.text());
      expect([door, door === "a list of questions" ? text.includes('"problem"') : !answer.ok]).toEqual([door, true]);
      expect([door, text]).toEqual([door, expect.stringMatching(/waits until a person confirms/)]);
    }
  });

  it.each(ROWS)("%s waits in both members of a cluster", async (name) => {
    const query = { operation: "GetVelocity", dataset: name, time: 0, ...NONE } as const;
    for (const engine of engines)
      await expect(runQuery(engine, query, [1, 1, 1])).rejects.toThrow(/waits until a person/);
  });

  it.each(ROWS)("%s is refused by the commands", async (name) => {
    const path = pathOf(name);
    // A command that asks starts a service, whose doors are those above.
    const asking = ["values", path, "u", "--time", "0", "--points", POINTS];
    for (const words of [
      ["inspect", path],
      ["convert", path, join(OUT, `${name}-converted`)],
      ["convert", path, join(OUT, `${name}.zarr`)],
      ...(name === ROWS[0]?.[0] ? [asking] : []),
    ]) {
      const { status, stdout, stderr } = await fieldprobe(...words);
      const text = plain(stdout + stderr);
      expect([words, status, text]).toEqual([words, 1, expect.stringMatching(/waits|needs a look|other nodes/)]);
    }
  });

  it("is named by check", async () => {
    const { status, stdout } = await fieldprobe("check", SCRATCH);
    expect(status).toBe(1);
    for (const { name } of QUESTIONABLE)
      expect(stdout).toMatch(new RegExp(`${name}\\.h5: (needs a look|.*other nodes)`));
  });
});
