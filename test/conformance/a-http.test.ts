/** Group A of the conformance rules: HTTP. Raw sockets, because clients hide framing. */
import { describe, expect, it } from "vitest";
import { expectFault, readFault } from "../support/faults.js";
import { exchange, type RawAnswer, rawPost, statusOf } from "../support/raw-http.js";
import {
  call,
  envelope,
  expectAlive,
  nullOp,
  PATH,
  readRecords,
  send,
  TYPES,
  useService,
  VERSIONS,
} from "../support/soap-service.js";

const BODY_BYTES = 20_000;
const service = useService({
  HTTP_BODY_BYTES: String(BODY_BYTES),
  HTTP_HEADERS_TIMEOUT_MS: "200",
  HTTP_REQUEST_TIMEOUT_MS: "400",
});

const raw = (bytes: Parameters<typeof exchange>[1], until?: (text: string) => boolean): Promise<RawAnswer> =>
  exchange(service.port, bytes, until);
/** Whether so many complete responses with an envelope have come. */
const answered = (count: number) => (text: string) => text.split("</soap:Envelope>").length > count;

describe.each(VERSIONS)("SOAP %s", (version) => {
  const good = envelope(version, nullOp());

  it("R1: a POST with a valid body gives 200 and an envelope", async () => {
    const answer = await call(service, version, nullOp());
    expect(answer.headers.get("content-type")).toBe(TYPES[version]);
    expect(readRecords(answer, "NullOp")).toEqual([{ name: "Vector3", values: [1.5, 2, 3] }]);
  });

  it("R2: HTTP/1.0 without keep-alive gives 200 and the connection is closed", async () => {
    const answer = await raw(rawPost(version, good).replace("HTTP/1.1", "HTTP/1.0"));
    expect(statusOf(answer)).toBe(200);
    expect(answer.closed).toBe(true);
    expect(answer.text.toLowerCase()).not.toContain("transfer-encoding");
    expect(answer.text).toContain("</soap:Envelope>");
  });

  it("R17: two pipelined POSTs give two responses in order", async () => {
    const second = envelope(version, nullOp("<Point3><x>7</x><y>8</y><z>9</z></Point3>"));
    const answer = await raw(rawPost(version, good) + rawPost(version, second), answered(2));
    expect(answer.text.match(/HTTP\/1\.1 200/g)).toHaveLength(2);
    expect(answer.text.indexOf("<x>1.5</x>")).toBeLessThan(answer.text.indexOf("<x>7</x>"));
  });

  it("R17: what cannot be read is refused after the answers to those before it", async () => {
    const open = service.engine.closeGate();
    const before = service.engine.queries.length;
    const exchanged = raw(`${rawPost(version, good)}NO REQUEST\r\n\r\n`);
    await expect.poll(() => service.engine.queries.length).toBeGreaterThan(before);
    await fetch(new URL("/healthz", service.url));
    service.engine.gate = null;
    open();
    const answer = await exchanged;
    expect(answer.text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 400"]);
    expect(answer.closed).toBe(true);
  });

  it("R18: Expect: 100-continue is answered 100, then normally", async () => {
    const [head, body] = [rawPost(version, good, ["Expect: 100-continue"]).split("\r\n\r\n")[0], good];
    const answer = await raw((socket) => {
      socket.write(`${head}\r\n\r\n`);
      socket.once("data", () => socket.write(body));
    }, answered(1));
    expect(answer.text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200/);
  });

  it("R20: an empty body is malformed", async () => {
    expectFault(await send(service, version, ""), version, "Caller", "MalformedXml");
    const none = await raw(
      `POST ${PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${TYPES[version]}\r\n\r\n`,
      answered(1),
    );
    expect(none.text).toContain("MalformedXml");
  });

  it("R11, R103: a Content-Length above the limit gives 413 before the body is read, one at the limit is served", async () => {
    expect(statusOf(await raw(rawPost(version, good.padEnd(BODY_BYTES)), answered(1)))).toBe(200);
    const head = rawPost(version, "").replace("Content-Length: 0", `Content-Length: ${BODY_BYTES + 1}`);
    const answer = await raw(head);
    expect(statusOf(answer)).toBe(413);
    expect(answer.closed).toBe(true);
    const expecting = await raw(head.replace("\r\n\r\n", "\r\nExpect: 100-continue\r\n\r\n"));
    expect(statusOf(expecting)).toBe(413);
  });

  it("R12, R103: a chunked body gives 413 as soon as it passes the limit, and is served at the limit", async () => {
    const head = rawPost(version, "").replace("Content-Length: 0", "Transfer-Encoding: chunked");
    const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
    const padding = (bytes: number): string => `${good}${" ".repeat(bytes - Buffer.byteLength(good))}`;
    const full = await raw(`${head}${chunk(padding(BODY_BYTES))}0\r\n\r\n`, answered(1));
    expect(statusOf(full)).toBe(200);
    const passed = await raw(`${head}${chunk(padding(BODY_BYTES + 1))}`);
    expect(statusOf(passed)).toBe(413);
    expect(passed.closed).toBe(true);
  });

  it("R15: a body that is not complete in time gives 408 and the connection is closed", async () => {
    const answer = await raw(rawPost(version, good).slice(0, -10));
    expect(statusOf(answer)).toBe(408);
    expect(answer.closed).toBe(true);
  });

  it("R16: a body shorter than its Content-Length runs no operation", async () => {
    const before = service.engine.open;
    const answer = await raw((socket) => socket.end(rawPost(version, good).slice(0, -10)));
    expect(answer.closed).toBe(true);
    expect(answer.text).not.toContain("NullOpResponse");
    expect(service.engine.open).toBe(before);
    await expectAlive(service);
  });

  it("R21: the media type decides the version of a fault, whatever the document is", async () => {
    const other = version === "1.1" ? "1.2" : "1.1";
    const documents = ["", "<", "<a/>", envelope(other, nullOp()), envelope(other, "<a/>"), envelope(version, "<a/>")];
    for (const document of documents) expect(readFault(await send(service, version, document)).version).toBe(version);
  });

  it("R19: no response echoes the request's type, names the software or shows a stack", async () => {
    const answers = [
      await call(service, version, nullOp()),
      await call(service, version, "<a/>"),
      await send(service, version, "<", { "x-test": "1" }),
      await send(service, version, good, { "content-type": "text/secret; charset=utf-8" }),
      await send(service, version, good, { "content-encoding": "secret" }),
      await send(service, version, good.padEnd(BODY_BYTES + 1)),
      await send({ url: `${service.url}/nothing` }, version, good),
    ];
    for (const path of ["", "?wsdl", "/nothing", "/../../healthz", "/../../readyz", "/../../metrics"]) {
      const response = await fetch(service.url + path);
      answers.push({ status: response.status, headers: response.headers, text: await response.text() });
    }
    for (const { headers, text } of answers) {
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("server")).toBeNull();
      expect(headers.get("x-powered-by")).toBeNull();
      expect(`${[...headers].join()}${text}`).not.toMatch(/secret|fastify|node_modules|\.js:|at \w+ \(/i);
    }
  });
});

describe("media types", () => {
  it.each([
    ["R6", "text/xml", "1.1"],
    ["R6", "TEXT/XML", "1.1"],
    ["R6", 'text/xml; charset="UTF-8"', "1.1"],
    ["R7", "application/soap+xml", "1.2"],
    ["R7", 'application/soap+xml; charset=utf-8; action="http://turbulence.pha.jhu.edu/NullOp"', "1.2"],
    ["R7", 'Application/SOAP+XML;action=""', "1.2"],
  ] as const)("%s: %s is SOAP %s", async (_rule, type, version) => {
    const answer = await send(service, version, envelope(version, nullOp()), { "content-type": type });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe(TYPES[version]);
  });

  it.each(["text/html", "application/json", "application/xml", "multipart/related", "text/plain", "text/xmlx"])(
    "R8: %s gives 415",
    async (type) => {
      const answer = await send(service, "1.1", "<not even xml", { "content-type": type });
      expect(answer.status).toBe(415);
      expect(answer.headers.get("content-type")).toMatch(/^text\/plain/);
    },
  );

  it("R8: no Content-Type gives 415", async () => {
    const answer = await raw(rawPost("1.1", nullOp()).replace(/Content-Type: .*\r\n/, ""));
    expect(statusOf(answer)).toBe(415);
  });

  it.each([
    "text/xml; charset",
    "text/xml; =utf-8",
    "text/xml; charset=utf-8; charset=utf-16",
    "text/",
    'text/xml;charset="utf-8',
  ])("R9: %s gives 415", async (type) => {
    expect((await send(service, "1.1", envelope("1.1", nullOp()), { "content-type": type })).status).toBe(415);
  });

  it.each(["gzip", "deflate", "br", "gzip, identity", "x"])("R10: Content-Encoding %s gives 415", async (coding) => {
    const answer = await send(service, "1.1", envelope("1.1", nullOp()), { "content-encoding": coding });
    expect(answer.status).toBe(415);
    expect(answer.headers.get("accept-encoding")).toBe("identity");
  });

  it("R10: Content-Encoding identity is accepted", async () => {
    expect((await send(service, "1.1", envelope("1.1", nullOp()), { "content-encoding": "identity" })).status).toBe(
      200,
    );
  });
});

describe("paths and methods", () => {
  it.each([
    "/",
    "/service",
    "/Service/Turbulence.asmx",
    "/service/turbulence.asmx/",
    "/service/turbulence.asmx/x",
    "/service/turbulence.ASMX",
  ])("R3: POST %s gives 404", async (path) => {
    const answer = await raw(rawPost("1.1", envelope("1.1", nullOp()), [], path), (text) => text.includes("\r\n\r\n"));
    expect(statusOf(answer)).toBe(404);
    expect(answer.text).not.toContain("Envelope");
  });

  it.each([
    ["application/json", "{"],
    ["application/json", "x".repeat(1_100_000)],
    ["text/plain", "x".repeat(1_100_000)],
    ["nonsense", "x"],
  ])("R3: a body of %s that nobody reads does not matter", async (type, body) => {
    const answer = await send({ url: `${service.url}/nothing` }, "1.1", body, { "content-type": type });
    expect(answer.status).toBe(404);
  });

  it("R5: other methods are refused whatever they carry and however the address is written", async () => {
    for (const type of ["application/json", "text/plain", "nonsense"]) {
      const answer = await fetch(service.url, { method: "PUT", headers: { "content-type": type }, body: "{" });
      expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST"]);
    }
    for (const origin of ["", "http://127.0.0.1", "HTTP://other:8080"]) {
      const answer = await raw(`PUT ${origin}${PATH}?x HTTP/1.1\r\nHost: localhost\r\n\r\n`, (text) =>
        text.includes("\r\n\r\n"),
      );
      expect(statusOf(answer)).toBe(405);
    }
  });

  it("R1: an address in absolute form is the same address", async () => {
    const document = envelope("1.1", nullOp());
    const answer = await raw(rawPost("1.1", document, [], `http://127.0.0.1${PATH}`), answered(1));
    expect(statusOf(answer)).toBe(200);
  });

  it("R4: a browser is shown a page about the address, with its WSDL", async () => {
    const answer = await fetch(service.url, { headers: { accept: "text/html" } });
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST"]);
    const page = await answer.text();
    expect(page).toContain("<h1>SOAP service of fieldprobe</h1>");
    for (const [, link = ""] of page.matchAll(/href="([^"]*)"/g)) {
      const wsdl = await fetch(new URL(link, service.url));
      expect([wsdl.status, wsdl.headers.get("content-type")]).toEqual([200, "text/xml; charset=utf-8"]);
    }
  });

  it.each(["GET", "HEAD", "OPTIONS"])("R4, L14: %s without wsdl gives 405 with Allow: POST", async (method) => {
    const response = await fetch(service.url, { method });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("POST");
  });

  it.each(["PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "LINK", "M-POST", "BREW", "QUERY"])(
    "R5: %s is never served",
    async (method) => {
      const request = rawPost("1.1", envelope("1.1", nullOp())).replace("POST", method);
      const answer = await raw(request, (text) => text.includes("\r\n\r\n"));
      expect([400, 405, 501]).toContain(statusOf(answer));
      if (statusOf(answer) === 405) expect(answer.text).toMatch(/^allow: POST\r$/im);
    },
  );
});

describe("framing", () => {
  const head = `POST ${PATH} HTTP/1.1`;
  const type = `Content-Type: ${TYPES["1.1"]}`;
  it.each([
    [
      "Content-Length and Transfer-Encoding",
      [head, "Host: localhost", type, "Content-Length: 3", "Transfer-Encoding: chunked"],
    ],
    ["differing lengths", [head, "Host: localhost", type, "Content-Length: 3", "Content-Length: 4"]],
    ["equal lengths (L15)", [head, "Host: localhost", type, "Content-Length: 3", "Content-Length: 3"]],
    ["a negative length", [head, "Host: localhost", type, "Content-Length: -3"]],
    ["a length that is no number", [head, "Host: localhost", type, "Content-Length: 3x"]],
    ["NUL in a header", [head, "Host: localhost", type, "X: a\0b", "Content-Length: 3"]],
    ["no Host (L15)", [head, type, "Content-Length: 3"]],
    ["two Hosts (L15)", [head, "Host: localhost", "Host: localhost", type, "Content-Length: 3"]],
    ["an unknown transfer coding (L15)", [head, "Host: localhost", type, "Transfer-Encoding: gzip, chunked"]],
    ["transfer coding identity (L15)", [head, "Host: localhost", type, "Transfer-Encoding: identity"]],
    ["a folded header (L15)", [head, "Host: localhost", type, "X: a\r\n b", "Content-Length: 3"]],
  ])("R13: %s gives 400 and the connection is closed", async (_what, lines) => {
    const answer = await raw(`${lines.join("\r\n")}\r\n\r\n`);
    expect(statusOf(answer)).toBe(400);
    expect(answer.closed).toBe(true);
    expect(answer.text).not.toMatch(/^server:/im);
  });

  it("R13: bare line feeds give 400 and the connection is closed", async () => {
    const answer = await raw(rawPost("1.1", "").replaceAll("\r\n", "\n"));
    expect(statusOf(answer)).toBe(400);
    expect(answer.closed).toBe(true);
  });

  it("R14: a header section over 16 KiB gives 431, one just below is accepted", async () => {
    const filled = (bytes: number): string => {
      const plain = rawPost("1.1", envelope("1.1", nullOp()), ["X-Fill: "]);
      const section = plain.indexOf("\r\n\r\n") + 4;
      return plain.replace("X-Fill: ", `X-Fill: ${"a".repeat(bytes - section)}`);
    };
    const over = await raw(filled(16 * 1024 + 200));
    expect(statusOf(over)).toBe(431);
    expect(over.closed).toBe(true);
    expect(statusOf(await raw(filled(16 * 1024 - 200), answered(1)))).toBe(200);
  });

  it("R15: headers that are not complete in time give 408 and the connection is closed", async () => {
    const answer = await raw(`${head}\r\nHost: localhost\r\n`);
    expect(statusOf(answer)).toBe(408);
    expect(answer.closed).toBe(true);
  });

  it("L14: an expectation other than 100-continue gives 417", async () => {
    const answer = await raw(rawPost("1.1", envelope("1.1", nullOp()), ["Expect: magic"]), (text) =>
      text.includes("\r\n\r\n"),
    );
    expect(statusOf(answer)).toBe(417);
  });
});
