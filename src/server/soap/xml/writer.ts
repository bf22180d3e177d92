/** Writes XML; the only place where markup characters are escaped. */

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&quot;"],
]);

/** Escapes text; white space that readers would change becomes references. */
export function escapeText(text: string): string {
  return text.replace(/[&<>"\t\n\r]/g, (character) => ESCAPES.get(character) ?? `&#${character.charCodeAt(0)};`);
}

export function element(name: string, content: string, attributes: Readonly<Record<string, string>> = {}): string {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeText(value)}"`);
  return content === "" ? `<${name}${written.join("")}/>` : `<${name}${written.join("")}>${content}</${name}>`;
}

export function textElement(name: string, text: string, attributes: Readonly<Record<string, string>> = {}): string {
  return element(name, escapeText(text), attributes);
}
