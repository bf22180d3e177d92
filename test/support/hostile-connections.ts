/** Framing that is broken or lies, senders that dawdle, and callers that leave. */
import { gzipSync } from "node:zlib";
import { type HostileCase, idles, leaves, mixes, sends, trickles } from "./hostile-case.js";
import { rawPost } from "./raw-http.js";
import { ENVELOPES, envelope, getVelocity, items, nullOp, PATH, TYPES, type Version } from "./soap-service.js";

const good = (version: Version): string => envelope(version, nullOp());
const post = (version: Version, more: readonly string[] = []): string => rawPost(version, good(version), more);
/** The head of a POST with another line in the place of its length. */
const headWith = (version: Version, line: string): string => rawPost(version, "").replace("Content-Length: 0", line);
const chunked = (version: Version): string => headWith(version, "Transfer-Encoding: chunked");
const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const head = `POST ${PATH} HTTP/1.1\r\nHost: localhost\r\n`;

/** A request whose answer is some hundred kilobytes. */
const large = (version: Version): string =>
  rawPost(version, envelope(version, nullOp(items([[1, 2, 3]]).repeat(5000))));
/** A request that the workers have to do something for. */
const heavy = (version: Version): string =>
  rawPost(version, envelope(version, getVelocity({ points: items([[1, 2, 3]]).repeat(500) })));

/** A small body that grows a thousandfold where it is inflated. */
const BOMB = gzipSync(Buffer.alloc(10_000_000, " "));

const FRAMING: readonly HostileCase[] = [
  sends("bytes that are no text", (version) =>
    Buffer.concat([
      Buffer.from(headWith(version, "Content-Length: 256")),
      Buffer.from(Array.from({ length: 256 }, (_, i) => i)),
    ]),
  ),
  sends("bytes that are no HTTP", () => Buffer.from(Array.from({ length: 1024 }, (_, i) => (i * 7919) & 0xff))),
  sends("a TLS greeting", () => Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03])),
  sends("a greeting of HTTP/2", () => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  sends("an upgrade to another protocol", (version) =>
    post(version, ["Connection: Upgrade", "Upgrade: websocket"]).replace("POST", "GET"),
  ),
  sends("a tunnel", () => "CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: 127.0.0.1:22\r\n\r\n"),
  sends("a path with a broken escape", (version) => rawPost(version, good(version), [], "/%zz%00")),
  sends("two lengths", (version) => post(version, ["Content-Length: 1"])),
  sends("length and chunks", (version) => post(version, ["Transfer-Encoding: chunked"])),
  sends("a length that is too short", (version) => headWith(version, "Content-Length: 40") + good(version)),
  sends("a length past the limit", (version) => headWith(version, "Content-Length: 99999999999")),
  sends("a length past all numbers", (version) => headWith(version, `Content-Length: ${"9".repeat(400)}`)),
  sends("a chunk size that is no number", (version) => `${chunked(version)}zz\r\n${good(version)}`),
  sends("a negative chunk size", (version) => `${chunked(version)}-1\r\n${good(version)}`),
  sends("a chunk size past all bounds", (version) => `${chunked(version)}fffffffffffffffff\r\n`),
  sends("a chunk longer than it says", (version) => `${chunked(version)}5\r\n${good(version)}`),
  sends("a chunk extension that never ends", (version) => `${chunked(version)}5;${"x".repeat(100_000)}`),
  sends("trailers of 64 KiB", (version) => `${chunked(version)}${chunk("<")}0\r\nX-Fill: ${"x".repeat(65_536)}`),
  sends("a compressed body that is none", (version) => post(version, ["Content-Encoding: gzip"])),
  sends("a small body that inflates to ten megabytes", (version) =>
    Buffer.concat([
      Buffer.from(
        headWith(version, `Content-Length: ${BOMB.length}`).replace("\r\n\r\n", "\r\nContent-Encoding: gzip\r\n\r\n"),
      ),
      BOMB,
    ]),
  ),
  sends("a header of 32 KiB", (version) => post(version, [`X-Fill: ${"x".repeat(32_768)}`])),
  sends("a hundred thousand headers", () => `${head}${"X-A: b\r\n".repeat(100_000)}\r\n`),
  sends("a path of 12 KiB", (version) => rawPost(version, good(version), [], `/${"x".repeat(12_288)}`)),
  sends("a type that is none", (version) => post(version).replace(TYPES[version], "application/x-www-form-urlencoded")),
  sends("an expectation that nobody meets", (version) => post(version, ["Expect: magic"])),
  sends("an expectation with a length past the limit", (version) =>
    headWith(version, "Content-Length: 99999999999\r\nExpect: 100-continue"),
  ),
  sends("HTTP/1.0 in chunks", (version) => `${chunked(version)}zz\r\n`.replace("HTTP/1.1", "HTTP/1.0")),
  sends("HTTP without a version", () => `POST ${PATH}\r\n\r\n`),
];

const DAWDLING: readonly HostileCase[] = [
  sends("headers that never end", () => `${head}X-A: `, true),
  sends("a body that never ends", (version) => post(version).slice(0, -5), true),
  sends(
    "a chunk that never ends",
    (version) => `${chunked(version)}1000\r\n<s:Envelope xmlns:s="${ENVELOPES[version]}">`,
    true,
  ),
  sends(
    "a body that was asked for and never comes",
    (version) => headWith(version, "Content-Length: 500\r\nExpect: 100-continue"),
    true,
  ),
  trickles("headers byte by byte", () => head, "X-A: b\r\n"),
  trickles(
    "a body byte by byte",
    (version) => headWith(version, "Content-Length: 5000") + good(version).slice(0, 100),
    " ",
  ),
  trickles("chunks of one byte", (version) => chunked(version) + chunk(good(version).slice(0, 100)), "1\r\n \r\n"),
  idles("connections that say nothing", 5),
];

const LEAVING: readonly HostileCase[] = [
  leaves("leaves after the head", (socket, version) =>
    socket.write(post(version).slice(0, 90), () => socket.destroy()),
  ),
  leaves("leaves in the middle of its points", (socket, version) =>
    socket.write(large(version).slice(0, -5000), () => socket.destroy()),
  ),
  leaves("leaves without reading its answer", (socket, version) => socket.write(post(version), () => socket.destroy())),
  leaves("leaves in the middle of its answer", (socket, version) => {
    socket.once("data", () => socket.destroy());
    socket.write(large(version));
  }),
  leaves("leaves while its points are computed", (socket, version) =>
    socket.write(heavy(version), () => setImmediate(() => socket.destroy())),
  ),
  leaves("resets", (socket, version) => socket.write(post(version), () => socket.resetAndDestroy())),
  leaves("resets in the middle of its answer", (socket, version) => {
    socket.once("data", () => socket.resetAndDestroy());
    socket.write(large(version));
  }),
  leaves("closes its half at once", (socket) => socket.end()),
  leaves("closes its half within the headers", (socket) => socket.end(head)),
  leaves("closes its half within the body", (socket, version) => socket.end(post(version).slice(0, -5))),
  leaves("closes its half within a chunk", (socket, version) => socket.end(`${chunked(version)}1000\r\n<`)),
];

/** More requests than one before the first answer. */
const PIPELINING: readonly HostileCase[] = [
  mixes(
    "twenty pipelined, and one that is no HTTP",
    (version) => `${post(version).repeat(20)}\r\n\r\nnonsense\r\n\r\n`,
    { served: 20, end: /<\/soap:Envelope>(\r\n0\r\n\r\n)?HTTP\/1\.1 400 / },
  ),
  mixes(
    "one good over HTTP/1.0 with another behind it",
    (version) => post(version).replace("HTTP/1.1", "HTTP/1.0") + post(version),
    { served: 1, end: /<\/soap:Envelope>$/ },
  ),
  leaves("leaves with fifty requests unanswered", (socket, version) =>
    socket.write(post(version).repeat(50), () => socket.destroy()),
  ),
];

export const HOSTILE_CONNECTIONS: readonly HostileCase[] = [...FRAMING, ...DAWDLING, ...LEAVING, ...PIPELINING];
