/** Keys and slugs of names. */
/** Key of a name: names that differ only in letter case or normal form have the same, and `ß` equals `ss`. */
export function nameKey(name: string): string {
  return name.normalize("NFC").toUpperCase().toLowerCase();
}

/** Order by code point, which UTF-16 units do not give above U+FFFF. */
export function compareCodePoints(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** Lower case letters, digits and hyphens; `item` if the name has none. */
export function slugOf(name: string): string {
  const plain = name.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  return plain.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "") || "item";
}
