/** Faults carry the errors of a batch from a peer to a gateway as JSON. */
import { z } from "zod";
import type { Failure } from "../../engine/task.js";
import { CALLER_CODES, SERVER_CODES } from "../../errors.js";
import { MessageError } from "./message.js";

const FAULT = z.object({
  code: z.enum([...CALLER_CODES, ...SERVER_CODES]),
  message: z.string(),
  context: z.object({
    member: z.string().exactOptional(),
    limit: z.string().exactOptional(),
    retryAfter: z.number().exactOptional(),
  }),
  detail: z.string(),
});

/** Encodes an error. */
export function writeFault({ code, message, context, detail }: Failure): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ code, message, context, detail }));
}

/**
 * Decodes an error.
 *
 * @throws MessageError for anything that `writeFault` does not write
 */
export function readFault(values: Uint8Array): Failure {
  try {
    const parsed = FAULT.safeParse(JSON.parse(new TextDecoder().decode(values)));
    if (parsed.success) return parsed.data;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new MessageError("a fault that cannot be read");
}
