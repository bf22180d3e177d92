/** Answers go to the socket whole or in blocks, compressed where it helps; a refused sender gets time to read its answer. */
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { constants, createGzip } from "node:zlib";
import type { FastifyReply } from "fastify";
import { acceptsGzip } from "./negotiate.js";

/** Only larger bodies are compressed. */
const GZIP_BYTES = 64 * 1024;
/** How long the rest of a refused body is discarded before the socket is closed under its sender. */
const LINGER_MS = 1_000;

/**
 * Sends a short answer. Where the request has not arrived in full its rest is discarded for a moment, because a socket
 * closed on a sender loses the answer; then the connection is closed.
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
  request.once("end", () => raw.end());
  raw.once("close", () => clearTimeout(timer));
  request.resume();
  return reply;
}

/** Sends a whole answer without the library's detours, which take longer than a small query. */
export function sendBytes(reply: FastifyReply, contentType: string, body: Buffer): void {
  const common = reply.getHeaders() as Record<string, string>;
  reply.hijack();
  reply.raw.writeHead(200, { ...common, "content-type": contentType, "content-length": body.length });
  reply.raw.end(body);
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

/** Sends an answer of any length with bounded memory; blocks are made no faster than the socket takes them. */
export async function sendBlocks(
  reply: FastifyReply,
  contentType: string,
  blocks: AsyncGenerator<Buffer>,
  gzip: "auto" | "on" | "off",
): Promise<FastifyReply> {
  const first: Buffer[] = [];
  let bytes = 0;
  let done = false;
  while (!done && bytes <= GZIP_BYTES) {
    const next = await blocks.next();
    done = next.done === true;
    if (next.done) break;
    first.push(next.value);
    bytes += next.value.length;
  }
  if (reply.raw.destroyed) {
    // Who left while the first blocks were made will not be told again: a pipe to nobody would wait for ever.
    reply.hijack();
    await blocks.return(undefined);
    return reply;
  }
  reply.header("content-type", contentType);
  if (done) return reply.send(first.length === 1 ? first[0] : Buffer.concat(first));
  const compress = mayCompress(reply, gzip);
  if (gzip !== "off") {
    const vary = reply.getHeader("vary");
    reply.header("vary", vary === undefined ? "Accept-Encoding" : `${vary}, Accept-Encoding`);
  }
  if (compress) reply.header("content-encoding", "gzip");
  const headers = reply.getHeaders() as Record<string, string>;
  reply.hijack();
  reply.raw.writeHead(200, headers);
  const source = Readable.from(chain(first, blocks));
  const sent = compress
    ? pipeline(source, createGzip({ level: constants.Z_BEST_SPEED }), reply.raw)
    : pipeline(source, reply.raw);
  await sent.catch(ignoreLeaving);
  return reply;
}

/** A caller who leaves in the middle of an answer is no failure of ours. */
function ignoreLeaving(error: NodeJS.ErrnoException): void {
  if (error.code !== "ERR_STREAM_PREMATURE_CLOSE") throw error;
}

async function* chain(first: readonly Buffer[], rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield* first;
  yield* rest;
}

function mayCompress(reply: FastifyReply, gzip: "auto" | "on" | "off"): boolean {
  if (gzip === "off" || !acceptsGzip(reply.request.headers["accept-encoding"])) return false;
  return gzip === "on" || !isLoopback(reply.request.socket.remoteAddress ?? "");
}

function isLoopback(address: string): boolean {
  const plain = address.replace(/^::ffff:/, "");
  return plain === "::1" || (isIP(plain) === 4 && plain.startsWith("127."));
}
