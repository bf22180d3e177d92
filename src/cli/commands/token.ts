/** `fieldprobe token` adds, lists and disables tokens; the file holds only digests, so a token is shown once. */
import { randomBytes } from "node:crypto";
import { existsSync, renameSync, writeFileSync } from "node:fs";
import { Command } from "commander";
import { loadConfig } from "../../config.js";
import { digestToken, readTokenFile, type TokenEntry, type TokenFile } from "../../server/http/auth.js";
import { reasonOf } from "../../system-error.js";
import { MisuseError, wholeNumber } from "../input/arguments.js";

/** Bytes of a new token: 192 bits, 32 letters in base64url. */
const TOKEN_BYTES = 24;

interface AddOptions {
  readonly limit: number;
  readonly perMinute?: number;
  readonly concurrent?: number;
}

/** `fieldprobe token add|list|disable`. */
export function tokenCommand(): Command {
  const file = ["--file <path>", "token file; default: FIELDPROBE_TOKENS"] as const;
  const command = new Command("token");
  command
    .command("add <name>")
    .description("make a token and print it; it cannot be shown again")
    .option("--limit <points>", "points per call; 0 for any number", wholeNumber(0), 0)
    .option("--per-minute <requests>", "requests per minute", wholeNumber(1))
    .option("--concurrent <requests>", "requests at a time", wholeNumber(1))
    .option(...file)
    .action((name: string, options: AddOptions & FileOption) => add(name, options, pathOf(options)));
  command
    .command("list")
    .description("print name, first digits of the digest, and limits of every token")
    .option(...file)
    .action((options: FileOption) => list(readTokens(pathOf(options))));
  command
    .command("disable <name>")
    .description("refuse a token from now on; it stays in the file")
    .option(...file)
    .action((name: string, options: FileOption) => disable(name, pathOf(options)));
  for (const child of command.commands) child.exitOverride();
  return command;
}

interface FileOption {
  readonly file?: string;
}

function pathOf({ file }: FileOption): string {
  const path = file ?? loadConfig().tokens;
  if (path === null) throw new MisuseError("no token file: give --file or set FIELDPROBE_TOKENS");
  return path;
}

function readTokens(path: string): TokenFile {
  if (!existsSync(path)) return { version: 1, tokens: [] };
  try {
    return readTokenFile(path).file;
  } catch (error) {
    throw new MisuseError((error as Error).message);
  }
}

/** Replaces the file in one step, so that a running service never sees half of it. */
function writeTokens(path: string, tokens: readonly TokenEntry[]): void {
  const beside = `${path}.${process.pid}.new`;
  try {
    writeFileSync(beside, `${JSON.stringify({ version: 1, tokens }, null, 2)}\n`, { mode: 0o600 });
    renameSync(beside, path);
  } catch (error) {
    throw new Error(`the token file ${path} cannot be written: ${reasonOf(error)}`);
  }
}

function add(name: string, { limit, perMinute, concurrent }: AddOptions, path: string): void {
  const { tokens } = readTokens(path);
  if (tokens.some((entry) => entry.name === name)) throw new MisuseError(`${path} has a token named ${name} already`);
  if (name.length < 1 || name.length > 64) throw new MisuseError("a name has 1 to 64 characters");
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  const entry: TokenEntry = {
    name,
    sha256: digestToken(token),
    limit,
    ...(perMinute === undefined ? {} : { perMinute }),
    ...(concurrent === undefined ? {} : { concurrent }),
  };
  writeTokens(path, [...tokens, entry]);
  process.stdout.write(`${token}\n`);
}

function list({ tokens }: TokenFile): void {
  for (const { name, sha256, limit, perMinute, concurrent } of tokens) {
    const points = limit < 0 ? "disabled" : limit === 0 ? "any number of points" : `${limit} points per call`;
    const more = [
      perMinute === undefined ? [] : [`${perMinute} requests per minute`],
      concurrent === undefined ? [] : [`${concurrent} at a time`],
    ].flat();
    process.stdout.write(`${[name, sha256.slice(0, 8), points, ...more].join("\t")}\n`);
  }
}

function disable(name: string, path: string): void {
  const { tokens } = readTokens(path);
  if (!tokens.some((entry) => entry.name === name)) throw new MisuseError(`${path} has no token named ${name}`);
  writeTokens(
    path,
    tokens.map((entry) => (entry.name === name ? { ...entry, limit: -1 } : entry)),
  );
}
