/** Group H of the conformance rules: the service's description. */
import { createClientAsync, type IOptions } from "soap";
import { beforeAll, describe, expect, it } from "vitest";
import { OLDER_INTERPOLATION, OLDER_OPERATIONS, RECORDS, TEMPORAL_INTERPOLATION } from "../../src/shared/operations.js";
import { fakeValue } from "../support/fake-engine.js";
import { exchange } from "../support/raw-http.js";
import {
  child,
  children,
  type Element,
  NAMESPACE,
  parseXml,
  startService,
  useService,
  VERSIONS,
} from "../support/soap-service.js";

const WSDL = "http://schemas.xmlsoap.org/wsdl/";
const XSD = "http://www.w3.org/2001/XMLSchema";
const BINDINGS = [
  ["TurbulenceServiceSoap", "http://schemas.xmlsoap.org/wsdl/soap/"],
  ["TurbulenceServiceSoap12", "http://schemas.xmlsoap.org/wsdl/soap12/"],
] as const;

const service = useService();
const later = useService({ WSDL: "later" });
let text: string;
let root: Element;
beforeAll(async () => {
  text = await (await fetch(`${service.url}?wsdl`)).text();
  root = parseXml(text);
});

const all = (local: string, parent = root): Element[] => children(parent).filter((node) => node.localName === local);
const attribute = (node: Element, name: string): string => node.getAttribute(name) as string;
const named = (local: string, name: string, parent = root): Element => {
  const found = all(local, parent).find((node) => attribute(node, "name") === name);
  if (!found) throw new Error(`no ${local} ${name}`);
  return found;
};
const schema = (): Element => child(child(root, "types"), "schema");
/** Elements of a sequence as [name, type, minOccurs, maxOccurs]. */
const sequence = (type: Element): string[][] =>
  all("element", child(type, "sequence")).map((node) =>
    ["name", "type", "minOccurs", "maxOccurs"].map((name) => attribute(node, name)),
  );

describe("WSDL", () => {
  it.each(["?wsdl", "?WSDL", "?Wsdl", "?wsdl=1"])("R97: GET %s", async (query) => {
    const response = await fetch(service.url + query);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/xml; charset=utf-8");
    expect(await response.text()).toBe(text);
  });

  it("names the other description in its documentation", () => {
    const [first] = children(root);
    expect(first?.localName).toBe("documentation");
    expect(first?.textContent).toContain(`${service.url}?wsdl=later`);
  });

  it("FIELDPROBE_WSDL=later makes a bare ?WSDL the later description", async () => {
    const read = async (query: string): Promise<string> => (await fetch(later.url + query)).text();
    const [bare, named, older] = await Promise.all(["?WSDL", "?wsdl=later", "?wsdl=older"].map(read));
    expect(bare).toBe(named);
    expect(bare).toContain("GetAnyCutoutWeb");
    expect(bare).toContain(`${later.url}?wsdl=older`);
    expect(older).toContain("GetBoxFilterSGSStress");
  });

  it("R97: HEAD has the same head and no body", async () => {
    const response = await exchange(
      service.port,
      `HEAD ${new URL(service.url).pathname}?wsdl HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
    );
    expect(response.text).toMatch(/^HTTP\/1\.1 200/);
    expect(response.text.toLowerCase()).toContain(`content-length: ${Buffer.byteLength(text)}`);
    expect(response.text.endsWith("\r\n\r\n")).toBe(true);
  });

  it("R98: one port type, two bindings, document/literal, one element part per message", () => {
    expect([root.namespaceURI, root.localName, attribute(root, "targetNamespace")]).toEqual([
      WSDL,
      "definitions",
      NAMESPACE,
    ]);
    expect(all("portType").map((node) => attribute(node, "name"))).toEqual(["TurbulenceServiceSoap"]);
    expect(all("service").map((node) => attribute(node, "name"))).toEqual(["TurbulenceService"]);
    expect(all("binding").map((node) => attribute(node, "name"))).toEqual(BINDINGS.map(([name]) => name));
    for (const message of all("message")) {
      const parts = all("part", message);
      expect(parts).toHaveLength(1);
      const element = attribute(parts[0] as Element, "element").split(":")[1] as string;
      named("element", element, schema());
    }
    for (const [name, space] of BINDINGS) {
      const transport = child(named("binding", name), "binding");
      expect([transport.namespaceURI, attribute(transport, "transport")]).toEqual([
        space,
        "http://schemas.xmlsoap.org/soap/http",
      ]);
      for (const operation of all("operation", named("binding", name))) {
        for (const direction of ["input", "output"]) {
          const body = child(child(operation, direction), "body");
          expect([body.namespaceURI, attribute(body, "use")]).toEqual([space, "literal"]);
        }
      }
    }
  });

  it("R98, R99: exactly the operations of the table, each with its action in both bindings", () => {
    const names = OLDER_OPERATIONS.map(({ name }) => name);
    expect(all("operation", named("portType", "TurbulenceServiceSoap")).map((node) => attribute(node, "name"))).toEqual(
      names,
    );
    for (const [name, space] of BINDINGS) {
      const found = all("operation", named("binding", name)).map((node) => {
        const inner = child(node, "operation");
        expect(inner.namespaceURI).toBe(space);
        return [attribute(node, "name"), attribute(inner, "soapAction"), attribute(inner, "style")];
      });
      expect(found).toEqual(names.map((operation) => [operation, NAMESPACE + operation, "document"]));
    }
    for (const operation of all("operation", named("portType", "TurbulenceServiceSoap"))) {
      const name = attribute(operation, "name");
      const message = (direction: string): string => {
        const target = attribute(child(operation, direction), "message").split(":")[1] as string;
        return attribute(child(named("message", target), "part"), "element").split(":")[1] as string;
      };
      expect([message("input"), message("output")]).toEqual([name, `${name}Response`]);
    }
  });

  it("R99: requests, results and records as the table has them", () => {
    const simple: Readonly<Record<string, string>> = { string: "s:string", float: "s:float", int: "s:int" };
    for (const { name, request, result } of OLDER_OPERATIONS) {
      const members = request.map(({ name, type, required }) => [
        name,
        simple[type] ?? `tns:${type}`,
        required ? "1" : "0",
        "1",
      ]);
      expect(sequence(child(named("element", name, schema()), "complexType"))).toEqual(members);
      const array = `tns:ArrayOf${result === "float" ? "Float" : result}`;
      expect(sequence(child(named("element", `${name}Response`, schema()), "complexType"))).toEqual([
        [`${name}Result`, array, "0", "1"],
      ]);
    }
    const later = ["Pressure", "SGSTensor", "ThresholdInfo", "base64", "Exit", "Steps", "ExitSteps", "FlowMap"];
    for (const [record, components] of Object.entries(RECORDS)) {
      if (later.includes(record)) continue;
      const array = named("complexType", `ArrayOf${record === "float" ? "Float" : record}`, schema());
      expect(sequence(array)).toEqual([[record, record === "float" ? "s:float" : `tns:${record}`, "0", "unbounded"]]);
      if (record === "float") continue;
      expect(sequence(named("complexType", record, schema()))).toEqual(
        components.map((name) => [name, "s:float", "1", "1"]),
      );
    }
    for (const [name, values] of [
      ["SpatialInterpolation", OLDER_INTERPOLATION],
      ["TemporalInterpolation", TEMPORAL_INTERPOLATION],
    ] as const) {
      const restriction = child(named("simpleType", name, schema()), "restriction");
      expect(all("enumeration", restriction).map((node) => attribute(node, "value"))).toEqual(values);
    }
    expect([schema().namespaceURI, attribute(schema(), "elementFormDefault")]).toEqual([XSD, "qualified"]);
    expect(text).not.toContain('addr"');
  });

  it("R100: addresses come from the configuration, never from the request", async () => {
    const configured = await startService({
      BASE_URL: "https://fields.example.org/base/",
      ALLOWED_HOSTS: "evil.example.org",
    });
    const plain = await startService({ ALLOWED_HOSTS: "evil.example.org" });
    const locations = async (url: string, headers: Record<string, string>): Promise<string[]> => {
      const head = Object.entries(headers)
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join("");
      const raw = await exchange(
        Number(new URL(url).port),
        `GET ${new URL(url).pathname}?wsdl HTTP/1.1\r\nConnection: close\r\n${head}\r\n`,
      );
      return [...raw.text.matchAll(/location="([^"]*)"/g)].map((match) => match[1] as string);
    };
    const spoofed = {
      Host: "evil.example.org",
      "X-Forwarded-Host": "evil.example.org",
      "X-Forwarded-Proto": "gopher",
      Forwarded: "host=evil.example.org",
    };
    expect(await locations(configured.url, spoofed)).toEqual(
      Array(2).fill("https://fields.example.org/base/service/turbulence.asmx"),
    );
    expect(await locations(plain.url, spoofed)).toEqual(Array(2).fill(plain.url));
    await plain.stop();
    await configured.stop();
  });

  it("R101: nothing is imported or included", () => {
    expect(text).not.toMatch(/<\w+:(import|include|redefine)\b|schemaLocation/);
  });

  const client = async (version: (typeof VERSIONS)[number]) => {
    const options: IOptions = { forceSoap12Headers: version === "1.2", endpoint: service.url };
    return createClientAsync(`${service.url}?wsdl`, options);
  };
  it.each(VERSIONS)("R102: the soap client loads it and completes every operation in SOAP %s", async (version) => {
    const connected = await client(version);
    const values: Record<string, unknown> = {
      authToken: "a",
      dataset: "isotropic32",
      time: 0,
      StartTime: 0,
      EndTime: 1,
      Tp: 1,
      dt: 0.1,
      nt: 1,
      filterlength: 1,
      nlayers: 1,
      spatialInterpolation: "None",
      temporalInterpolation: "None",
      points: {
        Point3: [
          { x: 1, y: 2, z: 3 },
          { x: 4, y: 5, z: 6 },
        ],
      },
      InitialV: {
        Vector3: [
          { x: 1, y: 2, z: 3 },
          { x: 4, y: 5, z: 6 },
        ],
      },
    };
    for (const { name, request, result } of OLDER_OPERATIONS) {
      const args = Object.fromEntries(request.map((member) => [member.name, values[member.name]]));
      const [answer] = await connected[`${name}Async`](args);
      const records = answer[`${name}Result`][result] as (Record<string, number> | number)[];
      const expected = [1, 4].map((x, i) =>
        RECORDS[result].map((_c, c) => (name === "NullOp" ? c + 1 + 3 * i : fakeValue(name, x, 0, c))),
      );
      expect(
        records.map((record) => (typeof record === "object" ? Object.values(record).map(Number) : [Number(record)])),
      ).toEqual(expected);
    }
  });
});
