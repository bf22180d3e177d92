/** Routes of iCalendar files: one event with its rule, or the events of a query. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { EventInstance } from "../model/entities.js";
import { type CalendarFile, calendarParts } from "../render/calendar-file.js";
import { instanceId, instanceUrls } from "../render/shown-time.js";
import { type CalendarContext, instanceComponent, seriesComponents } from "../render/vevent.js";
import type { JCal } from "../render/vtimezone.js";
import type { EventIndex } from "../store/event-index.js";
import { notFound } from "./events-error.js";
import { openRequest, pathId } from "./open-request.js";
import { EVENT_PARAMETERS, readEventQuery } from "./read-query.js";
import { knownSources, type Resources } from "./resources.js";
import { sendAnswer } from "./send.js";

const TYPE = "text/calendar";
const MAX_COMPONENTS = 1000;

/** Answers `/events.ics`. */
export function calendarHandler(resources: Resources) {
  const { clock, settings } = resources;
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const { parameters, strict } = openRequest(request, settings, EVENT_PARAMETERS);
    request.eventsCallback = null;
    const index = resources.index();
    const sources = knownSources(index, settings);
    const query = readEventQuery(parameters, { strict, paged: false, pathTerm: null, ...sources });
    parameters.check();
    const now = clock();
    const { shown } = index.select({ ...query, page: 1, perPage: MAX_COMPONENTS }, now);
    const parts = calendarParts(calendarOf(resources, index, shown, query.single, now));
    return sendAnswer(request, reply, resources, { type: TYPE, parts, isLong: true });
  };
}

/** Answers `/events/{id}.ics`. */
export function eventCalendarHandler(resources: Resources) {
  const { clock, settings } = resources;
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const { parameters } = openRequest(request, settings, EVENT_PARAMETERS);
    request.eventsCallback = null;
    parameters.check();
    const index = resources.index();
    const now = clock();
    const event = index.event(pathId(request), now);
    if (!event) throw notFound();
    const components = seriesComponents(event, contextOf(resources, index));
    const parts = calendarParts({ name: event.name, components, events: [event], first: now, now });
    return sendAnswer(request, reply, resources, { type: TYPE, parts });
  };
}

function calendarOf(
  resources: Resources,
  index: EventIndex,
  shown: readonly EventInstance[],
  single: boolean,
  now: number,
): CalendarFile {
  const events = [...new Set(shown.map(({ eventId }) => eventId))].sort((a, b) => a - b).map((id) => index.eventOf(id));
  const context = contextOf(resources, index);
  const first = shown.reduce((earliest, { start }) => Math.min(earliest, start), now);
  const byId = new Map(events.map((event) => [event.id, event]));
  const urls = new Map<number, ReadonlyMap<string, string>>();
  /** Addresses of an event's instances by id; their form depends on all instances. */
  const urlsOf = (id: number): ReadonlyMap<string, string> => {
    const all = index.instances(id);
    const made = instanceUrls(byId.get(id)?.url ?? "", all);
    return new Map(all.map((instance, at) => [instanceId(instance), made[at] as string]));
  };
  function* components(): Generator<JCal> {
    let count = 0;
    for (const instance of shown) {
      const event = byId.get(instance.eventId);
      if (event === undefined) continue;
      if (!urls.has(event.id) && single) urls.set(event.id, urlsOf(event.id));
      const url = urls.get(event.id)?.get(instanceId(instance)) ?? event.url;
      for (const component of single
        ? [instanceComponent(event, instance, url, context)]
        : seriesComponents(event, context)) {
        if (count++ === MAX_COMPONENTS) return;
        yield component;
      }
    }
  }
  return { name: `Events of ${context.host}`, components: components(), events, first, now };
}

function contextOf({ settings }: Resources, { calendar, terms }: EventIndex): CalendarContext {
  return { terms, host: new URL(settings.site ?? calendar.site ?? settings.fallbackSite).hostname };
}
