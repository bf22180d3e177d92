/** A client in C that calls every operation of the later interface through the stubs of gSOAP and prints numbers. */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { type OperationRow, RECORDS, type WireMember } from "../../src/shared/operations.js";

type Members = Readonly<Record<string, unknown>>;

const inC = (name: string): string => name.replaceAll("_", "_USCORE");

function valueInC({ name, type }: WireMember, value: unknown): string {
  switch (type) {
    case "string":
      return JSON.stringify(value);
    case "float":
    case "int":
      return String(value);
    case "ArrayOfArrayOfFloat":
      return "&lists";
    case "ArrayOfPoint3":
      return "&points";
    case "SpatialInterpolation":
    case "TemporalInterpolation":
      return `ns1__${type}__${inC(String(value))}`;
    default:
      throw new Error(`no value for ${name}`);
  }
}

function printInC({ wire, result }: OperationRow): string {
  const found = `out.${inC(wire)}Result`;
  if (result === "base64") return `print((float *)${found}.__ptr, ${found}.__size / 4);`;
  if (result === "float") return `print(${found}->float_, ${found}->__sizefloat_);`;
  const [item, size] = [`${found}->${result}`, `${found}->__size${result}`];
  if (result !== "ThresholdInfo") return `print((float *)${item}, ${size} * ${RECORDS[result].length});`;
  const members = ["x", "y", "z", "value"].map((name) => `${item}[i].${name}`).join(", ");
  return `for (int i = 0; i < ${size}; i++) { float hit[] = {${members}}; print(hit, 4); }`;
}

function callInC(row: OperationRow, members: Members): string {
  const name = inC(row.wire);
  const given = row.request
    .filter((member) => members[member.name] !== undefined)
    .map((member) => `.${inC(member.name)} = ${valueInC(member, members[member.name])}`);
  return `static int call_${name}(struct soap *soap, const char *url, int later) {
  struct _ns1__${name} in = {${given.join(", ")}};
  struct _ns1__${name}Response out;
  if ((later ? soap_call___ns1__${name}_ : soap_call___ns1__${name})(soap, url, NULL, &in, &out)) return 1;
  begin("${row.wire}");
  ${printInC(row)}
  return 0;
}`;
}

/** The source of the client, which is called with the address and the version of SOAP. */
function sourceOf(rows: readonly OperationRow[], membersOf: (row: OperationRow) => Members): string {
  return `#include "soapH.h"
#include "TurbulenceServiceSoap.nsmap"

static struct ns1__Point3 point[] = {{1, 2, 3}, {4, 5, 6}};
static struct ns1__ArrayOfPoint3 points = {2, point};
static float axes[3][2] = {{1, 4}, {2, 5}, {3, 6}};
static struct ns1__ArrayOfFloat list[] = {{2, axes[0]}, {2, axes[1]}, {2, axes[2]}};
static struct ns1__ArrayOfArrayOfFloat lists = {3, list};

static const char *separator;
static const char *opening = "{";
static void begin(const char *operation) {
  printf("%s\\"%s\\":[", opening, operation);
  opening = "],";
  separator = "";
}
static void print(const float *numbers, int count) {
  for (int i = 0; i < count; i++, separator = ",") printf("%s%.9g", separator, numbers[i]);
}

${rows.map((row) => callInC(row, membersOf(row))).join("\n")}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  int later = strcmp(argv[2], "1.1") != 0;
  struct soap *soap = soap_new1(SOAP_C_UTFSTRING);
  soap_set_version(soap, later ? 2 : 1);
  if (${rows.map(({ wire }) => `call_${inC(wire)}(soap, argv[1], later)`).join(" || ")}) {
    soap_print_fault(soap, stderr);
    return 1;
  }
  puts("]}");
  soap_destroy(soap);
  soap_end(soap);
  soap_free(soap);
  return 0;
}
`;
}

/** Makes the client in an empty folder from the description. @returns the path of the program */
export async function makeGsoapClient(
  folder: string,
  wsdl: string,
  rows: readonly OperationRow[],
  membersOf: (row: OperationRow) => Members,
): Promise<string> {
  const run = promisify(execFile);
  const inside = { cwd: folder };
  writeFileSync(join(folder, "later.wsdl"), wsdl);
  writeFileSync(join(folder, "client.c"), sourceOf(rows, membersOf));
  await run("wsdl2h", ["-c", "-o", "later.h", "later.wsdl"], inside);
  await run("soapcpp2", ["-c", "-C", "-w", "-x", "-L", "later.h"], inside);
  await run("gcc", ["-o", "client", "client.c", "soapC.c", "soapClient.c", "-lgsoap"], inside);
  return join(folder, "client");
}
