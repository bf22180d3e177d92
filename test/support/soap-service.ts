/** A service on a real socket for tests of the wire, with the requests, raw exchanges and readers they share. */
import { connect, type Socket } from "node:net";
import { DOMParser } from "@xmldom/xmldom";
import type { FastifyInstance } from "fastify";
import { type DestinationStream, pino } from "pino";
import { expect } from "vitest";
import { loadConfig } from "../../src/config.js";
import { type AppOptions, createApp } from "../../src/server/app.js";
import { FakeEngine, type FakeOptions } from "./fake-engine.js";

export const NAMESPACE = "http://turbulence.pha.jhu.edu/";
export const PATH = "/service/turbulence.asmx";
export const VERSIONS = ["1.1", "1.2"] as const;
export type Version = (typeof VERSIONS)[number];
export const ENVELOPES = {
  "1.1": "http://schemas.xmlsoap.org/soap/envelope/",
  "1.2": "http://www.w3.org/2003/05/soap-envelope",
} as const;
export const TYPES = { "1.1": "text/xml; charset=utf-8", "1.2": "application/soap+xml; charset=utf-8" } as const;

/** What the tests read of a parsed element. */
export interface Element {
  readonly nodeType: number;
  readonly nodeName: string;
  readonly localName: string;
  readonly namespaceURI: string | null;
  readonly textContent: string | null;
  readonly childNodes: ArrayLike<Element>;
  readonly parentNode: Element | null;
  getAttribute(name: string): string | null;
}

export interface TestService {
  readonly app: FastifyInstance;
  readonly engine: FakeEngine;
  readonly port: number;
  readonly url: string;
  /** Lines the service has logged. */
  readonly logs: string[];
  stop(): Promise<void>;
}

/** Starts a service over the fake engine; settings by variable name without FIELDPROBE_. */
export async function startService(
  settings: Readonly<Record<string, string>> = {},
  engineOptions: FakeOptions = {},
  more: Partial<AppOptions> = {},
): Promise<TestService> {
  const engine = new FakeEngine(engineOptions);
  const logs: string[] = [];
  const stream: DestinationStream = { write: (line) => logs.push(line) };
  const config = loadConfig(settings, {});
  const app = await createApp({ config, engine, logger: pino({ level: "info" }, stream), ...more });
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  return { app, engine, port: Number(new URL(url).port), url: `${url}${PATH}`, logs, stop: () => app.close() };
}

/** An envelope around a body, with an optional header. */
export function envelope(version: Version, body: string, header = ""): string {
  const head = header === "" ? "" : `<s:Header>${header}</s:Header>`;
  return `<s:Envelope xmlns:s="${ENVELOPES[version]}">${head}<s:Body>${body}</s:Body></s:Envelope>`;
}

/** Items of three numbers. */
export function items(
  points: readonly (readonly [number | string, number | string, number | string])[],
  name = "Point3",
): string {
  return points.map(([x, y, z]) => `<${name}><x>${x}</x><y>${y}</y><z>${z}</z></${name}>`).join("");
}

export function nullOp(points = items([[1.5, 2, 3]])): string {
  return `<NullOp xmlns="${NAMESPACE}"><points>${points}</points></NullOp>`;
}

/** A GetVelocity element; members by name replace or (with undefined) drop the defaults. */
export function getVelocity(members: Readonly<Record<string, string | undefined>> = {}): string {
  const all: Record<string, string | undefined> = {
    dataset: "isotropic32",
    time: "0.1",
    spatialInterpolation: "Lag8",
    temporalInterpolation: "PCHIP",
    points: items([[1, 2, 3]]),
    ...members,
  };
  const order = ["authToken", "dataset", "time", "spatialInterpolation", "temporalInterpolation", "points"];
  const content = order.map((name) => (all[name] === undefined ? "" : `<${name}>${all[name]}</${name}>`));
  return `<GetVelocity xmlns="${NAMESPACE}">${content.join("")}</GetVelocity>`;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Sends a document by POST. */
export async function send(
  service: { readonly url: string },
  version: Version,
  document: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const response = await fetch(service.url, {
    method: "POST",
    headers: { "content-type": TYPES[version], ...headers },
    body: document as BodyInit,
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** Sends the content of a body. */
export function call(
  service: { readonly url: string },
  version: Version,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return send(service, version, envelope(version, body), headers);
}

/** Parses a document with a parser that is not the service's own; any complaint is an error. */
export function parseXml(text: string): Element {
  const complain = (message: string): never => {
    throw new Error(`not well-formed: ${message}: ${text.slice(0, 200)}`);
  };
  const errorHandler = { warning: complain, error: complain, fatalError: complain };
  return new DOMParser({ errorHandler }).parseFromString(text, "text/xml").documentElement as unknown as Element;
}

export function children(parent: Element): Element[] {
  return Array.from(parent.childNodes).filter((node) => node.nodeType === 1);
}

/** The child of that name. */
export function child(parent: Element, local: string): Element {
  const found = children(parent).find((node) => node.localName === local);
  if (found === undefined) throw new Error(`${parent.nodeName} has no ${local}`);
  return found;
}

export interface FaultReport {
  readonly version: Version;
  readonly status: number;
  /** Local part of the fault code. */
  readonly code: string;
  /** Local part of the SOAP 1.2 sub-code. */
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

/** The records of a response: name and numbers of each. */
export function readRecords(answer: Answer, operation: string): { name: string; values: number[] }[] {
  expect({ status: answer.status, text: answer.text.slice(0, 600) }).toMatchObject({ status: 200 });
  const response = child(child(parseXml(answer.text), "Body"), `${operation}Response`);
  expect(response.namespaceURI).toBe(NAMESPACE);
  const result = child(response, `${operation}Result`);
  return children(result).map((node) => ({
    name: node.localName as string,
    values: (children(node).length > 0 ? children(node) : [node]).map(({ textContent }) => {
      const word = new Map([
        ["INF", Infinity],
        ["-INF", -Infinity],
      ]).get(textContent ?? "");
      return word ?? Number(textContent);
    }),
  }));
}

/** A NullOp with three points is answered correctly within a second (R120). */
export async function expectAlive(service: { readonly url: string }): Promise<void> {
  const since = performance.now();
  const answer = await call(
    service,
    "1.1",
    nullOp(
      items([
        [1, 2, 3],
        [-4, 5.5, 6],
        [0.1, "-0", 1e-8],
      ]),
    ),
  );
  expect(readRecords(answer, "NullOp").map(({ values }) => values)).toEqual([
    [1, 2, 3],
    [-4, 5.5, 6],
    [0.1, -0, 1e-8],
  ]);
  expect(performance.now() - since).toBeLessThan(1000);
}

/** What came over a raw connection before the other side closed it. */
export interface RawAnswer {
  readonly text: string;
  /** Whether the server closed the connection. */
  readonly closed: boolean;
  readonly ms: number;
}

/** Opens a connection, writes, and reads until the server closes it or `until` is satisfied or `waitMs` have passed. */
export function exchange(
  port: number,
  bytes: string | Uint8Array | ((socket: Socket) => void),
  until: (text: string) => boolean = () => false,
  waitMs = 5_000,
): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const since = performance.now();
    let text = "";
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true }, () => {
      if (typeof bytes === "function") bytes(socket);
      else socket.write(bytes);
    });
    const done = (closed: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ text, closed, ms: performance.now() - since });
    };
    const timer = setTimeout(() => done(false), waitMs);
    socket.setEncoding("latin1");
    socket.on("data", (chunk: string) => {
      text += chunk;
      if (until(text)) done(false);
    });
    socket.on("end", () => done(true));
    socket.on("error", () => done(true));
  });
}

/** A POST as bytes. */
export function rawPost(version: Version, document: string, more: readonly string[] = [], path = PATH): string {
  return [
    `POST ${path} HTTP/1.1`,
    "Host: 127.0.0.1",
    `Content-Type: ${TYPES[version]}`,
    `Content-Length: ${Buffer.byteLength(document)}`,
    ...more,
    "",
    document,
  ].join("\r\n");
}

export function statusOf(answer: RawAnswer): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer.text)?.[1] ?? 0);
}
