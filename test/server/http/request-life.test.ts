/** Whatever a request holds (slot, points, bytes of its answer, token) is given back, whichever way it ends. */
import { EventEmitter } from "node:events";
import { setImmediate } from "node:timers/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import { beforeEach, describe, expect, it } from "vitest";
import { type Evaluation, type Query, type Result, SMALL_WORK } from "../../../src/engine/contract/query.js";
import { Admission } from "../../../src/server/http/policies/admission.js";
import { Outgoing } from "../../../src/server/http/policies/outgoing.js";
import { NO_FACTS, type RequestFacts } from "../../../src/server/http/request-facts.js";
import { RequestLife, TASK_HEADER } from "../../../src/server/http/request-life.js";
import type { Service } from "../../../src/server/http/service.js";
import { loadConfig } from "../../../src/shared/config.js";
import { CancelledError } from "../../../src/shared/errors.js";

const WAITING_BYTES = 1_000_000;
const POINTS = 100;

const config = loadConfig({}, {});
let admission: Admission;
let outgoing: Outgoing;
let tokens: number;
/** Points that a token admits; 0 for any number. */
let tokenPoints: number;
let lent: number;
/** Requests of the service that have been begun and have not ended. */
let aborted: number;

function evaluation({ operation }: Query): Evaluation {
  const sink = { write: () => undefined } as unknown as Evaluation["points"];
  const query = {
    nodes: operation === "GetThreshold" ? 8 : 0,
    limit: { points: 1e6, name: "query.points" },
    work: POINTS,
    extraRecords: 2 * POINTS,
    ...(operation === "GetVelocityHessian" ? { recordsPerPoint: 6 } : {}),
  };
  return {
    ...{ points: sink, velocities: sink, ...query },
    finish: () => Promise.reject(new CancelledError()),
    abort: () => {
      aborted++;
    },
  };
}

function result(bytes: number): Result {
  const values = [new Float32Array(bytes / 4)];
  return { items: bytes / 12, itemsPerPoint: 1, components: 3, values, release: () => undefined };
}

const service = (): Service =>
  ({
    config,
    admission,
    outgoing,
    auth: {
      authorise: () => ({ id: "t", points: tokenPoints, countFurtherQuery: () => undefined, release: () => tokens-- }),
    },
    engine: {
      ...{ start: evaluation, find: () => undefined, datasets: () => [] },
      lend(bytes: number) {
        lent += bytes;
        const giveBack = (): void => {
          lent -= bytes;
        };
        return { bytes: new Uint8Array(new SharedArrayBuffer(bytes)), giveBack };
      },
    },
    slices: { pause: () => null },
    tasks: new Map([["a task", { owner: null, limit: 0, part: null }]]),
    connections: { know: () => undefined },
  }) as unknown as Service;

/** A request and what ends it: `finished`, or a caller who `left`. */
function begin(headers = {}): { life: RequestLife; facts: RequestFacts; end: (how: "finished" | "left") => void } {
  const raw = Object.assign(new EventEmitter(), {
    writableFinished: false,
    headersSent: false,
    destroy: () => undefined,
  });
  const reply = { raw, header: () => undefined, hijack: () => undefined } as unknown as FastifyReply;
  const request = {
    id: "1",
    headers,
    facts: { ...NO_FACTS },
    log: { error: () => undefined },
    raw: { socket: {} },
  };
  const life = new RequestLife(service(), request as unknown as FastifyRequest, reply, "test");
  return {
    life,
    facts: request.facts,
    end: (how) => {
      raw.writableFinished = how === "finished";
      raw.emit("close");
    },
  };
}

const held = () => ({
  slots: admission.taken,
  waiting: admission.waiting,
  points: admission.points.held,
  bytes: outgoing.bytes,
  tokens,
});
const NOTHING = { slots: 0, waiting: 0, points: 0, bytes: 0, tokens: 0 };

beforeEach(() => {
  admission = new Admission({ ...config.limits, "engine.inflight": 1 });
  outgoing = new Outgoing(WAITING_BYTES, 1000, 1000);
  tokens = 0;
  tokenPoints = 0;
  aborted = 0;
  lent = 0;
});

/** The steps of a request in their order; each leaves something held. */
const STEPS: readonly (readonly [string, (life: RequestLife) => unknown, Partial<typeof NOTHING>])[] = [
  ["has arrived", () => undefined, {}],
  [
    "has shown its token",
    (life) => {
      tokens++;
      life.authorise("t");
    },
    { tokens: 1 },
  ],
  ["has been read", (life) => life.countPoints(POINTS), { tokens: 1, points: POINTS }],
  [
    "has its slot",
    async (life) => {
      life.start({ operation: "GetVelocity", dataset: "flow" });
      await life.acquireSlot();
    },
    { tokens: 1, points: 3 * POINTS, slots: 1 },
  ],
  ["is computed", (life) => life.finishComputing([result(60_000)]), { tokens: 1, bytes: 60_000 }],
  ["is being sent", (life) => life.reader.beginWrite(60_000), { tokens: 1, bytes: 60_000 }],
  ["has been taken in part", (life) => life.reader.endWrite(20_000), { tokens: 1, bytes: 60_000 }],
];

describe.each(["finished", "left"] as const)("a request that has %s", (how) => {
  it.each(STEPS.map(([name], last) => [name, last] as const))("gives everything back once it %s", async (_, last) => {
    const { life, end } = begin();
    for (const [, step] of STEPS.slice(0, last + 1)) await step(life);
    expect(held()).toEqual({ ...NOTHING, ...STEPS[last]?.[2] });
    end(how);
    expect(held()).toEqual(NOTHING);
    expect(aborted).toBe(how === "left" && last >= 3 ? 1 : 0);
  });

  it.each([
    ["reads more points", (life: RequestLife) => life.countPoints(POINTS)],
    ["is computed", (life: RequestLife) => life.finishComputing([result(60_000)]).catch(() => undefined)],
    ["asks for a slot", (life: RequestLife) => life.acquireSlot().catch(() => undefined)],
    ["hands bytes over", (life: RequestLife) => life.reader.beginWrite(60_000)],
    ["gives something to release", (life: RequestLife) => life.onEnd(() => tokens--)],
  ] as const)("holds nothing that it takes afterwards: %s", async (_, step) => {
    const { life, end } = begin();
    life.countPoints(POINTS);
    life.start({ operation: "GetVelocity", dataset: "flow" });
    end(how);
    if (_ === "gives something to release") tokens++;
    await step(life);
    expect(held()).toEqual(NOTHING);
  });
});

it.each([
  [{}, "slow"],
  [{ [TASK_HEADER]: "a task" }, NO_FACTS.outcome],
])("is cut off where its reader is too slow, unless it is a task: %j", (headers, outcome) => {
  const { life, facts } = begin(headers);
  life.reader.cut();
  expect(facts.outcome).toBe(outcome);
});

describe("a caller who leaves", () => {
  it("while the request waits for a slot, leaves the queue", async () => {
    const [first, second] = [begin(), begin()];
    await first.life.acquireSlot(1);
    const waiting = second.life.acquireSlot(1);
    await setImmediate();
    expect(held()).toMatchObject({ slots: 1, waiting: 1 });
    second.end("left");
    await expect(waiting).rejects.toThrow(CancelledError);
    expect(held()).toMatchObject({ slots: 1, waiting: 0 });
    first.end("finished");
    expect(held()).toEqual(NOTHING);
  });

  it("while the answer waits for room among others, takes no room when it comes", async () => {
    const first = begin();
    await first.life.acquireSlot(1);
    await first.life.finishComputing([result(WAITING_BYTES)]);
    const second = begin();
    await second.life.acquireSlot(1);
    const waiting = second.life.finishComputing([result(60_000)]);
    expect(held()).toMatchObject({ bytes: WAITING_BYTES });
    second.end("left");
    first.end("finished");
    await expect(waiting).rejects.toThrow(CancelledError);
    expect(held()).toEqual(NOTHING);
  });
});

it.each(["finished", "left"] as const)("keeps what it was lent while a step goes on, if it has %s", async (how) => {
  const { life, end } = begin();
  let goOn: (value: unknown) => void = () => undefined;
  const ended = life.run(async () => {
    expect([life.floats(10).length, life.doubles(10).length, (await life.lendBytes(40)).length]).toEqual([10, 10, 40]);
    await new Promise((resolve) => {
      goOn = resolve;
    });
    if (how === "left") expect(() => life.floats(10)).toThrow(CancelledError);
  });
  await setImmediate();
  expect(lent).toBe(160);
  end(how);
  expect(lent).toBe(160);
  goOn(null);
  await ended;
  expect(lent).toBe(0);
});

it("keeps what it was lent until its answer has been sent, also after a step that failed", async () => {
  const { life, end } = begin();
  const failed = life.run(async () => {
    life.floats(10);
    throw new Error("a step failed");
  });
  await expect(failed).rejects.toThrow("a step failed");
  expect(lent).toBe(40);
  end("finished");
  expect(lent).toBe(0);
});

it("adds up the nodes of the searches of a request against the limit of its token", () => {
  tokenPoints = 20;
  const { life } = begin();
  life.authorise("t");
  const search = () => life.start({ operation: "GetThreshold", dataset: "flow" });
  search();
  life.carryOverPoints();
  search();
  life.carryOverPoints();
  expect(search).toThrow("Request size too large (8 > 4)");
});

it("counts points that the service makes by what it keeps of each", async () => {
  const { life, end, facts } = begin();
  await life.reserveGeneratedPoints(10, 8 / 3);
  expect([admission.points.held, facts.points]).toEqual([27, 10]);
  await expect(life.reserveGeneratedPoints(3_000_000, 1)).rejects.toThrow("Request size too large (3000000 > 2000000)");
  end("left");
  expect(admission.points.held).toBe(0);
});

it("counts points by the records of three numbers in their answers, which are given back as well", async () => {
  const { life, end } = begin();
  life.start({ operation: "GetVelocityHessian" } as Query);
  await life.countPoints(10);
  expect(admission.points.held).toBe(60);
  end("left");
  expect(admission.points.held).toBe(0);
});

/** The work of each later request for a slot. */
function askedSlots(): readonly number[] {
  const trySlot = admission.trySlot.bind(admission);
  const asked: number[] = [];
  admission.trySlot = (asker) => {
    asked.push(asker.work);
    return trySlot(asker);
  };
  return asked;
}

it.each([
  [5 * POINTS, 5 * POINTS],
  [1, POINTS],
])("of which %i of work is foreseen takes its slot for %i", async (foreseen, work) => {
  const asked = askedSlots();
  const { life, end } = begin();
  life.declareWork(foreseen);
  life.start({ operation: "GetVelocity", dataset: "flow" });
  await life.acquireSlot();
  expect(asked).toEqual([work]);
  end("finished");
});

it("of many small queries takes its slot again as a large one, once", async () => {
  const asked = askedSlots();
  const { life, end } = begin();
  for (let i = 0; i < 100; i++) {
    const query = life.start({ operation: "GetVelocity", dataset: "flow" });
    await life.acquireSlot();
    life.forget(query);
  }
  expect(asked).toEqual([POINTS, POINTS * Math.ceil((SMALL_WORK + 1) / POINTS)]);
  expect(held().slots).toBe(1);
  end("finished");
  expect(held()).toEqual(NOTHING);
});
