/**
 * Requests that repeat an earlier one of their connection without the HTTP parser get the same answers, log lines and
 * refusals as with it.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Auth } from "../../../../src/server/life/auth.js";
import { AuthError, DataError, LimitError } from "../../../../src/shared/errors.js";
import { rawPost } from "../../../support/raw-http.js";
import {
  envelope,
  expectIdle,
  getVelocity,
  items,
  NAMESPACE,
  nullOp,
  startService,
  type TestService,
  VERSIONS,
  type Version,
} from "../../../support/soap-service.js";

/** The token that a request has, as the judge of the test sees it, and what is thrown instead of judging it. */
let refusal: Error | null = null;
let tokenPoints = 0;
const auth: Auth = {
  authorise: (token) => {
    if (refusal !== null) throw refusal;
    return {
      id: token === null ? null : "abcd",
      points: tokenPoints,
      another: () => undefined,
      release: () => undefined,
    };
  },
  reload: () => undefined,
  close: () => undefined,
};

let service: TestService;
/** Requests that came through the parser. */
let parsed = 0;

const SETTINGS = { ENGINE_INFLIGHT: "2", ENGINE_QUEUE: "1" };

beforeAll(async () => {
  service = await startService(SETTINGS, { slabPoints: 7 }, { auth });
  service.app.server.on("request", () => parsed++);
});
afterAll(() => service.stop());

/** A connection on which one asks for one answer after the other. */
class Caller {
  readonly socket: Socket;
  #text = "";
  #wake = (): void => undefined;
  closed = false;

  constructor(port: number, secure = false) {
    const to = { port, host: "127.0.0.1" };
    this.socket = secure ? connectTls({ ...to, rejectUnauthorized: false }) : connect({ ...to, noDelay: true });
    this.socket.setEncoding("latin1");
    this.socket.on("data", (text: string) => {
      this.#text += text;
      this.#wake();
    });
    this.socket.on("error", () => undefined);
    this.socket.on("close", () => {
      this.closed = true;
      this.#wake();
    });
  }

  /** The next answer, without what differs from one to the other; the rest of the text where the connection ends. */
  async answer(): Promise<string> {
    for (;;) {
      const end = this.#text.indexOf("\r\n\r\n");
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.#text)?.[1] ?? Number.NaN);
      const bytes = end < 0 ? Number.NaN : end + 4 + length;
      if (this.#text.length >= bytes || this.closed) {
        const text = this.#text.slice(0, this.closed ? undefined : bytes);
        this.#text = this.#text.slice(text.length);
        return plain(text);
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async ask(bytes: string): Promise<string> {
    this.socket.write(bytes, "latin1");
    return this.answer();
  }

  end(): void {
    this.socket.destroy();
  }
}

/** An answer without its id and its date. */
function plain(text: string): string {
  return text
    .replace(/^Date: .*$/m, "Date: D")
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, "ID");
}

/** The answer of a fresh connection, whose first request the parser reads. */
async function parsedAnswer(bytes: string): Promise<string> {
  const caller = new Caller(service.port);
  const answer = await caller.ask(bytes);
  caller.end();
  return answer;
}

/** Asks twice on a connection, and says how many of the requests the parser read. */
async function repeated(first: string, second: string): Promise<{ answer: string; parsed: number }> {
  const caller = new Caller(service.port);
  const before = parsed;
  const since = await caller.ask(first);
  expect(since).toMatch(/^HTTP\/1.1 200/);
  const answer = await caller.ask(second);
  caller.end();
  return { answer, parsed: parsed - before };
}

const points = (count: number, from = 1): string =>
  items(Array.from({ length: count }, (_, i) => [from + i / 7, `-${i}.5`, `${i}e-3`]));
const post = (version: Version, body: string, more: readonly string[] = []): string =>
  rawPost(version, envelope(version, body), more);

const PREFIXED =
  `<t:NullOp xmlns:t="${NAMESPACE}"><t:points>` +
  "<t:Point3><t:x>1.25</t:x> <t:y> -2</t:y><t:z>1e3</t:z></t:Point3><t:Point3><t:x>.5</t:x><t:y>0</t:y><t:z>1</t:z></t:Point3>" +
  "</t:points></t:NullOp>";

describe.each(VERSIONS)("SOAP %s, the second of two requests that differ in their points", (version) => {
  it.each([
    ["one point", nullOp(points(1)), nullOp(points(1, 3))],
    ["other numbers of points", nullOp(points(2)), nullOp(points(40, 5))],
    ["no points, then some", nullOp(""), nullOp(points(3))],
    ["some, then none", nullOp(points(3)), nullOp("")],
    ["the members of a query", getVelocity(), getVelocity({ points: points(9) })],
    ["a token", getVelocity({ authToken: "secret" }), getVelocity({ authToken: "secret", points: points(2) })],
    ["prefixes, spaces and words", PREFIXED, PREFIXED.replace("-2", "7.5")],
    [
      "a trailing member",
      `${getVelocity().replace("</GetVelocity>", "<addr>me</addr></GetVelocity>")}`,
      `${getVelocity({ points: points(2) }).replace("</GetVelocity>", "<addr>me</addr></GetVelocity>")}`,
    ],
  ])("is answered alike beside the parser: %s", async (_title, first, second) => {
    const expected = await parsedAnswer(post(version, second));
    const { answer, parsed: read } = await repeated(post(version, first), post(version, second));
    expect(answer).toBe(expected);
    expect(read).toBe(1);
  });

  it.each([
    ["another member", getVelocity(), getVelocity({ time: "0.2" })],
    ["another token", getVelocity({ authToken: "a" }), getVelocity({ authToken: "b" })],
    ["a comment among the points", nullOp(points(2)), nullOp(`${points(1)}<!-- -->${points(1)}`)],
    ["a word that is no number", nullOp(points(2)), nullOp(points(2).replace("<y>", "<y>x"))],
    ["an item that ends early", nullOp(points(2)), nullOp(points(2).replace("</z></Point3>", ""))],
    [
      "more points than the first slab holds",
      nullOp(points(2)),
      nullOp(
        items(Array.from({ length: 513 }, () => [1, 2, 3]))
          .slice(0, 15_000)
          .replace(/<\/Point3>[^/]*(?:<\/[xyz]>[^/]*)*$/, "</Point3>"),
      ),
    ],
    ["an operation without points", nullOp(points(1)), `<NullOp xmlns="${NAMESPACE}"/>`],
  ])("is left to the parser with %s", async (_title, first, second) => {
    const expected = await parsedAnswer(post(version, second));
    const { answer } = await repeated(post(version, first), post(version, second));
    expect(answer).toBe(expected);
  });
});

describe("A connection with repeats", () => {
  const first = post("1.1", nullOp(points(1)));
  const second = post("1.1", nullOp(points(3)));

  it("answers every mix of repeats and others in order", async () => {
    const caller = new Caller(service.port);
    const others = [
      second,
      post("1.1", getVelocity()),
      "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
      post("1.1", nullOp("<bad/>")),
      second,
      post("1.1", nullOp(points(2)), ["X-Else: 1"]),
      `POST /service/turbulence.asmx HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/xml\r\nTransfer-Encoding: chunked\r\n\r\n${chunked(envelope("1.1", nullOp()))}`,
      second,
      first,
    ];
    await caller.ask(first);
    for (const bytes of others) expect(await caller.ask(bytes)).toBe(await parsedAnswer(bytes));
    caller.end();
  });

  it("goes on with repeats after other requests of a known length", async () => {
    const caller = new Caller(service.port);
    await caller.ask(first);
    const before = parsed;
    await caller.ask(post("1.1", getVelocity()));
    await caller.ask(second);
    await caller.ask(post("1.1", getVelocity({ points: points(4) })));
    await caller.ask(first);
    caller.end();
    expect(parsed - before).toBe(1);
  });

  it("answers requests in one segment, and those that are cut at any byte", async () => {
    const expected = [await parsedAnswer(second), await parsedAnswer(first)];
    const caller = new Caller(service.port);
    await caller.ask(first);
    caller.socket.write(second + first);
    expect([await caller.answer(), await caller.answer()]).toEqual(expected);
    caller.end();
    for (let cut = 1; cut < second.length; cut += 41) {
      const cutting = new Caller(service.port);
      await cutting.ask(first);
      cutting.socket.write(second.slice(0, cut));
      await new Promise(setImmediate);
      cutting.socket.write(second.slice(cut) + first);
      expect([await cutting.answer(), await cutting.answer()]).toEqual(expected);
      cutting.end();
    }
  });

  it.each([
    ["a head", first, ["X-Long: ".padEnd(2100, "x")]],
    ["an envelope", nullOp(points(1)).replace("<points>", `<!-- ${"x".repeat(2100)} --><points>`), []],
  ])("does not keep %s of more than 2 KiB", async (_title, body, headers) => {
    const bytes = post("1.1", body.startsWith("POST") ? nullOp(points(1)) : body, headers);
    expect((await repeated(bytes, bytes)).parsed).toBe(2);
  });

  it("keeps what comes while a repeat is answered, and answers it afterwards", async () => {
    const accepted = once(service.app.server, "connection") as Promise<[Socket]>;
    const caller = new Caller(service.port);
    const [socket] = await accepted;
    await caller.ask(first);
    let open = (): void => undefined;
    service.engine.gate = new Promise((resolve) => {
      open = resolve;
    });
    const before = service.engine.finishing;
    caller.socket.write(second);
    await expect.poll(() => service.engine.finishing).toBe(before + 1);
    caller.socket.write(`GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n${first}`);
    await expect.poll(() => socket.bytesRead).toBe(caller.socket.bytesWritten);
    open();
    service.engine.gate = null;
    const answers = [await caller.answer(), await caller.answer(), await caller.answer()];
    expect(answers.map((text) => /^HTTP\S+ (\d+)/.exec(text)?.[1])).toEqual(["200", "200", "200"]);
    expect(answers[1]).toMatch(/ok\n$/);
    expect(answers[2]).toBe(await parsedAnswer(first));
    caller.end();
  });

  it("gives back what a repeat holds when its caller leaves", async () => {
    const caller = new Caller(service.port);
    await caller.ask(first);
    service.engine.gate = new Promise(() => undefined);
    const { finishing, aborted } = service.engine;
    caller.socket.write(second);
    await expect.poll(() => service.engine.finishing).toBe(finishing + 1);
    caller.end();
    await expect.poll(() => service.engine.aborted).toBeGreaterThan(aborted);
    service.engine.gate = null;
    await expectIdle(service);
    await expect.poll(() => service.logs.some((line) => /"outcome":"cancelled".*"points":3/.test(line))).toBe(true);
  });

  it.each([
    [
      "a fault of the engine",
      () => {
        service.engine.failure = new DataError("broken");
      },
    ],
    [
      "a refused token",
      () => {
        refusal = new AuthError("no", "RateLimited", 3);
      },
    ],
    [
      "a limit of the token",
      () => {
        refusal = new LimitError("token.concurrent", "too many");
      },
    ],
    [
      "a token of two points",
      () => {
        tokenPoints = 2;
      },
    ],
    [
      "an error that nobody expects",
      () => {
        service.engine.failure = new Error("unexpected");
      },
    ],
  ])("answers %s as the parser's way does", async (_title, spoil) => {
    const caller = new Caller(service.port);
    await caller.ask(first);
    const before = parsed;
    spoil();
    const answer = await caller.ask(second);
    const read = parsed - before;
    const expected = await parsedAnswer(second);
    service.engine.failure = null;
    refusal = null;
    tokenPoints = 0;
    expect(answer).toBe(expected);
    expect(answer).toMatch(/^HTTP\/1.1 500/);
    expect(read).toBe(0);
    expect(await caller.ask(second)).toBe(await parsedAnswer(second));
    caller.end();
  });

  it("refuses a repeat by HTTP where all slots are taken", async () => {
    const caller = new Caller(service.port);
    await caller.ask(first);
    let release = (): void => undefined;
    service.engine.gate = new Promise((resolve) => {
      release = resolve;
    });
    const before = service.engine.finishing;
    const others = [new Caller(service.port), new Caller(service.port)];
    for (const other of others) other.socket.write(first);
    await expect.poll(() => service.engine.finishing).toBe(before + 2);
    // The parser's way has not read the body then, and ends the connection.
    const kept = (text: string): string => text.replace(/connection: .*\r\n/i, "").replace(/Keep-Alive: .*\r\n/, "");
    expect(kept(await caller.ask(second))).toBe(kept(await parsedAnswer(second)));
    release();
    service.engine.gate = null;
    for (const other of others) {
      await other.answer();
      other.end();
    }
    expect(await caller.ask(second)).toMatch(/^HTTP\/1.1 200/);
    caller.end();
  });

  it("answers repeats that come together, more than there are slots", async () => {
    const callers = Array.from({ length: 12 }, () => new Caller(service.port));
    for (const caller of callers) expect(await caller.ask(first)).toMatch(/^HTTP\/1.1 200/);
    for (const answer of await Promise.all(callers.map((caller) => caller.ask(second)))) {
      expect(answer).toMatch(/^HTTP\/1.1 200/);
    }
    for (const caller of callers) caller.end();
  });

  it("logs and counts repeats as other requests", async () => {
    const caller = new Caller(service.port);
    await caller.ask(first);
    await caller.ask(second);
    caller.end();
    await fetch(new URL("/metrics", service.url));
    const lines = service.logs.filter((line) => line.includes('"method":"POST"'));
    const [one, other] = lines.slice(-2).map((line) => JSON.parse(line) as Record<string, unknown>);
    const steady = ({ reqId, time, ms, computeMs, encodeMs, points: count, bytes, ...rest }: Record<string, unknown>) =>
      rest;
    expect(steady(other as Record<string, unknown>)).toEqual(steady(one as Record<string, unknown>));
    expect(other?.points).toBe(3);
    expect(other?.bytes).toBeGreaterThan(one?.bytes as number);
  });
});

it("A service that is closed answers a repeat under way and ends its connection", async () => {
  const own = await startService();
  const caller = new Caller(own.port);
  await caller.ask(post("1.1", nullOp(points(1))));
  let open = (): void => undefined;
  own.engine.gate = new Promise((resolve) => {
    open = resolve;
  });
  const before = own.engine.finishing;
  caller.socket.write(post("1.1", nullOp(points(2))));
  await expect.poll(() => own.engine.finishing).toBe(before + 1);
  const stopped = own.stop();
  await new Promise(setImmediate);
  open();
  expect(await caller.answer()).toMatch(/^HTTP\/1.1 200/);
  if (!caller.closed) await once(caller.socket, "close");
  await stopped;
});

it("HTTP_REPEATS=off leaves every request to the parser, with the same answers", async () => {
  const own = await startService({ HTTP_REPEATS: "off" });
  let read = 0;
  own.app.server.on("request", () => read++);
  const caller = new Caller(own.port);
  const answers: string[] = [];
  for (const count of [2, 3, 2]) answers.push(await caller.ask(post("1.1", nullOp(points(count)))));
  caller.end();
  expect(answers[2]).toBe(answers[0]);
  expect(answers[1]).toBe(await parsedAnswer(post("1.1", nullOp(points(3)))));
  expect(read).toBe(3);
  await own.stop();
});

it("Repeats over TLS are answered as the requests that the parser reads", async () => {
  const file = (name: string): string => fileURLToPath(new URL(`../../http/fixtures/${name}`, import.meta.url));
  const own = await startService({ TLS_CERT: file("cert.pem"), TLS_KEY: file("key.pem") });
  let read = 0;
  own.app.server.on("request", () => read++);
  const caller = new Caller(own.port, true);
  const answers: string[] = [];
  for (const count of [2, 3, 2]) answers.push(await caller.ask(post("1.1", nullOp(points(count)))));
  caller.end();
  expect(answers[2]).toBe(answers[0]);
  expect(answers[1]).toBe(await parsedAnswer(post("1.1", nullOp(points(3)))));
  expect(read).toBe(1);
  await own.stop();
});

it("A repeat may take longer than an idle connection is kept", async () => {
  const own = await startService();
  const accepted = once(own.app.server, "connection") as Promise<[Socket]>;
  const caller = new Caller(own.port);
  const [socket] = await accepted;
  await caller.ask(post("1.1", nullOp(points(1))));
  let open = (): void => undefined;
  own.engine.gate = new Promise((resolve) => {
    open = resolve;
  });
  const before = own.engine.finishing;
  caller.socket.write(post("1.1", nullOp(points(2))));
  await expect.poll(() => own.engine.finishing).toBe(before + 1);
  socket.emit("timeout");
  await new Promise(setImmediate);
  open();
  expect(await caller.answer()).toMatch(/^HTTP\/1.1 200/);
  socket.emit("timeout");
  if (!caller.closed) await once(caller.socket, "close");
  await own.stop();
});

/**
 * As when the event loop was held up for longer than an idle connection is kept: the timer of the connection comes
 * before what has arrived on it meanwhile. It is called in a timer for the same order.
 */
it.each([
  ["of the parser", "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"],
  ["with repeats", post("1.1", nullOp(points(1)))],
])("An idle connection %s on which a request has arrived is not ended, one without is", async (_title, bytes) => {
  const own = await startService();
  const accepted = once(own.app.server, "connection") as Promise<[Socket]>;
  const caller = new Caller(own.port);
  const [socket] = await accepted;
  expect(await caller.ask(bytes)).toMatch(/^HTTP\/1.1 200/);
  await new Promise<void>((resolve) => {
    setTimeout(() => {
      caller.socket.write(bytes, "latin1");
      socket.emit("timeout");
      resolve();
    });
  });
  expect(await caller.answer()).toMatch(/^HTTP\/1.1 200/);
  socket.emit("timeout");
  if (!caller.closed) await once(caller.socket, "close");
  await own.stop();
});

function chunked(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
}
