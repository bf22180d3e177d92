/** Group I of the conformance rules: limits, all lowered. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { describe, expect, it, vi } from "vitest";
import { TimeSlices } from "../../src/server/http/policies/time-slices.js";
import { LIMITS, type LimitName, limitVariable, loadConfig } from "../../src/shared/config.js";
import { OLDER_OPERATIONS, type Operation } from "../../src/shared/operations.js";
import { expectFault } from "../support/faults.js";
import { exchange, rawPost, statusOf } from "../support/raw-http.js";
import { requestOf } from "../support/requests.js";
import {
  call,
  ENVELOPES,
  envelope,
  expectAlive,
  getVelocity,
  items,
  NAMESPACE,
  nullOp,
  readRecords,
  send,
  startService,
  type TestService,
  useService,
  VERSIONS,
} from "../support/soap-service.js";

const POINTS = 50;
const service = useService(
  { XML_DEPTH: "6", XML_ATTRIBUTES: "4", XML_NAME_CHARS: "30", XML_TEXT_CHARS: "60", SOAP_HEADER_BLOCKS: "2" },
  { points: POINTS },
);

const points = (count: number): string => items(Array.from({ length: count }, (_, i) => [i, 0, 0]));
/** An element of that many characters in its name, in a header block that is ignored. */
const block = (content: string): string => `<t:T xmlns:t="urn:t">${content}</t:T>`;

describe.each(VERSIONS)("SOAP %s", (version) => {
  const passes = async (document: string): Promise<void> => {
    const answer = await send(service, version, document);
    expect(answer.status, answer.text).toBe(200);
  };
  const fails = async (document: string, limit: LimitName): Promise<void> => {
    const report = expectFault(await send(service, version, document), version, "Caller");
    if (report.detail === undefined) expect(report.text).toMatch(/^LimitExceeded: /);
    else expect(report.detail).toMatchObject({ code: "LimitExceeded", limit });
  };
  const withHeader = (header: string): string => envelope(version, nullOp(), header);
  const env = ENVELOPES[version];

  it("R103: xml.depth", async () => {
    await passes(withHeader(block("<a><b><c/></b></a>")));
    await fails(withHeader(block("<a><b><c><d/></c></b></a>")), "xml.depth");
    await fails(envelope(version, nullOp("<Point3><x><y/></x></Point3>")), "xml.depth");
  });

  it("R103, L12: xml.attributes, declarations included", async () => {
    await passes(withHeader(block('<a p="" q="" r="" s=""/>')));
    await fails(withHeader(block('<a p="" q="" r="" s="" t=""/>')), "xml.attributes");
    await fails(
      envelope(
        version,
        nullOp().replace("<points", '<points xmlns:a="a" xmlns:b="b" xmlns:c="c" xmlns:d="d" xmlns:e="e"'),
      ),
      "xml.attributes",
    );
  });

  it("R103, L12: xml.nameChars of the qualified name, in characters", async () => {
    const name = (count: number, letter = "n"): string => `<t:${letter.repeat(count - 2)}/>`;
    await passes(withHeader(block(name(30))));
    await passes(withHeader(block(name(30, "\u{10000}"))));
    await fails(withHeader(block(name(31))), "xml.nameChars");
    await fails(withHeader(block(name(31, "\u{10000}"))), "xml.nameChars");
    await fails(envelope(version, nullOp().replace("<points", `<points ${"n".repeat(31)}="1"`)), "xml.nameChars");
  });

  it("R103, L12: xml.textChars of values, attributes and namespace names", async () => {
    const token = (text: string): string => envelope(version, getVelocity({ authToken: text }));
    await passes(token("x".repeat(60)));
    await passes(token("\u{1f300}".repeat(60)));
    await passes(token(`${"&amp;".repeat(30)}<![CDATA[${"x".repeat(30)}]]>`));
    await passes(token(" ".repeat(60)));
    await fails(token("x".repeat(61)), "xml.textChars");
    await fails(token(" ".repeat(61)), "xml.textChars");
    await fails(token(`${" ".repeat(30)}<!-- a -->${"\n".repeat(31)}`), "xml.textChars");
    await fails(token("\u{1f300}".repeat(61)), "xml.textChars");
    await fails(token(`${"x".repeat(30)}<!-- a --><![CDATA[${"x".repeat(31)}]]>`), "xml.textChars");
    await fails(token("x<!-- a -->".repeat(61)), "xml.textChars");
    await fails(envelope(version, nullOp(items([[" ".repeat(200) + 1, 2, 3]]))), "xml.textChars");
    await passes(withHeader(block("x<!-- a -->".repeat(60))));
    await fails(withHeader(block("x<!-- a -->".repeat(61))), "xml.textChars");
    await fails(withHeader(block(`x<!-- a -->${" ".repeat(60)}`)), "xml.textChars");
    await passes(withHeader(block(`<a p="${"x".repeat(60)}"/>`)));
    await fails(withHeader(block(`<a p="${"x".repeat(61)}"/>`)), "xml.textChars");
    await fails(envelope(version, nullOp().replace("<points", `<points xmlns:u="${"u".repeat(61)}"`)), "xml.textChars");
  });

  it("R103: white space between elements is no value", async () => {
    await passes(envelope(version, `${" \n".repeat(100_000)}${nullOp(`${" ".repeat(5000)}${points(3)}`)}`));
  });

  it("R103: soap.headerBlocks", async () => {
    await passes(withHeader('<a xmlns="u"/><b xmlns="u"/>'));
    await fails(withHeader('<a xmlns="u"/><b xmlns="u"/><c xmlns="u"/>'), "soap.headerBlocks");
  });

  it("R103: query.points", async () => {
    expect(readRecords(await call(service, version, nullOp(points(POINTS))), "NullOp")).toHaveLength(POINTS);
    await fails(envelope(version, nullOp(points(POINTS + 1))), "query.points");
    await fails(envelope(version, nullOp(`${points(POINTS)}<Point3>odd</Point3>`)), "query.points");
    const inertial = (count: number): string =>
      `<GetPositionInertialParticle xmlns="${NAMESPACE}"><dataset>isotropic32</dataset><StartTime>0</StartTime><EndTime>1</EndTime><Tp>1</Tp><spatialInterpolation>None</spatialInterpolation><points>${points(POINTS)}</points><InitialV>${points(count).replaceAll("Point3", "Vector3")}</InitialV></GetPositionInertialParticle>`;
    await passes(envelope(version, inertial(POINTS)));
    await fails(envelope(version, inertial(POINTS + 1)), "query.points");
  });

  it("R29, R104: reading stops at the limit", async () => {
    const document = envelope(version, nullOp(points(POINTS + 1)));
    const part = document.slice(0, document.lastIndexOf("<Point3>") + 8);
    const head = rawPost(version, "").replace("Content-Length: 0", "Content-Length: 100000000");
    const starts: [string, string][] = [
      [part, "query.points"],
      [`<s:Envelope xmlns:s="${env}"><s:Body><${"n".repeat(31)}`, "xml.nameChars"],
      ["<!DOCTYPE", "MalformedXml"],
      [`<s:Envelope xmlns:s="${env}"><s:Header><t:T xmlns:t="urn:t"><a><b><c><d>`, "LimitExceeded"],
      [`<s:Envelope xmlns:s="${env}"><s:Header><a xmlns="u"/><a xmlns="u"/><a xmlns="u">`, "LimitExceeded"],
      [`<s:Envelope xmlns:s="${env}"><s:Body><NullOp xmlns="${NAMESPACE}" a="" b="" c="" d`, "xml.attributes"],
      [`<s:Envelope xmlns:s="${env}"><s:Body><NullOp xmlns="${"u".repeat(61)}`, "xml.textChars"],
      [`<s:Envelope xmlns:s="${env}"><s:Body><NullOp xmlns="${"&amp;".repeat(61)}`, "xml.textChars"],
      [
        `<s:Envelope xmlns:s="${env}"><s:Body><NullOp xmlns="${NAMESPACE}"><authToken>${"x".repeat(61)}`,
        "xml.textChars",
      ],
    ];
    const answers = await Promise.all(starts.map(([start]) => exchange(service.port, head + start)));
    expect(answers.map(({ text }, i) => text.includes(starts[i]?.[1] as string))).toEqual(starts.map(() => true));
    expect(answers.map(({ closed }) => closed)).toEqual(starts.map(() => true));
  });
});

describe("in flight", () => {
  let open = (): void => undefined;
  const close = (target: TestService): void => {
    open = target.engine.closeGate();
  };
  const settle = async (condition: () => boolean): Promise<void> => {
    while (!condition()) await new Promise((resolve) => setImmediate(resolve));
  };

  it.each(VERSIONS)("R106, L4: all slots taken, SOAP %s", async (version) => {
    const narrow = await startService({ ENGINE_INFLIGHT: "1", QUERY_DEADLINE_MS: "400" });
    close(narrow);
    narrow.engine.deaf = true;
    const document = envelope(version, nullOp());
    const late = connect({ port: narrow.port, host: "127.0.0.1" });
    const heard = new Promise<string>((resolve) => late.setEncoding("latin1").once("data", resolve));
    late.write(rawPost(version, document).slice(0, -20));
    await settle(() => narrow.engine.queries.length === 1);
    const first = call(narrow, version, getVelocity({ dataset: "isotropic32" }));
    await settle(() => narrow.engine.finishing === 1);
    const refused = await call(narrow, version, nullOp());
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
    expect(refused.text).not.toContain("Envelope");
    late.write(document.slice(-20));
    const waited = await heard;
    expect(waited).toContain("<code>Busy</code>");
    expect(waited).toMatch(/^retry-after: [1-9]/im);
    late.destroy();
    open();
    expect((await first).status).toBe(200);
    narrow.engine.gate = null;
    await expectAlive(narrow);
    await narrow.stop();
  });

  it.each(VERSIONS)("R103, R106: engine.queue bounds the requests that wait, SOAP %s", async (version) => {
    const narrow = await startService({ ENGINE_INFLIGHT: "1", ENGINE_QUEUE: "1" });
    close(narrow);
    const document = envelope(version, nullOp());
    const whole = (text: string): boolean => text.includes("</soap:Envelope>");
    const sockets: Socket[] = [];
    const late = Array.from({ length: 2 }, () =>
      exchange(
        narrow.port,
        (socket) => {
          sockets.push(socket);
          socket.write(rawPost(version, document).slice(0, -20));
        },
        whole,
      ),
    );
    await settle(() => narrow.engine.queries.length === 2);
    const first = call(narrow, version, nullOp());
    await settle(() => narrow.engine.finishing === 1);
    expect((await call(narrow, version, nullOp())).status).toBe(503);
    for (const socket of sockets) socket.write(document.slice(-20));
    expect((await Promise.race(late)).text).toContain("<code>Busy</code>");
    open();
    expect((await first).status).toBe(200);
    expect((await Promise.all(late)).map(statusOf).sort()).toEqual([200, 500]);
    await narrow.stop();
  });

  it("R106: a request that waits gets the slot that comes free", async () => {
    const narrow = await startService({ ENGINE_INFLIGHT: "1" });
    close(narrow);
    const document = envelope("1.1", nullOp());
    const late = exchange(
      narrow.port,
      (socket) => {
        socket.write(rawPost("1.1", document).slice(0, -20));
        void settle(() => narrow.engine.queries.length === 2)
          .then(() => socket.write(document.slice(-20)))
          .then(() => expect.poll(() => gauge(narrow, "requests_waiting"), { timeout: 10_000 }).toBe(1))
          .then(open);
      },
      (text) => text.includes("</soap:Envelope>"),
    );
    await settle(() => narrow.engine.queries.length === 1);
    expect((await call(narrow, "1.1", nullOp())).status).toBe(200);
    expect(statusOf(await late)).toBe(200);
    await narrow.stop();
  });

  it("R123: points of all requests together are bounded: later ones wait, the oldest goes on", async () => {
    const tight = await startService({ ENGINE_POINTS_IN_FLIGHT: "100" });
    const document = envelope("1.1", nullOp(points(60)));
    const oldest = connect({ port: tight.port, host: "127.0.0.1" });
    oldest.write(rawPost("1.1", document).slice(0, -100));
    await settle(() => tight.engine.queries.length === 1);
    let answered = false;
    const later = call(tight, "1.1", nullOp(points(60))).then((answer) => {
      answered = true;
      return answer;
    });
    await settle(() => tight.engine.queries.length === 2);
    for (let i = 0; i < 3; i++) await gauge(tight, "requests_waiting");
    expect(answered).toBe(false);
    oldest.write(document.slice(-100));
    expect(readRecords(await later, "NullOp")).toHaveLength(60);
    oldest.destroy();
    await tight.stop();
  });

  it.each([
    ["points", "Point3"],
    ["InitialV", "Vector3"],
  ])(
    "R124: other work has time slices between %s in an unusual form, however many come at once",
    async (member, item) => {
      const COUNT = 2_000;
      const open = await startService();
      const tracked = OLDER_OPERATIONS.find(({ name }) => name === "GetPositionInertialParticle") as Operation;
      const usual = { points: points(COUNT), InitialV: items(Array(COUNT).fill([1, 2, 3]), "Vector3") };
      const unusual = `<${item}><x>1<!-- -->2</x><y>&#50;</y><z>3</z></${item}>`.repeat(COUNT);
      // A clock that goes on by a millisecond whenever it is read: 8 of them are a time slice.
      let now = performance.now();
      const clock = vi.spyOn(performance, "now").mockImplementation(() => now++);
      const pause = vi.spyOn(TimeSlices.prototype, "pause");
      try {
        const answer = await call(open, "1.1", requestOf(tracked, { ...usual, [member]: unusual }));
        expect(answer.status).toBe(200);
        expect(pause.mock.results.filter(({ value }) => value !== null).length).toBeGreaterThan(COUNT / 20);
      } finally {
        clock.mockRestore();
        pause.mockRestore();
      }
      await open.stop();
    },
  );

  it("R123: a request that waited to the request timeout gives 503", async () => {
    const tight = await startService({ ENGINE_POINTS_IN_FLIGHT: "100", HTTP_REQUEST_TIMEOUT_MS: "600" });
    const document = envelope("1.1", nullOp(points(60)));
    const oldest = exchange(tight.port, rawPost("1.1", document).slice(0, -100));
    await settle(() => tight.engine.queries.length === 1);
    const later = exchange(tight.port, rawPost("1.1", document).slice(0, -10), () => false, 3000);
    expect(statusOf(await later)).toBe(503);
    expect((await later).text).toMatch(/^retry-after: [1-9]/im);
    expect(statusOf(await oldest)).toBe(408);
    await expectAlive(tight);
    await tight.stop();
  });

  it("http.keepAliveTimeoutMs ends a connection on which nothing is asked any more", async () => {
    const brief = await startService({ HTTP_KEEP_ALIVE_TIMEOUT_MS: "200" });
    const answer = await exchange(brief.port, rawPost("1.1", envelope("1.1", nullOp())));
    expect(statusOf(answer)).toBe(200);
    expect(answer.closed).toBe(true);
    await brief.stop();
  });

  it("http.keepAliveTimeoutMs ends no connection on which a request has arrived, however late it is looked at", async () => {
    const brief = await startService({ HTTP_KEEP_ALIVE_TIMEOUT_MS: "50" });
    const socket = connect(brief.port, "127.0.0.1");
    const request = rawPost("1.1", envelope("1.1", nullOp()));
    socket.write(request);
    const [first] = (await once(socket, "data")) as [Buffer];
    // The service runs on this thread: it sees the request only after the time of the connection is up.
    socket.write(request);
    for (const until = performance.now() + 100; performance.now() < until; );
    const [second] = (await once(socket, "data")) as [Buffer];
    expect([first, second].map((bytes) => bytes.toString("latin1", 0, 12))).toEqual(["HTTP/1.1 200", "HTTP/1.1 200"]);
    socket.destroy();
    await brief.stop();
  });

  it("http.connections bounds the sockets: idle ones make room for others", async () => {
    const few = await startService({ HTTP_CONNECTIONS: "2" });
    const held: Socket[] = [];
    for (let i = 0; i < 6; i++) {
      const socket = connect(few.port, "127.0.0.1");
      held.push(socket);
      socket.write(`GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:${few.port}\r\n\r\n`);
      const [answer] = (await once(socket, "data")) as [Buffer];
      expect(answer.toString("latin1", 0, 12)).toBe("HTTP/1.1 200");
    }
    await expect.poll(() => held.filter(({ closed }) => !closed).length).toBeLessThanOrEqual(2);
    for (const socket of held) socket.destroy();
    await settleConnections(few, 0);
    await expectAlive(few);
    await few.stop();
  });
});

describe("configuration", () => {
  it.each(Object.keys(LIMITS) as LimitName[])("L18: %s is set by its variable", (name) => {
    expect(loadConfig({}, { [`FIELDPROBE_${limitVariable(name)}`]: "7" }).limits[name]).toBe(7);
    expect(limitVariable(name)).toMatch(/^[A-Z]+(_[A-Z]+)+$/);
  });
});

/** The value of a gauge among the metrics of a service. */
async function gauge(service: TestService, name: string): Promise<number> {
  const text = await (await fetch(new URL("/metrics", service.url))).text();
  return Number(new RegExp(`^fieldprobe_${name} (\\S+)`, "m").exec(text)?.[1]);
}

async function settleConnections(service: TestService, count: number): Promise<void> {
  for (;;) {
    const open = await new Promise<number>((resolve) =>
      service.app.server.getConnections((_error, found) => resolve(found)),
    );
    if (open === count) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
