/** The entities of the events module are terms of five vocabularies, events and their instances. */
/** The vocabularies: collection name, type of a term, segment of its public address, whether terms form a tree. */
export const VOCABULARIES = [
  { name: "channels", type: "channel", segment: "channel", tree: true },
  { name: "divisions", type: "division", segment: "division", tree: false },
  { name: "event_categories", type: "event_category", segment: "category", tree: true },
  { name: "locations", type: "location", segment: "location", tree: true },
  { name: "tags", type: "tag", segment: "tag", tree: false },
] as const;

/** One of the five vocabularies. */
export type Vocabulary = (typeof VOCABULARIES)[number];
/** Collection name of a vocabulary. */
export type VocabularyName = Vocabulary["name"];

/** The vocabulary of a collection name. */
export function vocabulary(name: string): Vocabulary | undefined {
  return VOCABULARIES.find((row) => row.name === name);
}

/** Audiences in output order; the bit of an audience in a mask is its position. */
export const AUDIENCES = ["everyone", "faculty", "staff", "students"] as const;
/** The mask of all audiences. */
export const EVERYONE = 0b1111;

/** Mask of audience names in any letter case (`faulty` is `faculty`), or the first name that is unknown. */
export function audienceMask(names: readonly string[]): number | string {
  let mask = 0;
  for (const name of names) {
    const folded = name.toLowerCase() === "faulty" ? "faculty" : name.toLowerCase();
    const position = (AUDIENCES as readonly string[]).indexOf(folded);
    if (position < 0) return name;
    mask |= 1 << position;
  }
  return mask;
}

/** Names of the audiences in a mask, in output order. */
export function audienceNames(mask: number): readonly string[] {
  return AUDIENCES.filter((_, position) => (mask & (1 << position)) !== 0);
}

/** The postal address and position of a location; unknown members are null. */
export interface Address {
  readonly address: string | null;
  readonly city: string | null;
  readonly state: string | null;
  readonly zipcode: string | null;
  readonly latitude: number | null;
  readonly longitude: number | null;
}

/** A term: a category, division, location, tag or channel that events are assigned to. */
export interface TaxonomyTerm {
  readonly id: number;
  readonly vocabulary: VocabularyName;
  readonly name: string;
  readonly slug: string;
  readonly parent: number | null;
  readonly weight: number;
  readonly url: string;
  /** Null for all vocabularies but locations. */
  readonly address: Address | null;
}

/** Terms by id. */
export type Terms = ReadonlyMap<number, TaxonomyTerm>;

/** The thumbnail of an event. */
export interface ImageFile {
  readonly id: number;
  readonly name: string;
  readonly mime_type: string;
  readonly alt_text: string | null;
  readonly caption: string | null;
  readonly credit: string | null;
  /** Address by size name. */
  readonly sizes: Readonly<Record<string, string>>;
}

/** A change to one instance. Times are texts as in `EventRecord`. */
export interface Override {
  readonly original: string;
  /** Null: not moved. */
  readonly start: string | null;
  /** Null: the duration is kept. All-day: the last day. */
  readonly end: string | null;
  readonly cancelled: boolean;
  /** Name of the instance if it differs from that of the event. */
  readonly name?: string | undefined;
}

/**
 * An event as stored. A time is `YYYY-MM-DDTHH:MM:SS` on the wall of `zone`, or with an offset an instant; a day is
 * `YYYY-MM-DD`.
 */
export interface StoredEvent {
  readonly id: number;
  readonly name: string;
  readonly slug: string;
  readonly excerpt: string;
  readonly url: string;
  readonly shortUrl: string;
  readonly audience: number;
  /** Epoch seconds. */
  readonly publishDate: number;
  readonly source: string;
  readonly published: boolean;
  readonly zone: string;
  readonly allDay: boolean;
  readonly start: string;
  /** Length of an instance: calendar days, then exact seconds. All-day events have whole days only, at least one. */
  readonly days: number;
  readonly seconds: number;
  /** RRULE value with UNTIL in UTC (timed) or as a date (all-day), or null. */
  readonly rrule: string | null;
  readonly rdate: readonly string[];
  readonly exdate: readonly string[];
  readonly overrides: readonly Override[];
  /** Ids of terms, ascending. */
  readonly terms: Readonly<Record<VocabularyName, readonly number[]>>;
  readonly image: ImageFile | null;
  /** Members that are shown only when the event has them, in output order. */
  readonly extras: Extras;
}

/** Members that an event shows only when it has them. */
export interface Extras {
  readonly description?: string;
  readonly alt_name?: string;
  readonly supplemental_location_info?: string;
  readonly registration_required?: boolean;
}

/** One instance; instants are epoch seconds. An all-day one runs from its first midnight to that after its last day. */
export interface EventInstance {
  readonly eventId: number;
  /** Start by the rule, unchanged by a move: epoch seconds, for all-day instances of 00:00 UTC of the day. */
  readonly original: number;
  readonly start: number;
  readonly end: number;
  readonly allDay: boolean;
  /** Offsets of the site zone from UTC at start and end, seconds. */
  readonly startOffset: number;
  readonly endOffset: number;
}

/** First second at which the instance is over; one of no length occupies the second it starts in. */
export function overAt(start: number, end: number): number {
  return Math.max(end, start + 1);
}

/**
 * Key by which instances are ordered and scanned: an all-day start precedes a timed one at the same instant.
 * `start < t` is `startKey < 2 t`, and `start <= t` is `startKey < 2 (t + 1)`.
 */
export function startKey(start: number, allDay: boolean): number {
  return 2 * start + (allDay ? 0 : 1);
}
