/** A heartbeat is the report that a peer sends every second. */
import { z } from "zod";
import { PEER_NAME } from "./subjects.js";

/** Interval of heartbeats. */
export const HEARTBEAT_MS = 1000;
/** Heartbeats that a peer may miss before it counts as lost. */
export const MISSED = 3;

const count = z.number().int().min(0);

const HEARTBEAT = z.object({
  version: z.literal(1),
  node: z.string().regex(PEER_NAME),
  threads: z.number().int().min(1).max(1024),
  queued: count,
  running: count,
  draining: z.boolean(),
  cache: z.object({ capacity: count, used: count, hits: count, misses: count, bytesRead: count }),
  /** Name and generation of each dataset. */
  datasets: z.array(z.tuple([z.string(), z.string().regex(/^[0-9a-f]{64}$/)])).max(4096),
});

/** A decoded heartbeat. */
export type Heartbeat = z.output<typeof HEARTBEAT>;

/** Encodes a heartbeat as JSON. */
export function encodeHeartbeat(heartbeat: Heartbeat): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(heartbeat));
}

/** Decodes a heartbeat; null for any other message. */
export function decodeHeartbeat(data: Uint8Array): Heartbeat | null {
  try {
    return HEARTBEAT.safeParse(JSON.parse(new TextDecoder().decode(data))).data ?? null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
