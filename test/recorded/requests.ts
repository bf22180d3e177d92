/** Requests of every interface, over its tables: operations, options, layouts, sizes, forms, analyses, events, faults. */
import {
  ALL_OPERATIONS,
  dialectOf,
  type OperationRow,
  TEMPORAL_INTERPOLATION,
  type WireMember,
} from "../../src/shared/operations.js";
import { FIELDS } from "../support/later.js";
import { envelope, NAMESPACE, TYPES, VERSIONS, type Version } from "../support/soap-service.js";

export interface RecordedRequest {
  readonly name: string;
  readonly method: "GET" | "HEAD" | "POST";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** Whether the answers of two builds may differ by rounding: sums of expressions. */
  readonly rounded: boolean;
}

/** What requests need to know of a dataset, as the service describes it. */
export interface Domain {
  readonly name: string;
  readonly axes: readonly { readonly first: number; readonly length: number; readonly nodes: number }[];
  readonly times: readonly number[];
  readonly fields: readonly string[];
}

type Point = readonly [number, number, number];

/** Points all over a domain: at nodes, between them, at the ends. */
function pointsOf({ axes }: Domain, count: number): Point[] {
  return Array.from({ length: count }, (_, i) =>
    axes.map(({ first, length, nodes }, axis) => {
      const part = i % 7 === 0 ? (i % nodes) / nodes : ((i + 1) * (0.37 + 0.19 * axis)) % 1;
      return Math.fround(first + 0.999 * part * length);
    }),
  ) as unknown as Point[];
}

const elements = (points: readonly Point[], name = "Point3") =>
  points.map(([x, y, z]) => `<${name}><x>${x}</x><y>${y}</y><z>${z}</z></${name}>`).join("");

const lists = (points: readonly Point[]) =>
  points
    .map((point) => `<ArrayOfFloat>${point.map((value) => `<float>${value}</float>`).join("")}</ArrayOfFloat>`)
    .join("");

/** The fields of a dataset by the letters of the later interface. */
const FIELD_OF: Readonly<Record<string, string>> = { ...FIELDS, GetThreshold: "omega" };

interface Choice {
  readonly domain: Domain;
  readonly spatial: string;
  readonly temporal: string;
  readonly points: number;
  readonly time: number;
}

function membersOf(row: OperationRow, { domain, spatial, temporal, points, time }: Choice): Record<string, string> {
  const [first = 0, second = first] = domain.times;
  const step = (second - first) / 4 || 0.05;
  const spacing = Math.min(...domain.axes.map(({ length, nodes }) => length / Math.max(1, nodes - 1)));
  const at = pointsOf(domain, points);
  const named: Record<string, string> = {
    ...{ dataset: domain.name, time: `${time}`, T: "1", field: FIELD_OF[row.name] ?? "u" },
    ...{ spatialInterpolation: spatial, temporalInterpolation: temporal },
    ...{ StartTime: `${first}`, EndTime: `${first + 2 * step}`, dt: `${step}`, nt: "2", Tp: "0.1" },
    ...{ filterlength: `${3.3 * spacing}`, nlayers: "2", filterwidth: `${3.3 * spacing}`, spacing: `${spacing}` },
    ...{ threshold: "0.1", filter_width: "1" },
    function_name: row.name === "GetFilter_Python" ? "GetBoxFilter" : "GetVelocity",
    points: row.request.some(({ type }) => type === "ArrayOfArrayOfFloat") ? lists(at) : elements(at),
    InitialV: elements(
      at.map(() => [0.1, -0.2, 0.3] as const),
      "Vector3",
    ),
  };
  const whole = ({ name }: WireMember) =>
    name.endsWith("width") || name.endsWith("_end") ? "4" : /^[XYZ]$/.test(name) ? "0" : "1";
  return Object.fromEntries(
    row.request
      .filter(({ name }) => name !== "authToken")
      .map((member) => [member.name, named[member.name] ?? (member.type === "int" ? whole(member) : "")]),
  );
}

function soap(
  row: OperationRow,
  version: Version,
  members: Readonly<Record<string, string>>,
  name: string,
): RecordedRequest {
  const content = Object.entries(members).map(([member, value]) => `<${member}>${value}</${member}>`);
  const document = envelope(version, `<${row.wire} xmlns="${NAMESPACE}">${content.join("")}</${row.wire}>`);
  const action = version === "1.1" ? { soapaction: `"${NAMESPACE}${row.wire}"` } : {};
  return {
    name: `SOAP ${version} ${name}`,
    method: "POST",
    path: "/service/turbulence.asmx",
    headers: { "content-type": TYPES[version], ...action },
    body: Buffer.from(document).toString("base64"),
    rounded: false,
  };
}

const SIZES = [1, 3, 40, 700] as const;

function domainsFor({ fields }: OperationRow, domains: readonly Domain[]): readonly Domain[] {
  const found = domains.filter((domain) => fields.every((field) => field === "force" || domain.fields.includes(field)));
  return found.length > 0 ? found : domains.slice(0, 1);
}

/** Every SOAP operation by every option, on datasets, sizes and versions in rotation; and its faults. */
function* soapRequests(domains: readonly Domain[]): Generator<RecordedRequest> {
  let turn = 0;
  for (const row of ALL_OPERATIONS) {
    if (dialectOf(row.name) === null) continue;
    const known = domainsFor(row, domains);
    const spatials: readonly string[] = row.spatial.length === 0 ? [""] : row.spatial;
    for (const spatial of spatials) {
      for (const temporal of TEMPORAL_INTERPOLATION) {
        for (let again = 0; again < (spatials.length < 6 ? 3 : 1); again++) {
          const domain = known[turn % known.length] as Domain;
          const [first = 0, second = first] = domain.times;
          const time = turn % 3 === 0 ? first : first + 0.37 * (second - first);
          const points = SIZES[(turn >> 1) % SIZES.length] as number;
          const version = VERSIONS[turn % 2] as Version;
          const members = membersOf(row, { domain, spatial, temporal, points, time });
          const name = `${row.name} ${spatial} ${temporal} ${domain.name} ${points} at ${time}`;
          yield soap(row, version, members, name);
          turn++;
        }
      }
    }
    const [domain] = known as [Domain];
    const [spatial = ""] = row.spatial;
    const good = membersOf(row, { domain, spatial, temporal: "PCHIP", points: 2, time: domain.times[0] ?? 0 });
    for (const [member, value] of [
      ["dataset", "nothing"],
      ["spatialInterpolation", "Lag5"],
      ["temporalInterpolation", "Linear"],
      ["time", "1000000"],
      ["time", "noon"],
      ["StartTime", "-5"],
      ["points", "<Point3><x>1</x><y>NaN</y><z>1</z></Point3>"],
      ["points", ""],
      ["nt", "-1"],
      ["filterwidth", "0"],
      ["threshold", "much"],
      ["x_end", "100000"],
    ] as const) {
      if (!Object.hasOwn(good, member)) continue;
      for (const version of VERSIONS)
        yield soap(row, version, { ...good, [member]: value }, `${row.name} with ${member} ${value}`);
    }
    const { [Object.keys(good)[0] as string]: _, ...lacking } = good;
    yield soap(row, "1.1", lacking, `${row.name} without its first member`);
  }
}

const OCTETS = "application/octet-stream";

function post(path: string, body: unknown, accept: string, more: Partial<RecordedRequest> = {}): RecordedRequest {
  const isOctets = Buffer.isBuffer(body);
  return {
    name: `POST ${path} ${accept} ${isOctets ? "" : JSON.stringify(body).slice(0, 200)}`,
    method: "POST",
    path,
    headers: { accept, "content-type": isOctets ? OCTETS : "application/json" },
    body: (isOctets ? body : Buffer.from(JSON.stringify(body))).toString("base64"),
    rounded: false,
    ...more,
  };
}

const get = (path: string, accept = "*/*", rounded = false): RecordedRequest => ({
  name: `GET ${path} ${accept}`,
  method: "GET",
  path,
  headers: { accept },
  body: null,
  rounded,
});

const FORMS = ["json", "csv", "f32", "npy", "npz"] as const;

const QUANTITIES = "u.x p norm(omega) Q R lambda2 dot(u,omega) A.xy u vorticity enstrophy".split(" ");

/** Questions of every call, Zarr chunks and descriptions of a dataset. */
function* datasetRequests({ name, axes, times, fields }: Domain): Generator<RecordedRequest> {
  const path = `/api/datasets/${name}`;
  const [first = 0, second = first] = times;
  const between = first + 0.43 * (second - first);
  const middle = axes.map((axis) => axis.first + 0.41 * axis.length);
  yield get(path);
  yield get(`/zarr/${name}/zarr.json`);
  for (const field of fields) {
    yield get(`/zarr/${name}/${field}/zarr.json`);
    yield get(`/zarr/${name}/${field}/.zarray`);
  }
  if (!fields.includes("velocity")) return;
  for (const chunk of ["velocity/0.0.0.0.0", "velocity/1.0.0.0.0", "derived/Q/0.0.0.0"])
    yield get(`/zarr/${name}/${chunk}`);
  const ask = (call: string, members: Readonly<Record<string, unknown>>, rounded = true) =>
    post("/api/ask", { dataset: name, call, ...members }, "application/json", { rounded });
  const seeds = pointsOf({ name, axes, times, fields }, 6);
  for (const what of QUANTITIES) {
    for (const [i, axis] of ["x", "y", "z"].entries())
      for (const format of ["f32", "png", "npy"])
        yield ask("grid", { what, [axis]: middle[i], time: i === 0 ? first : between, samples: 24, format });
    yield ask("grid", { what, time: between, samples: 9, format: "nc" });
    yield ask("nodes", { what, frame: 0, i: "0:5", j: "1:5", k: "0:1", format: "f32" });
    for (const format of FORMS) yield ask("values", { what, time: between, points: seeds, format });
  }
  for (const more of [{}, { what: "p" }, { filter: "box:3" }, { i: "0:6:2" }])
    for (const format of ["f32", "npy", "nc", "json", "h5"])
      yield ask("nodes", { what: "u", frame: 0, i: "0:6", j: "0:4", k: "0:2", ...more, format }, false);
  const reduce = [
    { moments: "u.x", order: 4 },
    { covariance: ["u.x", "u.y", "u.z"] },
    { histogram: "norm(omega)", bins: 16, range: [0, 20] },
    {
      joint: ["Q", "R"],
      bins: [8, 8],
      range: [
        [-9, 9],
        [-9, 9],
      ],
    },
    { conditional: "u.x", on: "u.y", bins: 8, range: [-2, 2] },
    { extremes: "norm(u)", count: 5 },
  ];
  for (const one of reduce) {
    yield post(`${path}/statistics`, { time: first, reduce: [one] }, "application/json", { rounded: true });
    yield post(`${path}/statistics`, { frame: "all", reduce: [one] }, "application/json", { rounded: true });
  }
  for (const over of [["x"], ["x", "z"], ["y", "z"]])
    yield post(
      `${path}/statistics`,
      { time: first, over, reduce: [{ moments: "u.x*u.y" }, { moments: "p" }] },
      "application/json",
      { rounded: true },
    );
  const drawn = { time: first, points: { random: 500, seed: 3 }, method: "Lag6", reduce: [{ moments: "norm(u)" }] };
  yield post(`${path}/statistics`, drawn, "application/json", { rounded: true });
  for (const body of [
    { time: first },
    { time: first, what: ["p"] },
    { time: first, kind: "line", axis: ["x"] },
    { time: first, kind: "plane", axis: ["y"] },
    { frame: "all", terms: ["flux", "transfer"] },
  ])
    yield post(`${path}/spectrum`, body, "application/json", { rounded: true });
  for (const body of [
    { orders: [2, 3], separations: [1, 2, 4] },
    { orders: [2], separations: [1, 3], what: ["p"] },
    { orders: [2], separations: { lengths: [0.3], pairs: 500, seed: 2 } },
  ])
    yield post(`${path}/structure_functions`, { time: first, ...body }, "application/json", { rounded: true });
  for (const one of ["norm(omega)", "Q", "p"]) {
    const asked = { time: first, where: `${one} > (1.5)*rms(${one})`, what: [one] };
    yield post(`${path}/structures`, asked, "application/json", { rounded: true });
  }
  const end = first + 0.8 * (second - first);
  const step = (end - first) / 4;
  for (const integrator of ["heun", "rk4", "dopri5"])
    for (const more of [{}, { what: "p", format: "f32" }, { format: "csv" }])
      yield ask("paths", {
        points: seeds,
        time: `${first}:${end}`,
        step,
        every: 1,
        method: "Lag6",
        integrator,
        ...more,
      });
  const travelled = { time: `${first}:${end}`, step: Math.abs(step) };
  yield post(`${path}/flow_map`, { ...travelled, what: ["gradient"], z: middle[2], samples: [5, 4] }, OCTETS);
  const pairs = { pairs: 50, distance: 0.1, seed: 4 };
  yield post(`${path}/dispersion`, { every: 2, points: pairs, ...travelled }, "application/json");
  for (const bad of [
    "grid?what=nothing",
    "grid?what=u.x&w=1",
    "grid?samples=-1",
    "nodes?what=u&frame=99",
    "statistics",
    "GetVelocity",
    "no-such-call",
  ])
    yield get(`${path}/${bad}`, "application/json");
  yield post(`${path}/statistics`, { time: first, reduce: [{ moments: "u.x +" }] }, "application/json");
  yield post(`${path}/statistics`, { time: 1e6, reduce: [{ moments: "u.x" }] }, "application/json");
}

const VARIABLES = [
  ["velocity", "field"],
  ["pressure", "field"],
  ["velocity", "gradient"],
  ["pressure", "hessian"],
  ["velocity", "laplacian"],
] as const;

function* restRequests(domains: readonly Domain[]): Generator<RecordedRequest> {
  yield get("/jhtdb_config.json");
  for (const domain of domains) {
    const [first = 0, second = first] = domain.times;
    for (const [variable, operator] of VARIABLES) {
      for (const sint of operator === "field" ? ["none", "lag4", "lag8", "m2q8"] : ["fd4noint", "fd4lag4", "m2q8"]) {
        for (const tint of ["none", "pchip"]) {
          const query = new URLSearchParams({
            ...{ authToken: "a", dataset: domain.name, function: "GetVariable", var: variable },
            ...{
              t: `${first + 0.3 * (second - first)}`,
              sint,
              sop: operator,
              tint,
              timepoint_end: "-999.9",
              delta_t: "-999.9",
            },
          });
          const text = pointsOf(domain, 5)
            .map((point) => point.join("\t"))
            .join("\n");
          yield {
            name: `REST ${query}`,
            method: "POST",
            path: `/turbulence-svc/values?${query}`,
            headers: { "content-type": "text/plain" },
            body: Buffer.from(text).toString("base64"),
            rounded: false,
          };
        }
      }
    }
    const box = "xs=1&xe=4&ys=1&ye=3&zs=1&ze=2&ts=1&te=1&stridex=1&stridey=1&stridez=1&stridet=1";
    for (const code of ["velocity", "pressure"])
      yield get(`/turbulence-svc/cutout/api/local?token=a&function=${code}&dataset=${domain.name}&${box}`);
  }
}

/** The events interface, over its filters and orders. */
function* eventRequests(): Generator<RecordedRequest> {
  for (const vocabulary of ["channels", "divisions", "event_categories", "locations", "tags"]) {
    for (const query of ["", "?per_page=3", "?order_by=name|desc", "?page=2&per_page=2"])
      yield get(`/${vocabulary}${query}`);
    yield get(`/${vocabulary}/50`);
    yield get(`/${vocabulary}/50/events?type=all`);
  }
  const dates = ["2026-10-01,2026-12-31", "2026-11-28", "2025-01-01,2027-06-30"];
  const filters = [
    "",
    "locations=50",
    "locations=50&include_subterms=50",
    "open_to=students",
    "single_events=false",
    "tags=1,2",
    "search=seminar",
    "event_categories=1",
  ];
  const orders = ["", "order_by=start_date|desc", "order_by=name,id|desc", "order_by=end_date", "order_by=start_date"];
  for (const date of dates)
    for (const filter of filters)
      for (const order of orders) {
        const query = ["type=all", `date=${date}`, "per_page=7", filter, order].filter((part) => part !== "").join("&");
        yield get(`/events?${query}`, "application/json");
      }
  for (const id of [4101, 4102, 4103, 99]) {
    yield get(`/events/${id}`, "application/json");
    yield get(`/events/${id}`, "application/ld+json");
    yield get(`/events/${id}.ics`);
    yield get(`/events/${id}/tags`);
  }
  for (const bad of [
    "type=none",
    "date=yesterday",
    "per_page=0",
    "order_by=colour",
    "id=4101",
    "callback=show",
    "callback=1x",
  ])
    yield get(`/events?${bad}`, "application/json");
  yield get("/events.ics?type=all&date=2026-10-01,2026-12-31");
  yield* eventSelections();
}

/** Types, terms, sources, orders and forms of events, and what they refuse. */
function* eventSelections(): Generator<RecordedRequest> {
  for (const query of [
    "",
    "per_page=500 per_page=100&page=2 page=9999&per_page=100 type=past&per_page=20",
    "type=past&order_by=start_date|desc&per_page=20 type=current&open_to=staff,students&source=all",
    "type=past,current&per_page=20 type=current,upcoming&source=all&per_page=20",
    "type=past,upcoming&page=3&per_page=50 source=library source=library,main&type=all&per_page=30",
    "source=all&open_to=faulty&per_page=30 source=elsewhere start_date=2026-12-01&open_to=faculty",
    "start_date=2026-09-21&type=all&source=all date=2026-10-15&type=all&source=all&open_to=students,staff",
    "date=2026-11-01&type=all&order_by=end_date|desc,name date=2026-10-31,2026-11-02&type=all&open_to=staff",
    "ids=4111,4101,4135&order_by=list&type=all",
    "ids=4111,4101,4135&order_by=list|desc,start_date|desc&single_events=false&type=all",
    "excluded_ids=4105,4124,4101&per_page=40 tags=81,87&per_page=100 tags=81&divisions=9&per_page=20",
    "event_categories=30&include_subterms=30,33&per_page=30",
    "event_categories=36,30&include_subterms=36&type=all&source=all&open_to=students",
    "locations=51,57&include_subterms=51&order_by=name|desc,publish_date,start_date",
    "channels=90,92&order_by=publish_date|desc,id channels=90&include_subterms=90 divisions=11&locations=50",
    "single_events=false&per_page=40&source=all&open_to=faculty,staff,students",
    "single_events=0&order_by=end_date|desc&type=past&per_page=10",
    "single_events=false&order_by=name&type=past,current&page=2&per_page=6",
    "single_events=FALSE&order_by=publish_date,name|desc&date=2026-12-01,2027-01-31 order_by=list",
    "order_by=id,name,start_date,end_date,publish_date,id&page=1",
    "order_by=id|up&type=soon&page=0&per_page=x&single_events=maybe&date=2026-02-30&v=2 page=1&page=2",
    "date=2026-12-01,2026-11-01 date=2016-01-01,2027-12-31 ids=1,x&tags=%20,%20&unknown=1",
    `ids=${Array.from({ length: 201 }, (_, n) => n + 1)}`,
    "callback=a.b[0].c&per_page=2&key=k&_=1&v=1 callback=show&type=none callback=alert(1) id=4101&callback=show",
  ].flatMap((line) => line.split(" ")))
    yield get(`/events?${query}`);
  for (const path of [
    "/event_categories/30/events?include_subterms=30&type=all&per_page=50",
    "/locations/50/events?include_subterms=50&order_by=name /divisions/9/events?single_events=false&source=all",
    "/tags/81/events?page=2&per_page=10&callback=cb /channels/91/events?type=past&order_by=start_date|desc",
    "/event_categories/50/events /tags/81/people /events/4101?callback=cb /events/4125?type=past&ids=1 /events/4139",
    "/events/004111/ /events/4105/event_categories?callback=cb /events/4102/channels?order_by=weight,name|desc",
    "/events/4111/locations?per_page=1&page=2 /events/4101/people",
    "/event_categories?order_by=weight|desc,id&per_page=200 /event_categories?slug=seminars,open-house&callback=cb",
    "/locations?ids=57,50,52&order_by=list /tags?excluded_ids=81,82&order_by=id|desc /tags?id=81 /tags/81?callback=cb",
    "/openapi.json /events.ics /events.ics?single_events=false&source=all&open_to=faculty,staff,students",
    "/events.ics?type=past&order_by=start_date|desc&locations=50&include_subterms=50 /events.ics?source=elsewhere",
    "/events/4103.ics /events/4101.ics /events/4139.ics",
  ].flatMap((line) => line.split(" ")))
    yield get(path);
  const paths = [
    "/events?per_page=3",
    "/events/4101",
    "/event_categories/33",
    "/events.ics",
    "/events?page=0",
    "/events/1",
  ];
  for (const path of paths) {
    for (const accept of ["application/hal+json", "application/problem+json", "application/ld+json, */*;q=0.1"])
      yield get(path, accept);
    yield { ...get(path), name: `HEAD ${path}`, method: "HEAD" };
    for (const tag of ["*", '"none"', 'W/"none", "other"'])
      yield { ...get(path), name: `GET ${path} unless ${tag}`, headers: { "if-none-match": tag } };
    yield { ...get(path), name: `GET ${path} strict`, headers: { prefer: "handling=strict" } };
  }
  const strict = { prefer: "handling=strict" };
  for (const path of ["/events?per_page=101", "/events?search=flow", "/tags?slug=a&type=all"])
    yield { ...get(path), name: `GET ${path} strict`, headers: strict };
  yield { ...get("/events"), name: "POST /events", method: "POST" };
}

export function recordedRequests(domains: readonly Domain[]): RecordedRequest[] {
  const flows = domains.filter(({ fields }) => fields.includes("velocity") && fields.includes("pressure"));
  return [
    ...["/service/turbulence.asmx?WSDL", "/service/turbulence.asmx?wsdl=later", "/api/datasets", "/no/such/path"].map(
      (path) => get(path),
    ),
    ...soapRequests(domains),
    ...domains.flatMap((domain) => [...datasetRequests(domain)]),
    ...restRequests(flows),
    ...eventRequests(),
  ];
}
