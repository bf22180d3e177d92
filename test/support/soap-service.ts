/** A service on a real socket for tests of the wire, with the requests, raw exchanges and readers they share. */
import { DOMParser } from "@xmldom/xmldom";
import type { FastifyInstance } from "fastify";
import { type DestinationStream, pino } from "pino";
import { afterAll, beforeAll, expect } from "vitest";
import { type AppOptions, createApp } from "../../src/server/http/app.js";
import { soapPlugin } from "../../src/server/soap/route.js";
import { loadConfig } from "../../src/shared/config.js";
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

/** The parts of a parsed element that tests read. */
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
  readonly logs: string[];
  stop(): Promise<void>;
}

/**
 * Starts a service over the fake engine; settings by variable name without FIELDPROBE_; plugins are added to that of
 * SOAP.
 */
export async function startService(
  settings: Readonly<Record<string, string>> = {},
  engineOptions: FakeOptions = {},
  more: Partial<AppOptions> = {},
): Promise<TestService> {
  const engine = new FakeEngine(engineOptions);
  const logs: string[] = [];
  const stream: DestinationStream = { write: (line) => logs.push(line) };
  const config = loadConfig(settings, {});
  const app = await createApp({
    config,
    engine,
    logger: pino({ level: "info" }, stream),
    ...more,
    plugins: [soapPlugin, ...(more.plugins ?? [])],
  });
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  return { app, engine, port: Number(new URL(url).port), url: `${url}${PATH}`, logs, stop: () => app.close() };
}

/** The same for the tests of a file: started before them and stopped behind them. */
export function useService(...given: Parameters<typeof startService>): TestService {
  let service: TestService;
  beforeAll(async () => {
    service = await startService(...given);
  });
  afterAll(() => service.stop());
  return {
    get app() {
      return service.app;
    },
    get engine() {
      return service.engine;
    },
    get port() {
      return service.port;
    },
    get url() {
      return service.url;
    },
    get logs() {
      return service.logs;
    },
    stop: () => service.stop(),
  };
}

export function envelope(version: Version, body: string, header = ""): string {
  const head = header === "" ? "" : `<s:Header>${header}</s:Header>`;
  return `<s:Envelope xmlns:s="${ENVELOPES[version]}">${head}<s:Body>${body}</s:Body></s:Envelope>`;
}

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

export function call(
  service: { readonly url: string },
  version: Version,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return send(service, version, envelope(version, body), headers);
}

/** Calls an operation by its members, `more` after them. `service`: its root. */
export function callOperation(
  service: { readonly url: string },
  version: Version,
  operation: string,
  members: Readonly<Record<string, string | number>>,
  more = "",
): Promise<Answer> {
  const all = Object.entries(members).map(([name, value]) => `<${name}>${value}</${name}>`);
  const body = `<${operation} xmlns="${NAMESPACE}">${all.join("")}${more}</${operation}>`;
  return call({ url: `${service.url}${PATH}` }, version, body);
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

export function child(parent: Element, local: string): Element {
  const found = children(parent).find((node) => node.localName === local);
  if (found === undefined) throw new Error(`${parent.nodeName} has no ${local}`);
  return found;
}

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

/** The rule says one second; the machine may be busy. */
const ALIVE_MS = 10_000;

/** A NullOp with three points is answered correctly, and soon (R120). */
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
  expect(performance.now() - since).toBeLessThan(ALIVE_MS);
}

/** Nothing of any request is held any more: no slot, no point, no place in a queue. */
export async function expectIdle(service: { readonly url: string }): Promise<void> {
  const held = async (): Promise<string[]> => {
    const text = await (await fetch(new URL("/metrics", service.url))).text();
    return (
      text.match(
        /^fieldprobe_(?:requests_in_flight|requests_waiting|points_in_flight|lent_bytes|batches_queued|batches_running) [1-9].*$/gm,
      ) ?? []
    );
  };
  await expect.poll(held, { timeout: 5_000 }).toEqual([]);
}
