/** Group G of the conformance rules: responses. */
import { connect, type Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { OLDER_OPERATIONS, RECORDS } from "../../src/shared/operations.js";
import { exchange, rawPost } from "../support/raw-http.js";
import { requestOf } from "../support/requests.js";
import { schemaOf } from "../support/schema.js";
import {
  call,
  child,
  children,
  type Element,
  ENVELOPES,
  envelope,
  getVelocity,
  items,
  NAMESPACE,
  nullOp,
  parseXml,
  readRecords,
  TYPES,
  useService,
  VERSIONS,
} from "../support/soap-service.js";

const service = useService({}, { slabPoints: 37 });
const zipping = useService({ HTTP_GZIP: "on" });

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
/** Bytes in use after a full collection, those outside of the heap among them. */
function used(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const MANY: [number, number, number][] = Array.from({ length: 1500 }, (_, i) => [i, i + 0.5, (1 - 3 * i) / 7]);

describe.each(VERSIONS)("SOAP %s", (version) => {
  it("R90, R91: success", async () => {
    const answer = await call(service, version, getVelocity());
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe(TYPES[version]);
    const root = parseXml(answer.text);
    expect(root.namespaceURI).toBe(ENVELOPES[version]);
    expect(children(root).map((node) => node.localName)).toEqual(["Body"]);
    const responses = children(child(root, "Body"));
    expect(responses.map((node) => node.localName)).toEqual(["GetVelocityResponse"]);
    expect(children(responses[0] as (typeof responses)[0]).map((node) => node.localName)).toEqual([
      "GetVelocityResult",
    ]);
  });

  it.each([0, 1, 2, 36, 37, 38, 74, 1500])(
    "R92, R92b: %i points give as many items, in order, across slabs and blocks",
    async (count) => {
      const points = MANY.slice(0, count);
      const records = readRecords(await call(service, version, nullOp(items(points))), "NullOp");
      expect(records.map(({ values }) => values.map(Math.fround))).toEqual(
        points.map((point) => point.map(Math.fround)),
      );
      expect(service.engine.open).toBe(0);
    },
  );

  it("R92a: the form of the original platform, byte by byte", async () => {
    const { text } = await call(service, version, nullOp(items([[1.5, -2, 1e-7]])));
    const xsi = "http://www.w3.org/2001/XMLSchema-instance";
    expect(text).toBe(
      `<?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="${ENVELOPES[version]}" xmlns:xsi="${xsi}" xmlns:xsd="http://www.w3.org/2001/XMLSchema">` +
        `<soap:Body><NullOpResponse xmlns="${NAMESPACE}"><NullOpResult><Vector3><x>1.5</x><y>-2</y><z>1e-7</z></Vector3></NullOpResult></NullOpResponse></soap:Body></soap:Envelope>`,
    );
  });

  it.each(OLDER_OPERATIONS.map((row) => [row.name, row] as const))(
    "R92a: the items of %s are bare and in the order of the table",
    async (name, row) => {
      const { result } = row;
      const two = (item: string): string =>
        items(
          [
            [1, 2, 3],
            [4, 5, 6],
          ],
          item,
        );
      const request = requestOf(row, { nlayers: "1", points: two("Point3"), InitialV: two("Vector3") });
      const { text } = await call(service, version, request);
      const inner = text.slice(text.indexOf(`<${name}Result>`), text.indexOf(`</${name}Response>`));
      const number = "-?[0-9.]+(?:e-?[0-9]+)?";
      const item =
        result === "float"
          ? `<float>${number}</float>`
          : `<${result}>${RECORDS[result].map((component) => `<${component}>${number}</${component}>`).join("")}</${result}>`;
      expect(inner).toMatch(new RegExp(`^<${name}Result>(?:${item}){2}</${name}Result>$`));
    },
  );

  it("R93, L16: numbers are the shortest that read back", async () => {
    const texts =
      "0.1 -0 0 1e-45 3.4028235e38 16777216 0.000001 1e-7 123456.79 -1.1754944e-38 33554432 5.684342e-14".split(" ");
    const { text } = await call(service, version, nullOp(items(texts.map((x) => [x, 0, 0]))));
    expect([...text.matchAll(/<x>([^<]*)<\/x>/g)].map((match) => match[1])).toEqual(texts);
    const long = await call(
      service,
      version,
      nullOp(items([["0.100000001490116119384765625", "1.00000011920928955078125", "100000000000"]])),
    );
    expect(long.text).toContain("<x>0.1</x><y>1.0000001</y><z>100000000000</z>");
  });

  it("R96: NullOp returns each point's own coordinates", async () => {
    const points = MANY.slice(0, 20);
    const records = readRecords(await call(service, version, nullOp(items(points))), "NullOp");
    expect(records.map(({ name }) => name)).toEqual(points.map(() => "Vector3"));
    expect(records.map(({ values }) => values.map(Math.fround))).toEqual(points.map((point) => point.map(Math.fround)));
  });

  it("R94: what every operation is asked and answers is valid by the schema of the description", async () => {
    const problems = schemaOf(parseXml(await (await fetch(`${service.url}?wsdl`)).text()));
    for (const row of OLDER_OPERATIONS) {
      for (const replaced of [{}, { points: "", InitialV: "" }]) {
        const request = requestOf(row, replaced);
        expect(problems(parseXml(request))).toEqual([]);
        const { text } = await call(service, version, request);
        const [response] = children(child(parseXml(text), "Body")) as [Element];
        expect(response.localName).toBe(`${row.name}Response`);
        expect(problems(response)).toEqual([]);
      }
      const { text } = await call(service, version, requestOf(row));
      const record = text.slice(text.indexOf(`<${row.result}>`), text.indexOf(`</${row.result}>`));
      const spoilt = record.includes("><") ? record.replace(/<(\w+)>[^<]*<\/\1>$/, "") : record.replace(">", ">1,");
      const [response] = children(child(parseXml(text.replace(record, spoilt)), "Body")) as [Element];
      expect(problems(response)).toHaveLength(1);
    }
  });

  it("R95: readers that stop reading hold their answers back, and what is held does not grow with the answers", async () => {
    const READERS = 3;
    const ITEMS = 30_000;
    const points = items(Array.from({ length: ITEMS }, (_, i) => [i, i, i]));
    const hessian = getVelocity({ points, spatialInterpolation: "None_Fd4" });
    const document = rawPost(version, envelope(version, hessian.replaceAll("GetVelocity", "GetVelocityHessian")));
    const ends = new Set<Socket>();
    const note = (socket: Socket) => ends.add(socket);
    service.app.server.on("connection", note);
    const before = used();
    const readers = Array.from({ length: READERS }, () => connect({ port: service.port, host: "127.0.0.1" }));
    for (const reader of readers) reader.write(document);
    await expect
      .poll(() => [...ends].filter((end) => end.writableLength > 0).length, { timeout: 20_000 })
      .toBe(READERS);
    // Whoever does not wait for its reader has long written everything after so many turns.
    for (let i = 0; i < 5_000; i++) await turn();
    expect(service.engine.open).toBe(READERS);
    const held = used() - before;
    let total = 0;
    for (const reader of readers) {
      const parts: Buffer[] = [];
      for await (const part of reader) {
        parts.push(part);
        if (Buffer.concat(parts.slice(-2)).includes("</soap:Envelope>")) break;
      }
      const text = Buffer.concat(parts).toString("latin1");
      expect(text.split("<VelocityHessian>")).toHaveLength(1 + ITEMS);
      total += text.length;
    }
    service.app.server.off("connection", note);
    const values = READERS * ITEMS * 4 * (3 + RECORDS.VelocityHessian.length);
    expect(total).toBeGreaterThan(3 * values);
    expect(held).toBeLessThan(values + total / 3);
    await expect.poll(() => service.engine.open).toBe(0);
  });

  it("compresses large answers for those who ask, and only those", async () => {
    const large = envelope(version, nullOp(items(MANY)));
    const ask = (port: number, document: string, accept: string) =>
      exchange(port, rawPost(version, document, [`Accept-Encoding: ${accept}`, "Connection: close"]));
    const plain = await ask(zipping.port, large, "identity");
    const zipped = await ask(zipping.port, large, "deflate, gzip;q=0.5");
    expect(zipped.text).toMatch(/^content-encoding: gzip\r$/m);
    expect(gunzipSync(dechunk(zipped.text)).toString()).toBe(dechunk(plain.text).toString());
    for (const other of [
      plain,
      await ask(zipping.port, large, "gzip;q=0"),
      await ask(zipping.port, envelope(version, nullOp()), "gzip"),
      await ask(service.port, large, "gzip"),
    ]) {
      expect(other.text).toMatch(/^HTTP\/1\.1 200/);
      expect(other.text).not.toMatch(/^content-encoding/im);
    }
  });
});

/** The body of a chunked response read as latin1. */
function dechunk(response: string): Buffer {
  let rest = response.slice(response.indexOf("\r\n\r\n") + 4);
  let body = "";
  for (let size = Number.NaN; size !== 0; ) {
    const line = rest.indexOf("\r\n");
    size = Number.parseInt(rest.slice(0, line), 16);
    body += rest.slice(line + 2, line + 2 + size);
    rest = rest.slice(line + 4 + size);
  }
  return Buffer.from(body, "latin1");
}
