/**
 * Every way a request can end, at every door: nothing that is counted remains of it: slots, points, bytes of answers,
 * lent memory, tasks, and places of its token.
 */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { RunningService } from "../../src/main.js";
import { digestToken } from "../../src/server/http/auth.js";
import { scratchFolder } from "../support/scratch.js";
import { serveTestData } from "../support/service.js";
import { envelope, getVelocity, items, PATH } from "../support/soap-service.js";

const TOKEN = "a-token-of-these-tests";
const POINTS = Array.from({ length: 1_000 }, (_, i): [number, number, number] => [i % 7, (i * 3) % 7, (i * 5) % 7]);
const OCTETS = "application/octet-stream";
const API = "/api/datasets/isotropic32";
const PUBLIC_BOX = "xs=1&xe=32&ys=1&ye=32&zs=1&ze=32&ts=1&te=2";
const PUBLIC_OPTIONS = "t=0.364&sint=lag8&sop=field&tint=none&timepoint_end=-999.9&delta_t=-999.9";
const SOAP_CUTOUT =
  '<GetAnyCutoutWeb xmlns="http://turbulence.pha.jhu.edu/">' +
  `<authToken>${TOKEN}</authToken><dataset>isotropic32</dataset><field>u</field><T>1</T>` +
  "<x_start>1</x_start><y_start>1</y_start><z_start>1</z_start><x_end>32</x_end><y_end>32</y_end><z_end>32</z_end>" +
  "<x_step>1</x_step><y_step>1</y_step><z_step>1</z_step>" +
  "<filter_width>1</filter_width></GetAnyCutoutWeb>";
const call = { call: "values", dataset: "isotropic32", time: 0.31, points: POINTS };

const JSON_TYPE = "application/json";
const TRACK = "time=0.1:0.11&step=0.001";
const TIMED = Float32Array.from(POINTS.flatMap((point, i) => [...point, (i % 9) / 20]));

const analysis = (call: string, members: object): Door => [call, `${API}/${call}`, JSON_TYPE, JSON.stringify(members)];

/** A door: name, path, media type and body, and headers; a body of null is a GET. */
type Door = readonly [string, string, string, string | Buffer | null, ...string[]];

const DOORS: readonly Door[] = [
  [
    "SOAP",
    PATH,
    "text/xml",
    envelope(
      "1.1",
      getVelocity({ points: items(POINTS) }).replace("<dataset>", `<authToken>${TOKEN}</authToken><dataset>`),
    ),
  ],
  ["JSON", `${API}/values?time=0.31`, JSON_TYPE, JSON.stringify({ points: POINTS })],
  ["octets", `${API}/values?what=hess(u)&time=0.31`, OCTETS, Buffer.from(Float32Array.from(POINTS.flat()).buffer)],
  ["a list", "/api/ask", JSON_TYPE, JSON.stringify([call, call, { ...call, time: 99 }]), "Accept: application/json"],
  [
    "times",
    `${API}/values`,
    JSON_TYPE,
    JSON.stringify({ time: Array.from({ length: 12 }, (_, i) => i / 40), points: POINTS.slice(0, 200) }),
  ],
  ["a search", `${API}/find?where=norm(u)%3E0&frame=1`, "", null, "Accept: application/json"],
  [
    "a filter",
    `${API}/values?what=tau&filter=box:1&time=0.31`,
    JSON_TYPE,
    JSON.stringify({ points: POINTS.slice(0, 100) }),
  ],
  analysis("statistics", {
    ...{ frame: [0], derivatives: "spectral", filter: { kind: "gaussian", width: 0.8 } },
    reduce: [{ moments: "Pi" }, { extremes: "norm(omega)", count: 5, apart: 1 }],
  }),
  analysis("spectrum", { frame: [0], terms: ["transfer"] }),
  analysis("structures", { time: 0.4, where: "norm(omega) > rms(norm(omega))", what: ["2*ddot(S,S)"], labels: true }),
  analysis("dispersion", { time: "0.1:0.3", step: 0.02, every: 2, points: { tetrads: 40, distance: 0.1 } }),
  ["paths", `${API}/paths?${TRACK}&every=2`, JSON_TYPE, JSON.stringify({ points: POINTS })],
  [
    "vnd.apache.parquet",
    `${API}/values?time=0.31`,
    JSON_TYPE,
    JSON.stringify({ points: POINTS }),
    "Accept: application/vnd.apache.parquet",
  ],
  ["points with times", `${API}/values?time=each`, OCTETS, Buffer.from(TIMED.buffer)],
  ["a chunk of the Zarr view", "/zarr/isotropic32/velocity/2.0.0.0.0", "", null],
  ["a volume as NetCDF", `${API}/grid?what=norm(u)&time=0.31&samples=20`, "", null, "Accept: application/netcdf"],
  ["a job", `${API}/values?time=0.31`, JSON_TYPE, JSON.stringify({ points: POINTS }), "Prefer: respond-async"],
  ["a job of one task", `${API}/statistics?what=p&frame=1`, JSON_TYPE, "{}", "Prefer: respond-async"],
  ["nodes", `${API}/nodes?what=u&frame=0`, "", null],
  ["nodes that are streamed", `${API}/nodes?what=A&frame=all`, "", null],
  [
    "frames of a public cutout",
    `/cutout/api/local?token=${TOKEN}&function=velocity&dataset=isotropic32&${PUBLIC_BOX}`,
    "",
    null,
  ],
  ["a cutout over SOAP", PATH, "text/xml", envelope("1.1", SOAP_CUTOUT)],
  ["a cutout's file", `${API}/nodes?what=u,p&frame=0&format=h5`, "", null],
  [
    "values of the public interface",
    `/values?authToken=${TOKEN}&dataset=isotropic32&function=GetVariable&var=velocity&${PUBLIC_OPTIONS}`,
    "",
    POINTS.map((point) => point.join("\t")).join("\n"),
  ],
  ["a picture", `${API}/grid?what=u.x&time=0.31&z=1&samples=200&format=png`, "", null],
  ["points out of range", `${API}/values?time=99`, JSON_TYPE, JSON.stringify({ points: POINTS })],
  ["no JSON", `${API}/values?time=0.3`, JSON_TYPE, `{"points":[${"[1,2,3],".repeat(20_000)}x`],
];

const REFUSED = new Map([
  ["points out of range", 422],
  ["no JSON", 400],
  ["a job", 202],
  ["a job of one task", 202],
]);

/** Ways to end: the part of the request that is sent, and what its sender then waits for. */
const ENDS = [
  ["reads its answer", 1, "end"],
  ["leaves with the head alone", 0, "nothing"],
  ["leaves in the middle of its body", 0.6, "nothing"],
  ["leaves at once", 1, "nothing"],
  ["leaves at the first bytes of its answer", 1, "answer"],
  ["says that it sends no more, and leaves later", 1, "half"],
] as const;

const SLOTS = 4;
let service: RunningService;
beforeAll(async () => {
  const tokens = join(scratchFolder(), "tokens.json");
  const entry = { name: "tests", sha256: digestToken(TOKEN), limit: 0, concurrent: SLOTS };
  writeFileSync(tokens, JSON.stringify({ version: 1, tokens: [entry] }));
  const settings = {
    ...{ EVENTS: "off", TOKENS: tokens, ANONYMOUS: "true", ENGINE_INFLIGHT: String(SLOTS) },
    ...{ STATE: scratchFolder(), JOBS_AT_ONCE: "1000" },
  };
  service = await serveTestData([], settings, false);
});
afterAll(() => service.close());

function bytesOf([, path, type, body, ...headers]: Door): { head: Buffer; body: Buffer } {
  const bytes = Buffer.from(body ?? "");
  const lines = [
    `${body === null ? "GET" : "POST"} ${path} HTTP/1.1`,
    "Host: 127.0.0.1",
    `Authorization: Bearer ${TOKEN}`,
  ];
  if (body !== null) lines.push(`Content-Type: ${type}`, `Content-Length: ${bytes.length}`);
  if (!headers.some((line) => line.startsWith("Accept:"))) headers.push(`Accept: ${OCTETS}, */*`);
  return { head: Buffer.from([...lines, ...headers, "Connection: close", "", ""].join("\r\n")), body: bytes };
}

/** @returns the status of the answer, 0 if it was not read */
async function request(door: Door, [, part, until]: (typeof ENDS)[number]): Promise<number> {
  const { head, body } = bytesOf(door);
  const socket = connect({ port: Number(new URL(service.url).port), host: "127.0.0.1" });
  socket.on("error", () => undefined);
  await once(socket, "connect");
  const gone = once(socket, "close");
  let status = 0;
  if (until === "end") socket.once("data", (bytes) => (status = Number(bytes.toString("latin1", 9, 12))));
  await new Promise<void>((resolve) =>
    socket.write(Buffer.concat([head, body.subarray(0, Math.floor(part * body.length))]), () => resolve()),
  );
  if (until === "half") socket.end();
  if (until === "end" || until === "half") socket.resume();
  else if (until === "answer") socket.once("data", () => socket.destroy());
  else socket.destroy();
  await gone;
  return status;
}

/** Everything that is counted and is not 0. */
async function held(): Promise<readonly string[]> {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  const counted =
    /^fieldprobe_(?:requests_in_flight|requests_waiting|points_in_flight|waiting_answer_bytes|lent_bytes|batches_queued|batches_running) [1-9].*$/gm;
  return text.match(counted) ?? [];
}

it.each(DOORS)("leaves nothing behind, however it ends: %s", { timeout: 120_000 }, async (...door) => {
  // Large requests have a part of the slots, so that some leave while they wait for one.
  for (const end of ENDS) {
    const statuses = await Promise.all(Array.from({ length: SLOTS }, () => request(door as unknown as Door, end)));
    if (end[2] === "end") expect(statuses).toEqual(statuses.map(() => REFUSED.get(String(door[0])) ?? 200));
    await expect.poll(held, { timeout: 20_000, message: end[0] }).toEqual([]);
  }
  // Every place of the token is free again.
  const all = await Promise.all(
    Array.from({ length: SLOTS }, () =>
      fetch(`${service.url}${API}/grid?what=u.x&time=0.3&z=1&samples=8`, {
        headers: { authorization: `Bearer ${TOKEN}` },
      }),
    ),
  );
  for (const { status } of all) expect(status).toBe(200);
});
