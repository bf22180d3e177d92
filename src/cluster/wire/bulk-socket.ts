/**
 * A socket for the NATS client that receives large messages whole and sends them in parts, in reused memory. The client itself
 * allocates an array for each read, each message and each sending, which costs more than the network.
 */
import { connect, type Socket } from "node:net";
import { NodeTransport } from "@nats-io/transport-node/lib/node_transport.js";
import { Frames } from "./framing.js";

/** Bytes that are read at a time. */
const READ_BYTES = 256 * 1024;
const LINE_END = Buffer.from("\r\n");

/** The socket transport of the NATS client. */
export class BulkSocket extends NodeTransport {
  /** Memory to read into, and the part of it that is free. */
  readonly #chunks = new Set<ArrayBufferLike>();
  readonly #free: ArrayBuffer[] = [];

  override dial({ hostname, port }: { readonly hostname: string; readonly port: number }): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = connect({
        host: hostname,
        port,
        noDelay: true,
        onread: {
          buffer: () => this.#chunk(),
          callback: (length, chunk) => {
            this.#arrive(socket, chunk.subarray(0, length));
            return true;
          },
        },
      });
      socket.once("error", reject);
      socket.once("connect", () => {
        socket.removeAllListeners();
        resolve(socket);
      });
    });
  }

  override async *iterate(): AsyncIterableIterator<Uint8Array> {
    const frames = new Frames();
    for await (const read of super.iterate()) {
      yield* frames.take(read);
      if (this.#chunks.has(read.buffer)) this.#free.push(read.buffer as ArrayBuffer);
    }
  }

  /**
   * Publishes a message past the client's own buffer.
   *
   * @returns resolves once the parts have been read, or the connection is gone
   */
  publish(subject: string, reply: string, parts: readonly Uint8Array[]): Promise<void> {
    const bytes = parts.reduce((sum, { length }) => sum + length, 0);
    const { socket } = this;
    return new Promise((resolve) => {
      socket.cork();
      socket.write(Buffer.from(`PUB ${subject} ${reply === "" ? "" : `${reply} `}${bytes}\r\n`, "latin1"));
      for (const part of parts) if (part.length > 0) socket.write(part);
      socket.write(LINE_END, () => resolve());
      socket.uncork();
    });
  }

  #chunk(): Uint8Array {
    const chunk = this.#free.pop() ?? new ArrayBuffer(READ_BYTES);
    this.#chunks.add(chunk);
    return new Uint8Array(chunk);
  }

  /** Passes on what was read; before the client is connected as an event, so that it sees the server's greeting. */
  #arrive(socket: Socket, read: Uint8Array): void {
    if (!this.connected) {
      socket.emit("data", read.slice());
      return;
    }
    this.yields.push(read);
    this.signal.resolve();
  }
}
