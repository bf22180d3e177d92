/** Reads XML documents in answers of hosts. */
import sax from "sax";
import { orElse } from "../../../shared/errors.js";

export interface XmlElement {
  readonly name: string;
  readonly children: readonly XmlElement[];
  readonly text: string;
}

/** The root of a document. Throws Error of the parser. */
export function readXml(text: string): XmlElement | null {
  const top = { name: "", children: [] as XmlElement[], text: "" };
  const open = [top];
  const parser = sax.parser(true);
  parser.onopentag = ({ name }) => {
    const element = { name, children: [], text: "" };
    open.at(-1)?.children.push(element);
    open.push(element);
  };
  parser.onclosetag = () => open.pop();
  parser.ontext = (part) => {
    (open.at(-1) ?? top).text += part;
  };
  parser.onerror = (error) => {
    throw error;
  };
  parser.write(text).close();
  return top.children[0] ?? null;
}

/** Texts of the child elements by name; the first of several. */
export function textsIn(element: XmlElement | null): ReadonlyMap<string, string> {
  return new Map(element?.children.toReversed().map(({ name, text }) => [name, text]));
}

/** Texts by name of a document with this root; none for other documents. */
export function membersOf(text: string, root: string): ReadonlyMap<string, string> {
  const found = text.trimStart().startsWith("<") ? orElse(() => readXml(text), null) : null;
  return textsIn(found?.name === root ? found : null);
}
