/** Starts of a rule around an instant. */
import type { RRuleTemporal } from "rrule-temporal";
import { occurrencesBetween } from "./rule.js";
import { epochSeconds } from "./zone.js";

const DAY = 86_400;

/** First windows of a scan in seconds, by frequency; the library makes at most 10 000 starts, and they hold fewer. */
const WINDOWS: ReadonlyMap<string, number> = new Map([
  ["SECONDLY", DAY / 48],
  ["MINUTELY", DAY],
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
    const within = rule
      .all()
      .map(epochSeconds)
      .filter((start) => start >= span.from && start <= span.to);
    const ahead = within.filter((start) => start >= span.middle);
    return [...within.slice(0, within.length - ahead.length).slice(-limit), ...ahead.slice(0, limit)];
  }
  const middle = Math.min(Math.max(span.middle, span.from), span.to + 1);
  const ahead = scan(rule, middle, span.to, limit, false).slice(0, limit);
  const behind = scan(rule, span.from, middle - 1, limit, true).slice(0, limit);
  return [...behind.reverse(), ...ahead];
}

/**
 * Starts from `from` to `to`, with `backwards` the last first. The length of the windows follows what they hold: a rule
 * of seconds that matches once a year needs some tens of them.
 */
function scan(rule: RRuleTemporal, from: number, to: number, limit: number, backwards: boolean): number[] {
  const shortest = WINDOWS.get(rule.options().freq) ?? WINDOW;
  const found: number[] = [];
  let length = shortest;
  for (let [low, high] = [from, to]; low <= high && found.length < limit; ) {
    const first = backwards ? Math.max(high - length + 1, low) : low;
    const last = backwards ? high : Math.min(low + length - 1, high);
    try {
      const starts = occurrencesBetween(rule, first, last);
      found.push(...(backwards ? starts.reverse() : starts));
      length = Math.max(shortest, Math.floor(length * Math.min(GROWTH, AIM / Math.max(1, starts.length))));
      if (backwards) high = first - 1;
      else low = last + 1;
    } catch (error) {
      // The window has too many starts.
      if (length === shortest) throw error;
      length = Math.max(shortest, Math.floor(length / SHRINK));
    }
  }
  return found;
}
