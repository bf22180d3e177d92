/** Lists the starts of a rule around an instant: the next ones from it on and the last ones before it. */
import type { RRuleTemporal } from "rrule-temporal";
import { occurrencesBetween } from "./rule.js";

const DAY = 86_400;

/**
 * Windows of a scan by frequency, seconds: the first, which is doubled after each, and the longest, which holds fewer
 * starts than the library generates at a time (10 000).
 */
const WINDOWS: ReadonlyMap<string, readonly [number, number]> = new Map([
  ["SECONDLY", [DAY / 48, DAY / 12]],
  ["MINUTELY", [DAY, 6 * DAY]],
  ["HOURLY", [64 * DAY, 400 * DAY]],
]);
const WINDOW = [64 * DAY, 8_000 * DAY] as const;

interface ScanSpan {
  /** Epoch seconds, both included. */
  readonly from: number;
  readonly to: number;
  /** The beginning of the scan, in both directions. */
  readonly middle: number;
}

/**
 * Starts that a rule generates within a span, ascending: at most `limit` from `middle` on and `limit` before it, those
 * nearest to it. Dense rules are scanned in windows, so that the work is bounded by `limit` and not by the span.
 *
 * @throws Error of the library when a rule needs more than its bound of iterations, as one that never matches does
 */
export function occurrences(rule: RRuleTemporal, span: ScanSpan, limit: number): number[] {
  if (rule.options().count !== undefined) {
    const all = rule.all().map((moment) => Math.floor(moment.epochMilliseconds / 1000));
    const within = all.filter((start) => start >= span.from && start <= span.to);
    const ahead = within.filter((start) => start >= span.middle);
    return [...within.slice(0, within.length - ahead.length).slice(-limit), ...ahead.slice(0, limit)];
  }
  const [first, longest] = WINDOWS.get(rule.options().freq) ?? WINDOW;
  const ahead: number[] = [];
  const middle = Math.min(Math.max(span.middle, span.from), span.to + 1);
  for (
    let from = middle, window = first;
    from <= span.to && ahead.length < limit;
    window = Math.min(2 * window, longest)
  ) {
    const to = Math.min(from + window - 1, span.to);
    ahead.push(...occurrencesBetween(rule, from, to));
    from = to + 1;
  }
  let behind: number[] = [];
  for (
    let to = middle - 1, window = first;
    to >= span.from && behind.length < limit;
    window = Math.min(2 * window, longest)
  ) {
    const from = Math.max(to - window + 1, span.from);
    behind = [...occurrencesBetween(rule, from, to), ...behind];
    to = from - 1;
  }
  return [...behind.slice(-limit), ...ahead.slice(0, limit)];
}
