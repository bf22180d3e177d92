/** Pages as tasks that a thread of their own can do: the same code over a store of its own. */
import type { EventsAsk } from "./event-page.js";
import { eventsPage, readAsk } from "./event-page.js";
import { makeCalendar } from "./ics-page.js";
import type { Page } from "./page-cache.js";
import { QueryString } from "./query-string.js";
import type { Resources } from "./resources.js";

export interface PageTask {
  readonly form: "events" | "calendar";
  readonly ask: EventsAsk;
  /** Query string of the request. */
  readonly search: string;
  /** Epoch seconds. */
  readonly now: number;
}

/** @throws EventsError when the store no longer has what was asked for */
export async function makePage(resources: Resources, { form, ask, search, now }: PageTask): Promise<Page> {
  const parameters = new QueryString(search);
  if (form === "calendar") return makeCalendar(resources, now, parameters, ask.strict);
  return resources.store.view(now, (view) => eventsPage(resources, view, readAsk(resources, view, parameters, ask)));
}
