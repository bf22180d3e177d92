/** Expansion: one event to the instances that are kept of it. */
import type { RRuleTemporal } from "rrule-temporal";
import { type EventInstance, type EventRecord, type Override, overAt } from "../model/entities.js";
import { type Horizon, MOST_INSTANCES } from "./horizon.js";
import { occurrences } from "./occurrences.js";
import { openRule } from "./rule.js";
import {
  addDays,
  daysBetween,
  dayToUtc,
  epochSeconds,
  momentAt,
  momentOf,
  offsetAt,
  startOfDay,
  utcToDay,
} from "./zone.js";

/** Seconds by which days on the wall may differ from 24 hours each, and midnights of a zone from those of UTC. */
const NOMINAL_UNCERTAINTY = 2 * 3600;
const DAY_UNCERTAINTY = 26 * 3600;

/**
 * The instances of an event inside the horizon, ascending by start: recurrence set (start, rule and extra dates, less
 * the excluded ones) with moved instances moved and cancelled ones gone. Of more than `MOST_INSTANCES`, the next
 * upcoming are kept first, then the latest past. An event whose series lies outside the horizon keeps the instance
 * nearest to it, as a one-time event keeps its only one. Empty only if every instance is excluded or cancelled.
 *
 * @param siteZone the zone whose midnights bound all-day instances and whose offsets are noted
 * @throws Error when the rule cannot be expanded within the library's bound of work
 */
export function expand(event: EventRecord, siteZone: string, horizon: Horizon): EventInstance[] {
  const original = (text: string) => (event.allDay ? dayToUtc(text) : epochSeconds(momentOf(text, event.zone)));
  const overrides = new Map(event.overrides.map((override) => [original(override.original), override]));
  const excluded = new Set(event.exdate.map(original));
  const rule = event.rrule === null ? null : openRule(event.rrule, event.start, event.zone, event.allDay);
  const explicit = [original(event.start), ...event.rdate.map(original)];
  const moved = [...overrides.keys()].filter(
    (start) => explicit.includes(start) || (rule !== null && matches(rule, start)),
  );
  const build = (starts: Iterable<number>) =>
    [...new Set(starts)]
      .filter((start) => !excluded.has(start) && !overrides.get(start)?.cancelled)
      .map((start) => instanceOf(event, start, overrides.get(start), siteZone))
      .sort((a, b) => a.start - b.start || a.original - b.original);
  const slack = excluded.size + overrides.size + 1;
  const uncertainty = event.allDay ? DAY_UNCERTAINTY : event.days > 0 ? NOMINAL_UNCERTAINTY : 0;
  const span = {
    from: startOfDay(horizon.first, siteZone) - 86_400,
    to: startOfDay(horizon.last, siteZone) + 2 * 86_400,
    middle: horizon.now - Math.max(event.days * 86_400 + event.seconds, 1) + 1 - uncertainty,
  };
  const generated = rule === null ? [] : occurrences(rule, span, MOST_INSTANCES + slack + uncertainty);
  const all = build([...explicit, ...generated, ...moved]);
  const inside = all.filter((instance) => isInside(instance, horizon));
  if (inside.length > 0) return keepMost(inside, horizon.now);
  const near = build([...explicit, ...moved, ...(rule === null ? [] : neighbours(rule, span, slack))]);
  return nearest(near, startOfDay(horizon.first, siteZone));
}

/** Originals of overrides that name no instance of the series. */
export function strayOverrides(event: EventRecord): string[] {
  if (event.overrides.length === 0) return [];
  const original = (text: string) => (event.allDay ? dayToUtc(text) : epochSeconds(momentOf(text, event.zone)));
  const rule = event.rrule === null ? null : openRule(event.rrule, event.start, event.zone, event.allDay);
  const explicit = [event.start, ...event.rdate].map(original);
  const known = (start: number) => explicit.includes(start) || (rule !== null && matches(rule, start));
  return event.overrides.map((override) => override.original).filter((text) => !known(original(text)));
}

function matches(rule: RRuleTemporal, start: number): boolean {
  return rule.matches(momentAt(start, "UTC"));
}

function instanceOf(
  event: EventRecord,
  original: number,
  override: Override | undefined,
  siteZone: string,
): EventInstance {
  const bounds = event.allDay
    ? allDayBounds(event, original, override, siteZone)
    : timedBounds(event, original, override);
  return {
    eventId: event.id,
    original,
    ...bounds,
    allDay: event.allDay,
    startOffset: offsetAt(bounds.start, siteZone),
    endOffset: offsetAt(bounds.end, siteZone),
  };
}

function allDayBounds(event: EventRecord, original: number, override: Override | undefined, siteZone: string) {
  const first = override?.start ?? utcToDay(original);
  const days = override?.end ? daysBetween(first, override.end) + 1 : event.days;
  return { start: startOfDay(first, siteZone), end: startOfDay(addDays(first, days), siteZone) };
}

function timedBounds(event: EventRecord, original: number, override: Override | undefined) {
  const start = override?.start ? epochSeconds(momentOf(override.start, event.zone)) : original;
  if (override?.end) return { start, end: epochSeconds(momentOf(override.end, event.zone)) };
  if (event.days === 0) return { start, end: start + event.seconds };
  const nominal = momentAt(start, event.zone).add({ days: event.days });
  return { start, end: epochSeconds(nominal) + event.seconds };
}

function isInside(instance: EventInstance, horizon: Horizon): boolean {
  const day = utcToDay(instance.start + instance.startOffset);
  return day >= horizon.first && day <= horizon.last;
}

function keepMost(instances: EventInstance[], now: number): EventInstance[] {
  if (instances.length <= MOST_INSTANCES) return instances;
  const upcoming = instances.filter((instance) => overAt(instance.start, instance.end) > now).slice(0, MOST_INSTANCES);
  const room = MOST_INSTANCES - upcoming.length;
  const past = instances.filter((instance) => overAt(instance.start, instance.end) <= now);
  return room === 0 ? upcoming : [...past.slice(-room), ...upcoming];
}

/** Starts on either side of the span, enough of them that one is left when the excluded ones are gone. */
function neighbours(rule: RRuleTemporal, span: { from: number; to: number }, count: number): number[] {
  const found: number[] = [];
  let before = rule.previous(momentAt(span.from, "UTC"));
  for (let n = 0; n < count && before; n++) {
    found.push(epochSeconds(before));
    before = rule.previous(before);
  }
  let after = rule.next(momentAt(span.to, "UTC"));
  for (let n = 0; n < count && after; n++) {
    found.push(epochSeconds(after));
    after = rule.next(after);
  }
  return found;
}

/** The last instance before the horizon, else the first after it. */
function nearest(instances: readonly EventInstance[], horizonStart: number): EventInstance[] {
  const before = instances.filter((instance) => instance.start < horizonStart);
  const one = before.at(-1) ?? instances[0];
  return one ? [one] : [];
}
