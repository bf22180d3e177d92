/** Requests that mean harm or are broken, one per way: repeated by the conformance suite and, more often, by the soak. */
import { connect, type Socket } from "node:net";
import {
  ENVELOPES,
  envelope,
  exchange,
  getVelocity,
  items,
  nullOp,
  PATH,
  rawPost,
  TYPES,
  type Version,
} from "./soap-service.js";

export interface HostileCase {
  readonly title: string;
  /** Sends it and resolves when the other side has answered or closed. */
  run(port: number, version: Version): Promise<void>;
  /** Takes a timeout of the service to end; repeat these side by side. */
  readonly slow?: boolean;
}

const over = (text: string): boolean => text.includes("</soap:Envelope>") || /^HTTP\/1\.1 4\d\d/.test(text);

/** Sends bytes and waits for a fault, a refusal or the end. */
const sends = (title: string, bytes: (version: Version) => string | Uint8Array, slow = false): HostileCase => ({
  title,
  slow,
  run: async (port, version) => {
    const answer = await exchange(port, bytes(version), over, 10_000);
    if (answer.text === "" && !answer.closed) throw new Error(`${title}: neither answered nor closed`);
    if (answer.text.includes("NullOpResponse")) throw new Error(`${title}: was served`);
  },
});
const document = (title: string, make: (version: Version) => string): HostileCase =>
  sends(title, (version) => rawPost(version, make(version)));

/** Connects, does something rude and goes. */
const leaves = (title: string, act: (socket: Socket, version: Version) => void): HostileCase => ({
  title,
  run: (port, version) =>
    new Promise((resolve) => {
      const socket = connect({ port, host: "127.0.0.1" }, () => act(socket, version));
      socket
        .on("error", () => undefined)
        .on("close", () => resolve())
        .resume();
    }),
});

const good = (version: Version): string => envelope(version, nullOp());
const chunked = (version: Version): string =>
  rawPost(version, "").replace("Content-Length: 0", "Transfer-Encoding: chunked");

export const HOSTILE: readonly HostileCase[] = [
  document(
    "entity expansion",
    (version) =>
      `<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>${good(version).replace("1.5", "&b;")}`,
  ),
  document("external entity", (version) => `<!DOCTYPE a SYSTEM "file:///etc/passwd">${good(version)}`),
  document("processing instruction", (version) => `<?php exit(); ?>${good(version)}`),
  document("undefined entity", (version) => good(version).replace("1.5", "&xxe;")),
  document("deep nesting", (version) => envelope(version, nullOp(), `<a xmlns="u">${"<a>".repeat(5000)}`)),
  document("a thousand attributes", (version) =>
    good(version).replace("<NullOp", `<NullOp ${Array.from({ length: 1000 }, (_, i) => `a${i}=""`).join(" ")}`),
  ),
  document("a name of 64 KiB", (version) => envelope(version, `<${"n".repeat(65_536)}/>`)),
  document("a value of 64 KiB", (version) => envelope(version, getVelocity({ dataset: "x".repeat(65_536) }))),
  document("a comment that never ends", (version) =>
    good(version).replace("<NullOp", `<!--${"-".repeat(1)} ${"x".repeat(50_000)}<NullOp`),
  ),
  document("a CDATA section that never ends", (version) =>
    good(version).replace("1.5", `<![CDATA[${"]".repeat(3000)}`),
  ),
  document("a number of 4000 digits and more", (version) =>
    envelope(version, nullOp(items([[`${"9".repeat(4000)}x`, 1, 2]]))),
  ),
  document("an exponent of 3000 digits", (version) =>
    envelope(version, nullOp(items([[`1e${"9".repeat(3000)}`, 1, 2]]))),
  ),
  document("control characters", (version) => good(version).replace("1.5", "\u0000\u0001")),
  document("names of Object.prototype", (version) =>
    envelope(version, nullOp("<__proto__><constructor/></__proto__>")),
  ),
  document("a mandatory header", (version) => envelope(version, nullOp(), '<a xmlns="u" s:mustUnderstand="1"/>')),
  document("a hundred header blocks", (version) => envelope(version, nullOp(), '<a xmlns="u"/>'.repeat(100))),
  document("the other SOAP version", (version) => good(version === "1.1" ? "1.2" : "1.1")),
  document("two operations", (version) => envelope(version, nullOp() + nullOp())),
  document("NaN", (version) => envelope(version, nullOp(items([["NaN", "INF", "-INF"]])))),
  document("an odd item in each of a thousand", (version) =>
    envelope(version, nullOp(`${items([["<!-- -->1", 1, 2]]).repeat(1000)}<x/>`)),
  ),
  document("an envelope that ends early", (version) => good(version).slice(0, -12)),
  document("nothing", () => ""),
  sends("bytes that are no text", (version) =>
    Buffer.concat([
      Buffer.from(rawPost(version, "x".repeat(256)).slice(0, -256)),
      Buffer.from(Array.from({ length: 256 }, (_, i) => i)),
    ]),
  ),
  sends("bytes that are no HTTP", () => Buffer.from(Array.from({ length: 1024 }, (_, i) => (i * 7919) & 0xff))),
  sends("a TLS greeting", () => Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03])),
  sends("two lengths", (version) => rawPost(version, good(version), ["Content-Length: 1"])),
  sends("length and chunks", (version) => rawPost(version, good(version), ["Transfer-Encoding: chunked"])),
  sends("a chunk size that is no number", (version) => `${chunked(version)}zz\r\n${good(version)}`),
  sends("a chunk size past all bounds", (version) => `${chunked(version)}fffffffffffffffff\r\n`),
  sends("a length past the limit", (version) =>
    rawPost(version, "").replace("Content-Length: 0", "Content-Length: 99999999999"),
  ),
  sends("a compressed body", (version) => rawPost(version, good(version), ["Content-Encoding: gzip"])),
  sends("a header of 32 KiB", (version) => rawPost(version, good(version), [`X-Fill: ${"x".repeat(32_768)}`])),
  sends("a path of 12 KiB", (version) => rawPost(version, good(version), [], `/${"x".repeat(12_288)}`)),
  sends("a type that is none", (version) =>
    rawPost(version, good(version)).replace(TYPES[version], "application/x-www-form-urlencoded"),
  ),
  sends("headers that never end", () => `POST ${PATH} HTTP/1.1\r\nHost: a\r\nX-A: `, true),
  sends("a body that never ends", (version) => rawPost(version, good(version)).slice(0, -5), true),
  sends(
    "a chunk that never ends",
    (version) => `${chunked(version)}1000\r\n<s:Envelope xmlns:s="${ENVELOPES[version]}">`,
    true,
  ),
  leaves("leaves after the head", (socket, version) =>
    socket.write(rawPost(version, good(version)).slice(0, 90), () => socket.destroy()),
  ),
  leaves("leaves in the middle of its points", (socket, version) =>
    socket.write(rawPost(version, envelope(version, nullOp(items([[1, 2, 3]]).repeat(500)))).slice(0, -5000), () =>
      socket.destroy(),
    ),
  ),
  leaves("leaves without reading its answer", (socket, version) =>
    socket.write(rawPost(version, good(version)), () => socket.destroy()),
  ),
  leaves("resets", (socket, version) => socket.write(rawPost(version, good(version)), () => socket.resetAndDestroy())),
  leaves("closes its half at once", (socket) => socket.end()),
  leaves("closes its half within the body", (socket, version) =>
    socket.end(rawPost(version, good(version)).slice(0, -5)),
  ),
];
