/** Faults of both SOAP versions. */
import type { FastifyRequest } from "fastify";
import { excerpt, FieldprobeError, RequestError } from "../../shared/errors.js";
import { busyIfPassing, logFailure } from "../http/refusal.js";
import { envelopeStart } from "./encode.js";
import { ENVELOPE_NAMESPACE, EncodingFault, HeaderError, MustUnderstandFault, VersionFault } from "./envelope.js";
import type { SoapVersion } from "./media-type.js";
import { element, textElement } from "./xml/writer.js";
import { XML_NAMESPACE } from "./xml/xml-names.js";

type FaultKind = "Caller" | "Server" | "Version" | "Must" | "Encoding";

const CODES: Readonly<Record<FaultKind, Readonly<Record<SoapVersion, { code: string; status: number }>>>> = {
  Caller: { "1.1": { code: "Client", status: 500 }, "1.2": { code: "Sender", status: 400 } },
  Server: { "1.1": { code: "Server", status: 500 }, "1.2": { code: "Receiver", status: 500 } },
  Version: { "1.1": { code: "VersionMismatch", status: 500 }, "1.2": { code: "VersionMismatch", status: 500 } },
  Must: { "1.1": { code: "MustUnderstand", status: 500 }, "1.2": { code: "MustUnderstand", status: 500 } },
  Encoding: { "1.1": { code: "Client", status: 500 }, "1.2": { code: "DataEncodingUnknown", status: 500 } },
};

export const CONTENT_TYPES: Readonly<Record<SoapVersion, string>> = {
  "1.1": "text/xml; charset=utf-8",
  "1.2": "application/soap+xml; charset=utf-8",
};

export interface FaultAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The detail code, else the fault code; for log and metrics. */
  readonly code: string;
}

interface Fault {
  readonly kind: FaultKind;
  readonly text: string;
  readonly detail: FieldprobeError | undefined;
  readonly header: boolean;
  readonly blocks: MustUnderstandFault["blocks"];
}

/** The fault of an error; unknown errors are reported as Internal, without details. */
function faultAnswer(error: unknown, version: SoapVersion, namespace: string, requestId: string): FaultAnswer {
  const fault = classify(error);
  const { code, status } = CODES[fault.kind][version];
  const write = version === "1.1" ? fault11 : fault12;
  const headers: Record<string, string> = { "content-type": CONTENT_TYPES[version] };
  const retryAfter = fault.detail?.context.retryAfter;
  if (retryAfter !== undefined) headers["retry-after"] = String(Math.max(1, Math.ceil(retryAfter)));
  return {
    status,
    headers,
    body: write(fault, code, `${namespace}fault/`, requestId),
    code: fault.detail?.code ?? code,
  };
}

/** Writes the fault of a request, and records it for log and metrics. */
export function faultFor(
  error: unknown,
  { facts, id, log }: Pick<FastifyRequest, "facts" | "id" | "log">,
  version: SoapVersion,
  namespace: string,
): FaultAnswer {
  const fault = faultAnswer(busyIfPassing(error, { id, log }), version, namespace, id);
  facts.outcome = fault.code;
  logFailure(error, fault.code, { id, log });
  return fault;
}

function classify(error: unknown): Fault {
  const plain = { header: false, blocks: [] };
  if (error instanceof HeaderError) return { ...classify(error.cause), header: true };
  if (error instanceof VersionFault) return { ...plain, kind: "Version", text: error.message, detail: undefined };
  if (error instanceof MustUnderstandFault) {
    return { kind: "Must", text: error.message, detail: undefined, header: true, blocks: error.blocks };
  }
  if (error instanceof EncodingFault) {
    const detail = new RequestError("InvalidEnvelope", error.message);
    return { ...plain, kind: "Encoding", text: error.message, detail };
  }
  const known = error instanceof FieldprobeError ? error : new FieldprobeError("Internal", "The service failed.");
  return { ...plain, kind: known.blame === "caller" ? "Caller" : "Server", text: known.message, detail: known };
}

function fault11(fault: Fault, code: string, space: string, requestId: string): string {
  const detail = fault.header || !fault.detail ? "" : element("detail", faultDetail(fault.detail, space, requestId));
  const text = fault.header ? `${fault.detail?.code ?? code}: ${fault.text}` : fault.text;
  const content = textElement("faultcode", `soap:${code}`) + textElement("faultstring", text) + detail;
  return `${envelopeStart("1.1")}${element("soap:Body", element("soap:Fault", content))}</soap:Envelope>`;
}

function fault12(fault: Fault, code: string, space: string, requestId: string): string {
  const subcode = fault.detail && fault.kind !== "Encoding" ? fault.detail.code : undefined;
  const content =
    element(
      "soap:Code",
      textElement("soap:Value", `soap:${code}`) +
        (subcode ? element("soap:Subcode", textElement("soap:Value", `f:${subcode}`, { "xmlns:f": space })) : ""),
    ) +
    element("soap:Reason", textElement("soap:Text", fault.text, { "xml:lang": "en" })) +
    (fault.detail ? element("soap:Detail", faultDetail(fault.detail, space, requestId)) : "");
  const header = fault.kind === "Version" ? upgrade() : notUnderstood(fault);
  return `${envelopeStart("1.2")}${header}${element("soap:Body", element("soap:Fault", content))}</soap:Envelope>`;
}

function faultDetail(detail: FieldprobeError, space: string, requestId: string): string {
  const { member, limit } = detail.context;
  const content =
    textElement("code", detail.code) +
    (member === undefined ? "" : textElement("member", excerpt(member))) +
    (limit === undefined ? "" : textElement("limit", limit)) +
    textElement("requestId", requestId);
  return element("FaultDetail", content, { xmlns: space });
}

/** Supported versions, best first (SOAP 1.2, 5.4.7). */
function upgrade(): string {
  const envelopes = (["1.2", "1.1"] as const).map((version, i) =>
    element("soap:SupportedEnvelope", "", {
      qname: `v${i}:Envelope`,
      [`xmlns:v${i}`]: ENVELOPE_NAMESPACE[version],
    }),
  );
  return element("soap:Header", element("soap:Upgrade", envelopes.join("")));
}

/** Blocks that were not understood (SOAP 1.2, 5.4.8). */
function notUnderstood({ blocks }: Fault): string {
  if (blocks.length === 0) return "";
  const written = blocks.map(({ namespace, local }) =>
    namespace === XML_NAMESPACE
      ? element("soap:NotUnderstood", "", { qname: `xml:${local}` })
      : element("soap:NotUnderstood", "", { qname: `b:${local}`, "xmlns:b": namespace }),
  );
  return element("soap:Header", written.join(""));
}
