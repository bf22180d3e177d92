/** What becomes of batches when peers are slow, silent, wrong or gone; time is the test's. */
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Dispatcher } from "../../../src/cluster/gateway/dispatch.js";
import type { Shipment } from "../../../src/cluster/gateway/shipment.js";
import { encodeHeartbeat } from "../../../src/cluster/wire/heartbeat.js";
import { decodeMessage, type Header, type MessageKind, NO_DEADLINE } from "../../../src/cluster/wire/message.js";
import { SUBJECTS, WORKERS_GROUP } from "../../../src/cluster/wire/subjects.js";
import type { Delivery, Transport } from "../../../src/cluster/wire/transport.js";
import { writeFault } from "../../../src/cluster/wire/wire-fault.js";
import { failureOf } from "../../../src/engine/threads/errors-as-data.js";
import {
  BusyError,
  CancelledError,
  DataError,
  type FieldprobeError,
  RequestError,
  WorkerError,
} from "../../../src/errors.js";
import { MemoryBus, messageOf } from "../memory-bus.js";

const GENERATION = "cd".repeat(32);
const ANSWER_BYTES = 12;

/** A peer whose answers the test decides. */
class FakePeer {
  readonly evaluated: { readonly header: Header; readonly reply: string }[] = [];
  readonly controls: MessageKind[] = [];
  draining = false;
  /** What it does with a batch, and what it says to enquiries. */
  onBatch: (peer: FakePeer, header: Header, reply: string) => void = (peer, header, reply) =>
    peer.answer(header, reply);
  says: "held" | "unknown" | "nothing" = "held";
  readonly name: string;
  readonly threads: number;
  readonly #transport: Transport;
  readonly #channels: readonly { drain(): Promise<void> }[];

  constructor(on: MemoryBus, name: string, threads = 1, generation = GENERATION) {
    this.name = name;
    this.threads = threads;
    this.#transport = on.connect();
    const evaluate = ({ data, reply }: Delivery): void => {
      const { header } = decodeMessage(data);
      this.evaluated.push({ header, reply });
      this.onBatch(this, header, reply);
    };
    this.#channels = [
      this.#transport.subscribe(SUBJECTS.evaluate(name), evaluate),
      this.#transport.subscribe(SUBJECTS.any("set"), evaluate, WORKERS_GROUP),
      this.#transport.subscribe(SUBJECTS.control(name), ({ data, reply }) => {
        const { header } = decodeMessage(data);
        this.controls.push(header.kind);
        if (this.says !== "nothing") this.say(header, reply, this.says);
      }),
    ];
    this.beat(generation);
  }

  beat(generation = GENERATION): void {
    const cache = { capacity: 1, used: 0, hits: 0, misses: 0, bytesRead: 0 };
    const heartbeat = { version: 1, node: this.name, threads: this.threads, queued: 0, running: 0 } as const;
    const datasets: [string, string][] = [["Set", generation]];
    const data = encodeHeartbeat({ ...heartbeat, draining: this.draining, cache, datasets });
    void this.#transport.publish(SUBJECTS.heartbeat(this.name), [data]);
  }

  say(
    header: Header,
    reply: string,
    kind: MessageKind,
    values = new Uint8Array(0),
    offset = 0,
    total = values.length,
  ): void {
    void this.#transport.publish(reply, [messageOf({ ...header, kind, offset, total }, values)]);
  }

  answer(header: Header, reply: string): void {
    this.say(header, reply, "answer", new Uint8Array(ANSWER_BYTES).fill(header.batch));
  }

  fault(header: Header, reply: string, error: FieldprobeError): void {
    this.say(header, reply, "fault", new Uint8Array(writeFault(failureOf(error))));
  }

  /** It takes no more batches, and answers what it has. */
  drain(): void {
    this.draining = true;
    this.beat();
    for (const channel of this.#channels.slice(0, 2)) void channel.drain();
  }

  /** The process is gone. */
  die(): void {
    for (const channel of this.#channels) void channel.drain();
  }
}

let bus: MemoryBus;
let dispatcher: Dispatcher;
let batches: number;

const settle = (ms = 0): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

function shipment(more: Partial<Shipment> = {}): Shipment {
  const header: Header = {
    kind: "evaluate",
    count: 1,
    components: 3,
    query: "00".repeat(8),
    batch: batches++,
    attempt: 1,
    generation: GENERATION,
    deadlineMs: NO_DEADLINE,
    ask: { operation: "GetVelocity" },
    velocities: false,
    from: 0,
    to: 0,
    offset: 0,
    total: 0,
  };
  return {
    header,
    values: [new Uint8Array(5), new Uint8Array(7)],
    dataset: "Set",
    peer: null,
    answerBytes: ANSWER_BYTES,
    take: () => {},
    deadline: null,
    costKey: "k",
    work: 1,
    ...more,
  };
}

/** Sends a batch; the outcome is what it has come to so far. */
function send(more: Partial<Shipment> = {}): { outcome: unknown; abandon: (error: FieldprobeError) => void } {
  let first: number | undefined;
  const take = (answer: Uint8Array): void => {
    first = answer[0];
  };
  const { done, abandon } = dispatcher.send(shipment({ take, ...more }));
  const state = { outcome: "pending" as unknown, abandon };
  done.then(
    () => {
      state.outcome = first;
    },
    (error: unknown) => {
      state.outcome = error;
    },
  );
  return state;
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "setTimeout", "clearTimeout", "performance", "Date"] });
  bus = new MemoryBus();
  batches = 0;
  dispatcher = new Dispatcher(bus.connect(), { replicas: 2, hedgeMs: 30, timeoutMs: 2000 }, pino({ level: "silent" }));
});
afterEach(() => {
  dispatcher.close();
  vi.useRealTimers();
});

describe("a batch", () => {
  it("goes to the peer it suits, else to the one with least to do", async () => {
    const [a, b] = [new FakePeer(bus, "a", 4), new FakePeer(bus, "b", 4)];
    for (const peer of [a, b]) peer.onBatch = () => {};
    await settle();
    send({ peer: "b" });
    send({ peer: "b" });
    send();
    send();
    await settle();
    expect([a.evaluated.length, b.evaluated.length]).toEqual([2, 2]);
  });

  it("waits when every peer has two for each thread", async () => {
    const peer = new FakePeer(bus, "a", 2);
    peer.onBatch = () => {};
    await settle();
    const sent = Array.from({ length: 6 }, () => send());
    await settle();
    expect([peer.evaluated.length, dispatcher.waiting]).toEqual([4, 2]);
    peer.onBatch = (self, header, reply) => self.answer(header, reply);
    for (const { header, reply } of peer.evaluated.slice()) peer.answer(header, reply);
    await settle();
    expect(sent.map(({ outcome }) => outcome)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it("never goes to a peer with another generation or one that drains", async () => {
    const other = new FakePeer(bus, "other", 1, "ee".repeat(32));
    const draining = new FakePeer(bus, "draining");
    const good = new FakePeer(bus, "good");
    draining.draining = true;
    draining.beat();
    await settle();
    const sent = Array.from({ length: 5 }, () => send());
    await settle();
    expect(sent.map(({ outcome }) => outcome)).toEqual([0, 1, 2, 3, 4]);
    expect([other.evaluated.length, draining.evaluated.length, good.evaluated.length]).toEqual([0, 0, 5]);
  });

  it("goes to any peer of the dataset's group before the first heartbeat is heard", async () => {
    const peer = new FakePeer(bus, "a", 1, "ee".repeat(32));
    const { outcome } = await (async () => {
      const sent = send();
      await settle();
      return sent;
    })();
    expect(outcome).toBe(0);
    expect(peer.evaluated.length).toBe(1);
  });

  it("fails at once when nobody is there", async () => {
    const sent = send();
    await settle();
    expect(sent.outcome).toBeInstanceOf(BusyError);
  });

  it("waits for peers while servers of the message system change, and then fails", async () => {
    bus.tell("unsettled");
    const [early, late] = [send(), send()];
    await settle(1000);
    expect(early.outcome).toBe("pending");
    const peer = new FakePeer(bus, "a");
    await settle(100);
    expect([early.outcome, late.outcome]).toEqual([0, 1]);
    peer.die();
    const lost = send();
    await settle(4000);
    expect(lost.outcome).toBeInstanceOf(BusyError);
  });

  it("comes back in parts when it does not fit a message", async () => {
    const peer = new FakePeer(bus, "a");
    peer.onBatch = (self, header, reply) => {
      for (const offset of [0, 4, 8]) self.say(header, reply, "answer", new Uint8Array(4).fill(offset + 1), offset, 12);
    };
    await settle();
    const answers: number[][] = [];
    await dispatcher.send(shipment({ take: (answer) => answers.push([...answer]) })).done;
    expect(answers).toEqual([[1, 1, 1, 1, 5, 5, 5, 5, 9, 9, 9, 9]]);
  });
});

describe("a failure", () => {
  it("of the caller's is final, one of a peer's data is tried elsewhere", async () => {
    const [a, b] = [new FakePeer(bus, "a"), new FakePeer(bus, "b")];
    const wrong = new RequestError("OutOfRange", "outside", { member: "points[0].x" });
    for (const peer of [a, b]) peer.onBatch = (self, header, reply) => self.fault(header, reply, wrong);
    await settle();
    const final = send();
    await settle();
    expect(final.outcome).toMatchObject({ code: "OutOfRange", context: { member: "points[0].x" } });
    expect(a.evaluated.length + b.evaluated.length).toBe(1);

    a.onBatch = (self, header, reply) => self.fault(header, reply, new DataError("checksum"));
    b.onBatch = (self, header, reply) => self.answer(header, reply);
    const elsewhere = send({ peer: "a" });
    await settle();
    expect(elsewhere.outcome).toBe(1);
  });

  it("is reported after three tries", async () => {
    const peers = ["a", "b", "c", "d"].map((name) => new FakePeer(bus, name));
    for (const peer of peers) peer.onBatch = (self, header, reply) => self.fault(header, reply, new WorkerError());
    await settle();
    const sent = send();
    await settle();
    expect(sent.outcome).toBeInstanceOf(WorkerError);
    expect(peers.map(({ evaluated }) => evaluated.length).sort()).toEqual([0, 1, 1, 1]);
    expect(peers.flatMap(({ evaluated }) => evaluated.map(({ header }) => header.attempt)).sort()).toEqual([1, 2, 3]);
  });

  it("is a message that makes no sense", async () => {
    const [a, b] = [new FakePeer(bus, "a"), new FakePeer(bus, "b")];
    a.onBatch = (self, header, reply) => self.say(header, reply, "answer", new Uint8Array(ANSWER_BYTES - 4));
    await settle();
    const sent = send({ peer: "a" });
    await settle();
    expect(sent.outcome).toBe(0);
    a.onBatch = (_, __, reply) => void bus.publish(reply, [new Uint8Array(50)]);
    const foreign = send({ peer: "a" });
    await settle();
    expect(foreign.outcome).toBe(1);
    expect(b.evaluated.length).toBe(2);
  });

  it("of a peer that refuses a generation it has lost costs no try", async () => {
    const peers = ["a", "b", "c", "d"].map((name) => new FakePeer(bus, name));
    for (const peer of peers.slice(0, 3))
      peer.onBatch = (self, header, reply) => self.fault(header, reply, new BusyError("none"));
    await settle();
    const sent = send({ peer: "a" });
    await settle();
    expect(sent.outcome).toBe(0);
  });
});

describe("a refusal", () => {
  it("of a second peer leaves the batch with the first alone", async () => {
    const [a, b] = [new FakePeer(bus, "a"), new FakePeer(bus, "b")];
    a.onBatch = () => {};
    b.onBatch = (self, header, reply) => {
      if (b.evaluated.length < 20) self.fault(header, reply, new BusyError("full"));
    };
    await settle();
    const sent = send({ peer: "a" });
    await settle(60);
    expect([b.evaluated.length, dispatcher.waiting, sent.outcome]).toEqual([1, 0, "pending"]);
    const [{ header, reply }] = a.evaluated as [{ header: Header; reply: string }];
    a.answer(header, reply);
    await settle(100);
    expect([b.evaluated.length, sent.outcome]).toEqual([1, 0]);
  });

  it("by the message system fails the batch it is about and nothing else", async () => {
    dispatcher.close();
    const transport = bus.connect();
    let allowed = Number.POSITIVE_INFINITY;
    const publish: Transport["publish"] = (subject, parts, reply) => {
      if (parts.length > 1 && parts.reduce((sum, { length }) => sum + length, 0) > allowed)
        throw new RangeError("large");
      return transport.publish(subject, parts, reply);
    };
    const settings = { replicas: 2, hedgeMs: 30, timeoutMs: 2000 };
    dispatcher = new Dispatcher({ ...transport, publish }, settings, pino({ level: "silent" }));
    const peer = new FakePeer(bus, "a");
    await settle();
    allowed = 200;
    const [large, small] = [send({ values: [new Uint8Array(100)] }), send()];
    await settle(20);
    expect(large.outcome).toBeInstanceOf(WorkerError);
    expect([small.outcome, peer.evaluated.length, dispatcher.sent, dispatcher.waiting]).toEqual([1, 1, 0, 0]);
  });
});

describe("a draining peer", () => {
  it("keeps the batches it has when nobody takes another there", async () => {
    const [a, b] = [new FakePeer(bus, "a"), new FakePeer(bus, "b")];
    a.onBatch = () => {};
    await settle();
    const had = send({ peer: "a" });
    await settle();
    a.drain();
    const late = send({ peer: "a" });
    await settle();
    expect([late.outcome, had.outcome, b.evaluated.length]).toEqual([1, "pending", 1]);
    const [{ header, reply }] = a.evaluated as [{ header: Header; reply: string }];
    a.answer(header, reply);
    await settle();
    expect([had.outcome, b.evaluated.length]).toEqual([0, 1]);
    expect(dispatcher.counts).toMatchObject({ lost: 0, late: 0 });
  });
});

describe("a lost peer", () => {
  it("is noticed when an enquiry finds nobody, and its batches go elsewhere", async () => {
    const [a, b] = [new FakePeer(bus, "a"), new FakePeer(bus, "b")];
    a.onBatch = (self) => self.die();
    dispatcher.close();
    dispatcher = new Dispatcher(
      bus.connect(),
      { replicas: 2, hedgeMs: 60_000, timeoutMs: 2000 },
      pino({ level: "silent" }),
    );
    for (const peer of [a, b]) peer.beat();
    await settle();
    const sent = [send({ peer: "a" }), send({ peer: "a" })];
    await settle(250);
    expect(sent.map(({ outcome }) => outcome)).toEqual([0, 1]);
    expect(b.evaluated.map(({ header }) => header.attempt)).toEqual([2, 2]);
    expect(dispatcher.membership.get("a")).toBeUndefined();
  });

  it("is one that misses three heartbeats", async () => {
    const [a, b] = [new FakePeer(bus, "a"), new FakePeer(bus, "b")];
    await settle();
    for (let second = 0; second < 4; second++) {
      await settle(1000);
      b.beat();
    }
    expect(dispatcher.membership.all().map(({ name }) => name)).toEqual(["b"]);
    a.beat();
    await settle();
    expect(dispatcher.membership.all().length).toBe(2);
  });

  it("is not one that a gateway could not hear because it was held up", async () => {
    const peer = new FakePeer(bus, "a");
    peer.onBatch = () => {};
    await settle();
    const sent = send();
    await settle(20);
    vi.setSystemTime(Date.now() + 10_000);
    vi.spyOn(performance, "now").mockImplementation(() => Date.now());
    await settle(20);
    expect(dispatcher.counts).toMatchObject({ lost: 0, repeated: 0 });
    const [{ header, reply }] = peer.evaluated as [{ header: Header; reply: string }];
    peer.answer(header, reply);
    await settle();
    expect(sent.outcome).toBe(0);
    vi.restoreAllMocks();
  });

  it("is not every peer after the gateway itself was held up", async () => {
    new FakePeer(bus, "a");
    await settle();
    vi.setSystemTime(Date.now() + 10_000);
    vi.spyOn(performance, "now").mockImplementation(() => Date.now());
    await settle(300);
    expect(dispatcher.membership.all().length).toBe(1);
    vi.restoreAllMocks();
  });
});

describe("peers", () => {
  it("are kept up to 1024, those that are known going on to be heard", async () => {
    const peers = Array.from({ length: 1100 }, (_, i) => new FakePeer(bus, `n${i}`));
    await settle();
    expect(dispatcher.membership.all().length).toBe(1024);
    await settle(900);
    for (const peer of peers.slice(0, 10)) peer.beat();
    await settle();
    expect(dispatcher.membership.get("n0")?.heardAt).toBe(performance.now());
    expect(dispatcher.membership.get("n1050")).toBeUndefined();
    peers[0]?.die();
    dispatcher.membership.remove("n0");
    peers[1050]?.beat();
    await settle();
    expect(dispatcher.membership.get("n1050")).toBeDefined();
  });
});

describe("silence", () => {
  it("is ended by a second peer, and the first is told and left alone until it is heard", async () => {
    const [a, b] = [new FakePeer(bus, "a"), new FakePeer(bus, "b")];
    a.onBatch = () => {};
    a.says = "nothing";
    await settle();
    const first = send({ peer: "a" });
    await settle(29);
    expect(first.outcome).toBe("pending");
    await settle(21);
    expect(first.outcome).toBe(0);
    expect(dispatcher.counts).toMatchObject({ sent: 2, hedged: 1 });
    expect(a.controls).toEqual(["cancel"]);
    const second = send({ peer: "a" });
    await settle();
    expect(second.outcome).toBe(1);
    expect(b.evaluated.length).toBe(2);
    a.beat();
    await settle();
    expect(dispatcher.membership.get("a")).toMatchObject({ suspect: false, outstanding: 1 });
    const [{ header, reply }] = a.evaluated as [{ header: Header; reply: string }];
    a.answer(header, reply);
    await settle();
    expect(dispatcher.membership.get("a")).toMatchObject({ outstanding: 0 });
    expect(dispatcher.counts.late).toBe(1);
  });

  it("that ends long after a second peer answered teaches nothing about how long batches take", async () => {
    const [a, b] = [new FakePeer(bus, "a"), new FakePeer(bus, "b")];
    a.onBatch = () => {};
    await settle();
    const first = send({ peer: "a" });
    for (let second = 0; second < 5; second++) {
      await settle(1000);
      for (const peer of [a, b]) peer.beat();
    }
    expect(first.outcome).toBe(0);
    const [{ header, reply }] = a.evaluated as [{ header: Header; reply: string }];
    a.answer(header, reply);
    await settle();
    expect(dispatcher.counts.late).toBe(1);
    const second = send({ peer: "a" });
    await settle(60);
    expect(second.outcome).toBe(1);
  });

  it("of all peers ends after three timeouts", async () => {
    for (const name of ["a", "b", "c"]) {
      const peer = new FakePeer(bus, name);
      peer.onBatch = () => {};
      peer.says = "nothing";
    }
    dispatcher.close();
    dispatcher = new Dispatcher(
      bus.connect(),
      { replicas: 2, hedgeMs: 60_000, timeoutMs: 500 },
      pino({ level: "silent" }),
    );
    await settle();
    const sent = send();
    await settle(1500);
    expect(sent.outcome).toBe("pending");
    await settle(100);
    expect(sent.outcome).toBeInstanceOf(WorkerError);
  });

  it("is not what a peer that works for long keeps", async () => {
    const peer = new FakePeer(bus, "a");
    peer.onBatch = () => {};
    await settle();
    const sent = send();
    for (let second = 0; second < 20; second++) {
      await settle(1000);
      peer.beat();
    }
    expect(sent.outcome).toBe("pending");
    const [{ header, reply }] = peer.evaluated as [{ header: Header; reply: string }];
    peer.answer(header, reply);
    await settle();
    expect(sent.outcome).toBe(0);
  });

  it("of a peer that has lost a batch is found out by asking", async () => {
    const peer = new FakePeer(bus, "a");
    peer.onBatch = () => {};
    peer.says = "unknown";
    await settle();
    const sent = send();
    await settle(100);
    peer.onBatch = (self, header, reply) => self.answer(header, reply);
    await settle(150);
    expect(sent.outcome).toBe(0);
  });

  it("gives rise to second sendings of one batch in twenty at most", async () => {
    const [a, b] = [new FakePeer(bus, "a", 1024), new FakePeer(bus, "b", 1024)];
    for (const peer of [a, b]) peer.onBatch = () => {};
    await settle();
    for (let i = 0; i < 1000; i++) send();
    await settle(150);
    const { hedged, sent } = dispatcher.counts;
    expect(hedged).toBeGreaterThan(30);
    expect(hedged).toBeLessThanOrEqual(32 + 0.05 * sent);
  });
});

describe("the connection", () => {
  it("when it comes back, makes batches go out again", async () => {
    const peer = new FakePeer(bus, "a");
    peer.onBatch = () => {};
    await settle();
    const sent = send();
    await settle();
    bus.tell("lost");
    const held = send();
    await settle();
    expect(peer.evaluated.length).toBe(1);
    peer.onBatch = (self, header, reply) => self.answer(header, reply);
    bus.tell("restored");
    await settle();
    expect([sent.outcome, held.outcome]).toEqual([0, 1]);
  });

  it("may come and go without using up the tries of a batch", async () => {
    const peer = new FakePeer(bus, "a");
    peer.onBatch = () => {};
    await settle();
    const sent = send();
    for (let i = 0; i < 5; i++) {
      await settle();
      bus.tell("lost");
      bus.tell("restored");
    }
    await settle();
    expect([sent.outcome, peer.evaluated.length]).toEqual(["pending", 6]);
    const { header, reply } = peer.evaluated.at(-1) as { header: Header; reply: string };
    peer.answer(header, reply);
    await settle();
    expect(sent.outcome).toBe(0);
  });

  it("fails what it should carry when it has been gone for three seconds", async () => {
    const peer = new FakePeer(bus, "a");
    peer.onBatch = () => {};
    peer.says = "nothing";
    await settle();
    const before = send();
    await settle();
    bus.tell("lost");
    const after = send();
    await settle(2900);
    expect([before.outcome, after.outcome]).toEqual(["pending", "pending"]);
    await settle(200);
    expect(before.outcome).toBeInstanceOf(BusyError);
    expect(after.outcome).toBeInstanceOf(BusyError);
  });

  it("carries 32 MiB at most at a time", async () => {
    const peer = new FakePeer(bus, "a", 1024);
    peer.onBatch = () => {};
    await settle();
    for (let i = 0; i < 20; i++) send({ answerBytes: 3 * 1024 * 1024 });
    await settle();
    expect(peer.evaluated.length).toBe(10);
  });
});

describe("giving up", () => {
  it("fails at once, tells the peer, and drops what comes later", async () => {
    const peer = new FakePeer(bus, "a");
    peer.onBatch = () => {};
    await settle();
    const sent = send();
    await settle();
    sent.abandon(new CancelledError());
    await settle();
    expect(sent.outcome).toBeInstanceOf(CancelledError);
    expect(peer.controls).toEqual(["cancel"]);
    const [{ header, reply }] = peer.evaluated as [{ header: Header; reply: string }];
    peer.fault(header, reply, new CancelledError());
    await settle();
    expect(dispatcher.sent).toBe(0);
    expect(sent.outcome).toBeInstanceOf(CancelledError);
  });

  it("of everything leaves no timer, whatever is sent afterwards", async () => {
    new FakePeer(bus, "a").onBatch = () => {};
    await settle();
    const before = send();
    dispatcher.close();
    const after = send();
    await settle();
    expect(before.outcome).toBeInstanceOf(CancelledError);
    expect(after.outcome).toBeInstanceOf(CancelledError);
    expect(vi.getTimerCount()).toBe(0);
  });
});
