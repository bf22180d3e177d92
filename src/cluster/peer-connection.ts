/**
 * A connection carries requests to a peer over HTTP, one after the other. It reads each answer straight to its place:
 * Node's own client copies every part of a body to a new buffer first, 10 MB for a million velocities, and the garbage
 * collector then marks the whole heap with every large query.
 */
import { connect, type Socket } from "node:net";
import { connect as connectSecurely } from "node:tls";
import { addressOf, type Keys, PEER_NAME } from "./keys.js";

/** Bytes of the buffer that connections read into. */
export const READ_BYTES = 512 * 1024;
/** Bytes of the head of an answer, and of an answer, at most. */
const HEAD_BYTES = 16 * 1024;
const MOST_BYTES = 2 ** 30;

/** A request to a peer. */
export interface PeerRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | number>>;
  readonly body?: readonly Float32Array[];
  /** Receives an answer with status 200 of exactly this length; other answers get separate memory. */
  readonly into?: Uint8Array | undefined;
  readonly signal: AbortSignal;
}

/** The answer of a peer. */
export interface PeerAnswer {
  readonly status: number;
  readonly type: string;
  readonly body: Uint8Array;
}

/** A request that is under way. */
interface Exchange {
  readonly into: Uint8Array | undefined;
  readonly resolve: (answer: PeerAnswer) => void;
  readonly reject: (error: Error) => void;
  /** The head as far as it has arrived, then the answer, of which `filled` bytes are there. */
  head: Buffer;
  answer: PeerAnswer | null;
  filled: number;
}

/** A kept-alive connection. */
export class PeerConnection {
  readonly #socket: Socket;
  #exchange: Exchange | null = null;

  /**
   * @param buffer receives what arrives; any number of connections may share it, because each empties it at once
   * @param closed called once it is closed
   */
  constructor(name: string, keys: Keys | null, buffer: Uint8Array, closed: () => void) {
    const address = { ...addressOf(name), noDelay: true };
    if (keys === null) {
      const callback = (count: number, bytes: Uint8Array): boolean =>
        this.#read(Buffer.from(bytes.buffer, bytes.byteOffset, count));
      this.#socket = connect({ ...address, onread: { buffer, callback } });
    } else {
      this.#socket = connectSecurely({ ...address, ...keys, servername: PEER_NAME, minVersion: "TLSv1.3" });
      this.#socket.on("data", (bytes: Buffer) => this.#read(bytes));
    }
    this.#socket.on("error", (error) => this.#exchange?.reject(error));
    this.#socket.once("close", () => {
      this.#exchange?.reject(new Error("the connection was closed"));
      closed();
    });
  }

  /** Whether it can carry another request: a peer that answers early has not read all of the last one. */
  get isFree(): boolean {
    return this.#exchange === null && !this.#socket.destroyed && this.#socket.writableLength === 0;
  }

  /** Ends its request too. @param reason the error of the request */
  close(reason?: Error): void {
    this.#socket.destroy(reason);
  }

  /** Sends a request and reads the answer whole. @throws the error of the connection, or the reason of the signal */
  async ask({ method, path, headers = {}, body = [], into, signal }: PeerRequest): Promise<PeerAnswer> {
    const abort = (): void => this.close(signal.reason as Error);
    signal.throwIfAborted();
    signal.addEventListener("abort", abort, { once: true });
    this.#socket.ref();
    try {
      return await new Promise<PeerAnswer>((resolve, reject) => {
        if (this.#socket.destroyed) throw new Error("the connection was closed");
        this.#exchange = { into, resolve, reject, head: Buffer.alloc(0), answer: null, filled: 0 };
        const lines = Object.entries({ host: PEER_NAME, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
        this.#socket.cork();
        this.#socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`, "latin1");
        for (const { buffer, byteOffset, byteLength } of body)
          this.#socket.write(new Uint8Array(buffer, byteOffset, byteLength));
        this.#socket.uncork();
      });
    } finally {
      this.#exchange = null;
      this.#socket.unref();
      signal.removeEventListener("abort", abort);
    }
  }

  /** Reads bytes, which last until it returns. */
  #read(bytes: Buffer): boolean {
    const now = this.#exchange;
    const rest = now === null || now.answer !== null ? bytes : this.#readHead(now, bytes);
    const { answer, filled } = now ?? { answer: null, filled: 0 };
    if (now === null || (answer !== null && rest.length > answer.body.length - filled)) {
      this.#socket.destroy(new Error("an answer without a request"));
    } else if (answer !== null) {
      answer.body.set(rest, filled);
      now.filled += rest.length;
      if (now.filled === answer.body.length) {
        this.#exchange = null;
        now.resolve(answer);
      }
    }
    return true;
  }

  /** Reads the head of an answer. @returns the bytes behind it */
  #readHead(now: Exchange, bytes: Buffer): Buffer {
    const all = now.head.length > 0 ? Buffer.concat([now.head, bytes]) : bytes;
    const end = all.indexOf("\r\n\r\n");
    if (end < 0 && all.length <= HEAD_BYTES) {
      now.head = Buffer.from(all);
      return all.subarray(all.length);
    }
    const head = all.toString("latin1", 0, Math.min(Math.max(end, 0), HEAD_BYTES));
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]);
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1]);
    if (status >= 200 && length <= MOST_BYTES) {
      const body = status === 200 && now.into?.length === length ? now.into : new Uint8Array(length);
      now.answer = { status, type: /\r\ncontent-type: *([^\r;]*)/i.exec(head)?.[1] ?? "", body };
    } else this.#socket.destroy(new Error("an answer that no peer sends"));
    return all.subarray(end + 4);
  }
}
