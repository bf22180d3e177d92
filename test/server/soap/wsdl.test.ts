/** The descriptions of both dialects: messages, bindings and types follow from the table of operations. */
import { describe, expect, it } from "vitest";
import { writeWsdl } from "../../../src/server/soap/wsdl.js";

const NAMESPACE = "http://fields.example.org/";
const WSDL = {
  older: writeWsdl(NAMESPACE, "http://here/soap"),
  later: writeWsdl(NAMESPACE, "http://here/soap", "later"),
};

/** The children of the complex type of that name: name, type, least number. */
function membersOf(text: string, type: string): (readonly [string, string, string])[] {
  const [, content = ""] = new RegExp(`<s:complexType name="${type}"><s:sequence>(.*?)</s:sequence>`).exec(text) ?? [];
  const attribute = (element: string, name: string): string => new RegExp(` ${name}="(.*?)"`).exec(element)?.[1] ?? "";
  return (content.match(/<s:element .*?>/g) ?? []).map(
    (element) => [attribute(element, "name"), attribute(element, "type"), attribute(element, "minOccurs")] as const,
  );
}

describe.each([
  ["older", 16],
  ["later", 48],
] as const)("the description of the %s dialect", (dialect, count) => {
  const text = WSDL[dialect];

  it("has each operation in the port type and in both bindings, with its action", () => {
    const operations = [...text.matchAll(/<wsdl:operation name="(\w+)"/g)].map(([, name]) => name as string);
    expect(operations).toHaveLength(3 * count);
    const names = operations.slice(0, count);
    expect(new Set(names).size).toBe(count);
    expect(operations).toEqual([...names, ...names, ...names]);
    const actions = [...text.matchAll(/ soapAction="(.*?)"/g)].map(([, action]) => action);
    expect(actions).toEqual([...names, ...names].map((name) => NAMESPACE + name));
  });

  it("declares each type once", () => {
    const types = [...text.matchAll(/<s:(?:complex|simple)Type name="(\w+)"/g)].map(([, name]) => name);
    expect(new Set(types).size).toBe(types.length);
    const used = new Set([...text.matchAll(/type="tns:(\w+)"/g)].map(([, name]) => name));
    used.delete("TurbulenceServiceSoap");
    expect([...used].filter((name) => !types.includes(name))).toEqual([]);
  });
});

it("declares records by their components, and arrays of them", () => {
  for (const text of Object.values(WSDL)) {
    expect(membersOf(text, "Vector3P")).toEqual(["x", "y", "z", "p"].map((name) => [name, "s:float", "1"]));
    expect(membersOf(text, "ArrayOfVector3P")).toEqual([["Vector3P", "tns:Vector3P", "0"]]);
  }
});

it("has node numbers as integers, lists of floats, and lists of lists, where the dialect has them", () => {
  expect(membersOf(WSDL.later, "ThresholdInfo")).toEqual([
    ["x", "s:int", "1"],
    ["y", "s:int", "1"],
    ["z", "s:int", "1"],
    ["value", "s:float", "1"],
  ]);
  expect(membersOf(WSDL.later, "ArrayOfArrayOfFloat")).toEqual([["ArrayOfFloat", "tns:ArrayOfFloat", "0"]]);
  expect(membersOf(WSDL.later, "ArrayOfFloat")).toEqual([["float", "s:float", "0"]]);
  expect(WSDL.older).not.toContain("ArrayOfArrayOfFloat");
  expect(WSDL.older).not.toContain("ThresholdInfo");
  expect(WSDL.later).not.toContain('complexType name="float"');
  expect(WSDL.later).not.toContain('complexType name="base64"');
});
