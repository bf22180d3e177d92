/** SOAP version, character encoding and action from header fields. */
import { HttpRefusal } from "../http/refusal.js";

export type SoapVersion = "1.1" | "1.2";

export type Charset = "utf-8" | "utf-16" | "utf-16le" | "utf-16be" | "iso-8859-1";

export interface MediaType {
  readonly version: SoapVersion;
  readonly charset: Charset | null;
  /** Null if absent or empty. */
  readonly action: string | null;
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
  ["iso-8859-1", "iso-8859-1"],
]);
const TYPE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+\/[!#$%&'*+\-.^_`|~0-9A-Za-z]+)/;
const PARAMETER =
  /^[ \t]*;[ \t]*(?:([!#$%&'*+\-.^_`|~0-9A-Za-z]+)=(?:([!#$%&'*+\-.^_`|~0-9A-Za-z]+)|"((?:[^"\\]|\\.)*)"))?/;

const KEPT = 64;

/** Caches parsed `Content-Type` headers: a client sends the same one with every request. */
export class MediaTypes {
  readonly #known = new Map<string, MediaType>();

  /** @throws HttpRefusal 415 of any other header */
  read(header: string | undefined): MediaType {
    if (header === undefined) throw unsupported("A Content-Type is required: text/xml or application/soap+xml.");
    const known = this.#known.get(header);
    if (known !== undefined) return known;
    const media = readMediaType(header.trim());
    if (this.#known.size < KEPT) this.#known.set(header, media);
    return media;
  }
}

function readMediaType(header: string): MediaType {
  const parsed = parse(header);
  const version = parsed && VERSIONS.get(parsed.type);
  if (!parsed || !version) throw unsupported("The Content-Type must be text/xml or application/soap+xml.");
  const named = parsed.parameters.get("charset");
  const charset = named === undefined ? null : CHARSETS.get(named.toLowerCase());
  if (charset === undefined) throw unsupported("The charset must be utf-8, utf-16 or iso-8859-1.");
  return { version, charset, action: parsed.parameters.get("action") || null };
}

function unsupported(message: string): HttpRefusal {
  return new HttpRefusal(415, message);
}

function parse(header: string): { type: string; parameters: ReadonlyMap<string, string> } | null {
  const type = TYPE.exec(header)?.[0];
  if (type === undefined) return null;
  const parameters = new Map<string, string>();
  for (let rest = header.slice(type.length); rest !== ""; ) {
    const found = PARAMETER.exec(rest);
    if (found === null) return null;
    rest = rest.slice(found[0].length);
    const [, name, plain, quoted] = found;
    if (name === undefined) continue;
    if (parameters.has(name.toLowerCase())) return null;
    parameters.set(name.toLowerCase(), plain ?? quoted.replace(/\\(.)/g, "$1"));
  }
  return { type: type.toLowerCase(), parameters };
}

/** Null if the header is absent or empty. */
export function readSoapAction(header: string | undefined): string | null {
  const text = (header ?? "").trim();
  const quoted = text.length >= 2 && text.startsWith('"') && text.endsWith('"');
  return (quoted ? text.slice(1, -1) : text) || null;
}
