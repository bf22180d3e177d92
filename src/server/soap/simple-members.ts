/** Simple members of a request: their attributes and their text. */
import { excerpt, RequestError } from "../../shared/errors.js";
import type { Stepping } from "../../text/steps.js";
import { checkEncodingStyle } from "./envelope.js";
import type { SoapVersion } from "./media-type.js";
import type { XmlReader } from "./xml/reader.js";
import type { Attribute } from "./xml/xml-names.js";

const XSI = "http://www.w3.org/2001/XMLSchema-instance";
const XSD = "http://www.w3.org/2001/XMLSchema";

export interface RequestDialect {
  readonly namespace: string;
  readonly version: SoapVersion;
}

export function invalid(message: string, member?: string): RequestError {
  return new RequestError("InvalidRequest", message, member === undefined ? {} : { member });
}

export function schemaType(local: string): string {
  return `{${XSD}}${local}`;
}

/** Checks the attributes of the element that has just started. `type`: its declared type, if that has a name. */
export function checkAttributes(
  reader: XmlReader,
  version: SoapVersion,
  member: string,
  type?: string,
  nil?: "nillable",
): void {
  const { attributes } = reader;
  if (attributes.length === 0) return;
  checkEncodingStyle(attributes, version);
  for (const attribute of attributes) checkAttribute(reader, attribute, member, type, nil);
}

function checkAttribute(
  reader: XmlReader,
  attribute: Attribute,
  member: string,
  type: string | undefined,
  nil: "nillable" | undefined,
): void {
  const { namespace, local, value } = attribute;
  // Clients of the encoded style number their elements; nothing refers to these numbers.
  if (namespace === "" && local === "id") return;
  if (namespace === "") throw invalid(`The attribute ${excerpt(local)} of ${member} is not allowed.`, member);
  if (namespace !== XSI) return;
  if (nil === undefined && local === "nil" && value.trim() !== "false" && value.trim() !== "0") {
    throw invalid(`The member ${member} may not be nil.`, member);
  }
  if (local === "type" && expand(reader, value.trim()) !== type) {
    throw invalid(`The member ${member} does not have the type that its xsi:type names.`, member);
  }
}

function expand(reader: XmlReader, name: string): string {
  const colon = name.indexOf(":");
  const namespace = reader.resolve(colon < 0 ? "" : name.slice(0, colon));
  return namespace === undefined ? "" : `{${namespace}}${name.slice(colon + 1)}`;
}

export function readText(reader: XmlReader, member: string): Stepping<string> {
  return reader.content(() => invalid(`The member ${member} may not hold elements.`, member));
}

export function collapsed(text: string): string {
  return text.replace(/^[ \t\r\n]+/, "").replace(/[ \t\r\n]+$/, "");
}
