/** What a node says of itself every second. */
import { z } from "zod";
import { NODE_NAME } from "./subjects.js";

export const HEARTBEAT_MS = 1000;
/** Heartbeats a node may miss before it counts as gone. */
export const MISSED = 3;

const count = z.number().int().min(0);

const HEARTBEAT = z.object({
  version: z.literal(1),
  node: z.string().regex(NODE_NAME),
  threads: z.number().int().min(1).max(1024),
  queued: count,
  running: count,
  draining: z.boolean(),
  cache: z.object({ capacity: count, used: count, hits: count, misses: count, bytesRead: count }),
  /** Name and generation of each dataset. */
  datasets: z.array(z.tuple([z.string(), z.string().regex(/^[0-9a-f]{64}$/)])).max(4096),
});

export type Heartbeat = z.output<typeof HEARTBEAT>;

export function encodeHeartbeat(heartbeat: Heartbeat): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(heartbeat));
}

/** The heartbeat in a message, or null when it is none. */
export function decodeHeartbeat(data: Uint8Array): Heartbeat | null {
  try {
    return HEARTBEAT.safeParse(JSON.parse(new TextDecoder().decode(data))).data ?? null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
