/** Event as a schema.org `Event`, its instances as sub-events. */
import type { EventInstance, StoredEvent, TaxonomyTerm, Terms } from "../model/entities.js";
import { instanceNames } from "../time/zone.js";
import { instanceUrls, shownTime } from "./shown-time.js";

export function jsonLd(
  event: StoredEvent,
  instances: readonly EventInstance[],
  shown: EventInstance,
  terms: Terms,
): object {
  const named = (ids: readonly number[]) => ids.flatMap((id) => terms.get(id)?.name ?? []);
  const places = event.terms.locations.flatMap((id) => terms.get(id) ?? []).map(placeOf);
  const keywords = [...named(event.terms.event_categories), ...named(event.terms.tags)];
  const names = instanceNames(event);
  const urls = instanceUrls(event.url, instances);
  const subEvents = instances.map((instance, position) => ({
    "@type": "Event",
    name: names.get(instance.original) ?? event.name,
    url: urls[position],
    ...times(instance),
  }));
  return {
    "@context": "https://schema.org",
    "@type": "Event",
    "@id": event.url,
    name: event.name,
    url: event.url,
    description: event.extras.description ?? event.excerpt,
    eventStatus: "https://schema.org/EventScheduled",
    ...times(shown),
    ...(places.length > 0 ? { location: places.length === 1 ? places[0] : places } : {}),
    ...(event.image ? { image: Object.values(event.image.sizes) } : {}),
    ...(keywords.length > 0 ? { keywords } : {}),
    ...(instances.length > 1 ? { subEvent: subEvents } : {}),
  };
}

function times(instance: EventInstance): object {
  const start = shownTime(instance, "start");
  const end = shownTime(instance, "end");
  return { startDate: start.date ?? start.dateTime, endDate: end.date ?? end.dateTime };
}

function placeOf({ name, url, address }: TaxonomyTerm): object {
  const postal = {
    ...(address?.address ? { streetAddress: address.address } : {}),
    ...(address?.city ? { addressLocality: address.city } : {}),
    ...(address?.state ? { addressRegion: address.state } : {}),
    ...(address?.zipcode ? { postalCode: address.zipcode } : {}),
  };
  const located = address?.latitude != null && address.longitude != null;
  return {
    "@type": "Place",
    name,
    url,
    ...(Object.keys(postal).length > 0 ? { address: { "@type": "PostalAddress", ...postal } } : {}),
    ...(located
      ? { geo: { "@type": "GeoCoordinates", latitude: address.latitude, longitude: address.longitude } }
      : {}),
  };
}
