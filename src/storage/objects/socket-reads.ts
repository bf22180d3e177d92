/**
 * Has the sockets of an `HttpConnections` read into one buffer: a new buffer for each read is memory that costs more to
 * allocate and to collect than what is read costs to copy.
 */
import type { Socket } from "node:net";
import { buildConnector } from "undici";

/** Bytes of a read. */
const READ_BYTES = 128 * 1024;

/** The reads of a socket. */
class SocketReads {
  /** Those whose bytes are parsed at the moment. */
  static current: SocketReads | null = null;
  /** Whether what is read next belongs to a body that is copied at once. */
  isInBody = false;
}

/**
 * Makes the function by which undici connects. What it reads is parsed before the next read overwrites it. Parts of
 * heads are kept until a head is whole, so only reads inside of bodies are handed on in place.
 */
export function connectorInPlace(options: buildConnector.BuildOptions): buildConnector.connector {
  const sockets = new WeakMap<Socket, (bytes: number) => void>();
  const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
  const onread = {
    buffer,
    callback(this: Socket, bytes: number): boolean {
      sockets.get(this)?.(bytes);
      return true;
    },
  };
  const connect = buildConnector({ ...options, onread } as buildConnector.BuildOptions);
  return (target, callback) => {
    // What it returns is not declared.
    const socket = (connect as (...args: Parameters<typeof connect>) => unknown)(target, callback) as Socket;
    const reads = new SocketReads();
    let arrived: Buffer | null = null;
    const read = socket.read.bind(socket);
    // undici takes what has arrived by `read` when the socket is readable.
    socket.read = (size) => {
      if (arrived === null) return read(size);
      const taken = arrived;
      arrived = null;
      return taken;
    };
    sockets.set(socket, (bytes) => {
      arrived = reads.isInBody ? buffer.subarray(0, bytes) : Buffer.from(buffer.subarray(0, bytes));
      SocketReads.current = reads;
      socket.emit("readable");
      SocketReads.current = null;
      // The next read would overwrite it.
      if (arrived !== null) socket.destroy(new Error("what has arrived was not taken"));
    });
  };
}

/** Notes that a body begins whose parts are copied as they come, or that it has ended. */
export function bodyIsCopied(isCopied: boolean): void {
  if (SocketReads.current !== null) SocketReads.current.isInBody = isCopied;
}
