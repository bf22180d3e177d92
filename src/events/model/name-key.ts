/** The text by which names are compared: equal for names that differ only in letter case or normal form. */

/** NFC, upper case, lower case (so that `ß` meets `ss`); two keys compare by code point. */
export function nameKey(name: string): string {
  return name.normalize("NFC").toUpperCase().toLowerCase();
}

/** Order by code point, which UTF-16 units do not give above U+FFFF; the same as SQLite's order of UTF-8 bytes. */
export function compareCodePoints(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
