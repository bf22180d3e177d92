/** Makes two texts of a name: the key by which it is compared, and the slug that represents it in an address. */
/**
 * The key of a name: NFC, upper case, lower case (so that `ß` equals `ss`). Names that differ only in letter case or
 * normal form have the same key; two keys compare by code point.
 */
export function nameKey(name: string): string {
  return name.normalize("NFC").toUpperCase().toLowerCase();
}

/** Compares by code point, which UTF-16 units do not give above U+FFFF; it is SQLite's order of UTF-8 bytes. */
export function compareCodePoints(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** The slug of a name: lower case letters, digits and hyphens; `item` when the name has none of them. */
export function slugOf(name: string): string {
  const plain = name.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  return plain.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "") || "item";
}
