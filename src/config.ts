/** Configuration: one frozen record from defaults, FIELDPROBE_* variables and flags, with every problem listed at once. */
import { existsSync } from "node:fs";
import { availableParallelism, hostname, totalmem } from "node:os";
import { delimiter, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";

const MIB = 1024 * 1024;

/** Bounds of what a request may cost; `http.bodyBytes` is set by FIELDPROBE_HTTP_BODY_BYTES, and so on. 0 switches `token.*` off. */
export const LIMITS = {
  "http.bodyBytes": 256 * MIB,
  "http.headersTimeoutMs": 10_000,
  "http.requestTimeoutMs": 120_000,
  "http.keepAliveTimeoutMs": 5_000,
  "http.connections": 1_024,
  "xml.depth": 16,
  "xml.attributes": 32,
  "xml.nameChars": 256,
  "xml.textChars": 4_096,
  "soap.headerBlocks": 16,
  "query.points": 2_000_000,
  "query.particleSteps": 50_000_000,
  "query.filterSamples": 500_000_000,
  "query.deadlineMs": 120_000,
  "engine.inflight": 32,
  "engine.queue": 256,
  "engine.chunkBytes": 64 * MIB,
  "engine.pointsInFlight": 8_000_000,
  "token.concurrent": 0,
  "token.perMinute": 0,
  "shutdown.graceMs": 10_000,
} as const;

export type LimitName = keyof typeof LIMITS;
export type Limits = Readonly<Record<LimitName, number>>;

function whole(min: number, max = Number.MAX_SAFE_INTEGER) {
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
  const error = `must be a whole number ${range}`;
  return z.coerce.number({ error }).int({ error }).min(min, { error }).max(max, { error });
}
const oneOf = <const T extends readonly string[]>(...names: T) =>
  z.enum(names, { error: `must be ${names.slice(0, -1).join(", ")} or ${names.at(-1)}` });
const flag = oneOf("true", "false", "1", "0").transform((text) => text === "true" || text === "1");
const folders = z.string().transform((text) => text.split(delimiter).filter((part) => part !== ""));
const named = z.string().min(1, "must not be empty");
const webAddress = z.url({ protocol: /^https?$/, error: "must be an address that begins with http:// or https://" });

/** Settings by variable name without the FIELDPROBE_ prefix. */
export const SETTINGS = {
  HOST: named,
  PORT: whole(0, 65_535),
  DATA: folders.pipe(z.array(z.string()).min(1, "must name a folder")),
  NAMESPACE: z.string().regex(/^[a-z][a-z0-9+.-]*:\S*\/$/i, "must be an absolute URI that ends in a slash"),
  BASE_URL: webAddress.transform((url) => url.replace(/\/+$/, "")),
  WORKERS: whole(1, 64),
  CACHE_BYTES: whole(1 * MIB, 3 * 1024 * MIB),
  LOG_LEVEL: oneOf("trace", "debug", "info", "warn", "error", "fatal", "silent"),
  STATE: named,
  TOKENS: named,
  ANONYMOUS: flag,
  FD8_LEGACY: flag,
  HTTP_GZIP: oneOf("auto", "on", "off"),
  TLS_CERT: named,
  TLS_KEY: named,
  EVENTS_DB: named,
  EVENTS_PREFIX: z
    .string()
    .regex(/^(\/[A-Za-z0-9._~-]+)*$/, "must be empty or a path like /calendar, without a slash at its end"),
  EVENTS_ZONE: named,
  EVENTS_SITE: webAddress,
  EVENTS_SOURCE: named,
  EVENTS_NOW: z.iso.datetime({ offset: true, error: "must be an instant like 2026-10-20T12:00:00Z" }),
  EVENTS_KEYS: z.string().transform((text) =>
    text
      .split(",")
      .map((key) => key.trim())
      .filter((key) => key !== ""),
  ),
  EVENTS_CATEGORY_URL: oneOf("hash", "string"),
  EVENTS_PER_MINUTE: whole(0),
  ROLE: oneOf("all", "gateway"),
  NATS: z.string().transform((text) => text.split(",").map((url) => url.trim())),
  NATS_NKEY: named,
  NATS_CA: named,
  NODE: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, "must be 1 to 64 letters, digits, - and _"),
  REPLICAS: whole(1, 16),
  HEDGE_MS: whole(1),
  BATCH_TIMEOUT_MS: whole(100),
  MESSAGE_POINTS: whole(1024, 131_072),
} as const;

export type SettingName = keyof typeof SETTINGS;

export interface Config {
  readonly host: string;
  readonly port: number;
  /** Folders searched for datasets, absolute. */
  readonly data: readonly string[];
  /** Target namespace of the service, ends in a slash. */
  readonly namespace: string;
  /** Public address without a slash at its end, or null: `http://host:port` of the listening socket. */
  readonly baseUrl: string | null;
  readonly workers: number;
  readonly cacheBytes: number;
  readonly logLevel: string;
  /** Folder for what the service itself keeps, absolute. */
  readonly state: string;
  /** Token file, or null: authentication is off. */
  readonly tokens: string | null;
  readonly anonymous: boolean | null;
  /** Use the published (sixth-order) coefficients for second derivatives with Fd8. */
  readonly fd8Legacy: boolean;
  readonly gzip: "auto" | "on" | "off";
  readonly tls: { readonly cert: string; readonly key: string } | null;
  readonly events: {
    readonly db: string;
    readonly prefix: string;
    readonly zone: string | null;
    readonly site: string | null;
    readonly source: string | null;
    /** Instant that the clock of the events module stands at, or null: the real clock. */
    readonly now: string | null;
    /** API keys of the events routes; none: they are open. */
    readonly keys: readonly string[];
    /** Form of the `url` of a category: an object or the bare address. */
    readonly categoryUrl: "hash" | "string";
    /** Requests per minute and caller on the events routes; 0: no limit. */
    readonly perMinute: number;
  };
  readonly cluster: {
    /** `gateway`: batches go to workers over NATS. */
    readonly role: "all" | "gateway";
    /** Servers of NATS. */
    readonly nats: readonly string[] | null;
    /** File with the seed of the NKEY to connect with. */
    readonly nkey: string | null;
    /** File with the authorities that the servers' certificates are checked against. */
    readonly ca: string | null;
    /** Name of this worker among the nodes. */
    readonly node: string;
    /** Nodes that keep a shard in their caches. */
    readonly replicas: number;
    /** Shortest time after which an unanswered batch goes to a second node. */
    readonly hedgeMs: number;
    /** Silence of its node after which a batch counts as lost. */
    readonly timeoutMs: number;
    /** Most points of a message to a worker. */
    readonly messagePoints: number;
  };
  readonly limits: Limits;
}

/** Thrown by `loadConfig`; `problems` has one line per setting at fault. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`configuration: ${problems.join("; ")}`);
    this.name = "ConfigError";
    this.problems = problems;
  }
}

/** The variable that sets a limit: `http.bodyBytes` -> `HTTP_BODY_BYTES`. */
export function limitVariable(name: LimitName): string {
  return name
    .replace(".", "_")
    .replace(/[A-Z]/g, (letter) => `_${letter}`)
    .toUpperCase();
}

function problemOf(variable: string, error: z.ZodError, text: string): string {
  const shown = text === "" ? "" : `, not ${text.slice(0, 64)}`;
  return `FIELDPROBE_${variable} ${error.issues[0]?.message}${shown}`;
}

/** Memory this process may use: the control group's bound where there is one, else the machine's. */
function memoryBytes(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 && constrained < totalmem() ? constrained : totalmem();
}

/** Host and process: unique where nobody gives names. */
function defaultNode(): string {
  return `${hostname()
    .replace(/[^A-Za-z0-9_-]/g, "-")
    .slice(0, 48)}-${process.pid}`;
}

function defaultData(): string {
  const local = resolve("data");
  return existsSync(local) ? local : fileURLToPath(new URL("../data", import.meta.url));
}

/**
 * Reads the configuration.
 *
 * @param overrides settings by variable name without prefix, e.g. from flags; win over `env`
 * @param env       usually `process.env`; only FIELDPROBE_* members are looked at, and an empty one counts as absent
 * @throws ConfigError with all problems, an unknown FIELDPROBE_ variable being one
 */
export function loadConfig(
  overrides: Readonly<Record<string, string>> = {},
  env: Readonly<Record<string, string | undefined>> = process.env,
): Config {
  const given = new Map<string, string>();
  for (const [name, value] of Object.entries(env)) {
    if (name.startsWith("FIELDPROBE_") && value) given.set(name.slice("FIELDPROBE_".length), value);
  }
  for (const [name, value] of Object.entries(overrides)) given.set(name, value);
  const problems: string[] = [];
  const limits: Record<LimitName, number> = { ...LIMITS };
  const seen = new Set<string>(Object.keys(SETTINGS));
  for (const name of Object.keys(LIMITS) as LimitName[]) {
    const variable = limitVariable(name);
    seen.add(variable);
    const text = given.get(variable);
    if (text === undefined) continue;
    const parsed = whole(name.startsWith("token.") ? 0 : 1).safeParse(text);
    if (parsed.success) limits[name] = parsed.data;
    else problems.push(problemOf(variable, parsed.error, text));
  }
  for (const name of given.keys()) if (!seen.has(name)) problems.push(`there is no setting FIELDPROBE_${name}`);
  const read = <N extends SettingName>(name: N): z.output<(typeof SETTINGS)[N]> | null => {
    const text = given.get(name);
    if (text === undefined) return null;
    const parsed = SETTINGS[name].safeParse(text);
    if (parsed.success) return parsed.data as z.output<(typeof SETTINGS)[N]>;
    problems.push(problemOf(name, parsed.error, text));
    return null;
  };
  const state = resolve(read("STATE") ?? ".fieldprobe");
  const cert = read("TLS_CERT");
  const key = read("TLS_KEY");
  const role = read("ROLE") ?? "all";
  const nats = read("NATS");
  if (role === "gateway" && nats === null) problems.push("FIELDPROBE_ROLE=gateway needs FIELDPROBE_NATS");
  if ((cert === null) !== (key === null)) problems.push("FIELDPROBE_TLS_CERT and FIELDPROBE_TLS_KEY go together");
  const config: Config = {
    host: read("HOST") ?? "127.0.0.1",
    port: read("PORT") ?? 8080,
    data: (read("DATA") ?? [defaultData()]).map((folder) => resolve(folder)),
    namespace: read("NAMESPACE") ?? "http://turbulence.pha.jhu.edu/",
    baseUrl: read("BASE_URL"),
    workers: read("WORKERS") ?? availableParallelism(),
    cacheBytes: read("CACHE_BYTES") ?? Math.min(Math.floor(memoryBytes() / 4), 3 * 1024 * MIB),
    logLevel: read("LOG_LEVEL") ?? "info",
    state,
    tokens: read("TOKENS"),
    anonymous: read("ANONYMOUS"),
    fd8Legacy: read("FD8_LEGACY") ?? false,
    gzip: read("HTTP_GZIP") ?? "auto",
    tls: cert !== null && key !== null ? { cert, key } : null,
    events: {
      db: resolve(state, read("EVENTS_DB") ?? "events.db"),
      prefix: read("EVENTS_PREFIX") ?? "",
      zone: read("EVENTS_ZONE"),
      site: read("EVENTS_SITE"),
      source: read("EVENTS_SOURCE"),
      now: read("EVENTS_NOW"),
      keys: read("EVENTS_KEYS") ?? [],
      categoryUrl: read("EVENTS_CATEGORY_URL") ?? "hash",
      perMinute: read("EVENTS_PER_MINUTE") ?? 0,
    },
    cluster: {
      role,
      nats,
      nkey: read("NATS_NKEY"),
      ca: read("NATS_CA"),
      node: read("NODE") ?? defaultNode(),
      replicas: read("REPLICAS") ?? 2,
      hedgeMs: read("HEDGE_MS") ?? 30,
      timeoutMs: read("BATCH_TIMEOUT_MS") ?? 2_000,
      messagePoints: read("MESSAGE_POINTS") ?? 65_536,
    },
    limits,
  };
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze(config);
}
