/** Defines hostile cases, and makes them. */
import { connect, type Socket } from "node:net";
import { exchange, rawPost } from "./raw-http.js";
import type { Version } from "./soap-service.js";

export interface HostileCase {
  readonly title: string;
  /** Sends it and resolves when the other side has answered or closed; rejects where it did neither, or served it. */
  run(port: number, version: Version): Promise<void>;
  /** Takes a timeout of the service to end; repeat these side by side. */
  readonly slow?: boolean;
}

const answered = (text: string): boolean => text.includes("</soap:Envelope>") || /^HTTP\/1\.1 4\d\d/.test(text);
const never = (): boolean => false;

/** Sends bytes and waits for a fault, a refusal or the end. */
export const sends = (title: string, bytes: (version: Version) => string | Uint8Array, slow = false): HostileCase => ({
  title,
  slow,
  run: async (port, version) => {
    const answer = await exchange(port, bytes(version), answered);
    if (answer.text === "" && !answer.closed) throw new Error(`${title}: neither answered nor closed`);
    if (answer.text.includes("NullOpResponse")) throw new Error(`${title}: was served`);
  },
});

export const document = (title: string, make: (version: Version) => string | Uint8Array): HostileCase =>
  sends(title, (version) => {
    const body = Buffer.from(make(version));
    const head = rawPost(version, "").replace("Content-Length: 0", `Content-Length: ${body.length}`);
    return Buffer.concat([Buffer.from(head), body]);
  });

/** Sends bytes of which some are good requests, and reads until the other side closes. */
export const mixes = (
  title: string,
  bytes: (version: Version) => string,
  expected: { readonly served: number; readonly end: RegExp },
): HostileCase => ({
  title,
  run: async (port, version) => {
    const { text, closed } = await exchange(port, bytes(version), never);
    const served = text.split("</NullOpResponse>").length - 1;
    if (closed && served === expected.served && expected.end.test(text)) return;
    // On a busy machine the limits of these tests are too short even for good requests.
    if (closed && served <= expected.served && /HTTP\/1\.1 408 [^<]*$/.test(text)) return;
    throw new Error(`${title}: ${served} served, ${closed ? "" : "not "}closed, ends in ${text.slice(-200)}`);
  },
});

/** Sends a beginning, then a byte every few milliseconds from what repeats, until the other side has had enough. */
export const trickles = (title: string, beginning: (version: Version) => string, repeats: string): HostileCase => ({
  title,
  slow: true,
  run: async (port, version) => {
    const drip = (socket: Socket): void => {
      socket.write(beginning(version));
      let at = 0;
      const timer = setInterval(() => socket.write(repeats.charAt(at++ % repeats.length)), 5);
      socket.once("close", () => clearInterval(timer));
    };
    const { closed } = await exchange(port, drip, never);
    if (!closed) throw new Error(`${title}: was not closed`);
  },
});

export const leaves = (title: string, act: (socket: Socket, version: Version) => void): HostileCase => ({
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

/** Opens connections that say nothing, and waits until the other side has closed them all. */
export const idles = (title: string, connections: number): HostileCase => ({
  title,
  slow: true,
  run: async (port) => {
    const silent = Array.from({ length: connections }, () => exchange(port, "", never));
    if ((await Promise.all(silent)).some(({ closed }) => !closed)) throw new Error(`${title}: were not closed`);
  },
});
