/** Compares structures of files: those of a series, and a file with what was confirmed. */
import { shortList } from "../../shared/messages.js";
import { MISSING_SUFFIX, SOURCES_SUFFIX, type Structure, VARIES } from "../recognise/structure.js";
import { TIME_NAMES } from "../recognise/times.js";

/** Keys that differ between files. They are listed at confirmation and then ignored. */
export function varyingKeys(all: readonly Structure[]): string[] {
  const [first = new Map<string, string>(), ...others] = all;
  const keys = new Set(all.flatMap((one) => [...one.keys()]));
  return [...keys].filter((key) => others.some((other) => other.get(key) !== first.get(key))).sort();
}

export interface Difference {
  readonly key: string;
  readonly text: string;
  /** Whether it is of a group, which states nothing itself. */
  readonly isGroup: boolean;
}

export const firstOf = (all: readonly Difference[]): string => shortList(all.map(({ text }) => text));

/** Whether a line of `seen`, what a description does not use, is about what differs. */
export function isAbout({ key }: Difference): (line: string) => boolean {
  const parts = key.split("{step}").map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  const pattern = new RegExp(`^${parts.join("[^/]+")} `);
  return (line) => pattern.test(line);
}

export function differences(
  confirmed: Readonly<Record<string, string>>,
  varies: readonly string[],
  found: Structure,
): Difference[] {
  const known = new Map(Object.entries(confirmed));
  const keys = [...new Set([...known.keys(), ...found.keys()])].filter((key) => !varies.includes(key));
  return keys.flatMap((key) => {
    const [before, now] = [known.get(key), found.get(key)];
    if (before === now || ([before, now].includes(VARIES) && isTimeOfStep(key))) return [];
    const [head = ""] = /^.* of source \d+(?=@|$)/.exec(key) ?? [];
    const source = found.get(head);
    // A source without values leaves a gap, whether it is gone or yet to come.
    if (key === head ? isGap(before, now) : source?.endsWith(MISSING_SUFFIX)) return [];
    if (now === undefined && found.has(key.replace(/ of source \d+.*/, SOURCES_SUFFIX))) return [];
    if (key.endsWith(SOURCES_SUFFIX)) return [{ key, text: `${now}`, isGroup: false }];
    const of = source === undefined || key === head ? "" : ` (${nameIn(source)})`;
    const what = `${key.includes("@") ? `the attribute ${key}` : key}${of}`;
    const isDigest = / = sha256 /.test(now ?? "") && now?.split(" = ")[0] === before?.split(" = ")[0];
    const change = now === undefined ? "is missing" : `is ${now}, and was ${before}`;
    const changed = isDigest ? "has other values than when it was confirmed" : change;
    const text = `${what} ${before === undefined ? `is new (${now})` : changed}`;
    return [{ key, text, isGroup: (now ?? before) === "group" }];
  });
}

/** Whether a key is that of the time of a group or dataset; times are compared by themselves. */
const isTimeOfStep = (key: string): boolean =>
  key.includes("{step}") && TIME_NAMES.includes(key.split(/[@/]/).at(-1)?.toLowerCase() ?? "");

const nameIn = (source = ""): string => source.slice(0, source.lastIndexOf(", "));

const isGap = (before = "", now = ""): boolean =>
  nameIn(before) === nameIn(now) && [before, now].some((text) => text.endsWith(MISSING_SUFFIX));
