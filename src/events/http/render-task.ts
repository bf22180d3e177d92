/** Renders long representations in a worker thread, by the code of the routes over its own store. */
import { move, transferableSymbol, valueSymbol } from "piscina";
import { DataError } from "../../errors.js";
import { isStoreFailure } from "../../sqlite.js";
import { openStore } from "../store/store.js";
import { systemClock } from "../time/clock.js";
import { eventPage, eventsPage, readAsk } from "./event-page.js";
import { EventsError } from "./events-error.js";
import { makeCalendar } from "./ics-page.js";
import { QueryString } from "./query-string.js";
import type { RenderOutcome, RenderSetup, RenderTask } from "./render-thread.js";
import type { Representation } from "./representation.js";
import { openResources, type Resources } from "./resources.js";

/**
 * Makes the task function of a thread. The first task opens the store; if that fails, the next one tries again.
 * Refusals of the request and an unavailable store are outcomes; other errors are thrown.
 */
export function createRenderer({ db, settings, prefix }: RenderSetup) {
  let resources: Resources | null = null;
  return async (task: RenderTask): Promise<RenderOutcome> => {
    try {
      resources ??= openResources(openStore(db), systemClock, { ...settings, cacheBytes: 0 }, prefix, null);
      const { body, tag, headers } = await makeRepresentation(resources, task);
      return transferred({ body: new TextEncoder().encode(String(body)), tag, headers });
    } catch (error) {
      if (error instanceof DataError || isStoreFailure(error)) return { unavailable: error.message };
      if (!(error instanceof EventsError)) throw error;
      const { status, code, message, details } = error;
      return { refusal: { status, code, message, details } };
    }
  };
}

async function makeRepresentation(resources: Resources, task: RenderTask): Promise<Representation> {
  const { form, ask, now } = task;
  const { store } = resources;
  const parameters = new QueryString(task.search);
  if (form === "calendar") return makeCalendar(resources, now, parameters, ask.strict);
  if (form === "events") {
    return store.view(now, (view) => eventsPage(resources, view, readAsk(resources, view, parameters, ask)));
  }
  return store.view(now, (view) => eventPage(resources, view, ask.id ?? 0, form === "linked"));
}

/** Lets the pool hand over the bytes without a copy. */
function transferred<T extends { readonly body: Uint8Array }>(value: T): T {
  return move({ [transferableSymbol]: value.body.buffer, [valueSymbol]: value }) as unknown as T;
}
