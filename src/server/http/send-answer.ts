/** Sends answers to the socket, whole or in chunks, compressed if worthwhile; gives a refused sender time to read. */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { constants, createGzip } from "node:zlib";
import type { FastifyReply } from "fastify";
import { isLoopbackHost } from "../../shared/config.js";
import { acceptsGzip } from "./negotiate.js";
import type { ReaderPace } from "./policies/reader-pace.js";
import type { TimeSlices } from "./policies/time-slices.js";
import type { Service } from "./service.js";

const GZIP_BYTES = 64 * 1024;
/**
 * Time and bytes for which the rest of a refused body is discarded before the socket is closed: clients that read no
 * answer before they have sent everything would otherwise find a broken connection.
 */
const LINGER_MS = 10_000;
const LINGER_IDLE_MS = 1_000;
const LINGER_BYTES = 1024 * 1024 * 1024;

const SHORT_BYTES = 16 * 1024;

/** Bytes handed to the socket at a time: the system copies them at once, in some tenths of a millisecond. */
const WRITTEN_BYTES = 512 * 1024;

/**
 * Sends a short answer. If the request has not fully arrived, its rest is discarded for a moment, because closing the
 * socket on a sender would lose the answer; then the connection is closed.
 */
export function sendText(
  reply: FastifyReply,
  request: IncomingMessage,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string,
): FastifyReply {
  if (request.complete || request.readableEnded || !hasBody(request))
    return reply.code(status).headers(headers).send(body);
  const common = reply.getHeaders() as Record<string, string>;
  reply.hijack();
  const bytes = Buffer.from(body);
  const { raw } = reply;
  raw.writeHead(status, { ...common, ...headers, "content-length": bytes.length, connection: "close" });
  raw.write(bytes);
  const timer = setTimeout(() => raw.end(), LINGER_MS);
  const idle = setTimeout(() => raw.end(), LINGER_IDLE_MS);
  let left = LINGER_BYTES;
  request.on("data", (bytes: Buffer) => {
    left -= bytes.length;
    idle.refresh();
    // Many senders at once would fill every turn of the event loop.
    request.pause();
    if (left < 0) raw.end();
    else void reply.server.slices.turn().then(() => request.resume());
  });
  request.once("end", () => raw.end());
  raw.once("close", () => {
    clearTimeout(timer);
    clearTimeout(idle);
  });
  request.resume();
  return reply;
}

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

export function addVary(reply: FastifyReply, header: string): void {
  const vary = reply.getHeader("vary");
  reply.header("vary", vary === undefined ? header : `${vary}, ${header}`);
}

type Reader = Pick<ReaderPace, "beginWrite" | "endWrite" | "encoded">;
type Chunks = Iterator<Buffer> | AsyncIterator<Buffer>;

/**
 * Sends an answer of any length with bounded memory: chunks are made no faster than the socket takes them, and a full
 * time slice ends between two of them. A short answer is sent at once, without the detours of the library.
 */
export async function sendChunks(
  reply: FastifyReply,
  contentType: string,
  chunks: Chunks,
  service: Pick<Service, "config" | "slices">,
  reader: Reader,
): Promise<void> {
  const { first, complete } = await begin(chunks, service.slices, reader);
  if (complete) sendWhole(reply, contentType, first, reader);
  else await sendStream(reply, contentType, chunks, service, reader, first);
}

function sendWhole(reply: FastifyReply, contentType: string, chunks: readonly Buffer[], reader: Reader): void {
  const body = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
  const headers = { ...reply.getHeaders(), "content-type": contentType, "content-length": body.length };
  const { raw } = reply.hijack();
  if (raw.destroyed) return;
  raw.writeHead(200, headers as OutgoingHttpHeaders);
  // Node joins a short text to the head, so that one write takes both.
  if (body.length <= SHORT_BYTES) raw.end(body.toString("latin1"), "latin1");
  else raw.end(body);
  if (raw.writableLength > 0) reader.beginWrite(body.length);
}

/** Sends chunks at the pace of the socket; a failure on the way ends the connection. A chunk lasts until the next. */
export async function sendStream(
  reply: FastifyReply,
  contentType: string,
  chunks: Chunks,
  { config, slices }: Pick<Service, "config" | "slices">,
  reader: Reader,
  first: readonly Buffer[] = [],
): Promise<void> {
  if (config.gzip !== "off") addVary(reply, "Accept-Encoding");
  const compress = mayCompress(reply, config.gzip);
  const coding = compress ? { "content-encoding": "gzip" } : {};
  const headers = { ...reply.getHeaders(), "content-type": contentType, ...coding };
  const { raw } = reply.hijack();
  // A caller that has left is not reported again: a pipe without a reader would wait for ever.
  if (raw.destroyed) return;
  raw.writeHead(200, headers as OutgoingHttpHeaders);
  await pour(paced(first, chunks, slices, reader), raw, compress);
}

/** Sends bytes of a file as they are, with status and headers of the reply, as fast as the socket takes them. */
export async function sendBytes(
  reply: FastifyReply,
  parts: AsyncIterable<Buffer>,
  { slices }: Pick<Service, "slices">,
  reader: Reader,
): Promise<void> {
  const headers = reply.getHeaders() as Record<string, string>;
  const { raw } = reply.hijack();
  if (raw.destroyed) return;
  raw.writeHead(reply.statusCode, headers);
  if (reply.request.method === "HEAD") raw.end();
  else await pour(paced([], parts[Symbol.asyncIterator](), slices, reader), raw, false);
}

/**
 * Sends chunks to the socket, which sets the pace: the next one is requested when the socket, or the compressor
 * before it, no longer needs the last one, so that its memory can be reused.
 */
async function pour(chunks: AsyncIterable<Buffer>, raw: ServerResponse, compress: boolean): Promise<void> {
  let goOn = (): void => undefined;
  const gone = (): void => goOn();
  const step = (begin: (done: () => void) => void): Promise<void> =>
    new Promise((resolve) => {
      goOn = resolve;
      begin(resolve);
    });
  const gzip = compress ? createGzip({ level: constants.Z_BEST_SPEED }) : null;
  const piped = gzip === null ? Promise.resolve() : pipeline(gzip, raw).catch(ignoreLeaving).finally(gone);
  piped.catch(() => undefined);
  if (gzip === null) raw.once("close", gone);
  const sink: Writable = gzip ?? raw;
  try {
    for await (const chunk of chunks) {
      if (raw.destroyed) return;
      await step((done) => sink.write(chunk, () => done()));
    }
    if (raw.destroyed) return;
    await step((done) => {
      raw.once("finish", done);
      sink.end();
    });
  } finally {
    raw.off("close", gone);
    gzip?.destroy();
  }
  await piped;
}

/** Makes the first chunks, up to the length from which an answer may be compressed. */
async function begin(
  chunks: Chunks,
  slices: TimeSlices,
  reader: Reader,
): Promise<{ first: Buffer[]; complete: boolean }> {
  slices.noteActivity();
  const first: Buffer[] = [];
  let since = performance.now();
  try {
    for (let bytes = 0; bytes <= GZIP_BYTES; ) {
      let next = chunks.next();
      if (next instanceof Promise) {
        reader.encoded(performance.now() - since);
        next = await next;
        since = performance.now();
      }
      if (next.done) return { first, complete: true };
      first.push(next.value);
      bytes += next.value.length;
    }
    return { first, complete: false };
  } finally {
    reader.encoded(performance.now() - since);
  }
}

/** Yields the first chunks, then makes the others one at a time, in time slices. */
async function* paced(
  first: readonly Buffer[],
  rest: Chunks,
  slices: TimeSlices,
  reader: Reader,
): AsyncGenerator<Buffer> {
  for (const chunk of first) {
    reader.beginWrite(chunk.length);
    yield chunk;
    reader.endWrite(chunk.length);
  }
  try {
    for (;;) {
      slices.noteActivity();
      const since = performance.now();
      const coming = rest.next();
      reader.encoded(performance.now() - since);
      const next = coming instanceof Promise ? await coming : coming;
      if (next.done) break;
      reader.beginWrite(next.value.length);
      for (let at = 0; at < next.value.length; at += WRITTEN_BYTES) {
        yield next.value.subarray(at, at + WRITTEN_BYTES);
        const pause = slices.pause();
        if (pause !== null) await pause;
      }
      reader.endWrite(next.value.length);
    }
  } finally {
    // Ends the source of the chunks if the reader leaves.
    await rest.return?.();
  }
  reader.beginWrite(0);
}

/** Ignores callers that leave in the middle of an answer: they are no failure of the service. */
function ignoreLeaving(error: NodeJS.ErrnoException): void {
  if (error.code !== "ERR_STREAM_PREMATURE_CLOSE") throw error;
}

function mayCompress(reply: FastifyReply, gzip: "auto" | "on" | "off"): boolean {
  if (gzip === "off" || !acceptsGzip(reply.request.headers["accept-encoding"])) return false;
  return gzip === "on" || !isLoopbackHost((reply.request.socket.remoteAddress ?? "").replace(/^::ffff:/, ""));
}
