/** A region has one grammar and one behaviour at the seams of periodic axes, in every call that takes one. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { File, ready } from "h5wasm/node";
import { describe, expect, it } from "vitest";
import type { Axis } from "../../../../src/kernels/types.js";
import { runsIn } from "../../../../src/server/ask/question/where.js";
import { scratchFolder } from "../../../support/scratch.js";
import { useTestData } from "../../../support/service.js";

const N = 32;
const folder = scratchFolder();
const SPACING = (2 * Math.PI) / N;
await ready;
const service = await useTestData();

type Numbers = readonly [number, number, number];
interface Region {
  readonly origin?: Numbers;
  readonly extent?: Numbers;
  readonly start?: Numbers;
  readonly end?: Numbers;
  readonly step?: Numbers;
}

const floats = (bytes: Buffer) => new Float32Array(Uint8Array.from(bytes).buffer);
const JSON_TYPE = { "content-type": "application/json" };

async function ask(path: string, body?: unknown): Promise<Response> {
  const sent = body === undefined ? {} : { method: "POST", headers: JSON_TYPE, body: JSON.stringify(body) };
  return fetch(`${service.url}/${path.includes("/") ? path : `api/datasets/isotropic32/${path}`}`, sent);
}
async function bytes(path: string, body?: unknown): Promise<Buffer> {
  const answer = await ask(path, body);
  const content = Buffer.from(await answer.arrayBuffer());
  if (answer.status !== 200) {
    const { detail } = JSON.parse(content.toString()) as { detail?: string };
    throw new Error(detail ?? content.toString());
  }
  return content;
}
/** Pressure at all nodes of the frame at time 0.6, number 4. */
const pressure = floats(await bytes("nodes?what=p&frame=3&format=f32"));
const json = async (path: string, body?: unknown) => JSON.parse((await bytes(path, body)).toString());
function members({ origin, extent, start = [] as never, end = [] as never, step = [] as never }: Region) {
  if (origin !== undefined && extent !== undefined) {
    const part = (a: 0 | 1 | 2) => `${origin[a]}:${origin[a] + extent[a]}`;
    return { x: part(0), y: part(1), z: part(2) };
  }
  const part = (a: 0 | 1 | 2) => `${start[a] ?? ""}:${end[a] ?? ""}:${step[a] ?? 1}`;
  return { i: part(0), j: part(1), k: part(2) };
}

/** Numbers of the nodes of a region along an axis, past the seam on and on. */
const run = ({ start = [0, 0, 0], end = [N, N, N], step = [1, 1, 1] }: Region, a: 0 | 1 | 2) =>
  Array.from({ length: Math.ceil((end[a] - start[a]) / step[a]) }, (_, i) => start[a] + i * step[a]);
function expected(region: Region): Float32Array {
  const [xs, ys, zs] = [run(region, 0), run(region, 1), run(region, 2)];
  const at = (node: number) => ((node % N) + N) % N;
  return Float32Array.from(
    zs.flatMap((z) => ys.flatMap((y) => xs.map((x) => pressure[(at(z) * N + at(y)) * N + at(x)] as number))),
  );
}
const query = (region: Region) => new URLSearchParams(members(region)).toString();
const moments = async (region: Region) => {
  const asked = { frame: [3], ...members(region), reduce: [{ moments: "p" }] };
  const { results } = await json("statistics", asked);
  return [results[0].count, results[0].min, results[0].max];
};
const momentsOf = (values: Float32Array) => [values.length, Math.min(...values), Math.max(...values)];

function lengthsOf({ start = [0, 0, 0], end = [N, N, N] }: Region): Region {
  const lengths = (nodes: readonly number[]) => nodes.map((node) => node * SPACING) as unknown as Numbers;
  return { origin: lengths(start), extent: lengths(end.map((n, a) => n - (start[a] as number) - 0.5)) };
}
const ofNodes =
  (get: (region: Region) => Promise<unknown>) =>
  (region: Region, byLengths = false) =>
    get(byLengths ? lengthsOf(region) : region);

/** What each call gives of the pressures of a region, and what it should be. */
const CALLS: readonly {
  readonly call: string;
  readonly get: (region: Region, byLengths?: boolean) => Promise<unknown>;
  readonly want?: (values: Float32Array) => unknown;
}[] = [
  {
    call: "nodes",
    get: ofNodes(async (region) => floats(await bytes(`nodes?what=p&frame=3&format=f32&${query(region)}`))),
  },
  {
    call: "nodes as h5",
    get: ofNodes(async (region) => {
      const path = join(folder, "cutout.h5");
      writeFileSync(path, await bytes(`nodes?what=p&frame=3&format=h5&${query(region)}`));
      const file = new File(path, "r");
      const name = file.keys().includes("p") ? "p" : "Pressure_0004";
      const { value } = file.get(name) as unknown as { value: Float32Array };
      file.close();
      return Float32Array.from(value);
    }),
  },
  { call: "statistics", get: ofNodes(moments), want: momentsOf },
  {
    call: "structure_functions",
    get: ofNodes(async (region) => {
      const asked = { frame: [3], ...members(region), what: ["p"], orders: [2], axis: ["z"], separations: [1] };
      return (await json("structure_functions", asked)).separations[0].pairs;
    }),
    want: (values) => (values.length / 3) * 2,
  },
  {
    call: "structures",
    get: ofNodes(
      async (region) => (await json("structures", { frame: [3], ...members(region), where: "p > 0" })).nodes,
    ),
    want: (values) => values.filter((value) => value > 0).length,
  },
];

const OVER_SEAMS = { start: [30, -2, 31], end: [35, 2, 34] } as const;
const STRIDED = [
  { start: [30, 1, 2], end: [36, 9, 5], step: [2, 3, 1] },
  { start: [30, 1, 2], end: [32, 4, 7], step: [1, 1, 3] },
] as const;

describe.each(CALLS)("$call", ({ call, get, want = (values) => values }) => {
  it("goes on over the seams by nodes", async () => {
    expect(await get(OVER_SEAMS)).toEqual(want(expected(OVER_SEAMS)));
  });

  it("has the same nodes by lengths", async () => {
    expect(await get(OVER_SEAMS, true)).toEqual(want(expected(OVER_SEAMS)));
  });

  it("takes strides, unless it compares neighbours", async () => {
    for (const region of STRIDED) {
      const answer = get(region);
      if (call.startsWith("struct")) await expect(answer).rejects.toThrow("the stride must be 1");
      else expect(await answer).toEqual(want(expected(region)));
    }
  });

  it("refuses what does not fit in the same words", async () => {
    await expect(get({ start: [0, 3, 0], end: [4, N + 4, 4] })).rejects.toThrow(
      'j: it is not in "isotropic32", whose nodes 0 to 31 along y are at 0 to 6.08684; over the seam, a part goes on',
    );
  });
});

describe("nodes of ten frames, which are computed as they are sent", () => {
  const ask = (frames: string, format: string) => bytes(`nodes?what=p&frame=${frames}&format=${format}`);

  it("are those of each frame, one after the other", async () => {
    const each = await Promise.all(Array.from({ length: 10 }, (_, frame) => ask(`${frame}`, "f32")));
    const together = Buffer.concat(each);
    expect((await ask("0:10", "f32")).equals(together)).toBe(true);
    expect((await ask("0:10", "npy")).subarray(-together.length).equals(together)).toBe(true);
    const { data } = JSON.parse((await ask("0:10", "json")).toString());
    expect(floats(together)).toEqual(Float32Array.from(data.p.flat(9) as number[]));
  });
});

describe("the ends of a region by lengths", () => {
  const axis = (origin: number): Axis => ({ nodes: 1000, spacing: 1e-3, origin, periodic: false, coordinates: null });
  const along = (origin: number, first: number, last: number) =>
    runsIn({ x: { first, last } }, { name: "line" }, [axis(origin), axis(origin), axis(origin)])[0];

  it("are nodes although float32 has rounded them", () => {
    const [above, below] = [Math.fround(100.007), Math.fround(100.004)];
    expect(above - 100.007).toBeGreaterThan(3e-6);
    expect(100.004 - below).toBeGreaterThan(2e-6);
    expect(along(100, above, above + 0.002)).toEqual({ first: 7, from: 7, count: 3, step: 1 });
    expect(along(100, 100.001, below)).toEqual({ first: 1, from: 1, count: 4, step: 1 });
  });

  it("are no further nodes where float32 tells none apart", () => {
    expect(along(1e6, 1e6 + 0.5, 1e6 + 0.51)).toEqual({ first: 500, from: 500, count: 11, step: 1 });
  });
});

it("the public REST interface goes on over the seams in its own words", async () => {
  const box = "xs=31&xe=35&ys=5&ye=8&zs=3&ze=6&ts=4&te=4";
  const answer = await json(`turbulence-svc/cutout/api/local?token=T&function=pressure&dataset=isotropic32&${box}`);
  const [array] = Object.values(answer.data_vars) as { data: unknown[] }[];
  const numbers = (array as { data: number[][][][] }).data.flat(3).map(Math.fround);
  expect(numbers).toEqual([...expected({ start: [30, 4, 2], end: [35, 8, 6] })]);
});
