/**
 * What a SOAP bench needs of the wire: bodies, keep-alive connections that wait for whole answers, figures of a
 * process.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";

/** A NullOp request of `count` random points, as the bytes of an HTTP request; about 64 bytes per point. */
export function nullOpRequest(count: number, operation = "NullOp", members = ""): Buffer {
  let state = 1;
  const number = (): string => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state / 2 ** 32 + 0.1).toFixed(7);
  };
  const items = Array.from(
    { length: count },
    () => `<Point3><x>${number()}</x><y>${number()}</y><z>${number()}</z></Point3>`,
  );
  const body = Buffer.from(
    '<?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>' +
      `<${operation} xmlns="http://turbulence.pha.jhu.edu/">${members}<points>${items.join("")}</points></${operation}></soap:Body></soap:Envelope>`,
  );
  const head =
    "POST /service/turbulence.asmx HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/xml; charset=utf-8\r\n" +
    `SOAPAction: "http://turbulence.pha.jhu.edu/${operation}"\r\nContent-Length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

/** The end of a chunked answer. */
const ENDING = Buffer.from("\r\n0\r\n\r\n");

/** One keep-alive connection; `ask` resolves with the number of bytes of the whole answer. */
export interface Connection {
  ask(request: Buffer): Promise<number>;
  close(): void;
}

export async function open(port: number): Promise<Connection> {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  // A server that refuses a request while it is being sent breaks the connection; what it has answered says more than
  // the error.
  let failure = "";
  socket.on("error", (error) => {
    failure = error.message;
  });
  return {
    ask: (request) =>
      new Promise((resolve, reject) => {
        let received = 0;
        let expected = Number.NaN;
        let tail: Buffer = Buffer.alloc(0);
        const leave = (): void => {
          socket.off("data", onData).off("close", onClose);
        };
        const onData = (chunk: Buffer): void => {
          received += chunk.length;
          // Once the head is known the last bytes say enough: whoever measures must not copy what it measures.
          const isBody = !Number.isNaN(expected) && chunk.length >= ENDING.length;
          tail = isBody ? chunk : Buffer.concat([tail, chunk]);
          try {
            if (Number.isNaN(expected)) expected = lengthOf(tail);
          } catch (error) {
            leave();
            reject(error);
            return;
          }
          if (!Number.isNaN(expected)) tail = tail.subarray(-ENDING.length);
          const done = expected >= 0 ? received >= expected : tail.equals(ENDING);
          if (!done) return;
          leave();
          resolve(received);
        };
        const onClose = (): void => {
          const told = [failure, tail.toString("latin1", 0, 200)].filter((text) => text !== "").join("; ");
          reject(new Error(`the peer closed the connection after ${received} bytes${told === "" ? "" : `: ${told}`}`));
        };
        if (socket.destroyed) {
          onClose();
          return;
        }
        socket.on("data", onData).once("close", onClose);
        socket.write(request);
      }),
    close: () => socket.destroy(),
  };
}

/**
 * Bytes of the whole response; -1 if it is chunked; NaN if the head is not whole yet. Throws for any status except
 * 200.
 */
function lengthOf(start: Buffer): number {
  const end = start.indexOf("\r\n\r\n");
  if (end < 0) return Number.NaN;
  const head = start.subarray(0, end).toString("latin1");
  if (!/^HTTP\/1\.1 200/.test(head)) throw new Error(`answered with ${start.toString("latin1")}`);
  const length = /^content-length: (\d+)/im.exec(head)?.[1];
  return length === undefined ? -1 : end + 4 + Number(length);
}

/** CPU seconds a process has used, in user and kernel mode. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/**
 * CPU seconds of the main thread of a process, and of all its threads, by the scheduler's account; threads that have
 * ended are not in it.
 */
export function threadSeconds(pid: number): { main: number; all: number } {
  const seconds = (thread: string): number => {
    const [nanoseconds] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ");
    return Number(nanoseconds) / 1e9;
  };
  const threads = readdirSync(`/proc/${pid}/task`);
  return { main: seconds(String(pid)), all: threads.reduce((sum, thread) => sum + seconds(thread), 0) };
}

/** Resident bytes now and at their peak since `resetPeak`. */
export function residentBytes(pid: number): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const field = (name: string): number => 1024 * Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1]);
  return { now: field("VmRSS"), peak: field("VmHWM") };
}

export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
}
