/** Callers who pipeline, or do not read what they asked for, take nothing from others. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { rawPost } from "../../support/raw-http.js";
import {
  call,
  envelope,
  expectIdle,
  items,
  NAMESPACE,
  nullOp,
  PATH,
  startService,
  type TestService,
} from "../../support/soap-service.js";

const SLOTS = 4;
/** An answer of some megabytes: more than the buffers of a connection take. */
const LARGE = nullOp(items(Array.from({ length: 120_000 }, (_, i) => [i + 0.125, 2.5, 3.25])));

const fixture = (name: string): string => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));

const sockets: Socket[] = [];
let service: TestService;

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await service.stop();
});

async function connected(): Promise<Socket> {
  const socket = connect(service.port, "127.0.0.1");
  sockets.push(socket.on("error", () => undefined));
  await once(socket, "connect");
  return socket;
}

async function secured(): Promise<Socket> {
  const socket = connectTls({ port: service.port, host: "127.0.0.1", rejectUnauthorized: false });
  sockets.push(socket.on("error", () => undefined));
  await once(socket, "secureConnect");
  return socket;
}

/** Asks for a large answer and does not read it; resolves when its head has come. */
async function askAndWait(): Promise<Socket> {
  const socket = await connected();
  socket.write(rawPost("1.1", envelope("1.1", LARGE)));
  await once(socket, "data");
  return socket.pause();
}

const metric = async (name: string): Promise<number> => {
  const text = await (await fetch(new URL("/metrics", service.url))).text();
  return Number(new RegExp(`^fieldprobe_${name} (.*)$`, "m").exec(text)?.[1]);
};

describe("pipelined requests", () => {
  it("of one connection hold one slot, however many wait behind the first", async () => {
    service = await startService({ ENGINE_INFLIGHT: String(SLOTS) });
    const open = service.engine.closeGate();
    const socket = await connected();
    socket.write(rawPost("1.1", envelope("1.1", nullOp())));
    await expect.poll(() => service.engine.finishing).toBe(1);
    service.engine.gate = null;
    let text = "";
    socket.on("data", (data) => {
      text += data;
    });
    const small = rawPost("1.1", envelope("1.1", nullOp(items([[7, 8, 9]]))));
    socket.write(small.repeat(3 * SLOTS));
    for (let i = 0; i < 2 * SLOTS; i++) expect((await call(service, "1.1", nullOp())).status).toBe(200);
    expect(await metric("requests_in_flight")).toBe(1);
    open();
    await expect.poll(() => text.split("</soap:Envelope>").length - 1).toBe(1 + 3 * SLOTS);
    expect(text.indexOf("<x>1.5</x>")).toBeLessThan(text.indexOf("<x>7</x>"));
    await expectIdle(service);
  });

  it("are given up with the connection, those that wait among them", async () => {
    service = await startService({ ENGINE_INFLIGHT: String(SLOTS) });
    service.engine.gate = new Promise(() => undefined);
    const socket = await connected();
    socket.write(rawPost("1.1", envelope("1.1", nullOp())).repeat(2 * SLOTS));
    await expect.poll(() => service.engine.finishing).toBe(1);
    socket.destroy();
    service.engine.gate = null;
    await expectIdle(service);
    expect(service.engine.queries).toHaveLength(1);
    expect((await call(service, "1.1", nullOp())).status).toBe(200);
  });
});

describe("readers that stop reading", () => {
  it("hold no slot and no points once their answers are computed", async () => {
    service = await startService({ ENGINE_INFLIGHT: "2", ENGINE_POINTS_IN_FLIGHT: "130000" });
    for (let i = 0; i < 3; i++) await askAndWait();
    expect(await metric("requests_in_flight")).toBe(0);
    expect(await metric("points_in_flight")).toBe(0);
    expect(await metric("waiting_answer_bytes")).toBe(3 * 12 * 120_000);
    expect((await call(service, "1.2", nullOp())).status).toBe(200);
  });

  it("are cut off when they are slower than the rate", async () => {
    service = await startService({ HTTP_READER_GRACE_MS: "100", HTTP_READER_BYTES_PER_SECOND: "1000000" });
    const socket = await askAndWait();
    await expect.poll(() => metric("waiting_answer_bytes"), { timeout: 10_000 }).toBe(0);
    socket.resume();
    await once(socket, "close");
    expect(service.logs.some((line) => line.includes('"outcome":"slow"'))).toBe(true);
    expect(service.engine.open).toBe(0);
  });

  it("are waited for where the time allowed is longer than that of any timer", async () => {
    service = await startService({ HTTP_READER_GRACE_MS: "2147483647", HTTP_READER_BYTES_PER_SECOND: "1" });
    const socket = await askAndWait();
    // Longer than the millisecond that a timer takes for what it cannot count.
    for (let i = 0; i < 5; i++) await metric("waiting_answer_bytes");
    let end = "";
    for await (const part of socket.resume()) {
      end = (end + (part as Buffer).toString("latin1")).slice(-7);
      if (end === "\r\n0\r\n\r\n") break;
    }
    expect(end).toBe("\r\n0\r\n\r\n");
    expect(service.logs.some((line) => line.includes('"outcome":"slow"'))).toBe(false);
  });

  it("make room for others where the bytes of their answers pass the bound", async () => {
    service = await startService({ HTTP_WAITING_BYTES: "2000000", HTTP_READER_GRACE_MS: "200" });
    const slow = await askAndWait();
    slow.resume();
    await once(slow, "data");
    slow.pause();
    const other = call(service, "1.1", LARGE);
    expect((await other).text.split("<Vector3>")).toHaveLength(120_001);
    slow.resume();
    await once(slow, "close");
  });
});

/** A box filter over four layers, 585 records a point, at so many points. */
const layered = (points: number): string =>
  `<GetBoxFilterPressure xmlns="${NAMESPACE}"><dataset>isotropic32</dataset><time>0</time>` +
  `<filterlength>6</filterlength><nlayers>4</nlayers><temporalInterpolation>None</temporalInterpolation><points>${items(Array(points).fill([1, 2, 3]))}</points>` +
  "</GetBoxFilterPressure>";

describe("answers whose text is still being made", () => {
  it("are not cut off for others: their readers have had nothing to read", async () => {
    const reader = { HTTP_READER_GRACE_MS: "1", HTTP_READER_BYTES_PER_SECOND: "1000" };
    service = await startService({ HTTP_WAITING_BYTES: "2000000", ...reader });
    let open = (): void => undefined;
    const written = new Promise<number>((_, reject) => {
      open = () => reject(new Error("no thread"));
    });
    const giveBack = (): void => undefined;
    const lend = (bytes: number) => new Uint8Array(new SharedArrayBuffer(bytes));
    const refuse = () => Promise.reject(new Error());
    const texts = { parallelism: 1, lend, giveBack, read: refuse, write: () => written, compress: refuse };
    service.engine.textThreads = texts;
    const first = call(service, "1.1", LARGE);
    await expect.poll(() => metric("waiting_answer_bytes")).toBe(12 * 120_000);
    const second = call(service, "1.1", LARGE);
    await expect.poll(() => service.engine.open).toBe(2);
    expect(await metric("waiting_answer_bytes")).toBe(12 * 120_000);
    open();
    for (const { status, text } of await Promise.all([first, second])) {
      expect(status).toBe(200);
      expect(text.split("<Vector3>")).toHaveLength(120_001);
    }
  });
});

describe("answers with many records a point", () => {
  it("count by their records among the points in flight, while they are computed", async () => {
    service = await startService({ ENGINE_POINTS_IN_FLIGHT: String(15 * 585) });
    const open = service.engine.closeGate();
    const answers = [call(service, "1.1", layered(10)), call(service, "1.1", layered(10))];
    await expect.poll(() => service.engine.finishing).toBe(1);
    await expect.poll(() => metric("points_in_flight")).toBe(10 * 585 + 10);
    const small = call(service, "1.1", nullOp());
    await expect.poll(() => service.engine.finishing).toBe(2);
    open();
    for (const { status } of await Promise.all([...answers, small])) expect(status).toBe(200);
    await expectIdle(service);
    expect(await metric("points_in_flight")).toBe(0);
  });
});

describe("callers who say nothing", () => {
  it.each(["http", "https"])("leave connections to others (%s)", async (scheme) => {
    const tls = { TLS_CERT: fixture("cert.pem"), TLS_KEY: fixture("key.pem") };
    service = await startService({ HTTP_CONNECTIONS: "8", ...(scheme === "https" ? tls : {}) });
    for (let i = 0; i < 20; i++) await connected();
    for (let i = 0; i < 8; i++) {
      const socket = scheme === "https" ? await secured() : await connected();
      socket.write("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
      expect(String((await once(socket, "data"))[0])).toMatch(/^HTTP\/1\.1 200/);
    }
  });

  it("are cut off in the time for headers, before keys are agreed on too", async () => {
    service = await startService({
      HTTP_HEADERS_TIMEOUT_MS: "200",
      TLS_CERT: fixture("cert.pem"),
      TLS_KEY: fixture("key.pem"),
    });
    const silent = await connected();
    silent.resume();
    await once(silent, "close");
  });
});

describe("a body that is refused", () => {
  it("is discarded to its end, so that its sender reads the answer", async () => {
    service = await startService({ HTTP_BODY_BYTES: "1000" });
    const socket = await connected();
    let text = "";
    socket.on("data", (bytes: Buffer) => {
      text += bytes.toString("latin1");
    });
    const closed = new Promise((resolve) => socket.once("close", resolve));
    const part = Buffer.alloc(65_536);
    let left = 200;
    const length = left * part.length;
    socket.write(
      `POST ${PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/xml\r\nContent-Length: ${length}\r\n\r\n`,
    );
    const more = (): void => {
      while (left > 0 && !socket.destroyed && left-- > 0 && socket.write(part));
    };
    socket.on("drain", more);
    more();
    await closed;
    expect(left).toBe(0);
    expect(text).toMatch(/^HTTP\/1\.1 413 /);
  });
});
