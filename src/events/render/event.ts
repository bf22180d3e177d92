/** Events as JSON text, from parts that are made once for a page. */
import {
  audienceNames,
  type EventInstance,
  type StoredEvent,
  type Terms,
  type VocabularyName,
} from "../model/entities.js";
import { instanceId, instanceNames, instanceUrls, type ShownTime, shownTime } from "./shown-time.js";
import { type RenderSettings, renderTerm, renderWholeTerm } from "./term.js";

/** Order of embedded vocabularies and thumbnail. */
const EMBEDDED: readonly (VocabularyName | "image_thumbnail")[] = [
  "divisions",
  "event_categories",
  "image_thumbnail",
  "locations",
  "tags",
];

export interface EventText {
  /** `{"_embedded":{...` without the closing brace of `_embedded`. */
  readonly embedded: string;
  /** From `_links` to `id`. */
  readonly identity: string;
  /** From `type` to `publish_date`. */
  readonly body: string;
  /** The same for instances with a name of their own, by original start. */
  readonly renamed: ReadonlyMap<number, { readonly body: string; readonly name: string }>;
  /** Optional members and the closing brace. */
  readonly tail: string;
  readonly url: string;
}

export function eventText(event: StoredEvent, terms: Terms, settings: RenderSettings): EventText {
  const embedded = EMBEDDED.map((name) => `${JSON.stringify(name)}:${embeddedValue(event, name, terms, settings)}`);
  const { id, name, slug, excerpt, url, shortUrl } = event;
  const bodyOf = (shown: string) =>
    members({
      type: "event",
      name: shown,
      slug,
      excerpt,
      url,
      short_url: shortUrl,
      open_to: audienceNames(event.audience),
      publish_date: event.publishDate,
    });
  const renamed = [...instanceNames(event)].map(
    ([original, own]) => [original, { body: bodyOf(own), name: JSON.stringify(own) }] as const,
  );
  return {
    embedded: `{"_embedded":{${embedded.join(",")}`,
    identity: `"_links":${JSON.stringify({ self: { href: `${settings.prefix}/events/${id}` } })},"id":${id}`,
    body: bodyOf(name),
    renamed: new Map(renamed),
    tail: Object.keys(event.extras).length === 0 ? "}" : `,${members(event.extras)}}`,
    url,
  };
}

function embeddedValue(
  event: StoredEvent,
  name: VocabularyName | "image_thumbnail",
  terms: Terms,
  settings: RenderSettings,
): string {
  if (name === "image_thumbnail") {
    if (event.image === null) return "null";
    const { id, ...rest } = event.image;
    return JSON.stringify([{ id, type: "file", ...rest }]);
  }
  const own = event.terms[name].flatMap((id) => terms.get(id) ?? []);
  // Categories have a hash of embedded resources wherever they are; other terms only outside events.
  const render = name === "event_categories" ? renderWholeTerm : renderTerm;
  return own.length === 0 ? "null" : JSON.stringify(own.map((term) => render(term, terms, settings)));
}

function members(object: object): string {
  return JSON.stringify(object).slice(1, -1);
}

export function renderSingle(text: EventText, instance: EventInstance): string {
  const id = `"instance_id":"${instanceId(instance)}"`;
  const body = text.renamed.get(instance.original)?.body ?? text.body;
  return `${text.embedded}},${text.identity},${id},${body},${times(instance)}${text.tail}`;
}

/** @param shown the instance of the event's own times */
export function renderWhole(text: EventText, shown: EventInstance, instances: readonly EventInstance[]): string {
  const urls = instanceUrls(text.url, instances);
  const list = instances.map((instance, position) => {
    const own = text.renamed.get(instance.original);
    const name = own === undefined ? "" : `"name":${own.name},`;
    const id = `"id":"${instanceId(instance)}",${name}"type":"event_instance","url":${JSON.stringify(urls[position])}`;
    return `{${id},"start":${timeText(shownTime(instance, "start"))},"end":${timeText(shownTime(instance, "end"))}}`;
  });
  const embedded = `${text.embedded},"event_instances":[${list.join(",")}]}`;
  return `${embedded},${text.identity},${text.body},${times(shown)}${text.tail}`;
}

/** With deprecated forms; joined by hand because every object has them. */
function times(instance: EventInstance): string {
  const start = shownTime(instance, "start");
  const end = shownTime(instance, "end");
  const first = `"start_date":"${dateOf(start)}","start_time":${minuteOf(start)}`;
  const last = `"end_date":"${dateOf(end)}","end_time":${minuteOf(end)}`;
  return `"start":${timeText(start)},"end":${timeText(end)},${first},${last}`;
}

function timeText({ date, dateTime, timestamp }: ShownTime): string {
  return date === undefined ? `{"dateTime":"${dateTime}","timestamp":${timestamp}}` : `{"date":"${date}"}`;
}

function dateOf(time: ShownTime): string {
  return time.date ?? time.dateTime?.slice(0, 10) ?? "";
}

function minuteOf(time: ShownTime): string {
  return time.dateTime === undefined ? "null" : `"${time.dateTime.slice(11, 16)}"`;
}
