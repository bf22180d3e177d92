/** Calendar of an iCalendar file: one event per UID, its moved and cancelled instances as overrides. */
import type ICAL from "ical.js";
import type { Calendar, ImportProblem, NewEvent } from "../model/calendar.js";
import { EVERYONE, type Override } from "../model/entities.js";
import { slugOf } from "../model/name-keys.js";
import { normaliseRule } from "../time/rule.js";
import { epochSeconds, momentOf } from "../time/zone.js";
import { type Component, icsComponents } from "./ics-components.js";
import { type IcsTime, lastDay, lengthFrom, lengthTo, textFor, timesOf } from "./ics-times.js";

const EXCERPT = 200;

interface Occurrence {
  readonly component: Component;
  readonly uid: string;
  readonly start: IcsTime;
  readonly length: { readonly days: number; readonly seconds: number; readonly given: boolean };
  /** The instance that this component replaces; null: the component is the event itself. */
  readonly recurrence: IcsTime | null;
  readonly cancelled: boolean;
}

/** @param zone of the site, for times without one */
export function readIcs(text: string, zone: string): { calendar: Calendar; problems: ImportProblem[] } {
  const problems: ImportProblem[] = [];
  const calendar = new IcsReader(zone, problems).read(icsComponents(text, problems));
  return { calendar, problems };
}

function value(parsed: ICAL.Component, name: string): string {
  return String(parsed.getFirstPropertyValue(name) ?? "").trim();
}

class IcsReader {
  readonly #zone: string;
  readonly #problems: ImportProblem[];
  /** Locations of the time zones that the file describes. */
  readonly #locations = new Map<string, string>();

  constructor(zone: string, problems: ImportProblem[]) {
    this.#zone = zone;
    this.#problems = problems;
  }

  read(components: readonly Component[]): Calendar {
    for (const component of components.filter(({ name }) => name === "vtimezone")) {
      const read = (name: string) => this.#whole(component, () => [value(component.parsed, name)]);
      for (const zoneId of read("tzid")) this.#locations.set(zoneId, read("x-lic-location")[0] ?? "");
    }
    const occurrences = components
      .filter(({ name }) => name === "vevent")
      .flatMap((component) => this.#whole(component, () => this.#occurrence(component)));
    const masters = occurrences.filter(({ recurrence }) => recurrence === null);
    const replaced = occurrences.filter(({ recurrence }) => recurrence !== null);
    const known = new Set(masters.map(({ uid }) => uid));
    const orphans = replaced.filter(({ uid, cancelled }) => !known.has(uid) && !cancelled);
    const events = [...masters.filter(({ cancelled }) => !cancelled), ...orphans].flatMap((main) => {
      const others = main.recurrence === null ? replaced.filter(({ uid }) => uid === main.uid) : [];
      return this.#whole(main.component, () => this.#event(main, others));
    });
    const removed = new Set(masters.filter(({ cancelled }) => cancelled).map(({ uid }) => uid));
    return { head: {}, terms: [], events, removed: [...removed] };
  }

  #report(component: Component, reason: string, property?: string, nth = 0): void {
    const line = property === undefined ? component.line : component.lineOf(property, nth);
    this.#problems.push({ place: `line ${line}`, reason });
  }

  /** Runs `read`; what it throws becomes a problem at the line of the property. */
  #attempt<T>(component: Component, property: string, read: () => T, nth = 0): T | undefined {
    try {
      return read();
    } catch (error) {
      this.#report(component, `${property.toUpperCase()} ${(error as Error).message}`, property, nth);
      return undefined;
    }
  }

  /** Runs `read`; what the library throws becomes a problem of the component. */
  #whole<T>(component: Component, read: () => readonly T[]): readonly T[] {
    try {
      return read();
    } catch (error) {
      this.#report(component, (error as Error).message);
      return [];
    }
  }

  /** None if there is a problem. */
  #occurrence(component: Component): Occurrence[] {
    const { parsed } = component;
    const before = this.#problems.length;
    const time = (name: string): IcsTime | null => {
      const property = parsed.getFirstProperty(name);
      if (!property) return null;
      return this.#attempt(component, name, () => timesOf(property, this.#zone, this.#locations)[0]) ?? null;
    };
    const uid = value(parsed, "uid");
    if (uid === "") this.#report(component, "UID is missing");
    const start = time("dtstart");
    const end = time("dtend");
    const recurrence = time("recurrence-id");
    if (start === null) {
      if (this.#problems.length === before) this.#report(component, "DTSTART is missing");
      return [];
    }
    const duration = this.#attempt(component, "duration", () => value(parsed, "duration")) ?? "";
    const given = end !== null ? "dtend" : duration !== "" ? "duration" : null;
    const read = () => (end === null ? lengthFrom(duration, start.allDay) : lengthTo(start, end));
    const shortest = { days: start.allDay ? 1 : 0, seconds: 0 };
    const length = given === null ? shortest : this.#attempt(component, given, read);
    if (parsed.getFirstProperty("recurrence-id")?.getFirstParameter("range")) {
      this.#report(component, "RECURRENCE-ID with RANGE is not supported", "recurrence-id");
    }
    if (this.#problems.length > before || !length) return [];
    const cancelled = value(parsed, "status").toUpperCase() === "CANCELLED";
    return [{ component, uid, start, length: { ...length, given: given !== null }, recurrence, cancelled }];
  }

  /** The event of a component and its replaced instances; none if there is a problem. */
  #event(main: Occurrence, replaced: readonly Occurrence[]): NewEvent[] {
    const before = this.#problems.length;
    const { component, start, recurrence, length, uid } = main;
    const { parsed } = component;
    const series = this.#series(main, replaced);
    if (this.#problems.length > before) return [];
    const stamp = parsed.getFirstProperty("created") ?? parsed.getFirstProperty("dtstamp");
    const published = stamp && this.#attempt(component, stamp.name, () => timesOf(stamp, "UTC", this.#locations)[0]);
    return [
      {
        ...textsOf(parsed),
        ...series,
        identity: { uid: recurrence ? `${uid} ${textFor(recurrence, "UTC")}` : uid },
        place: `line ${component.line}`,
        shortUrl: null,
        audience: EVERYONE,
        publishDate: published && !published.allDay ? epochSeconds(momentOf(published.text, published.zone)) : null,
        source: null,
        allDay: start.allDay,
        start: start.text,
        days: length.days,
        seconds: length.seconds,
        image: null,
      },
    ];
  }

  #series({ component, start, recurrence }: Occurrence, replaced: readonly Occurrence[]) {
    const { parsed } = component;
    const zone = start.allDay ? this.#zone : start.zone;
    const dates = (name: string): string[] =>
      parsed.getAllProperties(name).flatMap((property, nth) => {
        const read = () => timesOf(property, this.#zone, this.#locations).map((time) => alike(time, start, zone));
        return this.#attempt(component, name, read, nth) ?? [];
      });
    const rule = value(parsed, "rrule");
    const read = () => (rule === "" || recurrence ? null : normaliseRule(rule, start.text, zone, start.allDay));
    const summary = value(parsed, "summary");
    return {
      zone,
      rrule: this.#attempt(component, "rrule", read) ?? null,
      rdate: recurrence ? [] : dates("rdate"),
      exdate: recurrence ? [] : dates("exdate"),
      overrides: replaced.flatMap((one) => {
        const override = () => overrideOf(one, start, zone, summary);
        return this.#attempt(one.component, "recurrence-id", override) ?? [];
      }),
    };
  }
}

function textsOf(parsed: ICAL.Component) {
  const name = value(parsed, "summary") || "Untitled";
  const description = value(parsed, "description");
  const url = value(parsed, "url");
  const categories = parsed.getAllProperties("categories").flatMap((property) => property.getValues().map(String));
  const named = (names: readonly string[]) =>
    names
      .map((text) => text.trim())
      .filter(Boolean)
      .map((text) => ({ name: text }));
  return {
    name,
    slug: slugOf(name),
    excerpt: [...description].slice(0, EXCERPT).join(""),
    url: /^https?:\/\/\S+$/.test(url) ? url : null,
    published: (value(parsed, "class") || "PUBLIC").toUpperCase() === "PUBLIC",
    terms: {
      event_categories: named(categories),
      locations: named([value(parsed, "location")]),
      divisions: [],
      tags: [],
      channels: [],
    },
    extras: description === "" ? {} : { description },
  };
}

/** For an event with a time, many programs write only the date of an instance. */
function alike(time: IcsTime, start: IcsTime, zone: string): string {
  if (time.allDay && !start.allDay) return `${time.text}${start.text.slice(10)}`;
  if (!time.allDay && start.allDay) return time.text.slice(0, 10);
  return textFor(time, zone);
}

function overrideOf(one: Occurrence, start: IcsTime, zone: string, summary: string): Override {
  if (!one.recurrence) throw new Error("is missing");
  const original = alike(one.recurrence, start, zone);
  if (one.cancelled) return { original, start: null, end: null, cancelled: true };
  if (one.start.allDay !== start.allDay) throw new Error("must not change an all-day event into a timed one or back");
  const own = value(one.component.parsed, "summary");
  const first = textFor(one.start, zone);
  return {
    original,
    start: first,
    end: one.length.given ? endOf(one, first, zone) : null,
    cancelled: false,
    ...(own === "" || own === summary ? {} : { name: own }),
  };
}

function endOf({ start, length }: Occurrence, first: string, zone: string): string {
  if (start.allDay) return lastDay(first, length.days);
  const end = momentOf(first, zone).add({ days: length.days }).add({ seconds: length.seconds });
  return end.toInstant().toString({ smallestUnit: "second" });
}
