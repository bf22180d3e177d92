/** Terms of five vocabularies, events and their instances. */
/** Collection name, type of a term, segment of its public address, whether terms form a tree. */
export const VOCABULARIES = [
  { name: "channels", type: "channel", segment: "channel", tree: true },
  { name: "divisions", type: "division", segment: "division", tree: false },
  { name: "event_categories", type: "event_category", segment: "category", tree: true },
  { name: "locations", type: "location", segment: "location", tree: true },
  { name: "tags", type: "tag", segment: "tag", tree: false },
] as const;

export type Vocabulary = (typeof VOCABULARIES)[number];
export type VocabularyName = Vocabulary["name"];

export function vocabulary(name: string): Vocabulary | undefined {
  return VOCABULARIES.find((row) => row.name === name);
}

export function byVocabulary<T>(make: (name: VocabularyName) => T): Readonly<Record<VocabularyName, T>> {
  return Object.fromEntries(VOCABULARIES.map(({ name }) => [name, make(name)])) as Record<VocabularyName, T>;
}

/** In output order; the bit of an audience in a mask is its position. */
export const AUDIENCES = ["everyone", "faculty", "staff", "students"] as const;
export const EVERYONE = 0b1111;

/** Mask of names in any letter case (`faulty` is `faculty`), or the first unknown name. */
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

export function audienceNames(mask: number): readonly string[] {
  return AUDIENCES.filter((_, position) => (mask & (1 << position)) !== 0);
}

export interface Address {
  readonly address: string | null;
  readonly city: string | null;
  readonly state: string | null;
  readonly zipcode: string | null;
  readonly latitude: number | null;
  readonly longitude: number | null;
}

export interface TaxonomyTerm {
  readonly id: number;
  readonly vocabulary: VocabularyName;
  readonly name: string;
  readonly slug: string;
  readonly parent: number | null;
  readonly weight: number;
  readonly url: string;
  /** Only of locations. */
  readonly address: Address | null;
}

export type Terms = ReadonlyMap<number, TaxonomyTerm>;

export interface ImageFile {
  readonly id: number;
  readonly name: string;
  readonly mime_type: string;
  readonly alt_text: string | null;
  readonly caption: string | null;
  readonly credit: string | null;
  readonly sizes: Readonly<Record<string, string>>;
}

/** Change of one instance. Times are texts as in `StoredEvent`. */
export interface Override {
  readonly original: string;
  readonly start: string | null;
  /** Null: the duration is kept. All-day: the last day. */
  readonly end: string | null;
  readonly cancelled: boolean;
  readonly name?: string | undefined;
}

/** Times are `YYYY-MM-DDTHH:MM:SS` on the wall of `zone`, or instants with an offset; days are `YYYY-MM-DD`. */
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
  /** Length: calendar days, then exact seconds. All-day events have whole days, at least one. */
  readonly days: number;
  readonly seconds: number;
  /** RRULE with UNTIL in UTC (timed) or as a date (all-day). */
  readonly rrule: string | null;
  readonly rdate: readonly string[];
  readonly exdate: readonly string[];
  readonly overrides: readonly Override[];
  readonly terms: Readonly<Record<VocabularyName, readonly number[]>>;
  readonly image: ImageFile | null;
  readonly extras: Extras;
}

/** Members that are shown only if present, in output order. */
export interface Extras {
  readonly description?: string;
  readonly alt_name?: string;
  readonly supplemental_location_info?: string;
  readonly registration_required?: boolean;
}

/** Instants are epoch seconds. All-day: from the first midnight to that after the last day. */
export interface EventInstance {
  readonly eventId: number;
  /** Start by the rule, unchanged by a move; all-day: 00:00 UTC of the day. */
  readonly original: number;
  readonly start: number;
  readonly end: number;
  readonly allDay: boolean;
  /** Offsets of the site zone from UTC, seconds. */
  readonly startOffset: number;
  readonly endOffset: number;
}

/** First second at which an instance is over; one of no length occupies the second it starts in. */
export function overAt(start: number, end: number): number {
  return Math.max(end, start + 1);
}

/** The first instance that is not over, else the last. */
export function shownInstance(instances: readonly EventInstance[], now: number): EventInstance | undefined {
  return instances.find(({ start, end }) => overAt(start, end) > now) ?? instances.at(-1);
}
