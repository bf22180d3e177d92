/**
 * Validates elements against the schema of a description: as much of XML Schema as ours uses; what else it held would
 * be an error.
 */
import { child, children, type Element } from "./soap-service.js";

const XSD = "http://www.w3.org/2001/XMLSchema";
const LEXICAL: Readonly<Record<string, RegExp>> = {
  string: /^/,
  int: /^\s*[+-]?\d+\s*$/,
  float: /^\s*(?:[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|-?INF|NaN)\s*$/,
};

/** Lists the faults of an element, one line each; none: it is valid. */
export type Validate = (element: Element) => string[];

/** @param wsdl root of a WSDL 1.1 document with one schema */
export function schemaOf(wsdl: Element): Validate {
  const schema = child(child(wsdl, "types"), "schema");
  const namespace = schema.getAttribute("targetNamespace") as string;
  if (schema.getAttribute("elementFormDefault") !== "qualified") throw new Error("local elements are not qualified");
  const named = new Map(children(schema).map((node) => [`${node.localName} ${node.getAttribute("name")}`, node]));
  const found = (key: string): Element => {
    const node = named.get(key);
    if (node === undefined) throw new Error(`the schema has no ${key}`);
    return node;
  };

  function byName(element: Element, type: string): string[] {
    const [prefix, local] = type.split(":") as [string, string];
    const bound = [schema, wsdl].map((node) => node.getAttribute(`xmlns:${prefix}`)).find((uri) => uri);
    if (bound === XSD) return byText(element, LEXICAL[local], local);
    if (bound !== namespace) throw new Error(`${type} is of no known namespace`);
    const simple = named.get(`simpleType ${local}`);
    if (simple === undefined) return byContent(element, found(`complexType ${local}`));
    const values = children(child(simple, "restriction")).map((node) => node.getAttribute("value") as string);
    return values.includes(element.textContent ?? "") ? [] : [`${element.localName} is none of ${values.join(", ")}`];
  }

  function byText(element: Element, pattern: RegExp | undefined, type: string): string[] {
    if (pattern === undefined) throw new Error(`${type} is not known here`);
    const plain = children(element).length === 0 && pattern.test(element.textContent ?? "");
    return plain ? [] : [`${element.localName} is no ${type}: ${element.textContent}`];
  }

  function byContent(element: Element, complexType: Element): string[] {
    const [sequence, ...more] = children(complexType);
    if (more.length > 0 || (sequence && sequence.localName !== "sequence")) throw new Error("a type is no sequence");
    const given = children(element);
    const problems = Array.from(element.childNodes).some((node) => node.nodeType === 3 && node.textContent?.trim())
      ? [`${element.localName} holds text`]
      : [];
    for (const declared of sequence ? children(sequence) : []) {
      const name = declared.getAttribute("name") as string;
      const most = declared.getAttribute("maxOccurs");
      let count = 0;
      for (; given[0]?.localName === name && given[0].namespaceURI === namespace; count++) {
        problems.push(...byName(given.shift() as Element, declared.getAttribute("type") as string));
      }
      const fits =
        count >= Number(declared.getAttribute("minOccurs")) && (most === "unbounded" || count <= Number(most));
      if (!fits) problems.push(`${element.localName} holds ${count} ${name}`);
    }
    return [...problems, ...given.map((node) => `${element.localName} holds a stray ${node.nodeName}`)];
  }

  return (element) => {
    const declared = found(`element ${element.localName}`);
    if (element.namespaceURI !== namespace) return [`${element.nodeName} is in another namespace`];
    return byContent(element, child(declared, "complexType"));
  };
}
