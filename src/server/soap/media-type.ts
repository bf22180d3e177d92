/** The header fields of a SOAP request: media type, character encoding and action. */
import { HttpRefusal } from "../http/refusal.js";

/** SOAP 1.1 and 1.2, as the media type says. */
export type SoapVersion = "1.1" | "1.2";

export type Charset = "utf-8" | "utf-16" | "utf-16le" | "utf-16be";

export interface MediaType {
  readonly version: SoapVersion;
  readonly charset: Charset | undefined;
  /** The `action` parameter of SOAP 1.2; undefined where absent or empty. */
  readonly action: string | undefined;
}

const VERSIONS: ReadonlyMap<string, SoapVersion> = new Map([
  ["text/xml", "1.1"],
  ["application/soap+xml", "1.2"],
]);
const CHARSETS: ReadonlyMap<string, Charset> = new Map([
  ["utf-8", "utf-8"],
  ["utf8", "utf-8"],
  ["utf-16", "utf-16"],
  ["utf-16le", "utf-16le"],
  ["utf-16be", "utf-16be"],
]);
const TOKEN = /[!#$%&'*+\-.^_`|~0-9A-Za-z]+/y;
const PARAMETER =
  /[ \t]*;[ \t]*(?:([!#$%&'*+\-.^_`|~0-9A-Za-z]+)=(?:([!#$%&'*+\-.^_`|~0-9A-Za-z]+)|"((?:[^"\\]|\\.)*)"))?/y;

/** Most media types that are kept as they were read. */
const KEPT = 64;
/** Media types by their header: clients send the same one with every request. */
const known = new Map<string, MediaType>();

/**
 * Reads a `Content-Type`.
 *
 * @throws HttpRefusal 415 where it is absent, malformed, of another type, or names an encoding that is not served
 */
export function readMediaType(header: string | undefined): MediaType {
  if (header === undefined) throw new HttpRefusal(415, "A Content-Type is required: text/xml or application/soap+xml.");
  const kept = known.get(header);
  if (kept !== undefined) return kept;
  const parsed = parse(header.trim());
  const version = parsed && VERSIONS.get(parsed.type);
  if (!parsed || !version) throw new HttpRefusal(415, "The Content-Type must be text/xml or application/soap+xml.");
  const named = parsed.parameters.get("charset");
  const charset = named === undefined ? undefined : CHARSETS.get(named.toLowerCase());
  if (named !== undefined && charset === undefined) throw new HttpRefusal(415, "The charset must be utf-8 or utf-16.");
  const media = { version, charset, action: parsed.parameters.get("action") || undefined };
  if (known.size < KEPT) known.set(header, media);
  return media;
}

function parse(header: string): { type: string; parameters: ReadonlyMap<string, string> } | undefined {
  const slash = match(TOKEN, header, 0);
  if (!slash || header[slash.end] !== "/") return undefined;
  const subtype = match(TOKEN, header, slash.end + 1);
  if (!subtype) return undefined;
  const parameters = new Map<string, string>();
  let at = subtype.end;
  while (at < header.length) {
    const found = match(PARAMETER, header, at);
    if (!found) return undefined;
    at = found.end;
    const [, name, plain, quoted] = found.groups;
    if (name === undefined) continue;
    if (parameters.has(name.toLowerCase())) return undefined;
    parameters.set(name.toLowerCase(), plain ?? (quoted as string).replace(/\\(.)/g, "$1"));
  }
  return { type: header.slice(0, subtype.end).toLowerCase(), parameters };
}

/** Matches a sticky pattern at an index. */
function match(pattern: RegExp, text: string, at: number): { end: number; groups: RegExpExecArray } | undefined {
  pattern.lastIndex = at;
  const groups = pattern.exec(text);
  return groups === null ? undefined : { end: pattern.lastIndex, groups };
}

/** The action that a `SOAPAction` header names; undefined where it is absent or empty. */
export function readSoapAction(header: string | undefined): string | undefined {
  const text = (header ?? "").trim();
  const quoted = text.length >= 2 && text.startsWith('"') && text.endsWith('"');
  return (quoted ? text.slice(1, -1) : text) || undefined;
}
