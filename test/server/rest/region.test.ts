/** A region has one grammar and one behaviour at the seams of periodic axes, in every call that takes one. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { File, ready } from "h5wasm/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Axis } from "../../../src/kernels/types.js";
import type { RunningService } from "../../../src/main.js";
import { nodesIn } from "../../../src/server/rest/region.js";
import { earlier } from "../../support/earlier-questions.js";
import { scratchFolder } from "../../support/scratch.js";
import { serveTestData } from "../../support/service.js";

let service: RunningService;
/** Pressure at all nodes of the frame at time 0.6, number 4. */
let pressure: Float32Array;
const N = 32;
const folder = scratchFolder();
/** The number of that frame among all that are stored. */
const STORED = 5;
const SPACING = (2 * Math.PI) / N;
beforeAll(async () => {
  await ready;
  service = await serveTestData();
  pressure = floats(await bytes("cutout?field=p&T=4"));
});
afterAll(() => service.close());

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
const json = async (path: string, body?: unknown) => JSON.parse((await bytes(path, body)).toString());
/** The answer to an analysis. */
async function analysis(name: string, body: object) {
  const { region } = body as { readonly region?: Region };
  // Both ends of lengths belong to them now.
  const extent = region?.extent?.map((length) => length - SPACING / 2);
  const asked = extent === undefined ? body : { ...body, region: { ...region, extent } };
  const { call, members } = earlier(name, asked as never);
  return json(call, members);
}

/** Numbers of the nodes of a region along an axis, past the seam on and on. */
const run = ({ start = [0, 0, 0], end = [N, N, N], step = [1, 1, 1] }: Region, a: 0 | 1 | 2) =>
  Array.from({ length: Math.ceil((end[a] - start[a]) / step[a]) }, (_, i) => start[a] + i * step[a]);
/** The pressures of a region, x fastest. */
function expected(region: Region): Float32Array {
  const [xs, ys, zs] = [run(region, 0), run(region, 1), run(region, 2)];
  const at = (node: number) => ((node % N) + N) % N;
  return Float32Array.from(
    zs.flatMap((z) => ys.flatMap((y) => xs.map((x) => pressure[(at(z) * N + at(y)) * N + at(x)] as number))),
  );
}
/** The region as members of a query string. */
const query = (region: Region, sides: readonly (0 | 1 | 2)[] = [0, 1, 2]) =>
  Object.entries(region)
    .map(([name, list]) => `region.${name}=${sides.map((a) => list[a])}`)
    .join("&");
const moments = async (region: Region) => {
  const asked = { frames: [4], region, reduce: [{ moments: "p" }] };
  const { results } = await analysis("statistics", asked);
  return [results[0].count, results[0].min, results[0].max];
};
const momentsOf = (values: Float32Array) => [values.length, Math.min(...values), Math.max(...values)];

/** The region by its lengths: from its first nodes on, of samples from half an interval before them on. */
function lengthsOf({ start = [0, 0, 0], end = [N, N, N] }: Region, before = 0): Region {
  const lengths = (nodes: readonly number[]) => nodes.map((node) => node * SPACING) as unknown as Numbers;
  return {
    origin: lengths(start.map((n) => n - before)),
    extent: lengths(end.map((n, a) => n - (start[a] as number))),
  };
}
const countsOf = (region: Region) => ([0, 1, 2] as const).map((a) => run(region, a).length);
/** A call whose region is of nodes. */
const ofNodes =
  (get: (region: Region) => Promise<unknown>) =>
  (region: Region, byLengths = false) =>
    get(byLengths ? lengthsOf(region) : region);

/** What each call gives of the pressures of a region, and what it should be. */
const CALLS: readonly {
  readonly call: string;
  readonly get: (region: Region, byLengths?: boolean) => Promise<unknown>;
  readonly want?: (values: Float32Array) => unknown;
  readonly strides?: boolean;
}[] = [
  {
    call: "cutout",
    get: ofNodes(async (region) => floats(await bytes(`cutout?field=p&T=4&${query(region)}`))),
    strides: true,
  },
  {
    call: "cutout of a quantity",
    get: ofNodes(async (region) => floats(await bytes(`cutout?quantity=p&T=4&${query(region)}`))),
    strides: true,
  },
  {
    call: "cutout.h5",
    get: ofNodes(async (region) => {
      const path = join(folder, "cutout.h5");
      writeFileSync(path, await bytes(`cutout.h5?fields=pressure&frames=${STORED},${STORED}&${query(region)}`));
      const file = new File(path, "r");
      const { value } = file.get(`Pressure_${String(STORED).padStart(4, "0")}`) as unknown as { value: Float32Array };
      file.close();
      return Float32Array.from(value);
    }),
  },
  {
    call: "slice",
    get: async (region, byLengths = false) => {
      const parts: number[] = [];
      const asked = byLengths
        ? `${query(lengthsOf(region, 0.5), [0, 1])}&nodes=${countsOf(region).slice(0, 2)}`
        : query(region, [0, 1]);
      for (const z of run(region, 2)) {
        const path = `slice?field=p&time=0.6&method=None&axis=z&at=${z * SPACING}`;
        parts.push(...floats(await bytes(`${path}&${asked}`)));
      }
      return Float32Array.from(parts);
    },
    strides: true,
  },
  {
    call: "volume",
    get: async (region, byLengths = false) => {
      const asked = byLengths ? `${query(lengthsOf(region, 0.5))}&nodes=${countsOf(region)}` : query(region);
      return floats(await bytes(`volume?field=p&time=0.6&method=None&${asked}`));
    },
    strides: true,
  },
  { call: "statistics", get: ofNodes(moments), want: momentsOf, strides: true },
  {
    call: "structure-functions",
    get: ofNodes(async (region) => {
      const asked = { frames: [4], region, of: "p", orders: [2], axes: ["z"], separations: { nodes: [1] } };
      return (await analysis("structure-functions", asked)).separations[0].pairs;
    }),
    want: (values) => (values.length / 3) * 2,
  },
  {
    call: "structures",
    get: ofNodes(async (region) => (await analysis("structures", { frames: [4], region, of: "p", above: 0 })).nodes),
    want: (values) => values.filter((value) => value > 0).length,
  },
  {
    call: "GetThreshold, by its query string",
    get: ofNodes(async (region) => {
      const asked = "GetThreshold?field=pressure&time=0.6&threshold=0&spatialInterpolation=None";
      return (await json(`${asked}&${query(region)}`, {})).values.length;
    }),
    want: (values) => values.length,
  },
  {
    call: "GetThreshold, by its body",
    get: ofNodes(async (region) => {
      const asked = { field: "pressure", time: 0.6, threshold: 0, spatialInterpolation: "None", region };
      return Float32Array.from((await json("GetThreshold", asked)).values as number[][], (row) => row[3] as number);
    }),
    want: (values) => values.map(Math.abs).toSorted().toReversed(),
  },
];

const OVER_SEAMS = { start: [30, -2, 31], end: [35, 2, 34] } as const;
const STRIDED = [
  { start: [30, 1, 2], end: [36, 9, 5], step: [2, 3, 1] },
  { start: [30, 1, 2], end: [32, 4, 7], step: [1, 1, 3] },
] as const;

describe.each(CALLS)("$call", ({ call, get, want = (values) => values, strides = false }) => {
  it("goes on over the seams by nodes", async () => {
    expect(await get(OVER_SEAMS)).toEqual(want(expected(OVER_SEAMS)));
  });

  it("has the same nodes by lengths", async () => {
    expect(await get(OVER_SEAMS, true)).toEqual(want(expected(OVER_SEAMS)));
  });

  it(strides ? "takes strides" : "refuses strides", async () => {
    for (const region of STRIDED)
      if (strides) expect(await get(region)).toEqual(want(expected(region)));
      else await expect(get(region)).rejects.toThrow("must be 1");
  });

  it("refuses what does not fit in the same words", async () => {
    if (/^(statistics|structure)/.test(call)) {
      await expect(get({ start: [0, 3, 0], end: [4, N + 4, 4] })).rejects.toThrow('j: it is not in "isotropic32"');
      return;
    }
    const long = { start: [0, 3, 0], end: [4, N + 4, 4] } as const;
    const text =
      'The region is not in "isotropic32" along y, whose nodes 0 to 31 are at 0 to 6.08684; over the seam, a region goes on for a period at most.';
    await expect(get(long)).rejects.toThrow(text);
    await expect(get({ start: [0, 4, 0], end: [4, 4, 4] })).rejects.toThrow(
      'The region is not in "isotropic32" along y',
    );
    await expect(get({ start: [0, 0, 0], extent: [1, 1, 1] })).rejects.toThrow(
      "a region has origin and extent, or some of",
    );
  });
});

describe("a region below the first node keeps its numbers and coordinates", () => {
  const BELOW = { start: [-3, 0, 29], end: [3, 8, 32] } as const;

  it.each([false, true])("in hits, stated by lengths: %s", async (byLengths) => {
    const search = async (region: Region) => {
      const asked = { field: "pressure", time: 0.6, threshold: 0, spatialInterpolation: "None", region };
      const { options, values } = (await json("GetThreshold", asked)) as { options: object; values: number[][] };
      return { options, hits: values.map((hit) => hit.join()).toSorted() };
    };
    const all = await search({ start: [0, 0, 0] });
    // Nodes -3 to 2 along x have the numbers -2 to 3.
    const wanted = all.hits.flatMap((hit) => {
      const [x = 0, y = 0, z = 0, value] = hit.split(",").map(Number);
      const number = x > 29 ? x - N : x;
      return number <= 3 && y <= 8 && z > 29 ? [[number, y, z, value].join()] : [];
    });
    expect(wanted).toHaveLength(6 * 8 * 3);
    const { hits, options } = await search(byLengths ? lengthsOf(BELOW) : BELOW);
    expect(hits).toEqual(wanted.toSorted());
    expect(options).toMatchObject({ x_start: -2, x_end: 3, y_start: 1, y_end: 8, z_start: 30, z_end: 32 });
  });

  it("in cutout.h5", async () => {
    const path = join(folder, "below.h5");
    const answer = await ask(`cutout.h5?fields=pressure&frames=${STORED},${STORED}&${query(BELOW)}`);
    expect(answer.headers.get("accept-ranges")).toBe("bytes");
    writeFileSync(path, Buffer.from(await answer.arrayBuffer()));
    const file = new File(path, "r");
    const { value } = file.get("xcoor") as unknown as { value: Float64Array };
    expect([...value]).toEqual([-3, -2, -1, 0, 1, 2].map((node) => node * SPACING));
    expect([file.attrs.x_start?.value, file.attrs.x_end?.value]).toEqual([-2, 3]);
    file.close();
  });
});

describe("the ends of a region by lengths", () => {
  const axis = (origin: number): Axis => ({ nodes: 1000, spacing: 1e-3, origin, periodic: false, coordinates: null });
  const along = (origin: number, from: number, extent: number) => {
    const region = { origin: [from], extent: [extent] } as never;
    return nodesIn(region, { name: "runs" }, [axis(origin)], [0])[0];
  };

  it("are nodes although float32 has rounded them", () => {
    const [above, below] = [Math.fround(100.007), Math.fround(100.004)];
    expect(above - 100.007).toBeGreaterThan(3e-6);
    expect(100.004 - below).toBeGreaterThan(2e-6);
    expect(along(100, above, 0.002)).toEqual({ first: 7, from: 7, count: 3, step: 1 });
    expect(along(100, 100.001, below - 100.001)).toEqual({ first: 1, from: 1, count: 4, step: 1 });
  });

  it("are no further nodes where float32 tells none apart", () => {
    expect(along(1e6, 1e6 + 0.5, 0.01)).toEqual({ first: 500, from: 500, count: 11, step: 1 });
  });
});

it.each([
  [
    "cutout?field=p&T=4",
    "x_start=31&y_start=5&z_start=3&x_end=35&y_end=8&z_end=6",
    { start: [30, 4, 2], end: [35, 8, 6] },
  ],
  [
    "cutout?field=p&T=4",
    "x_start=2&y_start=1&z_start=1&x_end=9&y_end=2&z_end=2&x_step=3",
    { start: [1, 0, 0], end: [9, 2, 2], step: [3, 1, 1] },
  ],
  ["volume?field=p&time=0.6&nodes=3", "origin=0.5,6,1&extent=1,2,3", { origin: [0.5, 6, 1], extent: [1, 2, 3] }],
  ["slice?field=p&time=0.6&axis=z&at=1&nodes=3", "origin=0.5,6&extent=1,2", { origin: [0.5, 6, 0], extent: [1, 2, 0] }],
  ["cutout.xmf?frames=4,4", "start=3,1,30&end=5,2,32", { start: [2, 0, 29], end: [5, 2, 32] }],
] as const)("%s has the older spelling %s", async (path, older, region) => {
  const sides = path.startsWith("slice") ? ([0, 1] as const) : undefined;
  const today = await bytes(`${path}&${query(region, sides)}`);
  expect(await bytes(`${path}&${older}`)).toEqual(today);
  await expect(bytes(`${path}&${older}&${query(region, sides)}`)).rejects.toThrow(/give a region or|are the same/);
});

it.each([
  ["the later dialect", "GetThreshold", { x_start: 31, y_start: 5, z_start: 3, x_end: 35, y_end: 8, z_end: 6 }],
] as const)("%s goes on over the seams in its own words", async (_, operation, corners) => {
  const asked = { field: "pressure", time: 0.6, threshold: 0, spatialInterpolation: "None", ...corners };
  const values = (await json(operation, asked)).values as number[][];
  const want = expected({ start: [30, 4, 2], end: [35, 8, 6] });
  expect(values.map((row) => Math.fround(row[3] as number))).toEqual([...want.map(Math.abs).toSorted().toReversed()]);
  expect(Math.max(...values.map(([x = 0]) => x))).toBe(35);
});

it("the public REST interface goes on over the seams in its own words", async () => {
  const box = "xs=31&xe=35&ys=5&ye=8&zs=3&ze=6&ts=4&te=4";
  const answer = await json(`turbulence-svc/cutout/api/local?token=T&function=pressure&dataset=isotropic32&${box}`);
  const [array] = Object.values(answer.data_vars) as { data: unknown[] }[];
  const numbers = (array as { data: number[][][][] }).data.flat(3).map(Math.fround);
  expect(numbers).toEqual([...expected({ start: [30, 4, 2], end: [35, 8, 6] })]);
});
