/**
 * Settings of a process: one table of name, check, default and meaning, from which configuration, flags, help and
 * reference follow.
 */
import { existsSync } from "node:fs";
import { isIP } from "node:net";
import { availableParallelism, totalmem } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { foreignAddress, isAddress, isBucket, splitPlaces } from "./addresses.js";
import { MISSING_CHUNKS, STORE_DEFAULTS } from "./store-settings.js";

const MIB = 1024 * 1024;
/** The longest time of a timer, 24 days: for a longer one Node's timers fire after a millisecond. */
export const LONGEST_MS = 2 ** 31 - 1;

/**
 * Limits of the cost of a request: default, meaning, and the greatest and least value if they are not those of whole
 * numbers from 1. FIELDPROBE_HTTP_BODY_BYTES sets `http.bodyBytes`.
 */
const LIMIT_TABLE = {
  "http.bodyBytes": [256 * MIB, "bytes of a request body"],
  "http.headersTimeoutMs": [10_000, "time for the headers of a request", LONGEST_MS],
  "http.requestTimeoutMs": [120_000, "time for a whole request", LONGEST_MS],
  "http.keepAliveTimeoutMs": [5_000, "idle time of a connection", LONGEST_MS],
  "http.connections": [1_024, "connections"],
  "http.waitingBytes": [48 * MIB, "computed answers that wait for their readers"],
  "http.readerBytesPerSecond": [16_384, "slowest rate at which an answer may be read"],
  "http.readerGraceMs": [10_000, "how long a reader may stay below that rate", LONGEST_MS],
  "http.senderBytesPerSecond": [4_096, "slowest rate at which a request may be sent"],
  "http.senderGraceMs": [
    10_000,
    "how long a sender may stay below that rate; a fifth of it before authentication",
    LONGEST_MS,
  ],
  "xml.depth": [16, "nesting of elements"],
  "xml.attributes": [32, "attributes of an element"],
  "xml.nameChars": [256, "length of a name"],
  "xml.textChars": [4_096, "length of a value"],
  "soap.headerBlocks": [16, "header blocks of an envelope"],
  "query.points": [2_000_000, "points of a call, records of an answer"],
  "query.particleSteps": [50_000_000, "points times steps of tracking: a heun step counts 1, rk4 2, dopri5 3"],
  "query.filterSamples": [500_000_000, "points times leaves (octree cells) of a box filter"],
  "query.deadlineMs": [120_000, "time for an answer", LONGEST_MS],
  "search.hits": [1_048_576, "nodes that a search may find", 2_097_151],
  "cutout.values": [805_306_368, "numbers of a cutout, all of its frames together"],
  "analysis.numbers": [1_048_576, "numbers of a statistic or a list of structures"],
  "analysis.memoryBytes": [64 * MIB, "memory of all transforms together; further ones use a scratch file"],
  "analysis.scratchBytes": [64 * 1024 * MIB, "scratch files of transforms, in the state folder if it exists"],
  "engine.inflight": [32, "requests being answered"],
  "engine.queue": [256, "requests that wait"],
  "engine.chunkBytes": [64 * MIB, "decoded chunk of a dataset"],
  "engine.pointsInFlight": [
    2_500_000,
    "points of all requests together; answers of more than three numbers per point count one for every three",
  ],
  "token.concurrent": [0, "simultaneous requests of one token; 0 is off", undefined, 0],
  "token.perMinute": [0, "requests of one token per minute; 0 is off", undefined, 0],
  "jobs.points": [1_000_000_000, "points of a job"],
  "jobs.atOnce": [8, "jobs of one token that wait or run; without tokens, of all callers"],
  "jobs.pointsPerDay": [10_000_000_000, "points of the jobs that one token may start in 24 hours"],
  "jobs.bytesPerDay": [1024 * 1024 * MIB, "bytes of results and uploads of one token in 24 hours"],
  "jobs.resultHours": [168, "hours for which results and uploads are kept", 100_000],
  "shutdown.graceMs": [10_000, "time that running requests have when the service stops", LONGEST_MS],
} as const satisfies Record<string, readonly [value: number, meaning: string, max?: number | undefined, min?: number]>;

export type LimitName = keyof typeof LIMIT_TABLE;
export type Limits = Readonly<Record<LimitName, number>>;

/** The default of every limit. */
export const LIMITS = mapValues(LIMIT_TABLE, ([value]) => value) as Limits;

export interface Setting<T> {
  /** Name of its variable, without FIELDPROBE_. */
  readonly variable: string;
  readonly schema: z.ZodType<T>;
  /** Default value; a function if it depends on the machine. */
  readonly defaultValue: T | (() => T);
  readonly meaning: string;
  /** Placeholder of its command-line flag, `--base-url <url>`; null if it has none. */
  readonly flag: string | null;
  /** The default as text, where `defaultValue` does not show it. */
  readonly defaultText: string | null;
}

/** A row of the table. A default of null means that the setting may be absent, which its type then says. */
function setting<T, D extends T | null = never>(
  variable: string,
  schema: z.ZodType<T>,
  defaultValue: D | (() => T),
  meaning: string,
  options: { readonly flag?: string; readonly defaultText?: string } = {},
): Setting<[D] extends [null] ? T | null : T> {
  const { flag = null, defaultText = null } = options;
  return { variable, schema, defaultValue, meaning, flag, defaultText } as unknown as Setting<
    [D] extends [null] ? T | null : T
  >;
}

function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER) {
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
  const error = `must be a whole number ${range}`;
  const inRange = z.number().int({ error }).min(min, { error }).max(max, { error });
  return z.string().regex(/^\d+$/, { error }).transform(Number).pipe(inRange);
}
const oneOf = <const T extends readonly string[]>(...names: T) =>
  z.enum(names, { error: `must be ${names.slice(0, -1).join(", ")} or ${names.at(-1)}` });
const trueFalseSchema = oneOf("true", "false", "1", "0").transform((value) => value === "true" || value === "1");
const onOffSchema = oneOf("on", "off").transform((value) => value === "on");
const textSchema = z.string().min(1, "must not be empty");
const pathSchema = textSchema.transform((name) => resolve(name));
/** A user name or a password in an address. */
const SECRET = /:\/\/[^/;]*@/g;
const SECRET_REFUSED = "must not hold a user name or a password in an address";
const folderOrBucketSchema = textSchema
  .refine((name) => name.search(SECRET) < 0, SECRET_REFUSED)
  .refine(
    (name) => isBucket(name) || !/^[a-z][a-z0-9+.-]*:\/\//i.test(name),
    "must be a folder of this machine, or a place in a bucket such as s3://bucket/results",
  )
  .transform((name) => (isBucket(name) ? name : resolve(name)));
const listSchema = z.string().transform((items) =>
  items
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== ""),
);
/** The name of a time zone; offsets are not allowed. */
const zoneSchema = textSchema.refine((name) => !/^[+-]/.test(name) && isTimeZone(name), "must be an IANA time zone");
/** An address, a network, or a name of networks that the HTTP library knows. */
function isProxy(text: string): boolean {
  if (/^(loopback|linklocal|uniquelocal)$/.test(text)) return true;
  const [, address = "", bits = "0"] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  return isIP(address) !== 0 && Number(bits) <= (isIP(address) === 4 ? 32 : 128);
}
const webAddressSchema = z.url({
  protocol: /^https?$/,
  error: "must be an address that begins with http:// or https://",
});

/** All settings except the limits, in the shape of `Config`. */
const SETTINGS = {
  host: setting(
    "HOST",
    textSchema,
    "127.0.0.1",
    "address to listen on; any but loopback needs tokens or `ANONYMOUS=true`",
    {
      flag: "address",
    },
  ),
  port: setting("PORT", wholeNumber(0, 65_535), 8080, "port to listen on; 0 picks a free one", { flag: "number" }),
  data: setting(
    "DATA",
    z
      .string()
      .refine((places) => places.search(SECRET) < 0, SECRET_REFUSED)
      .transform((places) => splitPlaces(places, delimiter))
      .pipe(z.array(z.string()).min(1, "must name a folder"))
      .superRefine((places, context) => {
        for (const message of places.flatMap((place) => foreignAddress(place) ?? []))
          context.addIssue({ code: "custom", message: `must not name ${message}` });
      })
      .transform((places) => places.map((place) => (isAddress(place) ? place : resolve(place))) as readonly string[]),
    defaultData,
    "folders searched for datasets, and addresses of stores, files and folders (`https://`, `s3://`, `gs://`), separated as in `PATH`",
    { flag: "folders", defaultText: "`./data`, else the included data" },
  ),
  defaultDataset: setting("DEFAULT_DATASET", textSchema, null, "dataset of SOAP requests that name none", {
    defaultText: "the dataset that is served, if it is the only one",
  }),
  descriptors: setting(
    "DESCRIPTORS",
    pathSchema,
    null,
    "separate folder of descriptors (`NAME.json`), for files in a data folder that may be read-only",
    { flag: "folder", defaultText: "none" },
  ),
  namespace: setting(
    "NAMESPACE",
    z.string().regex(/^[a-z][a-z0-9+.-]*:\S*\/$/i, "must be an absolute URI that ends in a slash"),
    "http://turbulence.pha.jhu.edu/",
    "target namespace of the SOAP service",
    { flag: "uri" },
  ),
  wsdl: setting(
    "WSDL",
    oneOf("older", "later"),
    "older",
    "interface that a bare `?WSDL` describes: `older`, or `later` for clients of today's public service",
  ),
  /** The value has no slash at its end. */
  baseUrl: setting(
    "BASE_URL",
    webAddressSchema.transform((url) => url.replace(/\/+$/, "")),
    null,
    "public address of the service; the WSDL names it",
    { flag: "url", defaultText: "the listening address" },
  ),
  workers: setting("WORKERS", wholeNumber(1, 64), availableParallelism, "worker threads", {
    flag: "number",
    defaultText: "available cores",
  }),
  cacheBytes: setting(
    "CACHE_BYTES",
    wholeNumber(1 * MIB, 3 * 1024 * MIB),
    () => Math.min(Math.floor(memoryBytes() / 4), 3 * 1024 * MIB),
    "field data kept in memory, shared by all workers",
    { flag: "bytes", defaultText: "a quarter of the memory, at most 3 GiB" },
  ),
  /** As `StoreSettings`. */
  stores: {
    timeoutMs: setting(
      "STORE_TIMEOUT_MS",
      wholeNumber(100, 600_000),
      STORE_DEFAULTS.timeoutMs,
      "time limit for one answer from the host of a store",
    ),
    attempts: setting(
      "STORE_ATTEMPTS",
      wholeNumber(1, 20),
      STORE_DEFAULTS.attempts,
      "attempts for one request to a store",
    ),
    connections: setting(
      "STORE_CONNECTIONS",
      wholeNumber(1, 256),
      STORE_DEFAULTS.connections,
      "simultaneous requests to one store",
    ),
    aheadBytes: setting(
      "STORE_AHEAD_BYTES",
      wholeNumber(1 * MIB, 4096 * MIB),
      STORE_DEFAULTS.aheadBytes,
      "bytes read ahead from stores",
    ),
    metadataBytes: setting(
      "STORE_METADATA_BYTES",
      wholeNumber(1024, 1024 * MIB),
      STORE_DEFAULTS.metadataBytes,
      "size of all metadata documents of a store",
    ),
    referencesBytes: setting(
      "STORE_REFERENCES_BYTES",
      wholeNumber(1024, 1024 * MIB),
      STORE_DEFAULTS.referencesBytes,
      "size of a list of references",
    ),
    chunkBytes: setting(
      "STORE_CHUNK_BYTES",
      wholeNumber(1024, 1024 * MIB),
      STORE_DEFAULTS.chunkBytes,
      "size of a decoded chunk of a store",
    ),
    missing: setting(
      "STORE_MISSING",
      oneOf(...MISSING_CHUNKS),
      STORE_DEFAULTS.missing,
      "meaning of a missing Zarr chunk, unless its store states it: `error`, or `fill` for the fill value",
    ),
    cacheDir: setting(
      "CACHE_DIR",
      pathSchema,
      null,
      "folder of the disk cache for data fetched from stores; several processes may share it",
      { defaultText: "none: nothing is kept on disk" },
    ),
    cacheBytes: setting(
      "CACHE_DISK_BYTES",
      wholeNumber(16 * MIB),
      STORE_DEFAULTS.cacheBytes,
      "largest size of that folder",
    ),
  },
  logLevel: setting(
    "LOG_LEVEL",
    oneOf("trace", "debug", "info", "warn", "error", "fatal", "silent"),
    "info",
    "`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`",
    { flag: "level" },
  ),
  state: setting("STATE", pathSchema, () => resolve(".fieldprobe"), "folder for the state of the service", {
    flag: "folder",
    defaultText: "`.fieldprobe`",
  }),
  results: setting("RESULTS", folderOrBucketSchema, null, "folder, or `s3://bucket/prefix`, for the results of jobs", {
    defaultText: "`results` in the state folder",
  }),
  tokens: setting("TOKENS", textSchema, null, "token file, or a folder with `tokens.json`", {
    flag: "file",
    defaultText: "none: everyone is served",
  }),
  anonymous: setting("ANONYMOUS", trueFalseSchema, null, "whether requests without a token are served", {
    defaultText: "`true` without a token file, on loopback only; else `false`",
  }),
  fd8Legacy: setting(
    "FD8_LEGACY",
    trueFalseSchema,
    false,
    "published (sixth-order) coefficients for second derivatives with `Fd8`",
  ),
  gzip: setting(
    "HTTP_GZIP",
    oneOf("auto", "on", "off"),
    "auto",
    "compression of large SOAP answers: `auto`, `on` or `off`",
  ),
  cacheControl: setting(
    "HTTP_CACHE_CONTROL",
    z.string().regex(/^[\x20-\x7e]+$/, "must be the value of a Cache-Control header, such as max-age=3600"),
    "no-cache",
    "`Cache-Control` of answers to GET that have an `ETag`: `no-cache` lets caches keep them and ask each time",
  ),
  allowedHosts: setting(
    "ALLOWED_HOSTS",
    listSchema.transform((names) => names as readonly string[]),
    () => [],
    "further host names to which a service on loopback answers, separated by commas; others get 421",
    { defaultText: "loopback names, and that of `BASE_URL`" },
  ),
  corsOrigins: setting(
    "CORS_ORIGINS",
    listSchema
      .pipe(z.array(webAddressSchema.transform((url) => new URL(url).origin)))
      .transform((origins) => origins as readonly string[]),
    () => [],
    "origins whose web pages may send requests and read the answers, separated by commas",
    { defaultText: "none: only the service's own page" },
  ),
  trustProxy: setting(
    "TRUST_PROXY",
    listSchema
      .refine(
        (proxies) => proxies.length > 0 && proxies.every(isProxy),
        "must name addresses or networks, such as loopback or 10.0.0.0/8, separated by commas",
      )
      .transform((proxies) => proxies as readonly string[]),
    null,
    "proxies whose `X-Forwarded-For` names the caller: addresses, networks or `loopback`, separated by commas",
    { defaultText: "none" },
  ),
  tls: {
    cert: setting("TLS_CERT", textSchema, null, "file with the certificate; together with `TLS_KEY`", {
      defaultText: "none: plain HTTP",
    }),
    key: setting("TLS_KEY", textSchema, null, "file with the key of the certificate", { defaultText: "none" }),
  },
  events: {
    enabled: setting("EVENTS", onOffSchema, true, "the events interface: `on` or `off`", { defaultText: "`on`" }),
    file: setting("EVENTS_FILE", textSchema, "events.json", "file with the events", {
      defaultText: "`events.json` in the state folder",
    }),
    db: setting(
      "EVENTS_DB",
      textSchema,
      "events.db",
      "events database of version 1.0, read while there is no `EVENTS_FILE`",
      {
        defaultText: "`events.db` in the state folder",
      },
    ),
    prefix: setting(
      "EVENTS_PREFIX",
      z.string().regex(/^(\/[A-Za-z0-9._~-]+)*$/, "must be empty or a path like /calendar, without a slash at its end"),
      "",
      "path prefix of the events interface",
      { defaultText: "empty" },
    ),
    zone: setting("EVENTS_ZONE", zoneSchema, null, "time zone of events that name none", {
      defaultText: "that of the imported file, else UTC",
    }),
    site: setting("EVENTS_SITE", webAddressSchema, null, "address of the site to which the events belong", {
      defaultText: "that of the imported file, else the base URL",
    }),
    source: setting("EVENTS_SOURCE", textSchema, null, "name of the primary source of events", {
      defaultText: "that of the imported file, else `main`",
    }),
    now: setting(
      "EVENTS_NOW",
      z.iso.datetime({ offset: true, error: "must be an instant like 2026-10-20T12:00:00Z" }),
      null,
      "fixed time for the events' clock, for tests",
      { defaultText: "the real clock" },
    ),
    keys: setting(
      "EVENTS_KEYS",
      listSchema.transform((keys) => keys as readonly string[]),
      () => [],
      "API keys of the events interface, separated by commas",
      { defaultText: "none: open" },
    ),
    categoryUrl: setting(
      "EVENTS_CATEGORY_URL",
      oneOf("hash", "string"),
      "hash",
      "form of a category's `url`: `hash` or `string`",
    ),
    perMinute: setting(
      "EVENTS_PER_MINUTE",
      wholeNumber(0),
      0,
      "requests of one caller per minute on the events interface; 0 is off",
    ),
  },
  nats: {
    servers: setting(
      "NATS",
      listSchema
        .pipe(z.array(z.string()).min(1, "must name a server"))
        .transform((servers) => servers as readonly string[]),
      null,
      "NATS servers through which processes find each other, such as `nats://10.0.0.1:4222`, separated by commas",
      { flag: "servers", defaultText: "none: this process works alone" },
    ),
    credentials: setting(
      "NATS_CREDENTIALS",
      textSchema,
      null,
      "credentials file of NATS, or a file with the seed of an NKEY",
      {
        flag: "file",
        defaultText: "none",
      },
    ),
    ca: setting("NATS_CA", textSchema, null, "file with the authority that signs the NATS servers' certificates", {
      flag: "file",
      defaultText: "that of the system",
    }),
    cert: setting("NATS_CERT", textSchema, null, "file with the certificate shown to NATS servers", {
      defaultText: "none",
    }),
    key: setting("NATS_KEY", textSchema, null, "file with the key of that certificate", { defaultText: "none" }),
  },
} as const;

type SettingValues<T> = T extends Setting<infer V> ? V : { readonly [K in keyof T]: SettingValues<T[K]> };
type ReadSettings = SettingValues<typeof SETTINGS>;

/** The configuration of a process; `SETTINGS` has the meaning of each member. Names of folders are absolute. */
export interface Config extends Omit<ReadSettings, "tls"> {
  readonly tls: { readonly cert: string; readonly key: string } | null;
  readonly limits: Limits;
}

/** Problems of the configuration, one line for each wrong setting. */
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

/** The limits as rows of the settings table. */
export const LIMIT_SETTINGS = mapValues(LIMIT_TABLE, ([value, meaning, max, min = 1], name) =>
  setting(limitVariable(name as LimitName), wholeNumber(min, max), value, meaning),
);

/** All settings in the order of the table, limits last. */
export const ALL_SETTINGS: readonly Setting<unknown>[] = [...rowsOf(SETTINGS), ...rowsOf(LIMIT_SETTINGS)];

function isSetting(row: object): row is Setting<unknown> {
  return "variable" in row;
}

function rowsOf(group: object): Setting<unknown>[] {
  return Object.values(group).flatMap((row: object) => (isSetting(row) ? [row] : rowsOf(row)));
}

function mapValues<T extends object, V>(object: T, map: (value: T[keyof T], name: string) => V) {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, map(value, name)])) as {
    readonly [K in keyof T]: V;
  };
}

/** Memory available to this process: the limit of its control group, else the memory of the machine. */
function memoryBytes(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 && constrained < totalmem() ? constrained : totalmem();
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }) !== null;
  } catch {
    return false;
  }
}

/** The path of a public address, without a slash at its end; empty if there is none. */
export function pathOfBase(baseUrl: string | null): string {
  return baseUrl === null ? "" : new URL(baseUrl).pathname.replace(/\/$/, "");
}

/** Whether a host name or an address means this machine only. */
export function isLoopbackHost(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

function defaultData(): readonly string[] {
  const local = resolve("data");
  return [existsSync(local) ? local : fileURLToPath(new URL("../../data", import.meta.url))];
}

/** The folder of descriptors: the setting, else one in the state folder. */
export function descriptorFolder({ descriptors, state }: Pick<Config, "descriptors" | "state">): string {
  return descriptors ?? join(state, "descriptors");
}

/**
 * Reads the configuration and lists all its problems, among them unknown FIELDPROBE_ variables.
 *
 * @param overrides settings by variable name without prefix, e.g. from flags; they win over `env`
 * @param env       usually `process.env`; only FIELDPROBE_* members count, and an empty one counts as absent
 * @returns the configuration, with defaults in place of invalid values, so that more can be checked before anything
 *   starts
 */
export function readConfig(
  overrides: Readonly<Record<string, string>> = {},
  env: Readonly<Record<string, string | undefined>> = process.env,
): { readonly config: Config; readonly problems: readonly string[] } {
  const given = givenIn(overrides, env);
  const variables = new Set(ALL_SETTINGS.map(({ variable }) => variable));
  const problems = [...given.keys()]
    .filter((name) => !variables.has(name))
    .map((name) => `there is no setting FIELDPROBE_${name}`);
  const read = readGroup(SETTINGS, given, problems) as ReadSettings;
  const limits = readGroup(LIMIT_SETTINGS, given, problems) as Limits;
  const { cert, key } = read.tls;
  if ((cert === null) !== (key === null)) problems.push("FIELDPROBE_TLS_CERT and FIELDPROBE_TLS_KEY go together");
  const config = Object.freeze({
    ...read,
    tls: cert !== null && key !== null ? { cert, key } : null,
    events: {
      ...read.events,
      file: resolve(read.state, read.events.file),
      db: resolve(read.state, read.events.db),
    },
    limits,
  });
  return { config, problems };
}

/**
 * Reads the configuration.
 *
 * @throws ConfigError with all problems
 */
export function loadConfig(...given: Parameters<typeof readConfig>): Config {
  const { config, problems } = readConfig(...given);
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

/** The texts of settings by variable name without prefix. */
function givenIn(
  overrides: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string | undefined>>,
): ReadonlyMap<string, string> {
  const given = new Map<string, string>();
  for (const [name, value] of Object.entries(env)) {
    if (name.startsWith("FIELDPROBE_") && value) given.set(name.slice("FIELDPROBE_".length), value);
  }
  for (const [name, value] of Object.entries(overrides)) given.set(name, value);
  return given;
}

/** Reads the values of a group of settings, in its shape; errors are added to `problems`. */
function readGroup(group: object, given: ReadonlyMap<string, string>, problems: string[]): object {
  return mapValues(group, (row: object) => {
    if (!isSetting(row)) return readGroup(row, given, problems);
    const { variable, schema, defaultValue } = row;
    const raw = given.get(variable);
    const defaultOf = () => (typeof defaultValue === "function" ? defaultValue() : defaultValue);
    if (raw === undefined) return defaultOf();
    const parsed = schema.safeParse(raw);
    if (parsed.success) return parsed.data;
    const quoted = raw === "" ? "" : `, not ${raw.replace(SECRET, "://...@").slice(0, 64)}`;
    problems.push(`FIELDPROBE_${variable} ${parsed.error.issues[0]?.message}${quoted}`);
    return defaultOf();
  });
}
