/** Reads the envelope: version, header blocks, and the single element of the body. */
import { FieldprobeError, LimitError, RequestError } from "../../shared/errors.js";
import type { Steps } from "../../text/steps.js";
import type { SoapVersion } from "./media-type.js";
import { DONE, END, START, type XmlReader } from "./xml/reader.js";
import type { Attribute } from "./xml/xml-names.js";

export const ENVELOPE_NAMESPACE: Readonly<Record<SoapVersion, string>> = {
  "1.1": "http://schemas.xmlsoap.org/soap/envelope/",
  "1.2": "http://www.w3.org/2003/05/soap-envelope",
};
const ENV12 = ENVELOPE_NAMESPACE["1.2"];
const NO_ENCODING = `${ENV12}/encoding/none`;

/** Roles of the ultimate receiver; absent and empty ones count too. */
const ROLES: Readonly<Record<SoapVersion, readonly string[]>> = {
  "1.1": ["", "http://schemas.xmlsoap.org/soap/actor/next"],
  "1.2": ["", `${ENV12}/role/next`, `${ENV12}/role/ultimateReceiver`],
};
const MUST_UNDERSTAND: Readonly<Record<SoapVersion, ReadonlyMap<string, boolean>>> = {
  "1.1": new Map([
    ["1", true],
    ["0", false],
  ]),
  "1.2": new Map([
    ["1", true],
    ["true", true],
    ["0", false],
    ["false", false],
  ]),
};

export interface QualifiedName {
  readonly namespace: string;
  readonly local: string;
}

export class VersionFault extends Error {}

export class MustUnderstandFault extends Error {
  readonly blocks: readonly QualifiedName[];

  constructor(blocks: readonly QualifiedName[]) {
    super("A mandatory header block is not understood.");
    this.blocks = blocks;
  }
}

export class EncodingFault extends Error {}

/** An error of header blocks, to which SOAP 1.1 allows no detail. */
export class HeaderError extends Error {
  override readonly cause: FieldprobeError;

  constructor(cause: FieldprobeError) {
    super(cause.message);
    this.cause = cause;
  }
}

function invalid(message: string): RequestError {
  return new RequestError("InvalidEnvelope", message);
}

/** Reads up to the start tag of the operation. Throws VersionFault, MustUnderstandFault, HeaderError, RequestError. */
export function* openEnvelope(reader: XmlReader, version: SoapVersion, headerBlocks: number): Steps<void> {
  const env = ENVELOPE_NAMESPACE[version];
  yield* reader.nextTag(stray);
  if (!isNamed(reader, reader.namespace, "Envelope")) {
    if (version === "1.2") throw new VersionFault("The root element is not a SOAP envelope.");
    throw invalid("The root element is not a SOAP envelope.");
  }
  if (reader.namespace !== env) {
    throw new VersionFault("The namespace of the envelope is not that of the SOAP version of the media type.");
  }
  checkPart(reader.attributes, version);
  let event = yield* reader.nextTag(stray);
  if (event === START && isNamed(reader, env, "Header")) {
    checkPart(reader.attributes, version);
    yield* readHeader(reader, version, headerBlocks);
    event = yield* reader.nextTag(stray);
  }
  if (event !== START || !isNamed(reader, env, "Body")) {
    throw invalid("The envelope must hold an optional Header and then one Body.");
  }
  checkPart(reader.attributes, version);
  if ((yield* reader.nextTag(stray)) !== START) {
    throw new RequestError("UnknownOperation", "The body is empty: it must hold the element of an operation.");
  }
}

export function* closeEnvelope(reader: XmlReader): Steps<void> {
  if ((yield* reader.nextTag(stray)) !== END) throw invalid("The body must hold a single element.");
  if ((yield* reader.nextTag(stray)) !== END) throw invalid("Nothing may follow the body of the envelope.");
  if ((yield* reader.nextTag(stray)) !== DONE) throw invalid("Nothing may follow the envelope.");
}

/** Refuses an encoding style. SOAP 1.1 clients send one with literal messages, where it means nothing. */
export function checkEncodingStyle(attributes: readonly Attribute[], version: SoapVersion): void {
  if (version === "1.1") return;
  const style = find(attributes, ENV12, "encodingStyle");
  if (style !== undefined && style !== NO_ENCODING) {
    throw new EncodingFault("The encoding style is not supported: messages are literal.");
  }
}

function isNamed(reader: XmlReader, namespace: string, local: string): boolean {
  return reader.local === local && reader.namespace === namespace;
}

function stray(): RequestError {
  return invalid("There is text between the parts of the envelope.");
}

function checkPart(attributes: readonly Attribute[], version: SoapVersion): void {
  for (const { namespace, local } of attributes) {
    if (namespace === "") throw invalid("A part of the envelope has an attribute without a namespace.");
    if (version === "1.2" && namespace === ENV12 && local === "encodingStyle") {
      throw invalid("A part of the envelope may not have an encoding style.");
    }
  }
}

function find(attributes: readonly Attribute[], namespace: string, local: string): string | undefined {
  return attributes.find((attribute) => attribute.namespace === namespace && attribute.local === local)?.value;
}

/** Reads the header. The service understands no block, so every mandatory one for its role ends the request. */
function* readHeader(reader: XmlReader, version: SoapVersion, limit: number): Steps<void> {
  try {
    const blocks: QualifiedName[] = [];
    for (let count = 0; (yield* reader.nextTag(stray)) === START; count++) {
      if (count >= limit) throw new LimitError("soap.headerBlocks", "There are too many header blocks.");
      if (isMandatory(reader, version)) blocks.push({ namespace: reader.namespace, local: reader.local });
      for (const depth = reader.depth - 1; reader.depth > depth; ) yield* reader.next();
    }
    if (blocks.length > 0) throw new MustUnderstandFault(blocks);
  } catch (error) {
    throw error instanceof FieldprobeError && error.code !== "MalformedXml" ? new HeaderError(error) : error;
  }
}

function isMandatory(reader: XmlReader, version: SoapVersion): boolean {
  if (reader.namespace === "") throw invalid("A header block has no namespace.");
  const env = ENVELOPE_NAMESPACE[version];
  const text = find(reader.attributes, env, "mustUnderstand");
  const mandatory = text === undefined ? false : MUST_UNDERSTAND[version].get(text.trim());
  if (mandatory === undefined) throw invalid("The value of mustUnderstand is not a boolean.");
  const role = find(reader.attributes, env, version === "1.1" ? "actor" : "role") ?? "";
  return mandatory && ROLES[version].includes(role.trim());
}
