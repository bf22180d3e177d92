/** Authenticator: tokens, by their digests in a file that may change while the service runs. */
import { createHash, timingSafeEqual } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { type Config, ConfigError, isLoopbackHost, type Limits } from "../../shared/config.js";
import { AuthError, LimitError } from "../../shared/errors.js";
import { reasonOf } from "../../shared/system.js";

const RELOAD_MS = 2_000;
const PREFIX_CHARS = 8;

const TOKEN_FILE = z.strictObject({
  version: z.literal(1),
  tokens: z.array(
    z.strictObject({
      name: z.string().min(1).max(64),
      sha256: z.string().regex(/^[0-9a-f]{64}$/, "must be 64 of 0-9 a-f"),
      limit: z.number().int(),
      perMinute: z.number().int().min(1).optional(),
      concurrent: z.number().int().min(1).optional(),
      manage: z.literal(true).optional(),
      expires: z.iso.datetime({ offset: true, error: "must be an instant like 2026-12-31T23:59:59Z" }).optional(),
    }),
  ),
});

/**
 * The token file. `limit` is 0 (any number of points), above 0 (points per call) or below 0 (disabled; `-limit - 1` is
 * what it was before); with `manage` it may see and confirm data that wait. From `expires` on a token is unknown. Two
 * entries of a name are a token and the one it replaces.
 */
export type TokenFile = z.infer<typeof TOKEN_FILE>;
export type TokenEntry = TokenFile["tokens"][number];

/** Rights of a checked request; `release` is called once, when it has been answered. */
export interface Grant {
  readonly id: string | null;
  readonly points: number;
  readonly manage?: boolean;
  /** Counts one more query of the request. Throws AuthError `RateLimited`. */
  countFurtherQuery(): void;
  release(): void;
}

export interface Auth {
  /**
   * @param note called first with the name for logs: `unknown` if the token is in no file @throws AuthError
   * `AuthenticationFailed` or `RateLimited`, LimitError `token.concurrent`
   */
  authorise(token: string | null, note?: (id: string) => void): Grant;
  reload(): void;
  close(): void;
}

export interface AuthLog {
  info(message: string): void;
  error(details: { readonly err: unknown }, message: string): void;
}

const FREE: Grant = { id: null, points: 0, countFurtherQuery: () => undefined, release: () => undefined };

export const OPEN_AUTH: Auth = { authorise: () => FREE, reload: () => undefined, close: () => undefined };

export function digestToken(token: string): string {
  return createHash("sha256").update(token, "utf8").digest("hex");
}

/** The first problem of a token file, in one line that names the member; null if there is none. */
function problemOf(content: unknown): string | null {
  const parsed = TOKEN_FILE.safeParse(content);
  if (!parsed.success) {
    return parsed.error.issues.map(({ path, message }) => [...path, message].join(": ")).join("; ");
  }
  const { tokens } = parsed.data;
  const distinct = new Set(tokens.map(({ sha256 }) => sha256)).size;
  return distinct < tokens.length ? "two tokens have the same digest" : null;
}

const FILE_NAME = "tokens.json";

/** The file that a setting names, or `tokens.json` in a folder. */
export function tokenFileAt(path: string): string {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ? join(path, FILE_NAME) : path;
}

export function isExpired({ expires }: TokenEntry, now: number): boolean {
  return expires !== undefined && now >= Date.parse(expires);
}

/** @throws Error with one line that names the file and what is wrong */
export function readTokenFile(path: string): { readonly text: string; readonly file: TokenFile } {
  let text: string;
  let content: unknown;
  try {
    text = readFileSync(path, "utf8");
    content = JSON.parse(text);
  } catch (error) {
    throw new Error(`the token file ${path} cannot be read: ${reasonOf(error)}`);
  }
  const problem = problemOf(content);
  if (problem !== null) throw new Error(`${path} is not a token file: ${problem}`);
  return { text, file: content as TokenFile };
}

/** Refuses to serve everyone on a public address unless `FIELDPROBE_ANONYMOUS=true` says so. */
export function checkExposure(config: Pick<Config, "host" | "tokens" | "anonymous">): void {
  if (isLoopbackHost(config.host) || config.tokens !== null || config.anonymous === true) return;
  throw new ConfigError([
    `FIELDPROBE_HOST=${config.host} is not a loopback address and no token file is set: ` +
      "set FIELDPROBE_TOKENS, or FIELDPROBE_ANONYMOUS=true to serve everyone",
  ]);
}

class Account {
  entry: TokenEntry;
  #allowance: number;
  #at: number;
  #running = 0;

  constructor(entry: TokenEntry, perMinute: number, now: number) {
    this.entry = entry;
    this.#allowance = perMinute;
    this.#at = now;
  }

  /** Takes one request out of the allowance, which refills evenly to `perMinute`; 0 means no limit. */
  spend(perMinute: number, now: number): void {
    if (perMinute === 0) return;
    this.#allowance = Math.min(perMinute, this.#allowance + ((now - this.#at) * perMinute) / 60_000);
    this.#at = now;
    if (this.#allowance < 1) {
      const wait = ((1 - this.#allowance) * 60) / perMinute;
      throw new AuthError("The rate of this token is used up.", "RateLimited", Math.ceil(wait));
    }
    this.#allowance -= 1;
  }

  /** Counts a simultaneous request. `concurrent`: their limit; 0 means none. Returns ends it. */
  enter(concurrent: number): () => void {
    if (concurrent > 0 && this.#running >= concurrent) {
      throw new LimitError("token.concurrent", `This token may run ${concurrent} requests at a time.`);
    }
    this.#running++;
    return () => {
      this.#running--;
    };
  }
}

/** Accounts of a token file; a broken file leaves the last good set. */
class TokenBook {
  readonly #path: string;
  readonly #open: (entry: TokenEntry) => Account;
  readonly #log: AuthLog;
  #text: string;
  #accounts: ReadonlyMap<string, Account>;
  #complaint = "";

  constructor(path: string, open: (entry: TokenEntry) => Account, log: AuthLog) {
    this.#path = path;
    this.#open = open;
    this.#log = log;
    const { text, file } = readTokenFile(tokenFileAt(path));
    this.#text = text;
    this.#accounts = this.#accountsOf(file, new Map());
  }

  find(token: string): Account | null {
    return search(this.#accounts, token);
  }

  /** Reads the file again if it has changed; else returns false. A complaint is repeated only on request. */
  look(anew = false): boolean {
    if (anew) this.#complaint = "";
    try {
      const { text, file } = readTokenFile(tokenFileAt(this.#path));
      const changed = text !== this.#text;
      if (changed) {
        this.#accounts = this.#accountsOf(file, this.#accounts);
        this.#text = text;
        this.#log.info("the token file has changed and is in effect");
      }
      this.#complaint = "";
      return changed;
    } catch (err) {
      if (String(err) !== this.#complaint) {
        this.#log.error({ err }, "the token file cannot be used; the last good set stays");
      }
      this.#complaint = String(err);
      return true;
    }
  }

  #accountsOf(file: TokenFile, before: ReadonlyMap<string, Account>): ReadonlyMap<string, Account> {
    return new Map(
      file.tokens.map((entry) => {
        const known = before.get(entry.sha256);
        if (known !== undefined) known.entry = entry;
        return [entry.sha256, known ?? this.#open(entry)];
      }),
    );
  }
}

export interface WatchOptions {
  readonly reloadMs?: number;
  readonly now?: () => number;
  readonly date?: () => number;
}

/**
 * Authentication by a token file, or one in a folder, read again when it changes. `anonymous`: whether a request without
 * token is served; an empty token counts as none. Throws when the file cannot be used at the start.
 */
export function watchTokens(
  path: string,
  anonymous: boolean,
  limits: Pick<Limits, "token.concurrent" | "token.perMinute">,
  log: AuthLog,
  { reloadMs = RELOAD_MS, now = () => performance.now(), date = Date.now }: WatchOptions = {},
): Auth {
  const open = (entry: TokenEntry) => new Account(entry, entry.perMinute ?? limits["token.perMinute"], now());
  const book = new TokenBook(path, open, log);
  const timer = setInterval(() => book.look(), reloadMs);
  timer.unref();

  return {
    authorise(token, note) {
      const account = book.find(token ?? "");
      if (account === null && anonymous && (token ?? "") === "") return FREE;
      const id = account?.entry.sha256.slice(0, PREFIX_CHARS) ?? "unknown";
      if ((token ?? "") !== "") note?.(id);
      if (account === null || isExpired(account.entry, date())) {
        throw new AuthError(
          "Invalid identification token. Please see the documentation of this service for more information.",
        );
      }
      const { limit, perMinute, concurrent, manage = false } = account.entry;
      if (limit < 0) {
        throw new AuthError(
          "Disabled identification token.  Please see the documentation of this service for more information.",
        );
      }
      const another = () => account.spend(perMinute ?? limits["token.perMinute"], now());
      another();
      const release = account.enter(concurrent ?? limits["token.concurrent"]);
      return { id, points: limit, manage, countFurtherQuery: another, release };
    },
    reload() {
      if (!book.look(true)) log.info("the token file is unchanged");
    },
    close: () => clearInterval(timer),
  };
}

/** Finds the account of a token; compares with every digest, so that the time reveals nothing. */
function search(accounts: ReadonlyMap<string, Account>, token: string): Account | null {
  const digest = Buffer.from(digestToken(token));
  let found: Account | null = null;
  for (const [sha256, account] of accounts) if (timingSafeEqual(Buffer.from(sha256), digest)) found = account;
  return found;
}
