/** Names and namespaces (XML 1.0, fifth edition; Namespaces in XML 1.0). */
import { RequestError } from "../../../shared/errors.js";

export const XML_NAMESPACE = "http://www.w3.org/XML/1998/namespace";
const XMLNS_NAMESPACE = "http://www.w3.org/2000/xmlns/";

const NAME =
  /^[A-Z_a-z\u{C0}-\u{D6}\u{D8}-\u{F6}\u{F8}-\u{2FF}\u{370}-\u{37D}\u{37F}-\u{1FFF}\u{200C}-\u{200D}\u{2070}-\u{218F}\u{2C00}-\u{2FEF}\u{3001}-\u{D7FF}\u{F900}-\u{FDCF}\u{FDF0}-\u{FFFD}\u{10000}-\u{EFFFF}][-.0-9A-Z_a-z\u{B7}\u{C0}-\u{D6}\u{D8}-\u{F6}\u{F8}-\u{37D}\u{37F}-\u{1FFF}\u{200C}-\u{200D}\u{203F}\u{2040}\u{2070}-\u{218F}\u{2C00}-\u{2FEF}\u{3001}-\u{D7FF}\u{F900}-\u{FDCF}\u{FDF0}-\u{FFFD}\u{10000}-\u{EFFFF}]*$/u;

const PLAIN_NAME = /^[A-Za-z_][A-Za-z0-9_.-]*$/;

function isName(text: string): boolean {
  return PLAIN_NAME.test(text) || NAME.test(text);
}

/** The error of a document that is not well-formed, or uses XML that this service does not accept. */
export function malformed(what: string): RequestError {
  return new RequestError("MalformedXml", `The request is not well-formed XML: ${what}.`);
}

export interface Name {
  readonly text: string;
  readonly prefix: string;
  readonly local: string;
}

export function splitName(text: string): Name {
  const colon = text.indexOf(":");
  const prefix = colon < 0 ? "" : text.slice(0, colon);
  const local = colon < 0 ? text : text.slice(colon + 1);
  if ((colon >= 0 && !isName(prefix)) || !isName(local)) throw malformed("a name is not a qualified name");
  return { text, prefix, local };
}

export type WrittenAttribute = readonly [name: Name, value: string];

export interface Attribute {
  readonly namespace: string;
  readonly local: string;
  readonly value: string;
}

export class NamespaceScopes {
  readonly #prefixes: string[] = ["xml"];
  readonly #uris: string[] = [XML_NAMESPACE];

  get mark(): number {
    return this.#prefixes.length;
  }

  bind(prefix: string, uri: string): void {
    if (prefix === "xmlns" || uri === XMLNS_NAMESPACE) throw malformed("the prefix xmlns is bound");
    if ((prefix === "xml") !== (uri === XML_NAMESPACE)) throw malformed("the prefix xml is bound again");
    if (prefix !== "" && uri === "") throw malformed("a prefix is bound to an empty name");
    this.#prefixes.push(prefix);
    this.#uris.push(uri);
  }

  /** Adds the bindings of a tag; refuses repeated attributes. */
  declare(pairs: readonly WrittenAttribute[]): void {
    for (let i = 0; i < pairs.length; i++) {
      const [{ text, prefix, local }, value] = pairs[i];
      for (let j = 0; j < i; j++) if (pairs[j]?.[0].text === text) throw malformed("an attribute is repeated");
      if (text === "xmlns") this.bind("", value);
      else if (prefix === "xmlns") this.bind(local, value);
    }
  }

  /** The attributes of a tag that bind no namespace. */
  attributes(pairs: readonly WrittenAttribute[]): readonly Attribute[] {
    const found: Attribute[] = [];
    for (const [{ text, prefix, local }, value] of pairs) {
      if (prefix === "xmlns" || text === "xmlns") continue;
      const namespace = prefix === "" ? "" : this.find(prefix);
      if (found.some((other) => other.local === local && other.namespace === namespace)) {
        throw malformed("an attribute is repeated");
      }
      found.push({ namespace, local, value });
    }
    return found;
  }

  /** The namespace of a prefix; undefined if it is not declared, "" without a default namespace. */
  bound(prefix: string): string | undefined {
    const i = this.#prefixes.lastIndexOf(prefix);
    if (i >= 0) return this.#uris[i];
    return prefix === "" ? "" : undefined;
  }

  /** As `bound`; refuses undeclared prefixes. */
  find(prefix: string): string {
    const uri = this.bound(prefix);
    if (uri === undefined) throw malformed("a prefix is not declared");
    return uri;
  }

  close(mark: number): void {
    this.#prefixes.length = mark;
    this.#uris.length = mark;
  }
}
