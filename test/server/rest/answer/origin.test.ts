/** Answers say where their numbers come from, and whoever holds one is told by 304 that it has not changed. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningService } from "../../../../src/main.js";
import { version } from "../../../../src/shared/build.js";
import { serveTestData } from "../../../support/service.js";

let service: RunningService;
beforeAll(async () => {
  service = await serveTestData([], { HTTP_CACHE_CONTROL: "private, max-age=60" });
});
afterAll(() => service.close());

const SLICE = "slice?field=vorticity&time=0.5&axis=z&at=1&nodes=8";
const CUTOUT = `cutout?field=u&T=2&${["x", "y", "z"].map((a) => `${a}_start=1&${a}_end=3`).join("&")}`;
const ask = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${service.url}/api/datasets/isotropic32/${path}`, { headers });

/** Bricks that kernels have asked for so far; without them none computes. */
async function bricksPinned(): Promise<number> {
  const figures = await (await fetch(`${service.url}/metrics`)).text();
  const found = [...figures.matchAll(/^fieldprobe_cache_(?:hits|misses)_total (\d+)$/gm)];
  expect(found).toHaveLength(2);
  return found.reduce((sum, [, count]) => sum + Number(count), 0);
}

describe.each([SLICE, "volume?field=p&time=0.6&nodes=4", CUTOUT])("%s", (path) => {
  it("is not computed again for a caller that holds it", async () => {
    const first = await ask(path);
    const etag = first.headers.get("etag") as string;
    expect(first.headers.get("cache-control")).toBe("private, max-age=60");
    const bytes = (await first.arrayBuffer()).byteLength;
    expect(bytes).toBeGreaterThan(0);
    const before = await bricksPinned();
    for (const held of [etag, `"other", ${etag}`, "*", `W/${etag}`]) {
      const answer = await ask(path, { "if-none-match": held });
      expect([answer.status, answer.headers.get("etag")]).toEqual([304, etag]);
      expect((await answer.arrayBuffer()).byteLength).toBe(0);
    }
    expect(await bricksPinned()).toBe(before);
    const other = await ask(path, { "if-none-match": '"other"' });
    expect([other.status, (await other.arrayBuffer()).byteLength]).toEqual([200, bytes]);
    expect(await bricksPinned()).toBeGreaterThan(before);
    const [route, query = ""] = path.split("?");
    const reversed = query.split("&").reverse().join("&");
    expect((await ask(`${route}?${reversed}`)).headers.get("etag")).toBe(etag);
  });
});

it("tells forms and requests apart", async () => {
  const tags = await Promise.all([
    ask(SLICE).then(({ headers }) => headers.get("etag")),
    ask(SLICE, { accept: "image/png" }).then(({ headers }) => headers.get("etag")),
    ask(SLICE.replace("nodes=8", "nodes=9")).then(({ headers }) => headers.get("etag")),
  ]);
  expect(new Set(tags).size).toBe(3);
});

it("still refuses a wrong request of a caller that holds an answer", async () => {
  const etag = (await ask(SLICE)).headers.get("etag") as string;
  expect((await ask(SLICE.replace("axis=z", "axis=w"), { "if-none-match": etag })).status).toBe(400);
});

it("names version, data, options, and the frames that values rest on", async () => {
  const description = await fetch(`${service.url}/api/datasets/isotropic32`);
  const { digest } = (await description.json()) as { digest: string };
  const { headers } = await ask(SLICE);
  expect(headers.get("fieldprobe-version")).toBe(version);
  expect(headers.get("fieldprobe-manifest")).toBe(digest);
  expect(JSON.parse(headers.get("fieldprobe-options") as string)).toMatchObject({
    field: "vorticity",
    method: "Fd4Lag4",
    temporalInterpolation: "PCHIP",
    time: "0.5",
  });
  // 0.5 lies between the third and the fourth of the frames 0, 0.2, 0.4, ...; a cubic takes one more on each side.
  expect(headers.get("fieldprobe-frames")).toBe("2,3,4,5");
  const points = await fetch(`${service.url}/api/datasets/isotropic32/GetVelocity`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ time: 0, spatialInterpolation: "Lag6", temporalInterpolation: "None", points: [[1, 2, 3]] }),
  });
  expect(points.headers.get("fieldprobe-frames")).toBe("1");
  expect(points.headers.get("etag")).toBeNull();
});
