/** Group G of the conformance rules: responses. */
import { connect } from "node:net";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OPERATIONS, RECORDS } from "../../src/operations.js";
import {
  call,
  child,
  children,
  ENVELOPES,
  envelope,
  exchange,
  getVelocity,
  items,
  NAMESPACE,
  nullOp,
  parseXml,
  rawPost,
  readRecords,
  startService,
  type TestService,
  TYPES,
  VERSIONS,
} from "../support/soap-service.js";

let service: TestService;
let zipping: TestService;
beforeAll(async () => {
  service = await startService({}, { slabPoints: 37 });
  zipping = await startService({ HTTP_GZIP: "on" });
});
afterAll(async () => {
  await service.stop();
  await zipping.stop();
});

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

  it.each(OPERATIONS.map(({ name, result, request }) => [name, result, request] as const))(
    "R92a, R94: the items of %s are bare and in schema order",
    async (name, result, request) => {
      const values = new Map<string, string>([
        ["time", "0"],
        ["StartTime", "0"],
        ["EndTime", "1"],
        ["Tp", "1"],
        ["dt", ".1"],
        ["nt", "1"],
        ["filterlength", "1"],
        ["nlayers", "1"],
        ["dataset", "isotropic32"],
        ["spatialInterpolation", "None"],
        ["temporalInterpolation", "None"],
        [
          "points",
          items([
            [1, 2, 3],
            [4, 5, 6],
          ]),
        ],
        [
          "InitialV",
          items(
            [
              [1, 2, 3],
              [4, 5, 6],
            ],
            "Vector3",
          ),
        ],
        ["authToken", "a"],
      ]);
      const body = request.map((member) => `<${member.name}>${values.get(member.name)}</${member.name}>`).join("");
      const { text } = await call(service, version, `<${name} xmlns="${NAMESPACE}">${body}</${name}>`);
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
    const texts = [
      "0.1",
      "-0",
      "0",
      "1e-45",
      "3.4028235e38",
      "16777216",
      "0.000001",
      "1e-7",
      "123456.79",
      "-1.1754944e-38",
      "33554432",
      "5.684342e-14",
    ];
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

  it("R95: a reader that stops reading holds the answer back", async () => {
    const points = items(Array.from({ length: 30_000 }, (_, i) => [i, i, i]));
    const document = envelope(
      version,
      getVelocity({ points }).replaceAll("GetVelocity", "GetVelocityHessian").replace("Lag8", "None_Fd4"),
    );
    const socket = connect({ port: service.port, host: "127.0.0.1" });
    socket.write(rawPost(version, document));
    await new Promise((resolve) => socket.once("readable", resolve));
    const held = await new Promise<number>((resolve) =>
      service.app.server.getConnections(() => setTimeout(() => resolve(service.engine.open), 150)),
    );
    expect(held).toBe(1);
    const chunks: Buffer[] = [];
    for await (const chunk of socket) {
      chunks.push(chunk);
      if (Buffer.concat(chunks.slice(-2)).includes("</soap:Envelope>")) break;
    }
    const text = Buffer.concat(chunks).toString();
    expect(text.match(/<VelocityHessian>/g)).toHaveLength(30_000);
    expect(service.engine.open).toBe(0);
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
