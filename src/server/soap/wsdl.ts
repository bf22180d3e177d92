/** WSDL 1.1 of the operation table, with bindings of SOAP 1.1 and 1.2. */
import { purposeOf } from "../../shared/operation-purposes.js";
import {
  type Dialect,
  membersIn,
  OLDER_INTERPOLATION,
  type OperationRow,
  operationsIn,
  RECORDS,
  type RecordName,
  SPATIAL_INTERPOLATION,
  TEMPORAL_INTERPOLATION,
} from "../../shared/operations.js";
import { element, textElement } from "./xml/writer.js";

const SERVICE = "TurbulenceService";
const PORT_TYPE = "TurbulenceServiceSoap";
const BINDINGS = [
  { name: "TurbulenceServiceSoap", prefix: "soap" },
  { name: "TurbulenceServiceSoap12", prefix: "soap12" },
] as const;

/** The other dialect, and a sentence that the address of its description completes. */
const OTHER: Readonly<Record<Dialect, readonly [Dialect, string]>> = {
  older: ["later", "The later one, with more fields, searches and cutouts, takes requests at the same address:"],
  later: ["older", "The older one, with other filters and particles, takes requests at the same address:"],
};

function arrayOf(record: RecordName): string {
  return `ArrayOf${record === "float" ? "Float" : record}`;
}

/** Describes the interface of a dialect; the absolute address takes requests of both. @param namespace ends in a slash */
export function writeWsdl(namespace: string, address: string, dialect: Dialect = "older"): string {
  const operations = operationsIn(dialect);
  const [other, more] = OTHER[dialect];
  const content = [
    textElement("wsdl:documentation", `The ${dialect} interface. ${more} ${address}?wsdl=${other}`),
    element("wsdl:types", schema(namespace, operations, dialect)),
    ...operations.flatMap(({ wire }) => [message(`${wire}SoapIn`, wire), message(`${wire}SoapOut`, `${wire}Response`)]),
    portType(operations),
    ...BINDINGS.map(({ name, prefix }) => binding(name, prefix, namespace, operations)),
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

function recordsOf(operations: readonly OperationRow[]): RecordName[] {
  const used = new Set<string>(["Point3", "Vector3", ...operations.map(({ result }) => result)]);
  return (Object.keys(RECORDS) as RecordName[]).filter((name) => used.has(name) && name !== "base64");
}

function schema(namespace: string, operations: readonly OperationRow[], dialect: Dialect): string {
  const records = recordsOf(operations);
  const lists = operations.some(({ request }) => request.some(({ type }) => type === "ArrayOfArrayOfFloat"));
  const types = [
    ...records.filter((name) => name !== "float").map(recordType),
    ...records.map((name) => arrayType(arrayOf(name), name, name === "float" ? "s:float" : `tns:${name}`)),
    ...(lists ? [arrayType("ArrayOfArrayOfFloat", "ArrayOfFloat", "tns:ArrayOfFloat")] : []),
    enumeration("SpatialInterpolation", dialect === "older" ? OLDER_INTERPOLATION : SPATIAL_INTERPOLATION),
    enumeration("TemporalInterpolation", TEMPORAL_INTERPOLATION),
  ];
  const elements = operations.flatMap((row) => [
    wrapper(
      row.wire,
      membersIn(row, dialect).map(({ name, type, required }) =>
        field(name, `${/^(string|float|int)$/.test(type) ? "s" : "tns"}:${type}`, required),
      ),
    ),
    wrapper(`${row.wire}Response`, [
      field(`${row.wire}Result`, row.result === "base64" ? "s:base64Binary" : `tns:${arrayOf(row.result)}`, false),
    ]),
  ]);
  return element("s:schema", [...elements, ...types].join(""), {
    elementFormDefault: "qualified",
    targetNamespace: namespace,
  });
}

/** The type of a record: node numbers are integers, everything else is a float. */
function recordType(name: RecordName): string {
  const typeOf = (member: string) => (name === "ThresholdInfo" && member !== "value" ? "s:int" : "s:float");
  const members = RECORDS[name].map((member) => field(member, typeOf(member), true));
  return complexType(name, members);
}

function arrayType(name: string, item: string, type: string): string {
  const items = element("s:element", "", { minOccurs: "0", maxOccurs: "unbounded", name: item, type });
  return complexType(name, [items]);
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

function portType(operations: readonly OperationRow[]): string {
  const described = operations.map(({ name: operation, wire: name }) =>
    element(
      "wsdl:operation",
      textElement("wsdl:documentation", purposeOf(operation)) +
        element("wsdl:input", "", { message: `tns:${name}SoapIn` }) +
        element("wsdl:output", "", { message: `tns:${name}SoapOut` }),
      { name },
    ),
  );
  return element("wsdl:portType", described.join(""), { name: PORT_TYPE });
}

function binding(
  name: string,
  prefix: "soap" | "soap12",
  namespace: string,
  operations: readonly OperationRow[],
): string {
  const body = element(`${prefix}:body`, "", { use: "literal" });
  const bound = operations.map(({ wire }) =>
    element(
      "wsdl:operation",
      element(`${prefix}:operation`, "", { soapAction: `${namespace}${wire}`, style: "document" }) +
        element("wsdl:input", body) +
        element("wsdl:output", body),
      { name: wire },
    ),
  );
  const transport = element(`${prefix}:binding`, "", { transport: "http://schemas.xmlsoap.org/soap/http" });
  return element("wsdl:binding", transport + bound.join(""), { name, type: `tns:${PORT_TYPE}` });
}

function service(address: string): string {
  const ports = BINDINGS.map(({ name, prefix }) =>
    element("wsdl:port", element(`${prefix}:address`, "", { location: address }), { name, binding: `tns:${name}` }),
  );
  return element("wsdl:service", ports.join(""), { name: SERVICE });
}
