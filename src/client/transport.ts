/** Sends a SOAP call through the soap package, with the address, the version and workarounds for its quirks. */
import { type Client, createClientAsync } from "soap";
import { type Dialect, dialectOf, type OperationName, operationOf } from "../shared/operations.js";
import { ClientError, clientError } from "./error.js";
import { untilAnswered } from "./retries.js";

export type SoapVersion = "1.1" | "1.2";

/** Resolves with a response element, and the version of the data that it is of, if the service states one. */
export type SoapCall = (
  operation: OperationName,
  request: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
) => Promise<{ readonly response: Readonly<Record<string, unknown>>; readonly manifest: string | undefined }>;

const PORTS = { "1.1": "TurbulenceServiceSoap", "1.2": "TurbulenceServiceSoap12" } as const;
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

export function endpoint(url: string): string {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
    throw new ClientError("Network", `Not an address: ${url}; http://127.0.0.1:8080 is one.`);
  }
  const { origin, pathname } = new URL(url);
  const path = pathname.replace(/\/+$/, "");
  return origin + (path.endsWith(".asmx") ? path : `${path}/service/turbulence.asmx`);
}

/** Reads an xs:float, which spells infinity as `INF`; the soap package would read it as NaN. Undefined if it is none. */
function readFloat(text: string): number | undefined {
  const number = text === "INF" ? Infinity : text === "-INF" ? -Infinity : Number(text);
  return text.trim() === "" || (Number.isNaN(number) && text !== "NaN") ? undefined : number;
}

/**
 * Loads the WSDL of a service and makes it callable. Requests go where the WSDL came from: the address in it may not be
 * reachable from here. @throws ClientError when the WSDL cannot be fetched
 */
export async function openTransport(url: string, version: SoapVersion): Promise<SoapCall> {
  const address = endpoint(url);
  const http = LOOPBACK.test(new URL(address).hostname) ? { proxy: false } : {};
  const options = {
    endpoint: address,
    disableCache: true,
    forceSoap12Headers: version === "1.2",
    customDeserializer: { float: readFloat },
    wsdl_options: http,
  };
  const clients = new Map<Dialect, Promise<Client>>();
  const load = async (dialect: Dialect): Promise<Client> => {
    const wsdl = `${address}?wsdl=${dialect}`;
    const client: Client = await untilAnswered(
      () =>
        createClientAsync(wsdl, options).catch((error: unknown) => {
          throw clientError(error);
        }),
      new AbortController().signal,
      clients.size > 0,
    );
    if (client.TurbulenceService?.[PORTS[version]]) return client;
    throw new ClientError("Protocol", `The service at ${address} offers no SOAP ${version} port.`);
  };
  clients.set("older", Promise.resolve(await load("older")));
  const clientOf = (dialect: Dialect): Promise<Client> => {
    const known = clients.get(dialect) ?? load(dialect);
    clients.set(dialect, known);
    known.catch(() => clients.delete(dialect));
    return known;
  };

  const send: SoapCall = async (operation, request, signal) => {
    const { wire, name } = operationOf(operation);
    const dialect = dialectOf(name);
    if (dialect === null) throw new Error(`SOAP has no ${name}`);
    const client = await clientOf(dialect);
    return new Promise((resolve, reject) => {
      const done = (error: unknown, answer: unknown) => {
        if (signal.aborted) return reject(signal.reason);
        if (error) return reject(clientError(error));
        // The headers are those of this answer: the soap package parses it in the turn in which it arrives.
        const manifest = client.lastResponseHeaders?.["fieldprobe-manifest"] as string | undefined;
        resolve({ response: (answer ?? {}) as Readonly<Record<string, unknown>>, manifest });
      };
      client.TurbulenceService[PORTS[version]][wire](request, done, { ...http, signal });
    });
  };

  return (operation, request, signal) => untilAnswered(() => send(operation, request, signal), signal);
}
