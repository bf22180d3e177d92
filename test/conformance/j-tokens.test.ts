/** Group J of the conformance rules: tokens. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { digestToken, type TokenEntry, watchTokens } from "../../src/server/http/auth.js";
import { LIMITS } from "../../src/shared/config.js";
import { expectFault } from "../support/faults.js";
import { exchange, rawPost, statusOf } from "../support/raw-http.js";
import { scratchFolder } from "../support/scratch.js";
import {
  type Answer,
  call,
  envelope,
  getVelocity,
  items,
  NAMESPACE,
  readRecords,
  send,
  startService,
  type TestService,
  TYPES,
  VERSIONS,
} from "../support/soap-service.js";

const FREE = "free-token-of-many-random-letters";
const SMALL = "small-token-of-many-random-letters";
const DISABLED = "disabled-token-of-many-random-letters";
const SLOW = "slow-token-of-many-random-letters";
const LONELY = "lonely-token-of-many-random-letters";

const entry = (token: string, limit: number, more: Partial<TokenEntry> = {}): TokenEntry => ({
  name: token.split("-")[0] as string,
  sha256: digestToken(token),
  limit,
  ...more,
});
const ENTRIES = [
  entry(FREE, 0),
  entry(SMALL, 3),
  entry(DISABLED, -1),
  entry(SLOW, 0, { perMinute: 2 }),
  entry(LONELY, 0, { concurrent: 1 }),
];

const silent = pino({ level: "silent" });
const folder = scratchFolder();
const file = join(folder, "tokens.json");
const write = (entries: readonly TokenEntry[], path = file): void =>
  writeFileSync(path, JSON.stringify({ version: 1, tokens: entries }));

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setImmediate(resolve));
}

let clock = 0;
let service: TestService;
const RELOAD_MS = 20;
beforeAll(async () => {
  write(ENTRIES);
  const auth = watchTokens(file, false, LIMITS, silent, { reloadMs: RELOAD_MS, now: () => clock });
  service = await startService({}, {}, { auth });
});
afterAll(async () => {
  await service.stop();
});

const nullOp = (token: string | undefined, count = 1): string =>
  `<NullOp xmlns="${NAMESPACE}">${token === undefined ? "" : `<authToken>${token}</authToken>`}<points>${items(Array.from({ length: count }, () => [1, 2, 3]))}</points></NullOp>`;

describe.each(VERSIONS)("SOAP %s", (version) => {
  const ask = (token: string | undefined, count?: number): Promise<Answer> =>
    call(service, version, nullOp(token, count));

  it("R107: missing, unknown and malformed tokens are told the same", async () => {
    const texts = new Set<string>();
    for (const token of [
      undefined,
      "",
      "unknown",
      "&lt;&gt;",
      `${FREE} `,
      FREE.toUpperCase(),
      digestToken(FREE),
      "__proto__",
      "x".repeat(4000),
    ]) {
      texts.add(expectFault(await ask(token), version, "Caller", "AuthenticationFailed").text);
    }
    expect([...texts]).toEqual([
      "Invalid identification token. Please see the documentation of this service for more information.",
    ]);
    expectFault(await call(service, version, getVelocity()), version, "Caller", "AuthenticationFailed");
  });

  it("R107: a disabled token is told so", async () => {
    expect(expectFault(await ask(DISABLED), version, "Caller", "AuthenticationFailed").text).toMatch(
      /^Disabled identification token/,
    );
  });

  it("R105: the points limit of a token", async () => {
    expect(readRecords(await ask(SMALL, 3), "NullOp")).toHaveLength(3);
    const report = expectFault(await ask(SMALL, 4), version, "Caller", "LimitExceeded", { limit: "token.points" });
    expect(report.text).toMatch(/^Request size too large \(4 > 3\)/);
    expect(readRecords(await ask(FREE, 4), "NullOp")).toHaveLength(4);
  });

  it("R105: the smaller limit counts", async () => {
    const auth = watchTokens(file, false, LIMITS, silent);
    const low = await startService({}, { points: 2 }, { auth });
    expectFault(await call(low, version, nullOp(SMALL, 3)), version, "Caller", "LimitExceeded", {
      limit: "query.points",
    });
    await low.stop();
  });

  it("R89, L7: points are not decoded for a token that fails, and nothing runs", async () => {
    const before = service.engine.queries.length;
    const bad = `<NullOp xmlns="${NAMESPACE}"><authToken>unknown</authToken><points>not points`;
    expectFault(await send(service, version, envelope(version, bad)), version, "Caller", "AuthenticationFailed");
    const other = `<GetVelocity xmlns="${NAMESPACE}"><colour/></GetVelocity>`;
    expectFault(await call(service, version, other), version, "Caller", "AuthenticationFailed");
    expectFault(
      await call(service, version, `<NullOp xmlns="${NAMESPACE}"/>`),
      version,
      "Caller",
      "AuthenticationFailed",
    );
    expect(service.engine.queries).toHaveLength(before);
  });

  it("R51, R89: mandatory headers, the operation and its action are judged before the token", async () => {
    const mandatory = '<t:T xmlns:t="urn:t" s:mustUnderstand="1"/>';
    expectFault(await send(service, version, envelope(version, nullOp("unknown"), mandatory)), version, "Must");
    const other = `<Other xmlns="${NAMESPACE}"><authToken>unknown</authToken></Other>`;
    expectFault(await call(service, version, other), version, "Caller", "UnknownOperation");
    const headers: Record<string, string> =
      version === "1.1" ? { soapaction: "urn:other" } : { "content-type": `${TYPES["1.2"]}; action="urn:other"` };
    expectFault(await call(service, version, nullOp("unknown"), headers), version, "Caller", "ActionMismatch");
  });

  it("R111: a request that is being read when the file changes goes on as it was judged", async () => {
    const path = join(folder, `changed-${version}.json`);
    write(ENTRIES, path);
    const changing = await startService(
      {},
      {},
      { auth: watchTokens(path, false, LIMITS, silent, { reloadMs: RELOAD_MS }) },
    );
    const document = envelope(version, nullOp(FREE));
    const running = exchange(
      changing.port,
      (socket) => {
        socket.write(rawPost(version, document).slice(0, -30));
        void until(() => changing.engine.queries.length === 1)
          .then(() => write([], path))
          .then(() => until(async () => (await call(changing, version, nullOp(FREE))).status !== 200))
          .then(() => socket.write(document.slice(-30)));
      },
      (text) => text.includes("</soap:Envelope>"),
    );
    expect(statusOf(await running)).toBe(200);
    await changing.stop();
  });

  it("R109: neither logs nor metrics nor faults hold a token; a digest prefix names it", async () => {
    service.logs.length = 0;
    const answers = [await ask(FREE), await ask(DISABLED), await ask("unknown-secret-token"), await ask(SMALL, 9)];
    const metrics = await (await fetch(new URL("/metrics", service.url))).text();
    for (const text of [...answers.map((answer) => answer.text), ...service.logs, metrics]) {
      expect(text).not.toMatch(/-token/);
      expect(text).not.toContain(digestToken(FREE).slice(0, 16));
    }
    expect(service.logs.some((line) => JSON.parse(line).token === digestToken(FREE).slice(0, 8))).toBe(true);
  });

  it("R110: a rate passed gives RateLimited with Retry-After; other tokens are unaffected", async () => {
    clock += 600_000;
    expect((await ask(SLOW)).status).toBe(200);
    expect((await ask(SLOW)).status).toBe(200);
    const limited = await ask(SLOW);
    expectFault(limited, version, "Caller", "RateLimited");
    expect(limited.headers.get("retry-after")).toBe("30");
    expect((await ask(FREE)).status).toBe(200);
    clock += 29_999;
    expectFault(await ask(SLOW), version, "Caller", "RateLimited");
    clock += 2;
    expect((await ask(SLOW)).status).toBe(200);
  });

  it("token.concurrent bounds the requests of one token at a time", async () => {
    const open = service.engine.closeGate();
    const before = service.engine.queries.length;
    const first = ask(LONELY);
    while (service.engine.queries.length === before) await new Promise((resolve) => setImmediate(resolve));
    expectFault(await ask(LONELY), version, "Caller", "LimitExceeded", { limit: "token.concurrent" });
    open();
    service.engine.gate = null;
    expect((await first).status).toBe(200);
    expect((await ask(LONELY)).status).toBe(200);
  });

  it("R107, L17: anonymous use beside tokens is served only when that is set", async () => {
    const auth = watchTokens(file, true, LIMITS, silent);
    const open = await startService({}, {}, { auth });
    for (const token of [undefined, ""]) expect((await call(open, version, nullOp(token))).status).toBe(200);
    expectFault(await call(open, version, nullOp("unknown")), version, "Caller", "AuthenticationFailed");
    await open.stop();
  });

  it("L17: without a token file every request is served, whatever token it carries", async () => {
    const open = await startService();
    for (const token of [undefined, "", "anything"])
      expect((await call(open, version, nullOp(token))).status).toBe(200);
    await open.stop();
  });
});

describe("token file", () => {
  it("R108: only digests are stored", () => {
    expect(readFileSync(file, "utf8")).not.toMatch(/-token/);
    expect(ENTRIES[0]?.sha256).toMatch(/^[0-9a-f]{64}$/);
  });

  it("R111: a replaced file is in effect at once; a broken one keeps the last good set and is logged", async () => {
    const path = join(folder, "live.json");
    write(ENTRIES, path);
    const lines: string[] = [];
    let logged = () => {};
    const keep = (line: string) => {
      lines.push(line);
      logged();
    };
    const auth = watchTokens(path, false, LIMITS, pino({ level: "info" }, { write: keep }), { reloadMs: RELOAD_MS });
    const said = async (pattern: RegExp): Promise<void> => {
      while (!lines.some((line) => pattern.test(line)))
        await new Promise<void>((resolve) => {
          logged = resolve;
        });
      lines.length = 0;
    };
    expect(auth.authorise(FREE).points).toBe(0);
    write([entry(FREE, 9)], path);
    await said(/in effect/);
    expect(auth.authorise(FREE).points).toBe(9);
    expect(() => auth.authorise(SMALL)).toThrow("Invalid identification token");
    for (const broken of [
      "{",
      '{"version":2,"tokens":[]}',
      JSON.stringify({ version: 1, tokens: [entry(FREE, 1), entry(FREE, 2)] }),
    ]) {
      writeFileSync(path, broken);
      await said(/last good set/);
      expect(auth.authorise(FREE).points).toBe(9);
    }
    rmSync(path);
    await said(/last good set/);
    expect(auth.authorise(FREE).points).toBe(9);
    write(ENTRIES, path);
    await said(/in effect/);
    expect(auth.authorise(SMALL).points).toBe(3);
    auth.close();
  });

  it("R111: the service looks at its file at least every five seconds", () => {
    const path = join(folder, "default.json");
    write([], path);
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const auth = watchTokens(path, false, LIMITS, silent);
    expect(() => auth.authorise(FREE)).toThrow("Invalid identification token");
    write(ENTRIES, path);
    vi.advanceTimersByTime(5_000);
    expect(auth.authorise(FREE).points).toBe(0);
    auth.close();
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });

  it("a file that is broken at the start is refused", async () => {
    const path = join(folder, "bad.json");
    writeFileSync(path, "[]");
    await expect(startService({ TOKENS: path })).rejects.toThrow();
  });
});
