/**
 * The faults of the later interface begin with the texts of the public service, which clients know, in both SOAP
 * versions.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { digestToken } from "../../src/server/http/auth.js";
import { writeCube } from "../../tools/generate/cube.js";
import { writeChannel } from "../support/channel.js";
import { scratchFolder } from "../support/scratch.js";
import { useTestData } from "../support/service.js";
import { callOperation, VERSIONS, type Version } from "../support/soap-service.js";

type Given = Readonly<Record<string, string | number>>;

const TOKENS = {
  free: "free-token-of-many-letters",
  small: "small-token-of-many-letters",
  off: "off-token-of-many-letters",
};
const LIMITS = { free: 0, small: 20, off: -1 };

const folder = scratchFolder();
for (const [kind, nodes] of [
  ["mhd", 16],
  ["mixing", 16],
  ["random", 102],
] as const) {
  const options = { kind, nodes: [nodes, nodes, nodes], steps: kind === "random" ? 1 : 4, chunk: null } as const;
  await writeCube({ ...options, filter: "none", seed: 0, name: kind, folder: join(folder, kind) }, () => undefined);
}
mkdirSync(join(folder, "channel"));
await writeChannel(join(folder, "channel"));
const tokens = (Object.keys(TOKENS) as (keyof typeof TOKENS)[]).map((name) => ({
  ...{ name, sha256: digestToken(TOKENS[name]), limit: LIMITS[name] },
}));
const file = join(folder, "tokens.json");
writeFileSync(file, JSON.stringify({ version: 1, tokens }));
const service = await useTestData([folder], { TOKENS: file });

const send = (operation: string, given: Given, more: string, version: Version) =>
  callOperation(service, version, operation, "authToken" in given ? given : { authToken: TOKENS.free, ...given }, more);

function reasonOf(text: string): string {
  const found = /<faultstring>([^<]*)<|<soap:Text xml:lang="en">([^<]*)</.exec(text);
  return (found?.[1] ?? found?.[2] ?? text).replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&lt;", "<");
}

const point = (x: number, y: number, z: number) => `<Point3><x>${x}</x><y>${y}</y><z>${z}</z></Point3>`;
const points = (...list: string[]) => `<points>${list.join("")}</points>`;
const POINT = points(point(1, 0.5, 3));
const AT = { time: 0 };
const values = (dataset: string, spatialInterpolation = "None", time = 0): Given => ({
  ...{ dataset, time, spatialInterpolation, temporalInterpolation: "None" },
});
const corners = (first: number, last: number): Given =>
  Object.fromEntries([
    ...["x", "y", "z"].map((axis) => [`${axis}_start`, first]),
    ...["x", "y", "z"].map((axis) => [`${axis}_end`, last]),
  ]);
const search = (field: string, method: string, box: Given, dataset = "mhd", threshold = 0): Given => ({
  ...{ dataset, field, ...AT, threshold, spatialInterpolation: method, ...box },
});
const STEPS = { x_step: 1, y_step: 1, z_step: 1, filter_width: 1 };
const cutout = (field: string, T: number, box: Given, dataset = "mhd"): Given => ({
  ...{ dataset, field, T, ...box, ...STEPS },
});
const filter = (dataset: string, field: string): Given => ({ dataset, field, ...AT, filterwidth: 1 });
const track = (spatialInterpolation: string, EndTime: number, dt: number): Given => ({
  ...{ dataset: "mhd", StartTime: 0, EndTime, dt, spatialInterpolation },
});
const lists = (...counts: number[]) => {
  const list = (count: number) => `<ArrayOfFloat>${"<float>1</float>".repeat(count)}</ArrayOfFloat>`;
  return `<points>${counts.map(list).join("")}</points>`;
};
const data = (function_name: string): Given => ({ function_name, ...values("mhd") });
/** `GetData_Python` names the function before the token. */
const functionFirst = ({ function_name, ...rest }: Given): Given => ({
  ...{ function_name: function_name as string, authToken: TOKENS.free, ...rest },
});

type Row = readonly [text: string, operation: string, given: Given, more: string];
const ROWS: readonly Row[] = [
  ["Invalid identification token. Please see ", "GetVelocity", { authToken: "nobody", ...values("mhd") }, POINT],
  ["Disabled identification token.  Please see ", "GetVelocity", { authToken: TOKENS.off, ...values("mhd") }, POINT],
  [
    "Request size too large (21 > 20)",
    "GetVelocity",
    { authToken: TOKENS.small, ...values("mhd") },
    points(...Array.from({ length: 21 }, () => point(1, 2, 3))),
  ],
  [
    "Request size too large (27 > 20)",
    "GetThreshold",
    { authToken: TOKENS.small, ...search("velocity", "None", corners(1, 3)) },
    "",
  ],
  ["Invalid set name: nothing", "GetPressure", values("nothing"), POINT],
  ["Invalid dataset specified!", "GetDensity", values("mhd"), POINT],
  ["Invalid dataset specified!", "GetTemperatureHessian", values("mhd", "M2Q8"), POINT],
  ["Invalid dataset specified!", "GetForce", values("mixing"), POINT],
  ["GetMagneticField is available only for MHD datasets!", "GetMagneticField", values("mixing"), POINT],
  ["GetMagneticField is available only for MHD datasets!", "GetMagneticFieldGradient", values("mixing", "M1Q4"), POINT],
  [
    "GetMagneticField is available only for MHD datasets!",
    "GetMagneticFieldLaplacian",
    values("mixing", "None_Fd4"),
    POINT,
  ],
  ["GetVectorPotential is available only for MHD datasets!", "GetVectorPotential", values("mixing"), POINT],
  [
    "GetVectorPotential is available only for MHD datasets!",
    "GetVectorPotentialGradient",
    values("mixing", "M1Q4"),
    POINT,
  ],
  ["GetMagnetic is available only for MHD datasets!", "GetMagneticHessian", values("mixing", "M2Q8"), POINT],
  ['Time 99 out of range for "mhd".', "GetPressure", values("mhd", "None", 99), POINT],
  ['Time 99 out of range for "mhd".', "GetPosition", track("Lag4", 99, 0.1), POINT],
  ['Time 99 out of range for "mhd".', "GetAnyCutoutWeb", cutout("u", 99, corners(1, 2)), ""],
  ...[
    "GetVelocityHessian",
    "GetPressureHessian",
    "GetMagneticHessian",
    "GetVelocityLaplacian",
    "GetVectorPotentialLaplacian",
  ].map(
    (operation): Row => [
      "This interpolation option does not support second order derivatives!",
      ...([operation, values("mhd", "M1Q6"), POINT] as const),
    ],
  ),
  ["Invalid Spatial Interpolation Option: M2Q8", "GetVelocityLaplacian", values("mhd", "M2Q8"), POINT],
  ["Invalid Spatial Interpolation Option: Fd4Lag4", "GetPressure", values("mhd", "Fd4Lag4"), POINT],
  ["Invalid Spatial Interpolation Option: M3Q4", "GetPressure", values("mhd", "M3Q4"), POINT],
  ["Invalid Spatial Interpolation Option: M4Q4", "GetInvariant", values("mhd", "M4Q4"), POINT],
  ["Invalid Spatial Interpolation Option: Lag4", "GetInvariant", values("mhd", "Lag4"), POINT],
  ["Invalid interpolation option specified!", "GetPosition", track("M2Q8", 0.1, 0.1), POINT],
  ["Invalid interpolation option specified!", "GetThreshold", search("vorticity", "Fd4Lag4", corners(1, 4)), ""],
  ["Invalid interpolation option specified!", "GetThreshold", search("q", "None", corners(1, 4)), ""],
  ["Invalid interpolation option specified!", "GetThreshold", search("pressure", "None_Fd4", corners(1, 4)), ""],
  ...["Fd4Lag4", "M2Q8", "None"].map(
    (method): Row => [
      "Invalid spatial interpolation option specified!",
      "GetLaplacianOfGradient",
      { dataset: "mhd", field: "u", ...AT, spatialInterpolation: method, temporalInterpolation: "None" },
      POINT,
    ],
  ),
  [
    "The time step dt cannot be greater than the StartTime : EndTime range!",
    "GetPosition",
    track("Lag4", 0.1, 0.2),
    POINT,
  ],
  [
    "The time step dt cannot be greater than the StartTime : EndTime range!",
    "GetPosition",
    track("Lag4", 0.1, -0.2),
    POINT,
  ],
  ...(["GetThreshold", "GetAnyCutoutWeb"] as const).flatMap((operation): Row[] => {
    const ask = (box: Given) => (operation === "GetThreshold" ? search("velocity", "None", box) : cutout("u", 1, box));
    return [
      [
        "Ending index must be larger or equal to the starting index!",
        operation,
        ask({ ...corners(1, 3), y_start: 4 }),
        "",
      ],
      ["JHTDB started using 1-based indexing from Sept 16. ", operation, ask({ ...corners(1, 3), z_start: 0 }), ""],
    ];
  }),
  ["JHTDB started using 1-based indexing from Sept 16. ", "GetAnyCutoutWeb", cutout("u", 0, corners(1, 2)), ""],
  ["Invalid field specified", "GetThreshold", search("nothing", "None", corners(1, 2)), ""],
  ["Invalid field specified!", "GetBoxFilter", filter("mhd", "density"), POINT],
  ["Invalid field specified!", "GetBoxFilter", filter("mhd", "vorticity"), POINT],
  ["Invalid field specified!", "GetAnyCutoutWeb", cutout("q", 1, corners(1, 2)), ""],
  ["Invalid field specified!", "GetAnyCutoutWeb", cutout("d", 1, corners(1, 2)), ""],
  ["Invalid field specified!", "GetBoxFilterSGSvector", filter("mhd", "ud"), POINT],
  [
    "The number of points above the threshold exeeds max allowed number: 1048576!",
    "GetThreshold",
    search("velocity", "None", corners(1, 102), "random", -1),
    "",
  ],
  ["GetBoxFilter is not available for the channel flow datasets!", "GetBoxFilter", filter("channel", "u"), POINT],
  [
    "GetBoxFilter is not available for the channel flow datasets!",
    "GetBoxFilterGradient",
    { ...filter("channel", "u"), spacing: 1 },
    POINT,
  ],
  ...["GetBoxFilterSGS", "GetBoxFilterSGSvector"].map(
    (operation): Row => [
      "Box filter methods are not available for the channel flow datasets!",
      ...([operation, filter("channel", "up"), POINT] as const),
    ],
  ),
  [
    'The GetBoxFilterSGSsymtensor method should be called either with a single field or with two identical vector fields (e.g. "velocity", "uu" or "bb")',
    ...(["GetBoxFilterSGSsymtensor", filter("mhd", "ub"), POINT] as const),
  ],
  [
    'The GetBoxFilterSGStensor method should be called with two distinct vector fields (e.g. "ub" or "ba")',
    ...(["GetBoxFilterSGStensor", filter("mhd", "velocity"), POINT] as const),
  ],
  [
    'The GetBoxFilterSGSvector method should be called with a vector and a scalar (e.g. "up" or "bp")',
    ...(["GetBoxFilterSGSvector", filter("mhd", "ub"), POINT] as const),
  ],
  [
    'The GetBoxFilterSGSscalar method should be called with two scalar fields (e.g. "pp" or "pd")',
    ...(["GetBoxFilterSGSscalar", filter("mhd", "up"), POINT] as const),
  ],
  ["The given y value is greater than the largest allowed", "GetPressure", values("channel"), points(point(0, 1.5, 0))],
  [
    "The given y value is smaller than the smallest allowed",
    "GetInvariant",
    values("channel", "M1Q4"),
    points(point(0, -2, 0)),
  ],
  ["Function name incorrect.", "GetData_Python", functionFirst(data("GetVelocityBatch")), lists(1, 1, 1)],
  ["Function name incorrect.", "GetData_Python", functionFirst(data("GetBoxFilter")), lists(1, 1, 1)],
  [
    "The first dimension of points array must have a size of 3.",
    "GetData_Python",
    functionFirst(data("GetVelocity")),
    lists(1, 1),
  ],
  [
    "The first dimension of points array must have a size of 3.",
    ...(["GetData_Python", functionFirst(data("GetVelocity")), lists(1, 1, 1, 1)] as const),
  ],
  [
    "Three components of points array must have the same size",
    ...(["GetData_Python", functionFirst(data("GetVelocity")), lists(2, 2, 1)] as const),
  ],
];

describe("faults of the later interface", () => {
  it.each(ROWS.map((row, i) => [`${i} ${row[1]}: ${row[0]}`, row] as const))("%s", async (_, row) => {
    const [text, operation, given, more] = row;
    for (const version of VERSIONS) {
      const answer = await send(operation, given, more, version);
      const reason = reasonOf(answer.text);
      expect(reason.slice(0, text.length), reason).toBe(text);
      expect(answer.status).toBe(version === "1.1" ? 500 : answer.status);
      expect(answer.status).toBeGreaterThanOrEqual(400);
    }
  });
});

describe("addr, the last member", () => {
  const XSI = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"';
  it.each([
    ["absent", ""],
    ["empty", "<addr/>"],
    ["an address", "<addr>10.0.0.1</addr>"],
    ["nil", `<addr ${XSI} xsi:nil="true"/>`],
    ["nil as 1", `<addr ${XSI} xsi:nil="1"></addr>`],
    ["not nil", `<addr ${XSI} xsi:nil="false">x</addr>`],
  ])("is taken %s, behind points and behind numbers, with the same answer", async (_, addr) => {
    for (const version of VERSIONS) {
      for (const [operation, given, more] of [
        ["GetPressure", values("mhd"), POINT],
        ["GetThreshold", search("velocity", "None", corners(1, 2)), ""],
        ["GetAnyCutoutWeb", cutout("b", 1, corners(1, 2)), ""],
      ] as const) {
        const [plain, found] = [
          await send(operation, given, more, version),
          await send(operation, given, more + addr, version),
        ];
        expect(found.status, found.text).toBe(200);
        expect(found.text).toBe(plain.text);
      }
    }
  });

  it("is no member of NullOp and of the array forms, and no other member may be nil", async () => {
    const nil = `<addr ${XSI} xsi:nil="true"/>`;
    expect(reasonOf((await send("NullOp", {}, POINT + nil, "1.1")).text)).toMatch(/addr is unknown to NullOp/);
    const arrays = await send("GetData_Python", functionFirst(data("GetVelocity")), lists(1, 1, 1) + nil, "1.1");
    expect(reasonOf(arrays.text)).toMatch(/addr is unknown to GetData_Python/);
    const box = await send("GetPressure", values("mhd"), `<points ${XSI} xsi:nil="true"/>`, "1.1");
    expect(reasonOf(box.text)).toMatch(/points may not be nil/);
  });
});
