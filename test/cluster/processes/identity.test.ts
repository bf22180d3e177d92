/** Answers of a cluster are those of one process, bit for bit. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine, Query } from "../../../src/engine/contract/query.js";
import { writeCube } from "../../../tools/generate/cube.js";
import { ask } from "../../server/ask/ask.js";
import { channelPoints, writeChannel } from "../../support/channel.js";
import { NO_NATS, useNatsServers } from "../../support/nats.js";
import { generator } from "../../support/run-query.js";
import { scratchFolder } from "../../support/scratch.js";
import { answerOf, everyOperation, randomPoints } from "./queries.js";
import { openAlone, openMember, type Running, type Setup, SHIPPED, startPeer, usable } from "./support.js";

/** Small caches, so that even one point is asked of the owner of its region. */
const SMALL = 8;

/** Every reduction, on whole frames, over seams and with strides, by profiles and frames, and on stretched axes. */
const ANALYSES: readonly (readonly [call: string, body: object])[] = [
  [
    "mhd/statistics",
    {
      frame: "all",
      reduce: [
        { moments: "ddot(S,S)" },
        { covariance: ["u.x", "magnetic.x", "p"] },
        { histogram: "u.x", bins: 20, range: "auto" },
        {
          joint: ["R", "Q"],
          bins: [16, 16],
          range: [
            [-8, 8],
            [-8, 8],
          ],
        },
        { conditional: "2*ddot(S,S)", on: "norm(omega)", bins: 12, range: [0, 12] },
        { extremes: "p", count: 5, apart: 0.7 },
      ],
    },
  ],
  [
    "mhd/statistics",
    {
      ...{ frame: [1, 0], over: ["x", "y"], i: "61:148:3", j: "3:95:2", k: "90:137" },
      reduce: [{ moments: "omega.z" }, { histogram: "u.y", bins: 9, range: [-2, 2] }],
    },
  ],
  [
    "mixing/statistics",
    { frame: [0], over: ["x", "z", "t"], reduce: [{ moments: "density" }, { moments: "1/0*u.x" }] },
  ],
  [
    "channel/statistics",
    { frame: "all", over: ["x", "z"], reduce: [{ moments: "u.x" }, { covariance: ["u.x", "u.y"] }] },
  ],
  [
    "channel/statistics",
    {
      frame: "all",
      reduce: [
        { histogram: "u.x", bins: 30, range: "auto" },
        { joint: ["u.x", "u.y"], bins: [9, 7], range: "auto" },
        { conditional: "u.y", on: "u.x", bins: 8, range: "auto" },
      ],
    },
  ],
  ["channel/structure_functions", { frame: "all", axis: ["x", "z"], separations: [1, 5] }],
  ["channel/structures", { frame: [0], where: "u.x > rms(u.x)" }],
  ["mhd/structure_functions", { frame: [0, 2], what: ["u"], separations: [1, 2, 5, 20] }],
  ["mixing/structure_functions", { frame: [0], what: ["density"], orders: [2, 4], separations: [1, 7] }],
  [
    "mhd/structures",
    { frame: [2], where: "norm(omega) > 1.5 * rms(norm(omega))", connectivity: 18, what: ["2*ddot(S,S)"] },
  ],
  ["mhd/structures", { frame: [2], where: "p < -0.5", labels: true }],
];

/** Whole questions: means in expressions, series in time, distributions at places, symmetries, errors, events, paths. */
const QUESTIONS: readonly object[] = [
  { dataset: "mhd", call: "statistics", what: "fluc(u.x)*fluc(u.y), d(mean(u.x*p), y)", frame: "all", over: "x,z,t" },
  { dataset: "mhd", call: "statistics", what: "ddt(u.x*p)", frame: "all", by: 1, over: "x,y,t" },
  { dataset: "mhd", call: "statistics", reduce: [{ quantiles: "u.x", at: [0.05, 0.5] }], frame: [0, 2], over: "x,z,t" },
  {
    ...{ dataset: "mhd", call: "statistics", frame: 1 },
    reduce: [{ conditional: "p", on: ["u.x", "R"], bins: [6, 5], range: "auto" }],
  },
  {
    dataset: "channel",
    call: "statistics",
    what: "u.x*u.y",
    frame: "all",
    over: "x,z,t",
    fold: "y:mirror",
    weights: "nodes",
  },
  { dataset: "channel", call: "spectrum", kind: "frequency", what: "u", frame: "all", segment: 2, over: "x,z" },
  {
    dataset: "mhd",
    call: "spectrum",
    kind: "wavenumber_frequency",
    what: "u.x",
    axis: "x",
    frame: "all",
    over: "x,y,z",
  },
  { dataset: "mhd", call: "spectrum", kind: "line", cross: "u.x,p", frame: 2, over: "x,z,t" },
  { dataset: "mhd", call: "correlation", what: "u.y", axis: "x", frame: 2, over: "x,z,t" },
  { dataset: "mhd", call: "around", where: "Q > 4*rms(Q)", what: "p", lag: "2,0,1", frame: 3 },
  {
    dataset: "mhd",
    call: "paths",
    points: [
      [1, 2, 3],
      [4, 5, 6],
    ],
    time: "0.1:2",
    step: 0.1,
    frozen: true,
    what: "p",
  },
  {
    dataset: "mhd",
    call: "dispersion",
    points: { random: 20, seed: 2 },
    time: "0.1:0.2",
    step: 0.02,
    increments: [2, 4],
  },
  { dataset: "mhd", call: "structures", where: "norm(omega) > 2*rms(norm(omega))", frame: [1, 2], least: 4 },
  {
    ...{ dataset: "mhd", call: "paths", points: { random: 200, seed: 2 }, time: "0.1:0.2", step: 0.01, what: "p" },
    ...{ diffusivity: 0.05, seed: 3 },
  },
  {
    ...{ dataset: "channel", call: "dispersion", points: { random: 200, seed: 4 }, time: "0.2:0.1", step: 0.01 },
    ...{ diffusivity: 0.2, seed: 5, integrator: "heun" },
  },
  {
    ...{ dataset: "channel", call: "paths", points: { random: 100, seed: 4 }, time: "0.1:0.2", step: 0.01 },
    ...{ diffusivity: 0.2, walls: "stop", last: true },
  },
];

describe.skipIf(NO_NATS)("a cluster answers as one process does", () => {
  const folder = scratchFolder();
  const processes: Running[] = [];
  const startNats = useNatsServers();
  let alone: Engine;
  let member: Engine;
  let setup: Setup;
  let single: Running | null = null;

  beforeAll(async () => {
    const cube = { nodes: [96, 96, 96], steps: 4, chunk: [8, 8, 8], filter: "none", seed: 5 } as const;
    for (const kind of ["mhd", "mixing"] as const) {
      mkdirSync(join(folder, kind));
      await writeCube({ ...cube, kind, name: kind, folder: join(folder, kind) }, () => {});
    }
    mkdirSync(join(folder, "channel"));
    await writeChannel(join(folder, "channel"));
    setup = { nats: (await startNats()).url, data: [folder, SHIPPED], cacheMiB: SMALL };
    alone = await openAlone(setup);
    member = await openMember(setup);
  }, 120_000);
  afterAll(async () => {
    await member?.close(1000);
    await alone?.close(1000);
    for (const running of processes) await running.end();
    await single?.end();
  });

  /** The answer, or the words of the refusal. */
  const outcome = (engine: Engine, ...asked: [Query, Float32Array, Float32Array]): Promise<Buffer> =>
    answerOf(engine, ...asked).catch((error: Error) => Buffer.from(error.message));
  const same = async (query: Query, points: Float32Array, velocities: Float32Array): Promise<void> => {
    const expected = await outcome(alone, query, points, velocities);
    const found = await outcome(member, query, points, velocities);
    if (!found.equals(expected))
      throw new Error(`other bytes: ${found.subarray(0, 100)}, not ${expected.subarray(0, 100)}`);
  };

  /** The answers of a service to analyses, and the pieces that it has asked others for. */
  const analysesOf = async ({ url }: Running): Promise<{ answers: readonly string[]; asked: number }> => {
    const answers: string[] = [];
    for (const [call, body] of ANALYSES) {
      const headers = { "content-type": "application/json" };
      const answer = await fetch(`${url}/api/datasets/${call}`, {
        method: "POST",
        headers,
        body: JSON.stringify(body),
      });
      answers.push(`${answer.status} ${Buffer.from(await answer.arrayBuffer()).toString("latin1")}`);
    }
    for (const question of QUESTIONS) {
      const answer = await ask({ url }, question);
      answers.push(`${answer.status} ${await answer.text()}`);
    }
    const metrics = await (await fetch(`${url}/metrics`)).text();
    return { answers, asked: Number(/fieldprobe_pieces_total\{[^}]*asked[^}]*\} (\d+)/.exec(metrics)?.[1] ?? 0) };
  };

  /** Starts the processes that a cluster of so many lacks. */
  const grow = async (count: number): Promise<void> => {
    while (processes.length + 1 < count) processes.push(await startPeer(setup));
    await usable(member, count - 1);
  };

  const everyAnalysis = async (count: number): Promise<void> => {
    await grow(count);
    const [first] = processes as [Running];
    const { nats: _, ...apart } = setup;
    single ??= await startPeer(apart);
    const [one, several] = [await analysesOf(single), await analysesOf(first)];
    for (const [i, about] of [...ANALYSES, ...QUESTIONS].entries())
      expect(several.answers[i], JSON.stringify(about)).toBe(one.answers[i]);
    expect(one.answers.filter((answer) => !answer.startsWith("200 "))).toEqual([]);
    expect(several.asked).toBeGreaterThan(ANALYSES.length / 2);
  };

  const everyQuery = async (count: number): Promise<void> => {
    await grow(count);
    const asked = member.status().pieces?.asked ?? 0;
    let queries = 0;
    for (const dataset of alone.datasets()) {
      for (const { title, query, points } of everyOperation(dataset)) {
        const walls = dataset.name === "channel";
        const positions = walls ? channelPoints(points, generator(7)) : randomPoints(points, 7);
        const moving =
          query.Tp !== undefined && query.recordEvery !== undefined ? randomPoints(points, 8, 1) : new Float32Array(0);
        await same(query, positions, moving).catch((error: Error) => {
          throw new Error(`${title} of ${dataset.name}: ${error.message}`, { cause: error });
        });
        queries++;
      }
    }
    expect(queries).toBeGreaterThan(100);
    // Of two processes one owns half of the regions, and small datasets have few.
    expect((member.status().pieces?.asked ?? 0) - asked).toBeGreaterThan(queries / 2);
    expect(member.status().pieces).toMatchObject({ refused: 0 });
  };

  describe.each([2, 4, 8])("of %i processes", { timeout: 600_000 }, (count) => {
    it("every operation", () => everyQuery(count));
    if (count <= 4) it("every analysis of nodes", () => everyAnalysis(count));
  });

  it("divides data that every process can cache when there is much to do", { timeout: 120_000 }, async () => {
    const large = { ...setup, nats: (await startNats()).url, cacheMiB: 512 };
    const other = await startPeer(large);
    processes.push(other);
    const one = await openMember(large);
    try {
      await usable(one, 1);
      const query = { operation: "GetVelocity", dataset: "mhd", time: 0.1, spatialInterpolation: "Lag8" } as const;
      for (const [points, asked] of [
        [50, 0],
        [200_000, 1],
      ] as const) {
        const positions = randomPoints(points, 3);
        expect((await answerOf(one, query, positions)).equals(await answerOf(alone, query, positions))).toBe(true);
        expect(one.status().pieces?.asked).toBe(asked);
      }
    } finally {
      await one.close(1000);
    }
  });

  it("names the first point outside the domain", async () => {
    const query = { operation: "GetVelocity", dataset: "channel", time: 0.1, spatialInterpolation: "Lag4" } as const;
    const points = channelPoints(5000, generator(2));
    points[3 * 4321 + 1] = 7;
    points[3 * 1234 + 1] = -7;
    const wrong = /points\[1234\]|smaller than the smallest/;
    await expect(answerOf(alone, query, points)).rejects.toThrow(wrong);
    await expect(answerOf(member, query, points)).rejects.toMatchObject({ context: { member: "points[1234].y" } });
  });

  it("gives the same bits over SOAP and as octets", { timeout: 60_000 }, async () => {
    const [{ url }] = processes as [Running];
    const points = randomPoints(400, 9, 6);
    const query = { operation: "GetVelocity", dataset: "mhd", time: 0.1, spatialInterpolation: "M2Q8" } as const;
    const expected = await answerOf(alone, query, points);
    const texts = Array.from({ length: 400 }, (_, i) => {
      const [x, y, z] = points.subarray(3 * i, 3 * i + 3);
      return `<Point3><x>${x}</x><y>${y}</y><z>${z}</z></Point3>`;
    });
    const { dataset, time, spatialInterpolation, operation } = query;
    const options = `<spatialInterpolation>${spatialInterpolation}</spatialInterpolation><temporalInterpolation>None</temporalInterpolation>`;
    const call = `<dataset>${dataset}</dataset><time>${time}</time>${options}<points>${texts.join("")}</points>`;
    const soap = await fetch(`${url}/service/turbulence.asmx`, {
      method: "POST",
      headers: { "content-type": "text/xml" },
      body: `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><${operation} xmlns="http://turbulence.pha.jhu.edu/">${call}</${operation}></s:Body></s:Envelope>`,
    });
    const text = await soap.text();
    const numbers = [...text.matchAll(/<[xyz]>([^<]+)</g)].map(([, number]) => Number(number));
    expect(Buffer.from(Float32Array.from(numbers).buffer).equals(expected), text.slice(0, 300)).toBe(true);
    const octets = await fetch(`${url}/api/datasets/mhd/values?what=u&time=0.1&method=M2Q8&time_method=nearest`, {
      method: "POST",
      headers: { "content-type": "application/octet-stream", accept: "application/octet-stream" },
      body: points.buffer as ArrayBuffer,
    });
    expect(Buffer.from(await octets.arrayBuffer()).equals(expected)).toBe(true);
  });
});
