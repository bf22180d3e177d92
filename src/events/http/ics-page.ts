/** Renders the events that a query selects as one iCalendar file. */
import type { EventInstance, StoredEvent } from "../model/entities.js";
import type { EventQuery } from "../model/event-query.js";
import { type CalendarFile, renderCalendar } from "../render/calendar-file.js";
import { instanceId, instanceUrls } from "../render/shown-time.js";
import { type CalendarContext, instanceComponent, seriesComponents } from "../render/vevent.js";
import type { JCal } from "../render/vtimezone.js";
import type { StoreView } from "../store/store.js";

import { pageAddress } from "./collection.js";
import type { QueryString } from "./query-string.js";
import { EVENT_PARAMETERS, readEventQuery } from "./read-query.js";
import { type Representation, represent } from "./representation.js";
import { knownSources, type Resources } from "./resources.js";

const MOST_COMPONENTS = 1000;

/** Parameters of the filters; a calendar has no pages. */
const FILTERS = EVENT_PARAMETERS.filter((name) => name !== "page" && name !== "per_page");

/** A calendar that a request asks for, and the key of its representation. */
export interface WantedCalendar {
  readonly query: EventQuery;
  readonly key: string;
}

/** @throws EventsError 400 with every fault of the parameters */
export function readCalendarAsk(
  resources: Resources,
  view: StoreView,
  parameters: QueryString,
  strict: boolean,
): WantedCalendar {
  const sources = knownSources(view, resources.settings);
  const query = readEventQuery(parameters, { strict, paged: false, pathTerm: null, ...sources });
  parameters.check();
  const key = pageAddress(`${resources.render.prefix}/events.ics`, FILTERS, parameters, query.perPage)(1);
  return { query, key };
}

/** Reads at once and writes in slices. */
export async function makeCalendar(
  resources: Resources,
  now: number,
  parameters: QueryString,
  strict: boolean,
): Promise<Representation> {
  const file = resources.store.view(now, (view) =>
    calendarOf(resources, view, readCalendarAsk(resources, view, parameters, strict).query),
  );
  return represent(await renderCalendar(file));
}

function calendarOf(resources: Resources, view: StoreView, query: EventQuery): CalendarFile {
  const shown = view.page({ ...query, page: 1, perPage: MOST_COMPONENTS });
  const events = view.events([...new Set(shown.map(({ eventId }) => eventId))]);
  const context = contextOf(resources, view);
  const first = Math.min(view.now, ...shown.map(({ start }) => start));
  const urls = query.single ? urlsOf(shown, events, view) : null;
  const components = componentsOf(shown, new Map(events.map((event) => [event.id, event])), urls, context);
  return { name: `Events of ${context.host}`, components, events, first, now: view.now };
}

/** Addresses of the instances shown, by their ids; their form depends on all instances of their events. */
function urlsOf(
  shown: readonly EventInstance[],
  events: readonly StoredEvent[],
  view: StoreView,
): ReadonlyMap<string, string> {
  const wanted = new Set(shown.map(instanceId));
  const urls = new Map<string, string>();
  for (const event of events) {
    const all = view.instances(event.id);
    for (const [position, url] of instanceUrls(event.url, all).entries()) {
      const id = instanceId(all[position] as EventInstance);
      if (wanted.has(id)) urls.set(id, url);
    }
  }
  return urls;
}

/**
 * At most `MOST_COMPONENTS`, made one by one.
 *
 * @param urls addresses of the instances, or null: series with their rules
 */
function* componentsOf(
  shown: readonly EventInstance[],
  events: ReadonlyMap<number, StoredEvent>,
  urls: ReadonlyMap<string, string> | null,
  context: CalendarContext,
): Generator<JCal> {
  let count = 0;
  for (const instance of shown) {
    const event = events.get(instance.eventId);
    if (event === undefined) continue;
    const url = urls?.get(instanceId(instance)) ?? event.url;
    const made = urls ? [instanceComponent(event, instance, url, context)] : seriesComponents(event, context);
    for (const component of made) {
      if (count++ === MOST_COMPONENTS) return;
      yield component;
    }
  }
}

/** Data that components need besides their events. */
export function contextOf({ settings }: Resources, view: StoreView): CalendarContext {
  const site = settings.site ?? view.snapshot.site ?? settings.fallbackSite;
  return { snapshot: view.snapshot, host: new URL(site).hostname };
}
