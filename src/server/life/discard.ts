/** `Discard` frees the memory of bytes that are no longer needed, without waiting for the garbage collector. */
import { MessageChannel, type MessagePort } from "node:worker_threads";

/**
 * Frees buffers one by one.
 *
 * V8 collects young objects after some megabytes of them. Each 64 KiB of a large body comes with a few hundred bytes of
 * objects, so a gigabyte would be garbage before that. Instead, V8 forces a full collection, in steps of up to ten
 * milliseconds, after every 64 MiB.
 */
export class Discard {
  /** A port without another end: what is moved there is freed. Null until it is needed. */
  #nowhere: MessagePort | null = null;

  /** Frees the memory of a buffer, which has no length from then on. A part of a larger memory is left alone. */
  free({ buffer, byteLength }: Buffer): void {
    if (!(buffer instanceof ArrayBuffer) || buffer.byteLength !== byteLength) return;
    this.#nowhere ??= closedPort();
    this.#nowhere.postMessage(null, [buffer]);
  }
}

function closedPort(): MessagePort {
  const { port1 } = new MessageChannel();
  port1.close();
  return port1;
}
