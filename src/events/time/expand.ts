/** Expands an event into the instances that are kept of it. */
import type { RRuleTemporal } from "rrule-temporal";
import { type EventInstance, type Override, overAt, type StoredEvent } from "../model/entities.js";
import { type Horizon, MOST_INSTANCES } from "./horizon.js";
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

/**
 * Seconds by which the end of an instance may differ from its start plus 24 hours a day: an instance that lasts whole
 * days by the wall clock may span changes of the zone's offset.
 */
const NOMINAL_UNCERTAINTY = 2 * 3600;
/** The same for all-day instances: starts are compared as midnights of UTC and shown as those of the site zone. */
const DAY_UNCERTAINTY = 26 * 3600;

/** The recurrence set of an event before dates are excluded and instances moved. */
interface RecurrenceSet {
  readonly rule: RRuleTemporal | null;
  /** The first start and the extra dates. */
  readonly explicit: readonly number[];
  /** Whether a start is explicit or one of the rule's. */
  has(start: number): boolean;
}

function seriesOf(event: StoredEvent): RecurrenceSet {
  const rule = event.rrule === null ? null : openRule(event.rrule, event.start, event.zone, event.allDay);
  const explicit = [event.start, ...event.rdate].map((text) => startOf(text, event));
  const has = (start: number) => explicit.includes(start) || (rule?.matches(momentAt(start, "UTC")) ?? false);
  return { rule, explicit, has };
}

/**
 * The instances of an event inside the horizon, ascending by start: its recurrence set (first start, rule and extra
 * dates, less the excluded ones), with moved instances in their new places and without cancelled ones. If there are
 * more than `MOST_INSTANCES`, the next upcoming ones are kept first, then the latest past ones. An event whose series
 * is outside the horizon keeps the last instance before it, or else the first after it, as a one-time event keeps its
 * only one. Empty only if all are excluded or cancelled.
 *
 * @param siteZone the zone whose midnights bound all-day instances and whose offsets are noted
 * @throws Error when the rule cannot be expanded within the library's bound of work
 */
export function expand(event: StoredEvent, siteZone: string, horizon: Horizon): EventInstance[] {
  const { rule, explicit, has } = seriesOf(event);
  const overrides = new Map(event.overrides.map((override) => [startOf(override.original, event), override]));
  const excluded = new Set(event.exdate.map((text) => startOf(text, event)));
  // Overrides may move instances into the horizon from starts that the scan of the rule does not reach.
  const moved = [...overrides.keys()].filter(has);
  const build = (starts: readonly number[]) =>
    [...new Set(starts)]
      .filter((start) => !excluded.has(start) && !overrides.get(start)?.cancelled)
      .map((start) => instanceOf(event, start, overrides.get(start), siteZone))
      .sort((a, b) => a.start - b.start || a.original - b.original);
  // Each exclusion and override removes at most one generated start, so as many more are generated.
  const slack = excluded.size + overrides.size + 1;
  const span = scanSpan(event, siteZone, horizon);
  const generated = rule === null ? [] : occurrences(rule, span, MOST_INSTANCES + slack + span.uncertainty);
  const all = build([...explicit, ...generated, ...moved]);
  const inside = all.filter((instance) => isInside(instance, horizon));
  if (inside.length > 0) return keepMost(inside, horizon.now);
  const near = build([...explicit, ...moved, ...(rule === null ? [] : neighbours(rule, span, slack))]);
  return keptOutside(near, startOfDay(horizon.first, siteZone));
}

/**
 * The starts to scan: the horizon with a margin for zones, and in its middle the earliest start whose instance may not
 * be over now, from which the scan goes both ways. That start is uncertain by some seconds; a rule has at most one
 * start in each of them, so the scan takes that many starts more.
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

/** Originals of overrides that name no instance of the series. */
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

/** The upcoming instances that fit, then as many of the latest past ones as there is room for. */
function keepMost(instances: EventInstance[], now: number): EventInstance[] {
  if (instances.length <= MOST_INSTANCES) return instances;
  const upcoming = instances.filter((instance) => overAt(instance.start, instance.end) > now).slice(0, MOST_INSTANCES);
  const room = MOST_INSTANCES - upcoming.length;
  const past = instances.filter((instance) => overAt(instance.start, instance.end) <= now);
  return room === 0 ? upcoming : [...past.slice(-room), ...upcoming];
}

/** Starts on either side of the span, enough that one is left after the exclusions. */
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
function keptOutside(instances: readonly EventInstance[], horizonStart: number): EventInstance[] {
  const before = instances.filter((instance) => instance.start < horizonStart);
  const one = before.at(-1) ?? instances[0];
  return one ? [one] : [];
}
