/** `writeWsdl` writes the operation table as WSDL 1.1 with a SOAP 1.1 and a SOAP 1.2 binding, in one document. */
import {
  type Member,
  OPERATIONS,
  RECORDS,
  type RecordName,
  SPATIAL_INTERPOLATION,
  TEMPORAL_INTERPOLATION,
} from "../../operations.js";
import { element } from "./xml/writer.js";

const SERVICE = "TurbulenceService";
const PORT_TYPE = "TurbulenceServiceSoap";
const BINDINGS = [
  { name: "TurbulenceServiceSoap", prefix: "soap" },
  { name: "TurbulenceServiceSoap12", prefix: "soap12" },
] as const;

/** Name of the array type that holds records of that name. */
function arrayOf(record: RecordName): string {
  return `ArrayOf${record === "float" ? "Float" : record}`;
}

/**
 * Writes the description.
 *
 * @param namespace target namespace, ends in a slash
 * @param address   absolute address of the service, from the configuration
 */
export function writeWsdl(namespace: string, address: string): string {
  const content = [
    element("wsdl:types", schema(namespace)),
    ...OPERATIONS.flatMap(({ name }) => [message(`${name}SoapIn`, name), message(`${name}SoapOut`, `${name}Response`)]),
    portType(),
    ...BINDINGS.map(({ name, prefix }) => binding(name, prefix, namespace)),
    service(address),
  ];
  const definitions = element("wsdl:definitions", content.join(""), {
    "xmlns:wsdl": "http://schemas.xmlsoap.org/wsdl/",
    "xmlns:soap": "http://schemas.xmlsoap.org/wsdl/soap/",
    "xmlns:soap12": "http://schemas.xmlsoap.org/wsdl/soap12/",
    "xmlns:s": "http://www.w3.org/2001/XMLSchema",
    "xmlns:tns": namespace,
    targetNamespace: namespace,
  });
  return `<?xml version="1.0" encoding="utf-8"?>${definitions}`;
}

function schema(namespace: string): string {
  const records = (Object.keys(RECORDS) as RecordName[]).filter((name) => name !== "float");
  const types = [
    ...records.map((name) =>
      complexType(
        name,
        RECORDS[name].map((member) => field(member, "s:float", true)),
      ),
    ),
    ...(Object.keys(RECORDS) as RecordName[]).map((name) =>
      complexType(arrayOf(name), [
        element("s:element", "", {
          minOccurs: "0",
          maxOccurs: "unbounded",
          name,
          type: name === "float" ? "s:float" : `tns:${name}`,
        }),
      ]),
    ),
    enumeration("SpatialInterpolation", SPATIAL_INTERPOLATION),
    enumeration("TemporalInterpolation", TEMPORAL_INTERPOLATION),
  ];
  const elements = OPERATIONS.flatMap(({ name, request, result }) => [
    wrapper(
      name,
      request.map((member) => field(member.name, typeName(member), member.required)),
    ),
    wrapper(`${name}Response`, [field(`${name}Result`, `tns:${arrayOf(result)}`, false)]),
  ]);
  return element("s:schema", [...elements, ...types].join(""), {
    elementFormDefault: "qualified",
    targetNamespace: namespace,
  });
}

function typeName({ type }: Member): string {
  return type === "string" || type === "float" || type === "int" ? `s:${type}` : `tns:${type}`;
}

function field(name: string, type: string, required: boolean): string {
  return element("s:element", "", { minOccurs: required ? "1" : "0", maxOccurs: "1", name, type });
}

function complexType(name: string, fields: readonly string[]): string {
  return element("s:complexType", element("s:sequence", fields.join("")), { name });
}

function wrapper(name: string, fields: readonly string[]): string {
  return element("s:element", element("s:complexType", element("s:sequence", fields.join(""))), { name });
}

function enumeration(name: string, values: readonly string[]): string {
  const facets = values.map((value) => element("s:enumeration", "", { value }));
  return element("s:simpleType", element("s:restriction", facets.join(""), { base: "s:string" }), { name });
}

function message(name: string, part: string): string {
  return element("wsdl:message", element("wsdl:part", "", { name: "parameters", element: `tns:${part}` }), { name });
}

function portType(): string {
  const operations = OPERATIONS.map(({ name }) =>
    element(
      "wsdl:operation",
      element("wsdl:input", "", { message: `tns:${name}SoapIn` }) +
        element("wsdl:output", "", { message: `tns:${name}SoapOut` }),
      { name },
    ),
  );
  return element("wsdl:portType", operations.join(""), { name: PORT_TYPE });
}

function binding(name: string, prefix: "soap" | "soap12", namespace: string): string {
  const body = element(`${prefix}:body`, "", { use: "literal" });
  const operations = OPERATIONS.map((operation) =>
    element(
      "wsdl:operation",
      element(`${prefix}:operation`, "", { soapAction: `${namespace}${operation.name}`, style: "document" }) +
        element("wsdl:input", body) +
        element("wsdl:output", body),
      { name: operation.name },
    ),
  );
  const transport = element(`${prefix}:binding`, "", { transport: "http://schemas.xmlsoap.org/soap/http" });
  return element("wsdl:binding", transport + operations.join(""), { name, type: `tns:${PORT_TYPE}` });
}

function service(address: string): string {
  const ports = BINDINGS.map(({ name, prefix }) =>
    element("wsdl:port", element(`${prefix}:address`, "", { location: address }), { name, binding: `tns:${name}` }),
  );
  return element("wsdl:service", ports.join(""), { name: SERVICE });
}
