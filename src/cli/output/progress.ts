/** Progress of a long command on stderr: a bar on a terminal, else a line every tenth of the way. */
import { SingleBar } from "cli-progress";

export interface ProgressBar {
  readonly update: (fraction: number) => void;
  readonly stop: () => void;
}

export const PROGRESS_HELP = `
Progress goes to stderr: a bar on a terminal, otherwise a line every tenth of the way. Stdout has only the report.`;

export function progressOf(label: string): ProgressBar {
  if (!process.stderr.isTTY) {
    let tenths = 0;
    const update = (fraction: number) => {
      if (Math.floor(fraction * 10) <= tenths) return;
      tenths = Math.floor(fraction * 10);
      process.stderr.write(`${label}: ${tenths * 10} %\n`);
    };
    return { update, stop: () => {} };
  }
  const bar = new SingleBar({ format: `${label} {bar} {percentage} % | {eta_formatted} left`, hideCursor: true });
  bar.start(100, 0);
  return { update: (fraction) => bar.update(Math.floor(fraction * 100)), stop: () => bar.stop() };
}

/** `1 file`, `2 files`. */
export function counted(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? "" : "s"}`;
}

/** Shows on a terminal how long an answer has been waited for, from the second second on. */
export function elapsed(label: string, stream: NodeJS.WriteStream = process.stderr): { readonly stop: () => void } {
  if (!stream.isTTY) return { stop: () => {} };
  const begun = Date.now();
  let shown = false;
  const timer = setInterval(() => {
    const seconds = Math.round((Date.now() - begun) / 1000);
    if (seconds < 2) return;
    stream.write(`\r${label}: ${seconds} s`);
    shown = true;
  }, 1000);
  timer.unref();
  const stop = () => {
    clearInterval(timer);
    if (shown) stream.write("\r\u001b[K");
    shown = false;
  };
  return { stop };
}
