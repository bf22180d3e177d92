/** HTTP by hand over a socket, because clients hide framing. */
import { connect, type Socket } from "node:net";
import { PATH, TYPES, type Version } from "./soap-service.js";

/** Ten times what the rules allow from a timeout to the end of a connection, because the machine may be busy. */
export const PATIENCE_MS = 10_000;

/** The bytes that came over a raw connection before the other side closed it. */
export interface RawAnswer {
  readonly text: string;
  readonly closed: boolean;
}

/** Opens a connection, writes, and reads until the server closes it or `until` is satisfied or `waitMs` have passed. */
export function exchange(
  port: number,
  bytes: string | Uint8Array | ((socket: Socket) => void),
  until: (text: string) => boolean = () => false,
  waitMs = PATIENCE_MS,
): Promise<RawAnswer> {
  return new Promise((resolve) => {
    let text = "";
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true }, () => {
      if (typeof bytes === "function") bytes(socket);
      else socket.write(bytes);
    });
    const done = (closed: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ text, closed });
    };
    const timer = setTimeout(() => done(false), waitMs);
    socket.setEncoding("latin1");
    socket.on("data", (chunk: string) => {
      text += chunk;
      if (until(text)) done(false);
    });
    socket.on("end", () => done(true));
    socket.on("error", () => done(true));
  });
}

export function rawPost(version: Version, document: string, more: readonly string[] = [], path = PATH): string {
  return [
    `POST ${path} HTTP/1.1`,
    "Host: 127.0.0.1",
    `Content-Type: ${TYPES[version]}`,
    `Content-Length: ${Buffer.byteLength(document)}`,
    ...more,
    "",
    document,
  ].join("\r\n");
}

export function statusOf(answer: RawAnswer): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer.text)?.[1] ?? 0);
}
