/** Opens the carrier of a gateway. */
import type { Logger } from "pino";
import type { Config } from "../../config.js";
import type { Carrier } from "../../engine/carrier.js";
import { openPool } from "../../engine/threads/pool.js";
import { connectNats } from "../wire/nats.js";
import { ClusterCarrier } from "./carrier.js";

/** Brick cache of a gateway, which reads datasets only to list them. */
const LOCAL_CACHE_BYTES = 1024 * 1024;
/** First token of its reply subjects; the permissions of gateways name it. */
const INBOX = "_FPG";

/**
 * Connects a gateway to its cluster.
 *
 * @throws Error when no server takes the connection
 */
export async function openGateway(config: Config, log: Logger): Promise<Carrier> {
  const { nats, nkey, ca, peer, replicas, hedgeMs, timeoutMs, messagePoints } = config.cluster;
  const transport = await connectNats({ servers: nats ?? [], nkey, ca, name: `gateway ${peer}`, inboxPrefix: INBOX });
  void transport.closed.then((error) => {
    if (error) log.error({ err: error }, "the connection to NATS has ended");
  });
  const local = openPool({ ...config, workers: 1, cacheBytes: LOCAL_CACHE_BYTES });
  return new ClusterCarrier({
    transport,
    local,
    fd8Legacy: config.fd8Legacy,
    messagePoints,
    settings: { replicas, hedgeMs, timeoutMs },
    log,
  });
}
