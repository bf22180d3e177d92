/** Files that wait, over HTTP: who sees them, how their lines are answered, and what confirming serves. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningService } from "../../src/main.js";
import { digestToken } from "../../src/server/http/auth.js";
import { fill, writeHdf5 } from "../support/cubes.js";
import { scratchFolder } from "../support/scratch.js";
import { serveTestData } from "../support/service.js";

const N = 8;
const STEP = 0.25;
/** Value of component c at a node of the bare file, whose axes are stored as z, y, x. */
const valueAt = (x: number, y: number, z: number, c: number) => c + x / N + y / N ** 2 + z / N ** 3;

async function writeBare(folder: string, name = "u.h5", attributes: Readonly<Record<string, number>> = {}) {
  const values = fill(["z", "y", "x", "c"], [N, N, N, 3], ({ x, y, z, c }) => valueAt(x, y, z, c));
  await writeHdf5(join(folder, name), (file) => {
    file.create_dataset({ name: "u", data: Float32Array.from(values), shape: [N, N, N, 3] });
    file.create_attribute("note", "\u001b[31mred");
    for (const [key, value] of Object.entries(attributes)) file.create_attribute(key, value);
  });
}

interface Draft {
  readonly id: string;
  readonly file: string;
  readonly files: number;
  readonly name: string;
  readonly open: readonly { readonly about: string; readonly flag: string }[];
  readonly unused: readonly string[];
  readonly mayConfirm: boolean;
  readonly command: string;
  readonly picture: boolean;
  readonly shown: string;
}

async function send(url: string, method = "GET", body?: unknown, headers: Readonly<Record<string, string>> = {}) {
  const type = body === undefined ? {} : { "content-type": "application/json" };
  const text = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await fetch(url, { method, headers: { ...type, ...headers }, ...text });
  return { status: answer.status, headers: answer.headers, json: (await answer.json()) as never };
}

async function listed(url: string, headers = {}) {
  const { json } = await send(`${url}/api/drafts`, "GET", undefined, headers);
  return json as { manage: boolean; waiting: number; drafts: { id: string; file: string; files: number }[] };
}

const ANSWERS = { dims: "z,y,x,c", spacing: STEP, origin: [0, 0, 0], periodic: "xyz" };

describe("a service on this machine alone", () => {
  const folder = scratchFolder();
  let service: RunningService;
  const draftsUrl = () => `${service.url}/api/drafts`;
  beforeAll(async () => {
    await writeBare(folder);
    mkdirSync(join(folder, "runs"));
    for (const step of ["000", "001", "002"])
      await writeBare(join(folder, "runs"), `f_${step}.h5`, { time: Number(step) / 10, iteration: 100 * Number(step) });
    service = await serveTestData([folder], { STATE: scratchFolder() });
  });
  afterAll(() => service.close());
  const idOf = async (file: string) =>
    (await listed(service.url)).drafts.find((one) => one.file === file)?.id as string;

  it("shows what a file is taken for, and what is open, to its owner", async () => {
    const { manage, waiting, drafts } = await listed(service.url);
    expect({ manage, waiting }).toEqual({ manage: true, waiting: 4 });
    expect(drafts.map(({ file, files }) => [file, files]).sort()).toEqual([
      ["runs/f_000.h5", 3],
      ["runs/f_001.h5", 3],
      ["runs/f_002.h5", 3],
      ["u.h5", 1],
    ]);
    const draft = (await send(`${draftsUrl()}/${await idOf("u.h5")}`)).json as Draft;
    expect(draft).toMatchObject({ file: "u.h5", name: "u", picture: true, mayConfirm: false });
    expect(draft.open.map(({ flag }) => flag)).toContain("dims");
    expect(draft.unused).toEqual(['@note = "\\u001b[31mred"']);
  });

  it("refuses an answer that is none by its name, and keeps those before", async () => {
    const url = `${draftsUrl()}/${await idOf("u.h5")}`;
    expect((await send(url, "PATCH", { dims: "z,y,x,c" })).status).toBe(200);
    expect(await send(url, "PATCH", { spacing: "wide" })).toMatchObject({ status: 400, json: { member: "spacing" } });
    expect(await send(url, "PATCH", { colour: "red" })).toMatchObject({ status: 400, json: { member: "colour" } });
    expect(await send(url, "PATCH", { dims: "t,c,z,y,x" })).toMatchObject({ status: 422 });
    // A later answer of the same line takes the place of an earlier one.
    const answers = { dims: "z,y,x,c", spacing: ".1" };
    expect(await send(url, "PATCH", { length: 7, periodic: "xyz" })).toMatchObject({ status: 200 });
    expect((await send(url, "PATCH", { spacing: ".1", periodic: null })).json).toHaveProperty("answers", answers);
    const { json } = await send(url, "PATCH", { spacing: null });
    expect(json).toMatchObject({
      answers: { dims: "z,y,x,c" },
      command: `fieldprobe inspect ${join(folder, "u.h5")} --dims z,y,x,c`,
    });
  });

  it("confirms nothing while a line is open, and then serves the values", async () => {
    const url = `${draftsUrl()}/${await idOf("u.h5")}`;
    const early = await send(`${url}/confirm`, "POST");
    expect(early.status).toBe(409);
    expect(existsSync(join(folder, "u.dataset.json"))).toBe(false);
    // Answers that overlap are all kept.
    await Promise.all(Object.entries(ANSWERS).map(([flag, text]) => send(url, "PATCH", { [flag]: text })));
    const draft = (await send(url)).json as Draft;
    expect(draft).toMatchObject({ open: [], mayConfirm: true });
    expect(draft.command).toBe(
      `fieldprobe inspect ${join(folder, "u.h5")} --dims z,y,x,c --spacing 0.25 --origin 0,0,0 --periodic xyz --yes`,
    );
    const picture = await fetch(url, { headers: { accept: "image/png" } });
    expect(picture.headers.get("content-type")).toBe("image/png");
    const bytes = Buffer.from(await picture.arrayBuffer());
    expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([N, N]);
    const range = picture.headers.get("fieldprobe-range")?.split(",").map(Number) as number[];
    expect(range[0]).toBeCloseTo(valueAt(0, 0, N / 2, 0), 6);
    expect(range[1]).toBeCloseTo(valueAt(N - 1, N - 1, N / 2, 0), 6);
    expect(await send(`${url}/confirm`, "POST")).toMatchObject({ status: 201, json: { dataset: "u" } });
    expect(existsSync(join(folder, "u.dataset.json"))).toBe(true);
    const point = [3, 2, 1].map((node) => node * STEP).join(",");
    const { json } = await send(`${service.url}/api/datasets/u/values?what=u.x&points=${point}&method=nearest`);
    const [row = []] = (json as { rows: number[][] }).rows;
    expect(row.at(-1)).toBeCloseTo(valueAt(3, 2, 1, 0), 6);
    expect((await send(url)).status).toBe(404);
  });

  it.each([true, false])("confirms no draft that has changed since it was shown: named %s", async (isNamed) => {
    const name = `changed-${isNamed}`;
    await writeBare(folder, `${name}.h5`);
    await service.reload();
    const url = `${draftsUrl()}/${await idOf(`${name}.h5`)}`;
    const { shown } = (await send(url, "PATCH", ANSWERS)).json as Draft;
    await writeBare(folder, `${name}.h5`, { nu: 0.1 });
    const body = isNamed ? { shown } : undefined;
    expect(await send(`${url}/confirm`, "POST", body)).toMatchObject({
      status: 409,
      json: { detail: expect.stringContaining("attribute @nu is new (0.1)") },
    });
    expect(existsSync(join(folder, `${name}.dataset.json`))).toBe(false);
    // What was shown before is not confirmed either.
    if (isNamed) expect(await send(`${url}/confirm`, "POST", body)).toMatchObject({ status: 409 });
    const anew = ((await send(url)).json as Draft).shown;
    expect(await send(`${url}/confirm`, "POST", { shown: anew, name: "x" })).toMatchObject({ status: 400 });
    expect(await send(`${url}/confirm`, "POST", { shown: anew })).toMatchObject({ status: 201 });
  });

  it("takes the files of a series together", async () => {
    const url = `${draftsUrl()}/${await idOf("runs/f_000.h5")}`;
    expect(await send(url, "PATCH", { series: true, times: "0:2" })).toMatchObject({ status: 200 });
    expect((await send(url, "PATCH", { series: false })).json).toMatchObject({
      series: false,
      command: expect.stringMatching(/f_000\.h5$/),
    });
    const draft = (await send(url, "PATCH", { series: true, name: "run", ...ANSWERS })).json as Draft & {
      varies: string[];
    };
    expect(draft).toMatchObject({ open: [], name: "run", mayConfirm: true });
    expect(draft.varies).toContain("@iteration");
    expect(await send(`${url}/confirm`, "POST")).toMatchObject({ status: 201, json: { dataset: "run" } });
    const { json } = await send(`${service.url}/api/datasets/run`);
    expect((json as { times: { count: number } }).times.count).toBe(3);
    expect(await listed(service.url)).toMatchObject({ waiting: 0, drafts: [] });
  });

  it("shows nothing to callers that a proxy brings", async () => {
    const headers = { "x-forwarded-for": "203.0.113.7" };
    expect(await listed(service.url, headers)).toMatchObject({ manage: false, drafts: [] });
    expect((await send(`${draftsUrl()}/0123456789abcdef`, "GET", undefined, headers)).status).toBe(403);
    expect((await send(`${draftsUrl()}/0123456789abcdef/confirm`, "POST", undefined, headers)).status).toBe(403);
  });
});

describe("a service with tokens", () => {
  const folder = scratchFolder();
  let service: RunningService;
  beforeAll(async () => {
    await writeBare(folder);
    const tokens = [
      { name: "ann", sha256: digestToken("ann"), limit: 0 },
      { name: "eve", sha256: digestToken("eve"), limit: 0, manage: true },
    ];
    const path = join(scratchFolder(), "tokens.json");
    writeFileSync(path, JSON.stringify({ version: 1, tokens }));
    service = await serveTestData([folder], { STATE: scratchFolder(), TOKENS: path });
  });
  afterAll(() => service.close());
  const by = (token: string) => ({ authorization: `Bearer ${token}` });

  it("shows and confirms by a token with the right, also on this machine", async () => {
    const { url } = service;
    for (const headers of [{}, by("ann"), by("nobody")])
      expect(await listed(url, headers)).toEqual({ manage: false, waiting: 1, drafts: [] });
    const { manage, drafts } = await listed(url, by("eve"));
    expect({ manage, files: drafts.map(({ file }) => file) }).toEqual({ manage: true, files: ["u.h5"] });
    const draft = `${url}/api/drafts/${drafts[0]?.id}`;
    for (const [headers, status] of [
      [{}, 401],
      [by("nobody"), 401],
      [by("ann"), 403],
    ] as const) {
      expect((await send(draft, "GET", undefined, headers)).status).toBe(status);
      expect((await send(draft, "PATCH", ANSWERS, headers)).status).toBe(status);
      expect((await send(`${draft}/confirm`, "POST", ANSWERS, headers)).status).toBe(status);
    }
    expect(existsSync(join(folder, "u.dataset.json"))).toBe(false);
    expect((await send(`${draft}/confirm`, "POST", ANSWERS, by("eve"))).status).toBe(201);
    expect(existsSync(join(folder, "u.dataset.json"))).toBe(true);
  });
});
