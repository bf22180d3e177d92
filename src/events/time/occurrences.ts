/** Starts of a rule around an instant. */
import type { RRuleTemporal } from "rrule-temporal";
import { occurrencesBetween } from "./rule.js";

const DAY = 86_400;

/**
 * First windows of a scan in seconds, by frequency; the library generates at most 10 000 starts, and they hold fewer.
 */
const WINDOWS: ReadonlyMap<string, number> = new Map([
  ["SECONDLY", DAY / 48],
  ["MINUTELY", DAY],
  ["HOURLY", 64 * DAY],
]);
const WINDOW = 64 * DAY;
/** Starts that a window is meant to hold, and its most growth. */
const AIM = 2_500;
const GROWTH = 4;
const SHRINK = 16;

interface ScanSpan {
  /** Epoch seconds, both included. */
  readonly from: number;
  readonly to: number;
  readonly middle: number;
}

/**
 * Starts of a rule within a span: at most `limit` from `middle` on and `limit` before it, the nearest. Rules are
 * scanned in windows, so that `limit` bounds the work. @throws Error of the library when a rule needs more than its
 * bound of iterations
 */
export function occurrences(rule: RRuleTemporal, span: ScanSpan, limit: number): number[] {
  if (rule.options().count !== undefined) {
    const all = rule.all().map((moment) => Math.floor(moment.epochMilliseconds / 1000));
    const within = all.filter((start) => start >= span.from && start <= span.to);
    const ahead = within.filter((start) => start >= span.middle);
    return [...within.slice(0, within.length - ahead.length).slice(-limit), ...ahead.slice(0, limit)];
  }
  const middle = Math.min(Math.max(span.middle, span.from), span.to + 1);
  const ahead: number[] = [];
  for (let from = middle, windows = windowsOf(rule); from <= span.to && ahead.length < limit; ) {
    const to = Math.min(from + windows.length - 1, span.to);
    if (!windows.read(from, to, (found) => ahead.push(...found))) continue;
    from = to + 1;
  }
  let behind: number[] = [];
  for (let to = middle - 1, windows = windowsOf(rule); to >= span.from && behind.length < limit; ) {
    const from = Math.max(to - windows.length + 1, span.from);
    if (!windows.read(from, to, (found) => (behind = [...found, ...behind]))) continue;
    to = from - 1;
  }
  return [...behind.slice(-limit), ...ahead.slice(0, limit)];
}

/** Windows whose length follows what they hold: a rule of seconds that matches once a year needs some tens of them. */
function windowsOf(rule: RRuleTemporal) {
  const first = WINDOWS.get(rule.options().freq) ?? WINDOW;
  const windows = {
    length: first,
    /** False if a window has too many starts, and is to be shorter. */
    read(from: number, to: number, take: (found: readonly number[]) => void): boolean {
      try {
        const found = occurrencesBetween(rule, from, to);
        take(found);
        const room = AIM / Math.max(1, found.length);
        windows.length = Math.max(first, Math.floor(windows.length * Math.min(GROWTH, room)));
        return true;
      } catch (error) {
        if (windows.length === first) throw error;
        windows.length = Math.max(first, Math.floor(windows.length / SHRINK));
        return false;
      }
    },
  };
  return windows;
}
