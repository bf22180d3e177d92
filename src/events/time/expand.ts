/** Expands an event into the instances that are kept. */
import type { RRuleTemporal } from "rrule-temporal";
import { Temporal } from "temporal-polyfill";
import { type EventInstance, type Override, overAt, type StoredEvent } from "../model/entities.js";
import { occurrences } from "./occurrences.js";
import { openRule } from "./rule.js";
import {
  addDays,
  daysBetween,
  epochSeconds,
  momentAt,
  momentOf,
  offsetAt,
  startOf,
  startOfDay,
  utcToDay,
} from "./zone.js";

/** Seconds by which the end of an instance of whole days by the wall clock may differ from 24 hours a day. */
const NOMINAL_UNCERTAINTY = 2 * 3600;
/** All-day starts are compared as midnights in UTC and shown as midnights in the site zone. */
const DAY_UNCERTAINTY = 26 * 3600;

export const MAX_INSTANCES = 2000;

/** Days whose instances are kept. */
export interface Horizon {
  /** First and last day, both included, in the site zone. */
  readonly first: string;
  readonly last: string;
  /** Divides a long series into upcoming and past, epoch seconds. */
  readonly now: number;
}

const BACK = Temporal.Duration.from({ years: 2 });
const AHEAD = Temporal.Duration.from({ months: 18 });

export function horizonAt(now: number, zone: string): Horizon {
  const today = momentAt(now, zone).toPlainDate();
  return { first: today.subtract(BACK).toString(), last: today.add(AHEAD).toString(), now };
}

/** Recurrence set before dates are excluded and instances moved. */
interface RecurrenceSet {
  readonly rule: RRuleTemporal | null;
  readonly explicit: readonly number[];
  has(start: number): boolean;
}

function seriesOf(event: StoredEvent): RecurrenceSet {
  const rule = event.rrule === null ? null : openRule(event.rrule, event.start, event.zone, event.allDay);
  const explicit = [event.start, ...event.rdate].map((text) => startOf(text, event));
  const has = (start: number) => explicit.includes(start) || (rule?.matches(momentAt(start, "UTC")) ?? false);
  return { rule, explicit, has };
}

/**
 * Instances of an event inside the horizon, by start: first start, rule and extra dates, less excluded dates and
 * cancelled instances. Of more than `MAX_INSTANCES`, the next upcoming ones are kept first, then the latest past ones.
 * A series outside the horizon keeps the last instance before it, else the first after it. Empty only if all are
 * excluded or cancelled. @param siteZone its midnights bound all-day instances @throws Error when the rule needs more
 * work than the library allows
 */
export function expand(event: StoredEvent, siteZone: string, horizon: Horizon): EventInstance[] {
  const { rule, explicit, has } = seriesOf(event);
  const overrides = new Map(event.overrides.map((override) => [startOf(override.original, event), override]));
  const excluded = new Set(event.exdate.map((text) => startOf(text, event)));
  // Overrides may move instances into the horizon from starts outside the scan.
  const moved = [...overrides.keys()].filter(has);
  const build = (starts: readonly number[]) =>
    [...new Set(starts)]
      .filter((start) => !excluded.has(start) && !overrides.get(start)?.cancelled)
      .map((start) => instanceOf(event, start, overrides.get(start), siteZone))
      .sort((a, b) => a.start - b.start || a.original - b.original);
  // Each exclusion and override removes at most one generated start.
  const slack = excluded.size + overrides.size + 1;
  const span = scanSpan(event, siteZone, horizon);
  const generated = rule === null ? [] : occurrences(rule, span, MAX_INSTANCES + slack + span.uncertainty);
  const all = build([...explicit, ...generated, ...moved]);
  const inside = all.filter((instance) => isInside(instance, horizon));
  if (inside.length > 0) return keepMost(inside, horizon.now);
  const near = build([...explicit, ...moved, ...(rule === null ? [] : neighbours(rule, span, slack))]);
  return keptOutside(near, startOfDay(horizon.first, siteZone));
}

/**
 * Starts to scan: the horizon with a margin for zones; in its middle the earliest start whose instance may not be over,
 * uncertain by some seconds. A rule has at most one start in each second, so the scan takes as many more.
 */
function scanSpan(event: StoredEvent, siteZone: string, horizon: Horizon) {
  const uncertainty = event.allDay ? DAY_UNCERTAINTY : event.days > 0 ? NOMINAL_UNCERTAINTY : 0;
  const length = Math.max(event.days * 86_400 + event.seconds, 1);
  return {
    from: startOfDay(horizon.first, siteZone) - 86_400,
    to: startOfDay(horizon.last, siteZone) + 2 * 86_400,
    middle: horizon.now - length + 1 - uncertainty,
    uncertainty,
  };
}

export function strayOverrides(event: StoredEvent): string[] {
  if (event.overrides.length === 0) return [];
  const { has } = seriesOf(event);
  return event.overrides.map((override) => override.original).filter((text) => !has(startOf(text, event)));
}

function instanceOf(
  event: StoredEvent,
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

function allDayBounds(event: StoredEvent, original: number, override: Override | undefined, siteZone: string) {
  const first = override?.start ?? utcToDay(original);
  const days = override?.end ? daysBetween(first, override.end) + 1 : event.days;
  return { start: startOfDay(first, siteZone), end: startOfDay(addDays(first, days), siteZone) };
}

function timedBounds(event: StoredEvent, original: number, override: Override | undefined) {
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
  if (instances.length <= MAX_INSTANCES) return instances;
  const upcoming = instances.filter((instance) => overAt(instance.start, instance.end) > now).slice(0, MAX_INSTANCES);
  const room = MAX_INSTANCES - upcoming.length;
  const past = instances.filter((instance) => overAt(instance.start, instance.end) <= now);
  return room === 0 ? upcoming : [...past.slice(-room), ...upcoming];
}

/** Enough starts on either side that one is left after the exclusions. */
function neighbours(rule: RRuleTemporal, span: { from: number; to: number }, count: number): number[] {
  const found: number[] = [];
  for (const [step, edge] of [
    ["previous", span.from],
    ["next", span.to],
  ] as const) {
    let start = rule[step](momentAt(edge, "UTC"));
    for (let n = 0; n < count && start; n++) {
      found.push(epochSeconds(start));
      start = rule[step](start);
    }
  }
  return found;
}

function keptOutside(instances: readonly EventInstance[], horizonStart: number): EventInstance[] {
  const before = instances.filter((instance) => instance.start < horizonStart);
  return [before.at(-1) ?? instances[0]].filter((one) => one !== undefined);
}
