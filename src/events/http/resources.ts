/** Settings, calendar and clock that the routes share. */
import type { RenderSettings } from "../render/term.js";
import type { EventIndex } from "../store/event-index.js";
import type { Clock } from "../time/clock.js";
import { EventsError } from "./events-error.js";
import type { EventsSettings } from "./events-settings.js";

export interface Resources {
  /** The present calendar. Throws EventsError 503 without one. */
  readonly index: () => EventIndex;
  readonly clock: Clock;
  readonly settings: EventsSettings;
  readonly render: RenderSettings;
  readonly longBodies: OneByOne;
}

export function knownSources(
  { calendar, sources }: EventIndex,
  settings: EventsSettings,
): { primarySource: string; sources: string[] } {
  const primarySource = settings.source ?? calendar.primarySource ?? "main";
  return { primarySource, sources: [...new Set([...sources, primarySource])].sort() };
}

const WAITING = 64;

/** Makes long bodies one after the other: each may hold tens of megabytes. */
export class OneByOne {
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  async run<T>(make: () => Promise<T>): Promise<T> {
    if (this.#waiting >= WAITING) {
      throw new EventsError(503, "unavailable", "Too many pages are being made.", [], { "retry-after": "1" });
    }
    this.#waiting += 1;
    const made = this.#last.then(make).finally(() => {
      this.#waiting -= 1;
    });
    this.#last = made.catch(() => undefined);
    return made;
  }
}
