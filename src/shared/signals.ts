/** Obeys the signals of a process that serves until it is told to stop. */
import type { Logger } from "pino";

/** The parts of a process that signals act on. */
export interface Served {
  /** Counts of what is under way, for the log. */
  underWay(): Readonly<Record<string, number>>;
  /**
   * Takes nothing new and lets what is under way end; false when something was cut off, null when the process ends by
   * itself.
   */
  drain(): Promise<boolean | null>;
  /** Reads data folders, token file and TLS files again. */
  reload(): Promise<void>;
}

export interface Ending {
  readonly begun: boolean;
  /** Drains and ends the process with this code, or with 1 when something was cut off. */
  begin(code: number): void;
}

/** Services of the process that are needed. */
export type Signalled = Pick<NodeJS.Process, "on" | "removeAllListeners" | "kill" | "exit" | "pid">;

/**
 * `npm` and others pass a Ctrl-C on to a process that has had it from the terminal: within this time it is the same
 * one.
 */
const SAME_KEY_MS = 500;

/**
 * SIGTERM and SIGINT drain and end the process, a later SIGINT ends it at once, SIGHUP reads files again.
 *
 * At once means by the signal's own effect: `exit` would cut off threads in native code, which then panic.
 */
export function obeySignals(log: Logger, served: Served, subject: Signalled = process): Ending {
  let since: number | null = null;
  const begin = (code: number): void => {
    if (since !== null) return;
    since = performance.now();
    log.info(served.underWay(), "shutting down; a second SIGINT does not wait for what is under way");
    served.drain().then(
      (complete) => {
        if (complete !== null) subject.exit(complete ? code : 1);
      },
      (error: unknown) => {
        log.fatal({ err: error }, "the process could not be shut down");
        subject.exit(1);
      },
    );
  };
  subject.on("SIGTERM", () => begin(0));
  subject.on("SIGINT", () => {
    if (since !== null && performance.now() - since > SAME_KEY_MS) {
      subject.removeAllListeners("SIGINT");
      subject.kill(subject.pid, "SIGINT");
    }
    begin(0);
  });
  subject.on("SIGHUP", () => {
    served.reload().catch((error: unknown) => log.error({ err: error }, "files could not be read again"));
  });
  return {
    get begun() {
      return since !== null;
    },
    begin,
  };
}
