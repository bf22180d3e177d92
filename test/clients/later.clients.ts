/** The later interface with generated proxies: npm soap, zeep, PHP and gSOAP call every operation in both SOAPs. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createClientAsync } from "soap";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningService } from "../../src/main.js";
import { type OperationRow, operationsIn } from "../../src/shared/operations.js";
import { laterRequest, serveLaterFields } from "../support/later.js";
import { scratchFolder } from "../support/scratch.js";
import { call, NAMESPACE, PATH, VERSIONS, type Version } from "../support/soap-service.js";
import { makeGsoapClient } from "./gsoap-later.js";
import { missing, PYTHON, TOOLKITS } from "./packages.js";

const run = promisify(execFile);
const rows = operationsIn("later");
let service: RunningService;
let url: string;
beforeAll(async () => {
  service = await serveLaterFields();
  url = service.url + PATH;
});
afterAll(() => service.close());

/** The request as plain text, and the numbers of its answer without any toolkit. */
async function plainAnswer(row: OperationRow, version: Version): Promise<number[]> {
  const written = Object.entries(laterRequest(row)).map(
    ([name, value]) => `<${name}>${contentOf(row, value)}</${name}>`,
  );
  const body = `<${row.wire} xmlns="${NAMESPACE}">${written.join("")}</${row.wire}>`;
  const { text } = await call({ url }, version, body);
  const [, result = ""] = /<\w+Result>(.*)<\/\w+Result>/s.exec(text) ?? [];
  return row.result === "base64"
    ? floatsOf(result)
    : [...result.matchAll(/>([^<>]+)</g)].map((match) => Number(match[1]));
}

function contentOf(row: OperationRow, value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  const points = value as readonly (readonly number[])[];
  if (row.family !== "arrays")
    return points.map(([x, y, z]) => `<Point3><x>${x}</x><y>${y}</y><z>${z}</z></Point3>`).join("");
  const list = (axis: number) => points.map((point) => `<float>${point[axis]}</float>`).join("");
  return [0, 1, 2].map((axis) => `<ArrayOfFloat>${list(axis)}</ArrayOfFloat>`).join("");
}

function floatsOf(base64: string): number[] {
  const bytes = Buffer.from(base64, "base64");
  return Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(4 * i));
}

/** Compares what a client has read with the plain answers, to the bit. */
async function check(answers: Readonly<Record<string, readonly number[]>>, version: Version): Promise<void> {
  expect(Object.keys(answers)).toHaveLength(48);
  for (const row of rows) {
    const plain = await plainAnswer(row, version);
    expect(plain.length, row.wire).toBeGreaterThan(0);
    expect(answers[row.wire]?.map(Math.fround), row.wire).toEqual(plain.map(Math.fround));
  }
}

/** Calls through the soap package, from the description alone. */
async function callSoapPackage(version: Version): Promise<Record<string, number[]>> {
  const client = await createClientAsync(`${url}?wsdl=later`, { forceSoap12Headers: version === "1.2" });
  const port = client.TurbulenceService[version === "1.1" ? "TurbulenceServiceSoap" : "TurbulenceServiceSoap12"];
  const answers: Record<string, number[]> = {};
  for (const row of rows) {
    const { points, ...members } = laterRequest(row) as { points?: number[][] };
    const lists = { ArrayOfFloat: [0, 1, 2].map((axis) => ({ float: points?.map((point) => point[axis]) })) };
    const triples = { Point3: points?.map(([x, y, z]) => ({ x, y, z })) };
    const request = { ...members, ...(points && { points: row.family === "arrays" ? lists : triples }) };
    const ordered = Object.fromEntries(
      row.request.flatMap(({ name }) => (name in request ? [[name, request[name as never]]] : [])),
    );
    const answer = await new Promise<Record<string, unknown>>((resolve, reject) => {
      port[row.wire](ordered, (error: unknown, found: Record<string, unknown>) =>
        error ? reject(error) : resolve(found),
      );
    });
    const result = answer[`${row.wire}Result`];
    const records = typeof result === "string" ? [] : Object.values(result as Record<string, unknown[]>)[0];
    answers[row.wire] =
      typeof result === "string"
        ? floatsOf(result)
        : (records ?? []).flatMap((record) =>
            typeof record === "number" ? [record] : Object.values(record as object),
          );
  }
  return answers;
}

describe("proxies from the description of the later interface call every operation", () => {
  const script = (name: string) => fileURLToPath(new URL(name, import.meta.url));
  const asJson = () => JSON.stringify(Object.fromEntries(rows.map((row) => [row.wire, laterRequest(row)])));

  it.each(VERSIONS)("npm soap, SOAP %s", async (version) => {
    await check(await callSoapPackage(version), version);
  });

  for (const [toolkit, program, file] of [
    [TOOLKITS.zeep, PYTHON, "zeep_later.py"],
    [TOOLKITS.php, "php", "php_later.php"],
  ] as const) {
    const reason = missing(toolkit);
    it.for(VERSIONS)(`${toolkit.name}, SOAP %s`, async (version, { skip }) => {
      skip(reason !== null, reason ?? "");
      const { stdout } = await run(program, [script(file), url, version, asJson()]);
      await check(JSON.parse(stdout), version);
    });
  }

  const gsoap = missing(TOOLKITS.gsoap);
  let client: Promise<string> | null = null;
  it.for(VERSIONS)("gSOAP, SOAP %s", async (version, { skip }) => {
    skip(gsoap !== null, gsoap ?? "");
    client ??= (async () => {
      const wsdl = await (await fetch(`${url}?wsdl=later`)).text();
      return makeGsoapClient(scratchFolder(), wsdl, rows, laterRequest);
    })();
    const { stdout } = await run(await client, [url, version]);
    await check(JSON.parse(stdout), version);
  });
});
