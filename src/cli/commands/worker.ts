/** `fieldprobe worker` runs a worker of a cluster in the foreground until a signal stops it. */
import { Command } from "commander";
import { openPeer } from "../../cluster/peer/peer.js";
import { connectNats } from "../../cluster/wire/nats.js";
import { createLog } from "../../log.js";
import { obeySignals } from "../../signals.js";
import { MisuseError } from "../input/arguments.js";
import { addSettings, configOf } from "../input/settings.js";

export function workerCommand(): Command {
  const command = new Command("worker");
  const flags = ["DATA", "WORKERS", "CACHE_BYTES", "LOG_LEVEL", "NATS", "NATS_NKEY", "NATS_CA", "NODE"] as const;
  return addSettings(command, flags).action(async () => {
    const config = configOf(command);
    const { nats, nkey, ca, peer: name } = config.cluster;
    if (nats === null) throw new MisuseError("a worker needs --nats");
    const log = createLog(config);
    const transport = await connectNats({ servers: nats, nkey, ca, name: `worker ${name}`, inboxPrefix: "_FPW" });
    const peer = await openPeer({ config, name, transport, log });
    process.stdout.write(`fieldprobe worker ${name} takes batches\n`);
    const ending = obeySignals(log, {
      underWay: () => ({ batches: peer.held }),
      drain: () => peer.close(config.limits["shutdown.graceMs"]),
      reload: () => peer.reload(),
    });
    const error = await transport.closed;
    if (ending.begun) return;
    await peer.close(0);
    throw error ?? new Error("the connection to NATS has ended");
  });
}
