/** Events as objects of the interface. */
import {
  audienceNames,
  type EventInstance,
  type StoredEvent,
  type Terms,
  type VocabularyName,
} from "../model/entities.js";
import { instanceNames } from "../time/zone.js";
import { instanceId, instanceUrls, type ShownTime, shownTime } from "./shown-time.js";
import { type RenderSettings, renderTerm, renderWholeTerm } from "./term.js";

/** Order of embedded vocabularies and thumbnail. */
const EMBEDDED: readonly (VocabularyName | "image_thumbnail")[] = [
  "divisions",
  "event_categories",
  "image_thumbnail",
  "locations",
  "tags",
];

/** An event without its times, made once for a page. */
export interface EventParts {
  readonly event: StoredEvent;
  readonly embedded: object;
  readonly links: object;
  /** From `type` to `publish_date`. */
  readonly body: object;
  /** Names of the instances that have their own, by original start. */
  readonly names: ReadonlyMap<number, string>;
}

export function eventParts(event: StoredEvent, terms: Terms, settings: RenderSettings): EventParts {
  const { id, name, slug, excerpt, url, shortUrl: short_url, audience, publishDate: publish_date } = event;
  return {
    event,
    embedded: Object.fromEntries(EMBEDDED.map((member) => [member, embeddedValue(event, member, terms, settings)])),
    links: { self: { href: `${settings.prefix}/events/${id}` } },
    body: { type: "event", name, slug, excerpt, url, short_url, open_to: audienceNames(audience), publish_date },
    names: instanceNames(event),
  };
}

function embeddedValue(
  event: StoredEvent,
  name: VocabularyName | "image_thumbnail",
  terms: Terms,
  settings: RenderSettings,
): readonly object[] | null {
  if (name === "image_thumbnail") {
    if (event.image === null) return null;
    const { id, ...rest } = event.image;
    return [{ id, type: "file", ...rest }];
  }
  const own = event.terms[name].flatMap((id) => terms.get(id) ?? []);
  // Categories have a hash of embedded resources wherever they are; other terms only outside events.
  const render = name === "event_categories" ? renderWholeTerm : renderTerm;
  return own.length === 0 ? null : own.map((term) => render(term, terms, settings));
}

/** An event that represents one of its instances, as in a collection with `single_events=true`. */
export function renderSingle({ event, embedded, links, body, names }: EventParts, instance: EventInstance): object {
  const name = names.get(instance.original) ?? event.name;
  const identity = { _embedded: embedded, _links: links, id: event.id, instance_id: instanceId(instance) };
  return { ...identity, ...body, name, ...times(instance), ...event.extras };
}

/** @param shown the instance of the event's own times */
export function renderWhole(
  { event, embedded, links, body, names }: EventParts,
  shown: EventInstance,
  instances: readonly EventInstance[],
): object {
  const urls = instanceUrls(event.url, instances);
  const event_instances = instances.map((instance, position) => ({
    id: instanceId(instance),
    name: names.get(instance.original),
    type: "event_instance",
    url: urls[position],
    start: shownTime(instance, "start"),
    end: shownTime(instance, "end"),
  }));
  const identity = { _embedded: { ...embedded, event_instances }, _links: links, id: event.id };
  return { ...identity, ...body, ...times(shown), ...event.extras };
}

/** `start` and `end` with their deprecated forms. */
function times(instance: EventInstance): object {
  const [start, end] = [shownTime(instance, "start"), shownTime(instance, "end")];
  const first = { start_date: dateOf(start), start_time: minuteOf(start) };
  return { start, end, ...first, end_date: dateOf(end), end_time: minuteOf(end) };
}

function dateOf(time: ShownTime): string {
  return time.date ?? time.dateTime?.slice(0, 10) ?? "";
}

function minuteOf(time: ShownTime): string | null {
  return time.dateTime?.slice(11, 16) ?? null;
}
