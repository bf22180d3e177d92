/** A service with a path in its public address, and requests that name no dataset. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningService } from "../../src/main.js";
import { operationsIn } from "../../src/shared/operations.js";
import { writeCube } from "../../tools/generate/cube.js";
import { EXAMPLE, load } from "../events/support.js";
import { scratchFolder } from "../support/scratch.js";
import { serveTestData } from "../support/service.js";

const NAMESPACE = "http://turbulence.pha.jhu.edu/";
const SOAP = "/service/turbulence.asmx";

async function velocity(service: RunningService, dataset: string): Promise<{ status: number; text: string }> {
  const members = `${dataset}<time>0</time><spatialInterpolation>None</spatialInterpolation><temporalInterpolation>None</temporalInterpolation><points><Point3><x>1</x><y>2</y><z>3</z></Point3></points>`;
  const response = await fetch(`${service.url}${SOAP}`, {
    method: "POST",
    headers: { "content-type": "text/xml" },
    body: `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><GetVelocity xmlns="${NAMESPACE}">${members}</GetVelocity></s:Body></s:Envelope>`,
  });
  return { status: response.status, text: await response.text() };
}

interface Linked {
  readonly _links: Readonly<Record<"self" | "next" | "find", { readonly href: string }>>;
}
type EventOfPage = Linked;
interface EventsPage extends Linked {
  readonly _embedded: { readonly events: readonly EventOfPage[] };
}

/** The operations that the contract flags as under development. */
const UNFINISHED = ["GetForce", "GetPositionInertialParticle", "GetPosition", "GetPositionParticleControl"];
const NAMELESS = ["", "<dataset/>", "<dataset></dataset>"];

describe("a service of one dataset, below /fields/", () => {
  let service: RunningService;
  beforeAll(async () => {
    const state = scratchFolder();
    load(join(state, "events.json"), [EXAMPLE]);
    service = await serveTestData([], { BASE_URL: "https://example.org/fields/", STATE: state }, false);
  });
  afterAll(() => service.close());

  it("answers each interface at its public path, and without it behind a proxy that strips", async () => {
    await service.optionalOpened;
    for (const path of ["/healthz", "/api/datasets", `${SOAP}?wsdl`, "/jhtdb_config.json", "/events?per_page=1", "/"]) {
      const below = await fetch(`${service.url}/fields${path}`);
      expect([path, below.status]).toEqual([path, 200]);
      const stripped = await fetch(service.url + path);
      expect(await below.text()).toBe(await stripped.text());
    }
    expect((await fetch(`${service.url}/fields`)).status).toBe(200);
    expect((await fetch(`${service.url}/fieldsets/api/datasets`)).status).toBe(404);
    const wsdl = await (await fetch(`${service.url}${SOAP}?wsdl`)).text();
    expect(wsdl).toContain(`location="https://example.org/fields${SOAP}"`);
  });

  it("writes links that stay below its public path: events, their openapi.json, jobs and their inputs", async () => {
    await service.optionalOpened;
    const answer = async (path: string, init: RequestInit = {}) => fetch(new URL(path, service.url), init);
    const { _embedded, _links } = JSON.parse(
      await (await answer("/fields/events?type=all&per_page=1")).text(),
    ) as EventsPage;
    const [event] = _embedded.events as [EventOfPage];
    const hrefs = [_links.self.href, _links.next.href, _links.find.href, event._links.self.href];
    for (const href of hrefs) expect(href).toMatch(/^\/fields\/events/);
    expect((await answer(_links.next.href)).status).toBe(200);
    const redirect = await answer("/fields/events?id=4101", { redirect: "manual" });
    expect(redirect.headers.get("location")).toBe("/fields/events/4101");
    for (const path of ["/fields/openapi.json", "/fields/api/openapi.json"])
      expect(await (await answer(path)).json()).toMatchObject({ servers: [{ url: "/fields" }] });
    const job = await answer("/fields/api/datasets/isotropic32/values", {
      method: "POST",
      headers: { "content-type": "application/json", prefer: "respond-async" },
      body: '{"points":[[1,2,3]],"time":0.5}',
    });
    expect(job.headers.get("location")).toMatch(/^\/fields\/api\/jobs\//);
    expect((await answer(job.headers.get("location") as string)).status).toBe(200);
    const input = await answer("/fields/api/inputs", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"upload":{"form":"octets","bytes":12}}',
    });
    expect(input.headers.get("location")).toMatch(/^\/fields\/api\/inputs\//);
  });

  it("takes its dataset for requests that name none", async () => {
    const named = await velocity(service, "<dataset>isotropic32</dataset>");
    expect(named.status).toBe(200);
    for (const dataset of NAMELESS) expect(await velocity(service, dataset)).toEqual(named);
  });

  it.each(["older", "later"] as const)("documents every operation of the %s WSDL", async (dialect) => {
    const wsdl = await (await fetch(`${service.url}${SOAP}?WSDL&dialect=${dialect}`)).text();
    const portType = /<wsdl:portType.*<\/wsdl:portType>/s.exec(wsdl)?.[0] as string;
    const described = [
      ...portType.matchAll(/<wsdl:operation name="(\w+)"><wsdl:documentation>([^<]{20,})<\/wsdl:documentation>/g),
    ];
    const operations = operationsIn(dialect);
    expect(described.map(([, name]) => name)).toEqual(operations.map(({ wire }) => wire));
    for (const [, name, text] of described)
      if (operations.find(({ wire }) => wire === name)?.family === "filter")
        expect(text).toContain("filterlength is at least the smallest spacing dx; points times 8^");
    const unfinished = described.filter(([, , text]) => text?.endsWith("Under development; may change."));
    expect(unfinished.map(([, name]) => name)).toEqual(dialect === "older" ? UNFINISHED : ["GetForce"]);
  });
});

describe("a service of two datasets", () => {
  const folder = scratchFolder();
  beforeAll(async () => {
    const cube = { kind: "random", nodes: [16, 16, 16], steps: 1, chunk: null, filter: "none", seed: 1 } as const;
    await writeCube({ ...cube, name: "noise", folder: join(folder, "noise") }, () => undefined);
  });

  it("names them to a request that names none", async () => {
    const service = await serveTestData([folder]);
    for (const dataset of NAMELESS) {
      const { status, text } = await velocity(service, dataset);
      expect(status).toBe(500);
      expect(text).toContain("The request names no dataset (available: isotropic32, noise).");
    }
    await service.close();
  });

  it("takes DEFAULT_DATASET for it", async () => {
    const service = await serveTestData([folder], { DEFAULT_DATASET: "noise" });
    const named = await velocity(service, "<dataset>noise</dataset>");
    expect(named.status).toBe(200);
    for (const dataset of NAMELESS) expect(await velocity(service, dataset)).toEqual(named);
    await service.close();
  });
});
