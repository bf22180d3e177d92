/** Group E of the conformance rules: dispatch and request content. */
import { describe, expect, it } from "vitest";
import { OLDER_OPERATIONS, RECORDS } from "../../src/shared/operations.js";
import { fakeValue } from "../support/fake-engine.js";
import { expectFault } from "../support/faults.js";
import { around, memberOf, requestOf } from "../support/requests.js";
import {
  type Answer,
  call,
  envelope,
  expectAlive,
  getVelocity,
  items,
  NAMESPACE,
  nullOp,
  readRecords,
  send,
  TYPES,
  useService,
  VERSIONS,
} from "../support/soap-service.js";

const service = useService();

const XSI = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema"';

describe.each(VERSIONS)("SOAP %s", (version) => {
  const ask = (body: string, headers: Record<string, string> = {}): Promise<Answer> =>
    call(service, version, body, headers);
  const invalid = async (body: string, named?: string) => {
    const report = expectFault(await ask(body), version, "Caller");
    expect(report.detail?.code).toBe("InvalidRequest");
    if (named !== undefined) expect(`${report.text} ${report.detail?.member}`).toContain(named);
    return report;
  };

  it.each(OLDER_OPERATIONS.map((row) => [row.name, row] as const))(
    "R55, R62, R92: %s is selected by the name of the body's child",
    async (name, row) => {
      const records = readRecords(await ask(requestOf(row)), name);
      const components = RECORDS[row.result];
      const expected = Array.from({ length: records.length }, (_, record) =>
        components.map((_component, c) => (name === "NullOp" ? c + 1 : fakeValue(name, 1, record, c))),
      );
      expect(records).toEqual(expected.map((values) => ({ name: row.result, values })));
      expect(records).toHaveLength(name.startsWith("GetBoxFilter") ? 9 : 1);
      expect(service.engine.queries.at(-1)?.operation).toBe(name);
    },
  );

  it.each(OLDER_OPERATIONS.map((row) => [row.name, row] as const))(
    "R77: %s answers the same in both versions",
    async (name, row) => {
      const result = async (other: "1.1" | "1.2"): Promise<string> => {
        const { text } = await call(service, other, requestOf(row));
        return text.slice(text.indexOf(`<${name}Result>`), text.indexOf(`</${name}Response>`));
      };
      expect(await result("1.1")).toBe(await result("1.2"));
      expect(await result("1.1")).toMatch(/>\d/);
    },
  );

  const action = `${NAMESPACE}NullOp`;
  const actions: (readonly [string, Record<string, string>])[] =
    version === "1.1"
      ? [
          ["absent", {}],
          ["empty", { soapaction: "" }],
          ["an empty string", { soapaction: '""' }],
          ["unquoted", { soapaction: action }],
          ["quoted", { soapaction: `"${action}"` }],
          ["that of any operation", { soapaction: '"*"' }],
        ]
      : [
          ["absent", {}],
          ["empty", { "content-type": `${TYPES["1.2"]}; action=""` }],
          ["equal", { "content-type": `${TYPES["1.2"]}; action="${action}"` }],
          ["absent beside a SOAPAction of something else", { soapaction: '"urn:other"' }],
        ];
  it.each(actions)(`${version === "1.1" ? "R56" : "R57"}: an action that is %s is accepted`, async (_what, headers) => {
    expect((await ask(nullOp(), headers)).status).toBe(200);
  });

  it.each(["urn:other", `${NAMESPACE}GetVelocity`, `${NAMESPACE}nullop`, "NullOp", `${NAMESPACE}NullOp/`])(
    "R58: the action %s runs nothing",
    async (other) => {
      const before = service.engine.queries.length;
      const headers: Record<string, string> =
        version === "1.1" ? { soapaction: `"${other}"` } : { "content-type": `${TYPES["1.2"]}; action="${other}"` };
      expectFault(await ask(nullOp(), headers), version, "Caller", "ActionMismatch");
      expect(service.engine.queries).toHaveLength(before);
    },
  );

  it.each(["", " \n ", "<!-- nothing -->"])("R59: the empty body %j names no operation", async (body) => {
    expectFault(await ask(body), version, "Caller", "UnknownOperation");
  });

  it("R60: two children in the body: neither is answered", async () => {
    const before = { open: service.engine.open, aborted: service.engine.aborted };
    expectFault(await ask(nullOp() + nullOp()), version, "Caller", "InvalidEnvelope");
    expect(service.engine.open).toBe(before.open);
    expect(service.engine.aborted).toBe(before.aborted + 1);
  });

  it.each([
    ["an unknown name", `<GetVorticity xmlns="${NAMESPACE}"/>`],
    ["another letter case", `<nullop xmlns="${NAMESPACE}"/>`],
    ["another namespace", `<NullOp xmlns="${NAMESPACE}x"/>`],
    ["no namespace", "<NullOp/>"],
    ["a response element", `<NullOpResponse xmlns="${NAMESPACE}"/>`],
    ["a name of Object.prototype (R78)", `<constructor xmlns="${NAMESPACE}"/>`],
    ["__proto__ (R78)", `<__proto__ xmlns="${NAMESPACE}"/>`],
  ])("R61: %s is an unknown operation", async (_what, body) => {
    expectFault(await ask(body), version, "Caller", "UnknownOperation");
  });

  it("R61: an operation in a wrong namespace is told the right one", async () => {
    const texts = [];
    for (const attribute of [` xmlns="${NAMESPACE}x"`, ""])
      texts.push(expectFault(await ask(`<NullOp${attribute}/>`), version, "Caller", "UnknownOperation").text);
    expect(texts).toEqual([
      `There is no operation NullOp in the namespace ${NAMESPACE}x: it is in ${NAMESPACE}`,
      `There is no operation NullOp without a namespace: it is in ${NAMESPACE}`,
    ]);
  });

  it("R67: the attributes of ksoap2, id and c:root, mean nothing", async () => {
    const marks = 'id="o0" c:root="1" xmlns:c="http://schemas.xmlsoap.org/soap/encoding/"';
    const answer = await ask(
      getVelocity().replace("<GetVelocity", `<GetVelocity ${marks}`).replace("<points", '<points id="o1"'),
    );
    expect(answer.text).toBe((await ask(getVelocity())).text);
    expect(answer.status).toBe(200);
  });

  it("R62: prefixes and white space between members are free", async () => {
    const body = `<q:NullOp xmlns:q="${NAMESPACE}">
      <q:authToken> any </q:authToken><!-- a -->
      <w:points xmlns:w="${NAMESPACE}">\r\n\t<w:Point3 ><w:x
        >1</w:x> <w:y>2</w:y> <w:z>3</w:z ></w:Point3>
        <q:Point3><q:x>4</q:x><q:y>5</q:y><q:z>6</q:z></q:Point3></w:points></q:NullOp>`;
    expect(readRecords(await ask(body), "NullOp").map(({ values }) => values)).toEqual([
      [1, 2, 3],
      [4, 5, 6],
    ]);
  });

  it.each([
    ["unknown", getVelocity().replace("<time>", "<colour>red</colour><time>"), "colour"],
    ["repeated", getVelocity().replace("<time>", "<time>0</time><time>"), "time"],
    [
      "out of order",
      getVelocity().replace("<time>0.1</time>", "").replace("<points>", "<time>0.1</time><points>"),
      "time",
    ],
    ["in no namespace", getVelocity().replace("<time>", '<time xmlns="">'), "time"],
    ["in another namespace", getVelocity().replace("<time>", '<time xmlns="urn:other">'), "time"],
    ["in other letter case", getVelocity().replaceAll("time>", "Time>"), "Time"],
    ["after points", getVelocity().replace("</points>", "</points><more/>"), "more"],
    ["a second points", getVelocity().replace("</points>", "</points><points/>"), "points"],
    [
      "a token after another member (L7)",
      getVelocity().replace("<time>", "<authToken>a</authToken><time>"),
      "authToken",
    ],
    [
      "a repeated token (L7)",
      getVelocity({ authToken: "a" }).replace("<dataset>", "<authToken>a</authToken><dataset>"),
      "authToken",
    ],
    ["__proto__ (R78)", getVelocity().replace("<time>", "<__proto__>1</__proto__><time>"), "__proto__"],
    [
      "points of a NullOp before its token",
      nullOp().replace("</points>", "</points><authToken>a</authToken>"),
      "authToken",
    ],
  ])("R63: a member that is %s is named", async (_what, body, named) => {
    await invalid(body, named);
  });

  it.each(OLDER_OPERATIONS.map((row) => [row.name, row] as const))("R63: a trailing addr on %s", async (name, row) => {
    const content = row.request.map((one) => memberOf(row, one)).join("");
    const answer = await ask(around(row, `${content}<addr>http://example.org/</addr>`));
    if (name === "NullOp") expectFault(answer, version, "Caller", "InvalidRequest", { member: "addr" });
    else expect(answer.status).toBe(200);
    if (name === "NullOp") return;
    await invalid(around(row, `${content}<addr>a</addr><addr>b</addr>`), "addr");
    const first = row.request.find(({ required: is }) => is)?.name as string;
    await invalid(around(row, `<addr>a</addr>${content}`), first);
    await invalid(around(row, `${content}<addr><a/></addr>`), "addr");
  });

  const required = OLDER_OPERATIONS.flatMap((row) =>
    row.request.filter((one) => one.required).map((one) => [row.name, one.name, row] as const),
  );
  it.each(required)("R64, R65: %s without %s", async (_name, missing, row) => {
    const content = row.request.filter(({ name }) => name !== missing);
    await invalid(around(row, content.map((one) => memberOf(row, one)).join("")), missing);
  });

  it("R64: nil is refused on every member", async () => {
    for (const row of OLDER_OPERATIONS) {
      for (const one of row.request) {
        const nil = row.request.map((other) =>
          other === one ? `<${one.name} ${XSI} xsi:nil="true"/>` : memberOf(row, other),
        );
        await invalid(around(row, nil.join("")), one.name);
      }
    }
    await invalid(getVelocity().replace("<x>1</x>", `<x ${XSI} xsi:nil="1"/>`), "points[0].x");
    expect((await ask(getVelocity().replace("<time>", `<time ${XSI} xsi:nil="false">`))).status).toBe(200);
  });

  it("R65, R74, L10: absent token and points", async () => {
    expect(readRecords(await ask(getVelocity({ points: undefined })), "GetVelocity")).toEqual([]);
    expect(readRecords(await ask(getVelocity({ points: "" })), "GetVelocity")).toEqual([]);
    expect(readRecords(await ask(`<NullOp xmlns="${NAMESPACE}"/>`), "NullOp")).toEqual([]);
    expect(readRecords(await ask(`<NullOp xmlns="${NAMESPACE}"><points/></NullOp>`), "NullOp")).toEqual([]);
    expectFault(await ask(getVelocity({ points: "", dataset: "none" })), version, "Caller", "UnknownDataset", {
      member: "dataset",
    });
  });

  it("R66: the declared xsi:type is accepted, with any prefix and on every level", async () => {
    const typed = `<t:GetVelocity xmlns:t="${NAMESPACE}" ${XSI} xmlns:q="http://www.w3.org/2001/XMLSchema">
      <t:authToken xsi:type="xsd:string">a</t:authToken><t:dataset xsi:type="q:string">isotropic32</t:dataset>
      <t:time xsi:type="xsd:float">0</t:time>
      <t:spatialInterpolation xsi:type="t:SpatialInterpolation">Lag4</t:spatialInterpolation>
      <t:temporalInterpolation xsi:type="t:TemporalInterpolation">None</t:temporalInterpolation>
      <t:points xsi:type="t:ArrayOfPoint3">${'<t:Point3 xsi:type="t:Point3"><t:x xsi:type="q:float">1</t:x><t:y>2</t:y><t:z>3</t:z></t:Point3>'.repeat(3)}</t:points>
      </t:GetVelocity>`;
    expect(readRecords(await ask(typed), "GetVelocity")).toHaveLength(3);
    const unprefixed = getVelocity().replace("<points>", `<points ${XSI} xsi:type="ArrayOfPoint3">`);
    expect((await ask(unprefixed)).status).toBe(200);
  });

  it.each([
    ["double for float", getVelocity().replace("<time>", `<time ${XSI} xsi:type="xsd:double">`), "time"],
    ["int for a coordinate", getVelocity().replace("<x>", `<x ${XSI} xsi:type="xsd:int">`), "points[0].x"],
    [
      "a type of another namespace",
      getVelocity().replace(
        "<points>",
        '<points xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:o="urn:o" xsi:type="o:ArrayOfPoint3">',
      ),
      "points",
    ],
    [
      "a type without a declared prefix",
      getVelocity().replace(
        "<time>",
        '<time xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="o:float">',
      ),
      "time",
    ],
    ["another array", getVelocity().replace("<points>", `<points ${XSI} xsi:type="ArrayOfVector3">`), "points"],
    ["href", getVelocity().replace("<Point3>", '<Point3 href="#1">'), "points[0]"],
    ["a reference", getVelocity().replace("<GetVelocity", '<GetVelocity href="#1"'), "GetVelocity"],
  ])("R67: %s is refused", async (_what, body, named) => {
    await invalid(body, named);
  });

  it("R68: schemaLocation is ignored", async () => {
    const body = getVelocity().replace(
      "<GetVelocity",
      `<GetVelocity ${XSI} xsi:schemaLocation="${NAMESPACE} http://127.0.0.1:1/a.xsd"`,
    );
    expect((await ask(body)).status).toBe(200);
  });

  it("R69: float texts are rounded once to float32", async () => {
    const texts: [string, number][] = [
      ["1", 1],
      ["-0", -0],
      ["+1.5", 1.5],
      [".5", 0.5],
      ["5.", 5],
      ["1e3", 1000],
      ["1E-3", Math.fround(0.001)],
      ["-1.5e+2", -150],
      [" \t\r\n2 ", 2],
      ["0.10000000149011612", Math.fround(0.1)],
      ["00012.50", 12.5],
      ["1e-60", 0],
      ["-1e-60", -0],
      // Just above and just below the midpoint of 1 and the float32 after it; a double cannot tell either from it.
      ["1.00000005960464477539062500000000001", 1 + 2 ** -23],
      ["1.00000005960464477539062499999999999", 1],
      ["1.000000059604644775390625", 1],
    ];
    const answer = await ask(nullOp(items(texts.map(([text]) => [text, 0, 0]))));
    expect(readRecords(answer, "NullOp").map(({ values }) => Math.fround(values[0] ?? 1))).toEqual(
      texts.map(([, value]) => value),
    );
  });

  it.each([
    ..."0x10 1,5 1_000 1f Infinity nan 1e --1 +-1 e5 . 1e1.5 \u0661 \uff11 +INF inf 1d NaN0".split(" "),
    ...["", " ", "1 2", "1\u00a0"],
  ])("R70: %j is no float", async (text) => {
    await invalid(nullOp(items([[text, 2, 3]])), "points[0].x");
    await invalid(
      nullOp(
        items([
          [1, 2, 3],
          [4, text, 6],
        ]),
      ),
      "points[1].y",
    );
    await invalid(getVelocity({ time: text }), "time");
  });

  it.each(["INF", "-INF", "NaN", "1e39", "-4e38"])("R71: %s has no meaning here", async (text) => {
    const range = async (body: string, named: string): Promise<void> => {
      expectFault(await ask(body), version, "Caller", "OutOfRange", { member: named });
    };
    await range(getVelocity({ time: text }), "time");
    await range(
      getVelocity({
        points: items([
          [1, 2, 3],
          [1, text, 3],
        ]),
      }),
      "points[1].y",
    );
    await range(
      nullOp(
        items([
          [1, 2, 3],
          [1, 2, 3],
          [1, 2, text],
        ]),
      ),
      "points[2].z",
    );
    const tracked = OLDER_OPERATIONS.find(
      ({ name }) => name === "GetPositionInertialParticle",
    ) as (typeof OLDER_OPERATIONS)[number];
    await range(requestOf(tracked, { InitialV: items([[text, 5, 6]], "Vector3") }), "InitialV[0].x");
    await range(requestOf(tracked, { Tp: text }), "Tp");
  });

  it("R72: ints", async () => {
    const box = OLDER_OPERATIONS.find(
      ({ name }) => name === "GetBoxFilterVelocity",
    ) as (typeof OLDER_OPERATIONS)[number];
    const layers = (text: string): string => requestOf(box, { nlayers: text });
    for (const text of ["1", "+1", " 1 ", "01", "1.0", "1.0000000000"])
      expect((await ask(layers(text))).status).toBe(200);
    const wrong = "1.5 1e0 1. 0x1 2147483648 -2147483649 1.00001 INF one".split(" ");
    for (const text of [...wrong, "", "1 1", "9".repeat(400)]) {
      await invalid(layers(text), "nlayers");
    }
  });

  it.each(["lag8", "LAG8", " Lag8", "Lag8 ", "", "Lag10", "toString", "8"])(
    "R73: the option %j is none",
    async (text) => {
      await invalid(getVelocity({ spatialInterpolation: text }), "spatialInterpolation");
      await invalid(getVelocity({ temporalInterpolation: text }), "temporalInterpolation");
    },
  );

  it.each([
    ["an element inside a simple member", getVelocity({ time: "<a/>" }), "time"],
    ["an element inside a coordinate", getVelocity({ points: items([["1<a/>", 2, 3]]) }), "points[0].x"],
    ["text inside points", getVelocity({ points: `x${items([[1, 2, 3]])}` }), "points"],
    ["text after points' items", getVelocity({ points: `${items([[1, 2, 3]])}x` }), "points"],
    ["text inside Point3", getVelocity({ points: "<Point3>x<x>1</x><y>2</y><z>3</z></Point3>" }), "points[0]"],
    ["text between members", getVelocity().replace("<time>", "x<time>"), "GetVelocity"],
    ["another item in points", getVelocity({ points: items([[1, 2, 3]], "Vector3") }), "points[0]"],
  ])("R75: %s is refused", async (_what, body, named) => {
    await invalid(body, named);
  });

  it("R76: the index counts all points, however many there are", async () => {
    const many = (name: string): string =>
      items(
        Array.from({ length: 3000 }, () => [1, 2, 3]),
        name,
      );
    await invalid(getVelocity({ points: `${many("Point3")}<Point3><x>1</x></Point3>` }), "points[3000]");
    const tracked = OLDER_OPERATIONS.find(
      ({ name }) => name === "GetPositionInertialParticle",
    ) as (typeof OLDER_OPERATIONS)[number];
    const more = { points: many("Point3"), InitialV: `${many("Vector3")}<Vector3><x>one</x></Vector3>` };
    await invalid(requestOf(tracked, more), "InitialV[3000].x");
  });

  it.each([
    ["in another order", "<y>2</y><x>1</x><z>3</z>"],
    ["missing", "<x>1</x><y>2</y>"],
    ["missing at the start", "<y>2</y><z>3</z>"],
    ["repeated", "<x>1</x><x>1</x><y>2</y><z>3</z>"],
    ["one too many", "<x>1</x><y>2</y><z>3</z><w>4</w>"],
    ["in no namespace", '<x xmlns="">1</x><y>2</y><z>3</z>'],
    ["nothing at all", ""],
  ])("R76, L11: a Point3 with members %s is named by its index", async (_what, content) => {
    await invalid(
      getVelocity({
        points: `${items([
          [1, 2, 3],
          [1, 2, 3],
        ])}<Point3>${content}</Point3>`,
      }),
      "points[2]",
    );
  });

  it("R78: names of Object.prototype are ordinary unknown names", async () => {
    for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty"]) {
      expectFault(await ask(getVelocity({ dataset: name })), version, "Caller", "UnknownDataset", {
        member: "dataset",
      });
      await invalid(getVelocity().replace("<time>", `<${name}>1</${name}><time>`), name);
      await invalid(nullOp(`<${name}/>`), "points[0]");
      expect((await ask(getVelocity({ authToken: name }))).status).toBe(200);
    }
    await expectAlive(service);
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  it("R16, R60: what follows the operation is judged before an answer is given", async () => {
    const document = `${envelope(version, nullOp())}<trailing/>`;
    expectFault(await send(service, version, document), version, "Caller", "MalformedXml");
  });
});
