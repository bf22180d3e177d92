/** Log of a service: JSON lines for a file or pipe, readable lines for a terminal, both on stderr. */
import { type DestinationStream, type Logger, pino } from "pino";
import type { Config } from "../../shared/config.js";

const LEVELS = { 10: "trace", 20: "debug", 30: "info", 40: "WARN", 50: "ERROR", 60: "FATAL" } as const;

/** Creates the log. It leaves stdout to the output of commands. */
export function createLog({ logLevel }: Pick<Config, "logLevel">): Logger {
  const options = { level: logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  if (!process.stderr.isTTY) return pino(options, gathered());
  return pino(options, { write: (line: string) => process.stderr.write(`${readableLine(line)}\n`) });
}

/** Most bytes of unwritten lines; lines beyond them are lost. */
const UNWRITTEN_BYTES = 1024 * 1024;

/**
 * Standard error, which writes the lines of one tick together and loses none when the process exits. While it accepts
 * nothing, as on a full disk, lines wait, and the service continues.
 */
function gathered(): DestinationStream & { flushSync(): void } {
  const descriptor = pino.destination({ dest: 2, sync: true, maxLength: UNWRITTEN_BYTES });
  descriptor.on("error", () => {});
  let lines: string[] = [];
  const flushSync = (): void => {
    if (lines.length === 0) return;
    descriptor.write(lines.join(""));
    lines = [];
  };
  process.on("exit", flushSync);
  return {
    write(line) {
      if (lines.push(line) === 1) setImmediate(flushSync);
    },
    flushSync,
  };
}

/** A JSON line of the log in readable form: time of day, level, message, other members; errors by their message. */
export function readableLine(line: string): string {
  const { time, level, msg, err, ...rest } = JSON.parse(line) as Readonly<Record<string, unknown>>;
  const clock = String(time).slice(11, 23);
  const members = Object.entries(rest)
    .filter(([, value]) => value !== null && value !== "")
    .map(([name, value]) => `${name}=${typeof value === "object" ? JSON.stringify(value) : value}`);
  const cause = err === undefined ? [] : [(err as { message?: string }).message ?? String(err)];
  const name = (LEVELS[level as keyof typeof LEVELS] ?? String(level)).padEnd(5);
  return [clock, name, [msg, ...cause].filter((text) => text !== undefined).join(": "), ...members]
    .filter((part) => part !== "")
    .join(" ");
}
