/** Faults read back: what holds of every one is checked wherever one is read. */
import { expect } from "vitest";
import {
  type Answer,
  child,
  children,
  type Element,
  ENVELOPES,
  NAMESPACE,
  parseXml,
  TYPES,
  VERSIONS,
  type Version,
} from "./soap-service.js";

export interface FaultReport {
  readonly version: Version;
  readonly status: number;
  readonly code: string;
  readonly subcode: string | undefined;
  readonly text: string;
  readonly detail:
    | { readonly code: string; readonly member?: string; readonly limit?: string; readonly requestId: string }
    | undefined;
  readonly fault: Element;
  readonly envelope: Element;
}

/** Splits a prefixed name and checks that its prefix means `namespace` where it stands. */
function localName(element: Element, namespace: string): string {
  const [prefix, local] = (element.textContent ?? "").split(":") as [string, string];
  for (let node: Element | null = element; node?.nodeType === 1; node = node.parentNode) {
    const bound = node.getAttribute(`xmlns:${prefix}`);
    if (bound === "" || bound === null) continue;
    expect(bound).toBe(namespace);
    return local;
  }
  throw new Error(`the prefix ${prefix} is not declared`);
}

/** Reads a fault and checks what holds for every fault (R79 to R81, R84 to R86, R88). */
export function readFault(answer: Answer): FaultReport {
  const root = parseXml(answer.text);
  const version = VERSIONS.find((name) => ENVELOPES[name] === root.namespaceURI) as Version;
  expect(answer.headers.get("content-type")).toBe(TYPES[version]);
  expect(root.localName).toBe("Envelope");
  const body = child(root, "Body");
  expect(children(body)).toHaveLength(1);
  const fault = child(body, "Fault");
  expect(fault.namespaceURI).toBe(ENVELOPES[version]);
  const names = children(fault).map((node) => node.localName);
  const base = { version, status: answer.status, fault, envelope: root };
  if (version === "1.1") {
    for (const node of children(fault)) expect(node.namespaceURI).toBeFalsy();
    expect(["faultcode", "faultstring", "faultactor", "detail"]).toEqual(expect.arrayContaining(names));
    const code = localName(child(fault, "faultcode"), ENVELOPES[version]);
    expect(code).not.toContain(".");
    const text = child(fault, "faultstring").textContent ?? "";
    return {
      ...base,
      code,
      subcode: undefined,
      text,
      detail: names.includes("detail") ? readDetail(child(fault, "detail")) : undefined,
    };
  }
  for (const node of children(fault)) expect(node.namespaceURI).toBe(ENVELOPES[version]);
  expect(["Code,Reason", "Code,Reason,Detail"]).toContain(names.join(","));
  const code = child(fault, "Code");
  const subcode = children(code).find((node) => node.localName === "Subcode");
  const reason = child(child(fault, "Reason"), "Text");
  expect(reason.getAttribute("xml:lang")).toBe("en");
  return {
    ...base,
    code: localName(child(code, "Value"), ENVELOPES[version]),
    subcode: subcode && localName(child(subcode, "Value"), `${NAMESPACE}fault/`),
    text: reason.textContent ?? "",
    detail: names.includes("Detail") ? readDetail(child(fault, "Detail")) : undefined,
  };
}

function readDetail(detail: Element): FaultReport["detail"] {
  expect(children(detail)).toHaveLength(1);
  const content = child(detail, "FaultDetail");
  for (const node of [content, ...children(content)]) expect(node.namespaceURI).toBe(`${NAMESPACE}fault/`);
  const names = children(content).map((node) => node.localName as string);
  expect(names.join(",")).toMatch(/^code,(member,)?(limit,)?requestId$/);
  return Object.fromEntries(
    names.map((name) => [name, child(content, name).textContent]),
  ) as unknown as FaultReport["detail"];
}

/** Statuses and codes by kind of fault, written out once more on purpose. */
const MAPPING = {
  Caller: { "1.1": ["Client", 500], "1.2": ["Sender", 400] },
  Server: { "1.1": ["Server", 500], "1.2": ["Receiver", 500] },
  Version: { "1.1": ["VersionMismatch", 500], "1.2": ["VersionMismatch", 500] },
  Must: { "1.1": ["MustUnderstand", 500], "1.2": ["MustUnderstand", 500] },
  Encoding: { "1.1": ["Client", 500], "1.2": ["DataEncodingUnknown", 500] },
} as const;

/** Checks a fault: its version, kind, status and (for Caller and Server) detail code. */
export function expectFault(
  answer: Answer,
  version: Version,
  kind: keyof typeof MAPPING,
  detailCode?: string,
  more: { readonly member?: string; readonly limit?: string } = {},
): FaultReport {
  const report = readFault(answer);
  const [code, status] = MAPPING[kind][version];
  const found = { version: report.version, code: report.code, status: report.status };
  expect({ ...found, text: report.text }).toEqual({ version, code, status, text: expect.any(String) });
  if (detailCode !== undefined) {
    expect(report.detail).toEqual({ code: detailCode, requestId: expect.any(String), ...more });
    if (version === "1.2" && kind !== "Encoding") expect(report.subcode).toBe(detailCode);
  }
  return report;
}
