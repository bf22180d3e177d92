/** `fieldprobe token`: edits the token file of a service. It holds only digests, so a token is shown once. */
import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { Command, InvalidArgumentError } from "commander";
import { digestToken, isExpired, readTokenFile, type TokenEntry, tokenFileAt } from "../../server/http/auth.js";
import { loadConfig } from "../../shared/config.js";
import { reasonOf, withLock } from "../../shared/system.js";
import { MisuseError, wholeNumber } from "../input/arguments.js";

const TOKEN_BYTES = 24;

interface FileOption {
  readonly file?: string;
}

interface AddOptions extends FileOption {
  readonly limit: number;
  readonly perMinute?: number;
  readonly concurrent?: number;
  readonly manage?: true;
  readonly expires?: number;
}

export function tokenCommand(): Command {
  const command = new Command("token");
  const child = (words: string, about: string) =>
    command
      .command(words)
      .description(about)
      .option("--file <path>", "token file, or a folder with tokens.json; default: FIELDPROBE_TOKENS");
  child("add <name>", "make a token and print it; it cannot be shown again")
    .option("--limit <points>", "points per call; 0 for any number", wholeNumber(0), 0)
    .option("--per-minute <requests>", "requests per minute", wholeNumber(1))
    .option("--concurrent <requests>", "requests at a time", wholeNumber(1))
    .option("--manage", "it may see and confirm data that wait")
    .option("--expires <time>", "how long it is valid: 90m, 12h, 30d (default: for ever)", lifetime)
    .action(alone(add));
  child("list", "print name, first digits of the digest, limits and expiry of every token").action(list);
  const set = (isDisabled: boolean) => alone(changer((entry) => setDisabled(entry, isDisabled)));
  child("disable <name>", "refuse a token from now on; it stays in the file").action(set(true));
  child("enable <name>", "accept a disabled token again, with its former limits").action(set(false));
  child("rotate <name>", "replace a token by a new one, print that, and let the old one expire")
    .option("--keep <time>", "how long the old one stays valid: 0m, 90m, 12h, 30d", duration, duration("1d"))
    .option("--expires <time>", "when the new one expires: 90m, 12h, 30d or never (default: as the old one)", expiry)
    .action(alone(rotate));
  child("remove <name>", "delete a token from the file").action(alone(changer(() => [])));
  for (const one of command.commands) one.exitOverride();
  return command;
}

/** `90m`, `12h` or `30d`, in milliseconds. */
function duration(text: string): number {
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  if (count === undefined) throw new InvalidArgumentError("a time such as 90m, 12h or 30d is needed.");
  return Number(count) * { m: 60_000, h: 3_600_000, d: 86_400_000 }[unit as "m" | "h" | "d"];
}

function lifetime(text: string): number {
  const time = duration(text);
  if (time > 0) return time;
  throw new InvalidArgumentError("a time above 0 is needed.");
}

const expiry = (text: string): number => (text === "never" ? Number.POSITIVE_INFINITY : lifetime(text));

function pathOf({ file }: FileOption): string {
  const path = file ?? loadConfig().tokens;
  if (path === null) throw new MisuseError("no token file: give --file or set FIELDPROBE_TOKENS");
  return tokenFileAt(path);
}

function alone<O extends FileOption>(change: (name: string, path: string, options: O) => void) {
  return (name: string, options: O): void => {
    const path = pathOf(options);
    const waiting = (pid: number) => process.stderr.write(`fieldprobe: waiting for process ${pid} to change ${path}\n`);
    withLock(path, () => change(name, path, options), { waiting });
  };
}

function readTokens(path: string): readonly TokenEntry[] {
  if (!fs.existsSync(path)) return [];
  try {
    return readTokenFile(path).file.tokens;
  } catch (error) {
    throw new MisuseError((error as Error).message);
  }
}

function add(name: string, path: string, options: AddOptions): void {
  const { limit, perMinute, concurrent, manage, expires } = options;
  const tokens = readTokens(path);
  if (tokens.some((entry) => entry.name === name)) throw new MisuseError(`${path} has a token named ${name} already`);
  if (!/^[^\p{Cc}\p{Zl}\p{Zp}]{1,64}$/u.test(name))
    throw new MisuseError("a name has 1 to 64 characters, none of which breaks a line or controls a terminal");
  const [token, sha256] = newToken();
  const until = expires === undefined ? undefined : inFuture(expires);
  // Members without a value are not written.
  writeTokens(path, [...tokens, { name, sha256, limit, perMinute, concurrent, manage, expires: until } as TokenEntry]);
  process.stdout.write(`${token}\n`);
}

function newToken(): readonly [token: string, sha256: string] {
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  return [token, digestToken(token)];
}

const inFuture = (ms: number): string => `${new Date(Date.now() + ms).toISOString().slice(0, 19)}Z`;

function list(options: FileOption): void {
  const path = pathOf(options);
  if (!fs.existsSync(path)) throw new MisuseError(`${path}: there is no such file; fieldprobe token add makes it`);
  for (const entry of readTokens(path)) process.stdout.write(`${describe(entry)}\n`);
}

function describe(entry: TokenEntry): string {
  const { name, sha256, limit, perMinute, concurrent, manage, expires } = entry;
  const points = limit < 0 ? "disabled" : limit === 0 ? "any number of points" : `${limit} points per call`;
  const more = [
    perMinute === undefined ? [] : [`${perMinute} requests per minute`],
    concurrent === undefined ? [] : [`${concurrent} at a time`],
    manage === undefined ? [] : ["may confirm data"],
    expires === undefined ? [] : [`${isExpired(entry, Date.now()) ? "expired" : "expires"} ${expires}`],
  ].flat();
  return [name, sha256.slice(0, 8), points, ...more].join("\t");
}

/** A disabled entry keeps its limit as `-limit - 1`. */
function setDisabled(entry: TokenEntry, isDisabled: boolean): TokenEntry[] {
  return [entry.limit < 0 === isDisabled ? entry : { ...entry, limit: -entry.limit - 1 }];
}

/** Action of a command that changes all entries of a name and prints the remaining entries. */
function changer(change: (entry: TokenEntry) => TokenEntry[]) {
  return (name: string, path: string): void => {
    const tokens = tokensWith(name, path);
    const changed = tokens.flatMap((entry) => (entry.name === name ? change(entry) : [entry]));
    writeTokens(path, changed);
    for (const entry of changed) if (entry.name === name) process.stdout.write(`${describe(entry)}\n`);
  };
}

/** @throws MisuseError if the file has none of the name */
function tokensWith(name: string, path: string): readonly TokenEntry[] {
  const tokens = readTokens(path);
  if (!tokens.some((entry) => entry.name === name)) throw new MisuseError(`${path} has no token named ${name}`);
  return tokens;
}

interface RotateOptions extends FileOption {
  readonly keep: number;
  /** Milliseconds for which the new token is valid; absent: as long as the old one. */
  readonly expires?: number;
}

/**
 * Replaces a token by one with its limits. The old one expires in `keep` milliseconds if not before; entries that have
 * expired are deleted.
 */
function rotate(name: string, path: string, options: RotateOptions): void {
  const tokens = tokensWith(name, path);
  const newest = tokens.filter((entry) => entry.name === name).at(-1) as TokenEntry;
  if (newest.limit < 0) throw new MisuseError(`${name} is disabled: enable it first`);
  const [token, sha256] = newToken();
  const fresh = { ...withExpiry(newest, options.expires), sha256 };
  if (isExpired(fresh, Date.now()))
    throw new MisuseError(`${name} expired ${fresh.expires}: say how long the new token is valid with --expires`);
  const until = inFuture(options.keep);
  const kept = tokens.flatMap((entry) => {
    if (entry.name !== name) return [entry];
    if (isExpired(entry, Date.now()) || options.keep === 0) return [];
    const sooner = entry.expires !== undefined && Date.parse(entry.expires) < Date.parse(until);
    return [sooner ? entry : { ...entry, expires: until }];
  });
  writeTokens(path, [...kept, fresh]);
  process.stdout.write(`${token}\n`);
  if (fresh.expires !== undefined) process.stderr.write(`fieldprobe: the new token expires ${fresh.expires}\n`);
}

function withExpiry(entry: TokenEntry, ms: number | undefined): TokenEntry {
  if (ms === undefined) return entry;
  const { expires: _expires, ...rest } = entry;
  return ms === Number.POSITIVE_INFINITY ? rest : { ...rest, expires: inFuture(ms) };
}

const NOT_REPLACED: readonly unknown[] = ["EBUSY", "EXDEV", "EACCES", "EPERM", "EROFS"];

/** Atomic write that keeps owner, permissions and links; a file that cannot be replaced is written in place. */
function writeTokens(path: string, tokens: readonly TokenEntry[]): void {
  const text = `${JSON.stringify({ version: 1, tokens }, null, 2)}\n`;
  try {
    const file = fs.existsSync(path) ? fs.realpathSync(path) : path;
    const temporary = `${file}.${process.pid}.new`;
    try {
      fs.writeFileSync(temporary, text, { mode: 0o600, flush: true });
      if (fs.existsSync(file)) inheritAccess(temporary, file);
      fs.renameSync(temporary, file);
    } catch (error) {
      fs.rmSync(temporary, { force: true });
      if (!NOT_REPLACED.includes((error as NodeJS.ErrnoException).code) || !fs.existsSync(file)) throw error;
      writeInPlace(file, text);
    }
  } catch (error) {
    throw new Error(`the token file ${path} cannot be written: ${reasonOf(error)}`);
  }
}

function inheritAccess(path: string, from: string): void {
  const { uid, gid, mode } = fs.statSync(from);
  const own = fs.statSync(path);
  if (own.uid !== uid || own.gid !== gid) fs.chownSync(path, uid, gid);
  fs.chmodSync(path, mode & 0o777);
}

/** Overwrites a file without emptying it first; restores its content if that fails. */
function writeInPlace(path: string, text: string): void {
  const before = fs.readFileSync(path);
  const file = fs.openSync(path, "r+");
  const write = (content: Buffer) => {
    for (let at = 0; at < content.length; ) at += fs.writeSync(file, content, at, content.length - at, at);
    fs.ftruncateSync(file, content.length);
  };
  try {
    write(Buffer.from(text));
  } catch (error) {
    write(before);
    throw error;
  } finally {
    fs.closeSync(file);
  }
}
