/** VTIMEZONE that lists every change of offset (RFC 5545, 3.6.5). */
import { dayAt, localText, momentAt, offsetAt, offsetText } from "../time/zone.js";

/** jCal form (RFC 7265): name, properties, components. */
export type JCal = [string, unknown[][], JCal[]];

interface OffsetChange {
  readonly at: number;
  readonly from: number;
  readonly to: number;
}

/** Changes from the last one before `first` to `last`, epoch seconds. */
function changesOf(zone: string, first: number, last: number): OffsetChange[] {
  const changes: OffsetChange[] = [];
  const before = momentAt(first, zone).getTimeZoneTransition("previous");
  for (let next = before ?? momentAt(first, zone).getTimeZoneTransition("next"); next !== null; ) {
    const at = Math.floor(next.epochMilliseconds / 1000);
    if (at > last) break;
    changes.push({ at, from: offsetAt(at - 1, zone), to: offsetAt(at, zone) });
    next = next.getTimeZoneTransition("next");
  }
  return changes;
}

export function vtimezone(zone: string, first: number, last: number): JCal {
  const changes = changesOf(zone, first, last);
  const observances = changes.map(observance);
  const begins = changes[0]?.at ?? Number.POSITIVE_INFINITY;
  if (begins > first) {
    const offset = offsetAt(first, zone);
    observances.unshift(standing(offset, `${dayAt(first - 86_400, zone)}T00:00:00`));
  }
  return ["vtimezone", [["tzid", {}, "text", zone]], observances];
}

/** The offset in force before the first listed change. */
function standing(offset: number, start: string): JCal {
  const text = offsetText(offset);
  const offsets = [
    ["tzoffsetfrom", {}, "utc-offset", text],
    ["tzoffsetto", {}, "utc-offset", text],
  ];
  return ["standard", [["dtstart", {}, "date-time", start], ...offsets], []];
}

/** Not every program reads lists of dates here, so each change is one observance. */
function observance({ at, from, to }: OffsetChange): JCal {
  return [
    to > from ? "daylight" : "standard",
    [
      ["dtstart", {}, "date-time", localText(at, from)],
      ["tzoffsetfrom", {}, "utc-offset", offsetText(from)],
      ["tzoffsetto", {}, "utc-offset", offsetText(to)],
    ],
    [],
  ];
}
