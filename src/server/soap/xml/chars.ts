/** Bytes and characters of XML 1.0. */
import { malformed } from "./xml-names.js";

export const TAB = 0x09;
export const LF = 0x0a;
export const CR = 0x0d;
export const SPACE = 0x20;
export const BANG = 0x21;
export const QUOTE = 0x22;
export const AMPERSAND = 0x26;
export const APOSTROPHE = 0x27;
export const DASH = 0x2d;
export const SLASH = 0x2f;
export const SEMICOLON = 0x3b;
export const LESS = 0x3c;
export const EQUALS = 0x3d;
export const GREATER = 0x3e;
export const QUESTION = 0x3f;
export const BRACKET = 0x5d;

const ENTITIES: ReadonlyMap<string, number> = new Map([
  ["lt", LESS],
  ["gt", GREATER],
  ["amp", AMPERSAND],
  ["apos", APOSTROPHE],
  ["quot", QUOTE],
]);

export function isSpace(byte: number | undefined): boolean {
  return byte === SPACE || byte === LF || byte === CR || byte === TAB;
}

export function isBlank(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (!isSpace(text.charCodeAt(i))) return false;
  return true;
}

export function countChars(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length; i++) if ((text.charCodeAt(i) & 0xfc00) === 0xdc00) count--;
  return count;
}

function isChar(code: number): boolean {
  if (code < 0x20) return code === 0x09 || code === 0x0a || code === 0x0d;
  return code <= 0xd7ff || (code >= 0xe000 && code <= 0xfffd) || (code >= 0x10000 && code <= 0x10ffff);
}

export function referenced(name: string): number {
  const entity = ENTITIES.get(name);
  if (entity !== undefined) return entity;
  const hex = name.startsWith("#x");
  const digits = name.slice(hex ? 2 : 1);
  const valid = name.startsWith("#") && (hex ? /^[0-9A-Fa-f]+$/ : /^[0-9]+$/).test(digits);
  if (!valid) throw malformed("it refers to an entity other than the five");
  const code = Number.parseInt(digits, hex ? 16 : 10);
  if (!isChar(code)) throw malformed("it refers to a character that XML does not allow");
  return code;
}
