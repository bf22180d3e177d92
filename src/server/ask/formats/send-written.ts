/** Sends a file that another thread writes into a temporary folder. */
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FastifyReply } from "fastify";
import type { RequestLife } from "../../http/request-life.js";
import { requestedRange } from "../../http/requested-range.js";
import { sendBytes } from "../../http/send-answer.js";

/** Sends a file that `write` makes in a temporary folder, which is removed at the end of the request. */
export async function sendWritten(
  life: RequestLife,
  reply: FastifyReply,
  name: string,
  write: (folder: string) => Promise<void>,
): Promise<FastifyReply> {
  const folder = await mkdtemp(join(tmpdir(), "fieldprobe-file-"));
  const written = write(folder);
  const clear = () => void rm(folder, { recursive: true, force: true });
  life.onEnd(() => void written.then(clear, clear));
  await written;
  const path = join(folder, name);
  const { size } = await stat(path);
  life.clearDeadline();
  const [first, last] = requestedRange(reply.request, reply, reply.getHeader("etag"), size);
  await sendBytes(reply, reply.server.fileParts.read(path, first, last), life, life.reader);
  return reply;
}
