/** Runs a question of a command on a service: the one that `--url` names, or one of this process for its length. */
import { pino } from "pino";
import { ClientError } from "../../client/error.js";
import { startService } from "../../main.js";
import { loadConfig } from "../../shared/config.js";
import { explain } from "../query/answer.js";

/** The flags that say which service is asked. */
export interface ServiceFlags {
  readonly url?: string;
  readonly token?: string;
  readonly data?: string;
  readonly descriptors?: string;
}

/** @throws Error in one line for what the service refuses, with a hint at the remedy */
export async function withService<T>(flags: ServiceFlags, ask: (url: string) => Promise<T>): Promise<T> {
  const given = { DATA: flags.data, DESCRIPTORS: flags.descriptors };
  const settings = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const config = () => loadConfig({ PORT: "0", ...(settings as Record<string, string>) });
  const own = flags.url === undefined ? await startService(config(), pino({ level: "fatal" }), true) : null;
  try {
    return await ask(own?.url ?? (flags.url as string));
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    throw new Error(explain({ ...error.detail, code: error.code, message: error.message }), { cause: error });
  } finally {
    await own?.close();
  }
}
