/** `element` and `textElement` write XML; this is the only place where markup characters are escaped. */

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&quot;"],
]);

/**
 * Text as element content or as an attribute value in double quotes; white space that readers would change becomes
 * references.
 */
export function escapeText(text: string): string {
  return text.replace(/[&<>"\t\n\r]/g, (character) => ESCAPES.get(character) ?? `&#${character.charCodeAt(0)};`);
}

/** An element around content that is XML already. */
export function element(name: string, content: string, attributes: Readonly<Record<string, string>> = {}): string {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeText(value)}"`);
  return content === "" ? `<${name}${written.join("")}/>` : `<${name}${written.join("")}>${content}</${name}>`;
}

/** An element around plain text. */
export function textElement(name: string, text: string, attributes: Readonly<Record<string, string>> = {}): string {
  return element(name, escapeText(text), attributes);
}
