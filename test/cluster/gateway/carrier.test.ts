/** Gateway and workers joined in memory, on real threads: the bits of one process, whatever way a batch is cut. */
import { delimiter } from "node:path";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { ClusterCarrier } from "../../../src/cluster/gateway/carrier.js";
import { openPeer, type Peer } from "../../../src/cluster/peer/peer.js";
import { decodeHeartbeat, encodeHeartbeat, type Heartbeat } from "../../../src/cluster/wire/heartbeat.js";
import {
  decodeMessage,
  HEADER_BYTES,
  type Header,
  MAX_MESSAGE_BYTES,
  type MessageKind,
  NO_DEADLINE,
} from "../../../src/cluster/wire/message.js";
import { SUBJECTS } from "../../../src/cluster/wire/subjects.js";
import type { Transport } from "../../../src/cluster/wire/transport.js";
import { loadConfig } from "../../../src/config.js";
import type { Carrier } from "../../../src/engine/carrier.js";
import { Catalog } from "../../../src/engine/catalog.js";
import { checkQuery } from "../../../src/engine/check.js";
import { Execution } from "../../../src/engine/execution.js";
import { BufferPool } from "../../../src/engine/points/buffers.js";
import type { Engine, Query } from "../../../src/engine/query.js";
import { openPool } from "../../../src/engine/threads/pool.js";
import { CancelledError, type RequestError } from "../../../src/errors.js";
import { writeCube } from "../../../src/generate/cube.js";
import { generator, runQuery, writeTriples } from "../../support/run-query.js";
import { scratchFolder } from "../../support/scratch.js";
import { MemoryBus, messageOf } from "../memory-bus.js";

const SHIPPED = fileURLToPath(new URL("../../../data", import.meta.url));
/** Fewer than some queries have for each worker. */
const MESSAGE_POINTS = 1500;
const log = pino({ level: "silent" });

const HEADER = {
  kind: "evaluate",
  count: 1,
  components: 3,
  query: "00".repeat(8),
  batch: 0,
  attempt: 1,
  generation: "00".repeat(32),
  deadlineMs: NO_DEADLINE,
  ask: { operation: "GetVelocity", time: 0.2, spatialInterpolation: "Lag4", temporalInterpolation: "None" },
  velocities: false,
  from: 0,
  to: 0,
  offset: 0,
  total: 0,
} as const satisfies Header;

/** As much of an engine as asking takes. */
function engineOn(carrier: Carrier, catalog: Catalog): Engine {
  const buffers = new BufferPool();
  const config = loadConfig({}, {});
  const start = (query: Query): ReturnType<Engine["start"]> => {
    const checked = checkQuery(query, (name) => catalog.find(name));
    const sourceOf = catalog.sourceOf.bind(catalog);
    const setting = { carrier, buffers, limits: config.limits, sourceOf, hold: () => {} };
    return new Execution(setting, checked, 20_000, () => {});
  };
  return { start } as unknown as Engine;
}

describe("a cluster in memory", () => {
  const folder = scratchFolder();
  const bus = new MemoryBus();
  const peers: Peer[] = [];
  let local: Carrier;
  let carrier: ClusterCarrier;
  let alone: Engine;
  let gateway: Engine;

  beforeAll(async () => {
    await writeCube(
      { kind: "random", nodes: [72, 48, 64], steps: 5, chunk: null, filter: "none", seed: 2, name: "random72", folder },
      () => {},
    );
    const config = loadConfig(
      { DATA: [SHIPPED, folder].join(delimiter), WORKERS: "1", CACHE_BYTES: String(32 * 1024 * 1024) },
      {},
    );
    local = openPool(config);
    const catalog = new Catalog(config.data, local, log);
    await catalog.reload();
    carrier = new ClusterCarrier({
      transport: bus.connect(),
      local,
      fd8Legacy: false,
      messagePoints: MESSAGE_POINTS,
      settings: { replicas: 2, hedgeMs: 10_000, timeoutMs: 10_000 },
      log,
    });
    for (const name of ["a", "b", "c"]) peers.push(await openPeer({ config, name, transport: bus.connect(), log }));
    await vi.waitFor(() => expect(carrier.alive()).toBe(3));
    alone = engineOn(local, catalog);
    gateway = engineOn(carrier, catalog);
  });
  afterAll(async () => {
    for (const peer of peers) await peer.close(1000);
    await carrier.close();
  });

  const points = (count: number, seed: number): Float32Array => {
    const random = generator(seed);
    return Float32Array.from({ length: 3 * count }, () => (random() - 0.5) * 30);
  };
  const time = { time: 0.23, temporalInterpolation: "PCHIP" } as const;
  const track = { StartTime: 0.1, spatialInterpolation: "Lag4" } as const;

  it.each([
    ["GetVelocity", 30_000, { operation: "GetVelocity", ...time, spatialInterpolation: "Lag6" }],
    ["GetVelocityAndPressure", 3000, { operation: "GetVelocityAndPressure", ...time, spatialInterpolation: "Lag8" }],
    ["GetVelocityHessian", 5000, { operation: "GetVelocityHessian", ...time, spatialInterpolation: "Fd4Lag4" }],
    ["GetBoxFilterSGSStress", 12, { operation: "GetBoxFilterSGSStress", ...time, filterlength: 1, nlayers: 2 }],
    ["GetPosition", 500, { operation: "GetPosition", ...track, dt: 0.001, nt: 140 }],
    ["GetPosition, recorded", 300, { operation: "GetPosition", ...track, dt: 0.001, nt: 140, recordEvery: 9 }],
    [
      "GetPositionInertialParticle",
      300,
      { operation: "GetPositionInertialParticle", ...track, EndTime: 0.15, Tp: 0.01, recordEvery: 70 },
    ],
  ] as const)("gives the bits of one process: %s", async (_, count, ask) => {
    const query = { dataset: "random72", ...ask } as Query;
    const velocities = query.Tp === undefined ? [] : points(count, 4);
    const expected = await runQuery(alone, query, points(count, 3), velocities);
    const before = bus.published.length;
    const found = await runQuery(gateway, query, points(count, 3), velocities);
    expect(Buffer.from(found.buffer).equals(Buffer.from(expected.buffer))).toBe(true);
    const messages = bus.published.slice(before);
    const used = new Set(messages.flatMap(({ subject }) => /^fp\.v1\.n\.(.)\.eval$/.exec(subject)?.[1] ?? []));
    if (count >= 3000) expect(used.size).toBe(3);
    for (const { data } of messages) expect(data.length).toBeLessThanOrEqual(MAX_MESSAGE_BYTES);
    for (const { subject, data } of messages)
      if (subject.endsWith(".eval")) expect(decodeMessage(data).header.count).toBeLessThanOrEqual(MESSAGE_POINTS);
  });

  it("names the first bad point as one process does", async () => {
    const query = { operation: "GetVelocity", dataset: "random72", ...time, spatialInterpolation: "Lag6" } as const;
    const bad = points(20_000, 5);
    for (const i of [19_000, 7003, 12_000]) bad[3 * i + 1] = Number.NaN;
    const [expected, found] = await Promise.all(
      [alone, gateway].map((engine) => runQuery(engine, query, bad).catch((error: unknown) => error)),
    );
    expect(expected).toMatchObject({ code: "OutOfRange", context: { member: "points[7003].y" } });
    const { message, context } = expected as RequestError;
    expect(found).toMatchObject({ code: "OutOfRange", message, context });
  });

  it("stops its workers when the query is given up", async () => {
    const query = { operation: "GetPosition", dataset: "random72", ...track, dt: 1e-5, nt: 20_000 } as const;
    const evaluation = gateway.start(query, {});
    writeTriples(evaluation.points, points(1000, 6));
    const result = evaluation.finish();
    await expect.poll(() => carrier.running()).toBeGreaterThan(0);
    evaluation.abort();
    await expect(result).rejects.toThrow(CancelledError);
    await expect.poll(() => carrier.running(), { timeout: 5000 }).toBe(0);
  });

  describe("a worker", () => {
    const header = HEADER;
    const answers: ReturnType<typeof decodeMessage>[] = [];
    let client: Transport;
    let generation: string;
    const send = (data: Uint8Array): void => void client.publish(SUBJECTS.evaluate("a"), [data], `${client.inbox}.x`);

    beforeAll(() => {
      client = bus.connect();
      client.subscribe(`${client.inbox}.*`, ({ data }) => answers.push(decodeMessage(data.slice())));
      const heartbeat = bus.published.findLast(({ subject }) => subject === SUBJECTS.heartbeat("a"));
      const { datasets } = JSON.parse(new TextDecoder().decode(heartbeat?.data)) as { datasets: [string, string][] };
      generation = datasets.find(([name]) => name === "random72")?.[1] as string;
    });

    it("answers what no gateway would send with a fault, and nothing to noise", async () => {
      answers.length = 0;
      send(messageOf(header, 12));
      send(messageOf({ ...header, generation, components: 4 }, 12));
      send(messageOf({ ...header, generation, to: 5 }, 12));
      send(messageOf({ ...header, generation, deadlineMs: 0 }, 12));
      send(messageOf({ ...header, generation, count: 200_000 }, 2_400_000));
      send(new Uint8Array(HEADER_BYTES));
      await expect.poll(() => answers.length).toBe(5);
      const codes = answers.map(
        ({ values }) => (JSON.parse(new TextDecoder().decode(values)) as { code: string }).code,
      );
      expect(codes).toEqual(["Busy", "InvalidRequest", "InvalidRequest", "Deadline", "InvalidRequest"]);
    });

    it("refuses more work or memory than a query may take, without having begun", async () => {
      answers.length = 0;
      const ask = { operation: "GetPosition", StartTime: 0.1, dt: 1e-18, spatialInterpolation: "Lag4" } as const;
      const filter = { operation: "GetBoxFilterVelocity", time: 0.2, temporalInterpolation: "None" } as const;
      const gradient = { ...filter, operation: "GetBoxFilterVelocityGradient" } as const;
      const messages: [ask: Query, header: Partial<Header>][] = [
        [
          { ...ask, nt: 1_000_000 },
          { count: 100, to: 1_000_000 },
        ],
        [
          { ...ask, nt: 1e15 },
          { to: 1000, components: 0 },
        ],
        [{ ...ask, nt: Number.NaN }, { components: 0 }],
        [{ ...ask, nt: 0.5 }, { components: 0 }],
        [
          { ...ask, nt: 20_000_000, recordEvery: 1 },
          { to: 1000, components: 3003 },
        ],
        [
          { ...ask, nt: 1000, recordEvery: 1 },
          { count: 10_000, to: 1000, components: 3003 },
        ],
        [
          { ...gradient, filterlength: 0.5, nlayers: 2 },
          { count: 60_000, components: 81 },
        ],
        [{ ...filter, filterlength: 6, nlayers: 1 }, { count: 20_000 }],
      ];
      for (const [query, more] of messages) {
        const whole = { ...header, ask: query, generation, ...more } as Header;
        send(messageOf(whole, 12 * whole.count));
      }
      await expect.poll(() => answers.length).toBe(messages.length);
      const faults = answers.map(
        ({ values }) =>
          JSON.parse(new TextDecoder().decode(values)) as {
            code: string;
            context: { limit?: string };
            message: string;
          },
      );
      expect(faults.map(({ code, context }) => context.limit ?? code)).toEqual([
        "query.particleSteps",
        "query.particleSteps",
        "InvalidRequest",
        "InvalidRequest",
        "query.points",
        "query.points",
        "InvalidRequest",
        "query.filterSamples",
      ]);
    });

    it("answers in parts what does not fit a message", async () => {
      answers.length = 0;
      const count = 100_000;
      const ask = { ...header.ask, operation: "GetVelocityHessian", spatialInterpolation: "None_Fd4" } as const;
      const positions = points(count, 8);
      const message = messageOf({ ...header, ask, generation, count, components: 18 }, 12 * count);
      new Float32Array(message.buffer, HEADER_BYTES).set(positions);
      send(message);
      await expect.poll(() => answers.length).toBe(2);
      const joined = Buffer.concat(answers.map(({ values }) => values));
      expect(answers.map(({ header: { offset, total } }) => [offset, total])).toEqual([
        [0, 72 * count],
        [MAX_MESSAGE_BYTES - HEADER_BYTES, 72 * count],
      ]);
      const expected = await runQuery(alone, { ...ask, dataset: "random72" }, positions);
      expect(joined.equals(Buffer.from(expected.buffer))).toBe(true);
    });

    it("stops when its time is up", async () => {
      answers.length = 0;
      const ask = {
        operation: "GetPosition",
        StartTime: 0.1,
        dt: 1e-5,
        nt: 20_000,
        spatialInterpolation: "Lag4",
      } as const;
      const message = messageOf({ ...header, ask, generation, count: 500, to: 20_000, deadlineMs: 50 }, 6000);
      send(message);
      await expect.poll(() => answers.length).toBe(1);
      expect(JSON.parse(new TextDecoder().decode(answers[0]?.values))).toMatchObject({ code: "Deadline" });
    });
  });

  it("shows its peers and what their caches hold", () => {
    expect(carrier.peers().map(({ name }) => name)).toEqual(["a", "b", "c"]);
    void bus.connect().publish(SUBJECTS.heartbeat("x"), [encodeHeartbeat({} as never)]);
    expect(carrier.alive()).toBe(3);
    expect(carrier.parallelism).toBe(3);
  });

  it("loses no answer when a worker drains under load", async () => {
    const query = { operation: "GetVelocity", dataset: "random72", ...time, spatialInterpolation: "Lag6" } as const;
    const expected = await runQuery(alone, query, points(60_000, 9));
    const running = Array.from({ length: 4 }, () => runQuery(gateway, query, points(60_000, 9)));
    await expect.poll(() => carrier.running()).toBeGreaterThan(0);
    expect(await (peers.shift() as Peer).close(5000)).toBe(true);
    for (const found of await Promise.all(running))
      expect(Buffer.from(found.buffer).equals(Buffer.from(expected.buffer))).toBe(true);
    expect(carrier.alive()).toBe(2);
  });

  it("says that it lives as long as it drains", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "setTimeout", "clearTimeout"] });
    try {
      const config = loadConfig({ DATA: folder, WORKERS: "1", CACHE_BYTES: String(32 * 1024 * 1024) }, {});
      const peer = await openPeer({ config, name: "d", transport: bus.connect(), log });
      const beats = (): Heartbeat[] =>
        bus.published.flatMap(({ subject, data }) =>
          subject === SUBJECTS.heartbeat("d") ? (decodeHeartbeat(data) ?? []) : [],
        );
      const client = bus.connect();
      const kinds: MessageKind[] = [];
      client.subscribe(`${client.inbox}.*`, ({ data }) => kinds.push(decodeMessage(data).header.kind));
      const ask = {
        operation: "GetPosition",
        StartTime: 0.1,
        dt: 1e-5,
        nt: 20_000,
        spatialInterpolation: "Lag4",
      } as const;
      const generation = beats()[0]?.datasets.find(([name]) => name === "random72")?.[1] as string;
      const header = { ...HEADER, ask, generation, count: 500, to: 20_000 };
      const publish = (subject: string, message: Uint8Array): void =>
        void client.publish(subject, [message], `${client.inbox}.x`);
      publish(SUBJECTS.evaluate("d"), messageOf(header, 6000));
      await Promise.resolve();
      const closed = peer.close(60_000);
      vi.advanceTimersByTime(5000);
      expect(beats().filter(({ draining }) => draining).length).toBe(6);
      publish(SUBJECTS.control("d"), messageOf({ ...header, kind: "cancel" }));
      expect(await closed).toBe(true);
      expect(kinds).toEqual(["held", "fault"]);
      const before = beats().length;
      vi.advanceTimersByTime(5000);
      expect(beats().length).toBe(before);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });
});
