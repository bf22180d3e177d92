/** Assembles and runs the service: storage, engine, server, plug-ins, signals, and warnings at the start. */
import { lookup } from "node:dns/promises";
import { setTimeout as delay, setImmediate as nextTick } from "node:timers/promises";
import type { Logger } from "pino";
import type { Engine } from "./engine/contract/query.js";
import { openEngine } from "./engine/main/engine.js";
import { apiPlugin } from "./server/ask/plugin.js";
import { createApp, listeningUrl } from "./server/http/app.js";
import { checkExposure } from "./server/http/auth.js";
import { createLog } from "./server/http/log.js";
import { pagePlugin } from "./server/http/page-files.js";
import type { Plugin } from "./server/http/service.js";
import { jhtdbPlugin } from "./server/jhtdb/plugin.js";
import { soapPlugin } from "./server/soap/route.js";
import { zarrPlugin } from "./server/zarr/plugin.js";
import type { Config } from "./shared/config.js";
import { obeySignals } from "./shared/system.js";

/** How long to wait for the threads of optional plug-ins after the last request, if the grace time has ended. */
const THREADS_MS = 2_000;

/** A running service. */
export interface RunningService {
  /** Address of the listening socket, without a slash at its end. */
  readonly url: string;
  readonly engine: Engine;
  /** Resolves once the optional plug-ins have read their data, or know that they cannot. */
  readonly optionalOpened: Promise<unknown>;
  /** Reads token file, TLS files, data folders and the data of optional plug-ins again. */
  reload(): Promise<void>;
  /** Requests that have not been answered to the end. */
  readonly requests: number;
  /** Stops accepting, lets requests end within the grace time, and frees everything; false if something was cut off. */
  close(): Promise<boolean>;
  /** Whether a thread did not end in `close`, so that the process has to be killed. */
  readonly stuck: boolean;
}

/**
 * Starts the service; resolves once every dataset has been verified and the socket listens.
 *
 * The events are opened afterwards: they are optional, and nothing about them keeps the fields from being served.
 *
 * @param fieldsOnly without the events interface and without jobs
 * @throws ConfigError if it would be open to everyone without a setting that allows it; errors of `listen`
 */
export async function startService(config: Config, log: Logger, fieldsOnly = false): Promise<RunningService> {
  checkExposure(config);
  const hasEvents = !fieldsOnly && config.events.enabled;
  const [engine, events] = await Promise.all([openFields(config, log), hasEvents ? import("./events/open.js") : null]);
  let app: Awaited<ReturnType<typeof createApp>> | null = null;
  try {
    const plugins: Plugin[] = [soapPlugin, apiPlugin, jhtdbPlugin, zarrPlugin, pagePlugin];
    if (events) plugins.push(events.eventsPlugin);
    app = await createApp({ config, engine, logger: log, plugins, jobs: !fieldsOnly });
    // For "localhost" fastify would open a second server, whose requests are not counted.
    const host = config.host === "localhost" ? (await lookup(config.host)).address : config.host;
    await app.listen({ host, port: config.port });
    return runningService(config, engine, app);
  } catch (error) {
    await Promise.all([app?.close(), engine.close(0)]);
    throw error;
  }
}

/** Opens the engine, which shares large queries with the peers of its cluster, if there is one. */
async function openFields(config: Config, log: Logger): Promise<Engine> {
  if (config.nats.servers === null) return openEngine(config, log);
  const { Cluster } = await import("./cluster/cluster.js");
  return openEngine(config, log, undefined, new Cluster(config, log));
}

function runningService(config: Config, engine: Engine, app: Awaited<ReturnType<typeof createApp>>): RunningService {
  let stuck = false;
  const openOptional = () => Promise.all([...app.optional.values()].map((plugin) => plugin.open()));
  return {
    url: listeningUrl(app, config),
    engine,
    // The service is ready before their work begins.
    optionalOpened: nextTick().then(openOptional),
    async reload() {
      app.reload();
      await Promise.all([engine.reload(), openOptional()]);
    },
    get requests() {
      return app.connections.unanswered;
    },
    get stuck() {
      return stuck;
    },
    async close() {
      const graceMs = config.limits["shutdown.graceMs"];
      const until = performance.now() + graceMs;
      const drained = app.close().then(() => true);
      // What has been computed still has to reach its caller.
      const [complete, answered] = await Promise.all([engine.close(graceMs), app.connections.drain(graceMs)]);
      stuck = (await inTime(drained, Math.max(THREADS_MS, until - performance.now()))) === null;
      return complete && answered && !stuck;
    },
  };
}

/** Warnings at the start of a service: settings that are allowed, but seldom intended. */
export function startWarnings({ baseUrl, nats, data, host, port, tls }: Config, datasets: number): string[] {
  const everywhere = host === "0.0.0.0" || host === "::";
  const { servers, credentials, ca, cert, key } = nats;
  return [
    datasets === 0 ? `there is no dataset in ${data.join(", ")}` : "",
    everywhere && baseUrl === null
      ? `the WSDL names ${tls === null ? "http" : "https"}://${host}:${port}, which other machines cannot reach: set FIELDPROBE_BASE_URL`
      : "",
    servers === null && (credentials ?? ca ?? cert ?? key) !== null
      ? "FIELDPROBE_NATS_CREDENTIALS, _CA, _CERT and _KEY have no effect: FIELDPROBE_NATS is not set"
      : "",
  ].filter((text) => text !== "");
}

/** Runs the service. SIGTERM and SIGINT drain it, also during start-up; SIGHUP reads files again. */
export async function runService(config: Config): Promise<void> {
  const log = createLog(config);
  const starting = startService(config, log);
  let service: RunningService | null = null;
  const drain = async (): Promise<boolean | null> => {
    // A start is not cut off: native code of the event store's thread would take the process down.
    let started: RunningService | null;
    try {
      started = await inTime(starting, config.limits["shutdown.graceMs"]);
    } catch {
      return null; // The command says why, and ends.
    }
    const complete = (await started?.close()) ?? false;
    if (!started?.stuck) return complete;
    log.error("a thread does not end: killing the process");
    // In the next tick, when the log has been written.
    setImmediate(() => process.kill(process.pid, "SIGKILL"));
    return null;
  };
  const ending = obeySignals(log, {
    underWay: () => ({ requests: service?.requests ?? 0 }),
    drain,
    reload: async () => (await starting).reload(),
  });
  const fail = (error: unknown): void => {
    log.fatal({ err: error }, "an error outside any request: shutting down");
    ending.begin(1);
  };
  process.on("uncaughtException", fail);
  process.on("unhandledRejection", fail);
  service = await starting;
  if (ending.begun) return;
  for (const remark of startWarnings(config, service.engine.datasets().length)) log.warn(remark);
  process.stdout.write(`fieldprobe listening on ${service.url}\n`);
}

/** The value of a promise, or null when the time ends first. */
function inTime<T>(promise: Promise<T>, ms: number): Promise<T | null> {
  return Promise.race([promise, delay(ms, null, { ref: false })]);
}
