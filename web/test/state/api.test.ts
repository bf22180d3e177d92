/** Refusals of the service as the page shows them. */
import { afterEach, expect, it, vi } from "vitest";
import { ApiClient, type BatchResult, nodePath, partsWithin, valuesOf } from "../../state/api.js";

afterEach(() => {
  vi.unstubAllGlobals();
});

it("asks for a token where none was given, and shows what the service says of a wrong one", async () => {
  const api = new ApiClient();
  const detail = "Disabled identification token.";
  vi.stubGlobal("document", { baseURI: "http://127.0.0.1/" });
  vi.stubGlobal("fetch", async () => Response.json({ code: "AuthenticationFailed", detail }, { status: 401 }));
  await expect(api.catalogue()).rejects.toMatchObject({
    status: 401,
    code: "AuthenticationFailed",
    message: "This service asks for a token: put yours in under Settings.",
  });
  api.useToken("old");
  await expect(api.catalogue()).rejects.toThrow(detail);
});

it("says that the service does not answer, and leaves what was cancelled to those who cancelled it", async () => {
  const api = new ApiClient();
  vi.stubGlobal("document", { baseURI: "http://127.0.0.1/" });
  vi.stubGlobal("fetch", async () => Promise.reject(new TypeError("Failed to fetch")));
  await expect(api.catalogue()).rejects.toMatchObject({ code: "Network", message: "The service cannot be reached." });
  const gone = new DOMException("aborted", "AbortError");
  vi.stubGlobal("fetch", async () => Promise.reject(gone));
  const leaving = new AbortController();
  const left = expect(api.slice("api/x", leaving.signal)).rejects.toBe(gone);
  await Promise.resolve();
  leaving.abort(gone);
  await left;
});

it("asks again where a token may run few requests at a time, and not for ever", async () => {
  const api = new ApiClient();
  vi.useFakeTimers();
  vi.stubGlobal("document", { baseURI: "http://127.0.0.1/" });
  const busy = { code: "LimitExceeded", limit: "token.concurrent", detail: "This token may run 2 requests at a time." };
  let asked = 0;
  vi.stubGlobal("fetch", async () => (++asked % 4 === 0 ? Response.json({}) : Response.json(busy, { status: 429 })));
  const answer = api.catalogue();
  await vi.runAllTimersAsync();
  expect(await answer).toEqual({});
  expect(asked).toBe(4);
  vi.stubGlobal("fetch", async () => Response.json(busy, { status: 429 }));
  const never = expect(api.catalogue()).rejects.toThrow(busy.detail);
  await vi.runAllTimersAsync();
  await never;
  vi.useRealTimers();
});

it("waits as long as a busy service says, once for each refusal, and stops when cancelled", async () => {
  const api = new ApiClient();
  vi.useFakeTimers();
  vi.stubGlobal("document", { baseURI: "http://127.0.0.1/" });
  const asked: number[] = [];
  const busy = () => Response.json({ detail: "Busy." }, { status: 503, headers: { "retry-after": "2" } });
  vi.stubGlobal("fetch", async () => (asked.push(Date.now()) < 3 ? busy() : Response.json({ points: 5 })));
  const answer = api.catalogue();
  await vi.runAllTimersAsync();
  expect(await answer).toEqual({ points: 5 });
  expect(asked.map((at) => at - (asked[0] as number))).toEqual([0, 2000, 4000]);
  vi.stubGlobal("fetch", async () => busy());
  const controller = new AbortController();
  const cancelled = expect(api.slice("api/x", controller.signal)).rejects.toMatchObject({ name: "AbortError" });
  await vi.advanceTimersByTimeAsync(100);
  controller.abort();
  await cancelled;
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

/** Results of a batch as the service sends them: a line of JSON, and the numbers of all of them. */
function octets(results: readonly { readonly values?: readonly number[]; readonly [name: string]: unknown }[]) {
  const heads = results.map(({ values = [], ...head }) => ({ ...head, numbers: values.length }));
  const text = JSON.stringify({ results: heads });
  const line = new TextEncoder().encode(`${text}${" ".repeat(3 - (new TextEncoder().encode(text).length % 4))}\n`);
  return new Response(new Blob([line, Float32Array.from(results.flatMap(({ values = [] }) => values))]));
}

/** Requests that were sent, with answers by their address. */
function watchRequests(answer: (address: string, body: string) => Response): string[] {
  const asked: string[] = [];
  vi.stubGlobal("document", { baseURI: "http://127.0.0.1/" });
  vi.stubGlobal("fetch", async (address: string, { body }: { body?: string }) => {
    asked.push(address.replace(/^.*?api\//, ""));
    return answer(address, body ?? "");
  });
  return asked;
}

const PLANE = "api/datasets/a%20b/slice?field=p&time=0.5&nodes=2,1";
const SIDES = [
  { axis: "y", count: 1, origin: 0, spacing: 1 },
  { axis: "x", count: 2, origin: 0.5, spacing: 1 },
];

it("asks for a single plane by its address, and for several with the points of the tick in one request", async () => {
  const api = new ApiClient();
  const bodies: { operation: string; dataset: string; field?: string }[][] = [];
  const asked = watchRequests((address, body) => {
    if (address.includes("/slice?")) {
      const headers = {
        "fieldprobe-axes": "y,x",
        "fieldprobe-shape": "1,2",
        "fieldprobe-origin": "0,0.5",
        "fieldprobe-spacing": "1,1",
        "fieldprobe-range": "7,8",
      };
      return new Response(Float32Array.of(7, 8), { headers });
    }
    const { queries } = JSON.parse(body);
    bodies.push(queries);
    return octets(
      queries.map(({ operation, field }: { operation: string; field?: string }) => {
        if (field === "q") return { problem: { code: "LimitExceeded", detail: "(2 > 1)", limit: "query.points" } };
        if (operation === "slice") return { axes: SIDES, range: [7, 8], values: [7, 8] };
        return { values: [1, Number.NaN] };
      }),
    );
  });
  const { signal } = new AbortController();
  const query = { operation: "GetVelocity" as const, dataset: "a b", parameters: {}, points: new Float32Array(3) };
  const [single, points] = await Promise.all([api.slice(PLANE, signal), api.batch([query], signal)]);
  expect([asked, [...single.values], single.columns.origin]).toEqual([
    [PLANE.replace("api/", ""), "batch"],
    [7, 8],
    0.5,
  ]);
  expect(valuesOf(points[0] as BatchResult)).toEqual(Float32Array.of(1, Number.NaN));
  asked.length = 0;
  const refused = PLANE.replace("field=p", "field=q");
  const [plane, wrong, more] = await Promise.all([
    api.slice(PLANE, signal),
    api.slice(refused, signal).catch((error: unknown) => error),
    api.batch([query, query], signal),
  ]);
  expect(asked).toEqual(["batch"]);
  expect(bodies[1]?.map(({ operation, dataset, field }) => [operation, dataset, field])).toEqual([
    ["slice", "a b", "p"],
    ["slice", "a b", "q"],
    ["GetVelocity", "a b", undefined],
    ["GetVelocity", "a b", undefined],
  ]);
  expect(plane).toEqual(single);
  expect(wrong).toMatchObject({ code: "LimitExceeded", limit: "query.points", most: 1 });
  expect(more.map(valuesOf)).toEqual([1, 2].map(() => Float32Array.of(1, Number.NaN)));
});

it("fetches the planes of a frame apart from those of the tick, and boxes apart from planes", async () => {
  const api = new ApiClient();
  const asked = watchRequests((_address, body) =>
    octets(JSON.parse(body).queries.map(() => ({ axes: [...SIDES, SIDES[0]], range: [7, 8], values: [7, 8] }))),
  );
  const { signal } = new AbortController();
  const other = PLANE.replace("field=p", "field=ux");
  const box = PLANE.replace("slice", "volume");
  await Promise.all([
    api.slices([PLANE, other], signal),
    api.slice(PLANE, signal),
    api.slice(other, signal),
    api.volume(box, signal),
    api.volume(box.replace("field=p", "field=ux"), signal),
  ]);
  expect(asked).toEqual(["batch", "batch", "batch"]);
});

it("asks a batch in parts where one request may not hold all of its points", () => {
  const query = (points: number, times: number | null = null) => ({
    operation: "GetVelocity" as const,
    dataset: "box",
    parameters: times === null ? {} : { time: Array.from({ length: times }, (_, i) => i) },
    points: new Float32Array(3 * points),
  });
  const sizes = (queries: ReturnType<typeof query>[], most: number) =>
    partsWithin(queries, most).map((part) => part.map(({ points }) => points.length / 3));
  const queries = [query(4), query(4), query(4), query(20), query(1)];
  expect(sizes(queries, 1_000)).toEqual([[4, 4, 4, 20, 1]]);
  expect(sizes(queries, 9)).toEqual([[4, 4], [4], [20], [1]]);
  expect(sizes([query(1, 5), query(1, 5), query(1)], 6)).toEqual([[1], [1, 1]]);
  expect(sizes([query(1)], Number.POSITIVE_INFINITY)).toEqual([[1]]);
  const many = Array.from({ length: 130 }, () => query(1));
  expect(sizes(many, 1_000).map(({ length }) => length)).toEqual([64, 64, 2]);
});

it("sends the batches of one tick in one request, which goes on while one of them is waited for", async () => {
  const api = new ApiClient();
  vi.stubGlobal("document", { baseURI: "http://127.0.0.1/" });
  const asked: string[][] = [];
  let cancelled = false;
  vi.stubGlobal("fetch", async (_address: string, { body, signal }: { body: string; signal: AbortSignal }) => {
    const names = (JSON.parse(body) as { queries: { dataset: string }[] }).queries.map(({ dataset }) => dataset);
    asked.push(names);
    signal.addEventListener("abort", () => {
      cancelled = true;
    });
    return octets(names.map((name) => ({ name, values: [] })));
  });
  const query = (dataset: string) => ({
    ...{ operation: "GetVelocity" as const, dataset, parameters: {}, points: new Float32Array(3) },
  });
  const dropped = new AbortController();
  const { signal } = new AbortController();
  const answers = [
    api.batch([query("a"), query("b")], signal),
    api.batch([query("c")], dropped.signal),
    api.batch([query("d")], signal),
  ];
  const [first, second, third] = answers.map((answer) => answer.catch(() => "cancelled"));
  await Promise.resolve();
  dropped.abort();
  const nameOf = (list: unknown) => (list as { name: string }[]).map(({ name }) => name);
  expect(nameOf(await first)).toEqual(["a", "b"]);
  expect(nameOf(await third)).toEqual(["d"]);
  expect([await second, asked, cancelled]).toEqual(["cancelled", [["a", "b", "c", "d"]], false]);
});

it("asks for the components of the velocity in several planes in one request", async () => {
  const api = new ApiClient();
  vi.stubGlobal("document", { baseURI: "http://127.0.0.1/" });
  const asked: number[][] = [];
  vi.stubGlobal("fetch", async (_address: string, { body }: { body: Float32Array }) => {
    asked.push([...body]);
    // The velocity at (x, y, z) is (10 x, 100 y, 1000 z).
    return new Response(Float32Array.from(body, (value, i) => value * 10 ** (1 + (i % 3))));
  });
  const query = { operation: "GetVelocity" as const, dataset: "box", parameters: { time: 0 } };
  const side = (axis: "x" | "y" | "z", origin: number) => ({ axis, count: 2, origin, spacing: 1 });
  const plane = (field: "ux" | "uy" | "uz", time = 0) =>
    nodePath({
      query: { ...query, parameters: { time } },
      field,
      axis: "z",
      at: 5,
      columns: side("x", 1),
      rows: side("y", 3),
    });
  const across = nodePath({ query, field: "uz", axis: "x", at: 7, columns: side("y", 1), rows: side("z", 3) });
  const { signal } = new AbortController();
  const paths = [plane("ux"), plane("uy"), across, plane("ux", 1)];
  const [ux, uy, uz, later] = await Promise.all(paths.map((path) => api.slice(path, signal)));
  const corners = [1, 3, 5, 2, 3, 5, 1, 4, 5, 2, 4, 5];
  expect(asked).toEqual([[...corners, 7, 1, 3, 7, 2, 3, 7, 1, 4, 7, 2, 4], corners]);
  expect([...ux.values, ...uy.values]).toEqual([10, 20, 10, 20, 300, 300, 400, 400]);
  expect([uz.low, uz.high, uz.rows.axis]).toEqual([3000, 4000, "z"]);
  expect([...later.values]).toEqual([10, 20, 10, 20]);
  const cancelled = api.slice(plane("ux"), AbortSignal.abort());
  await expect(cancelled).rejects.toMatchObject({ name: "AbortError" });
});

it("takes the places of particles and the times at which they left out of one record", async () => {
  const api = new ApiClient();
  vi.stubGlobal("document", { baseURI: "http://127.0.0.1/" });
  // Two particles at two times: the first is inside, the second has left at 0.25.
  const records = Float32Array.of(1, 2, 3, Number.NaN, 4, 5, 6, Number.NaN, 7, 8, 9, Number.NaN, 7.5, 8, 9, 0.25);
  const columns = JSON.stringify(["x", "y", "z", "exit"]);
  const headers = {
    "fieldprobe-shape": "2,2,4",
    // The last step is shorter: its record is at 0.375.
    "fieldprobe-times": "0,0.5,0.375",
    "fieldprobe-columns": columns,
  };
  let asked = "";
  vi.stubGlobal("fetch", async (address: string) => {
    asked = address;
    return new Response(records, { headers });
  });
  const query = { operation: "GetPosition", dataset: "box", parameters: {}, points: new Float32Array(6) } as const;
  const plain = { integrator: "heun", starts: null, along: null } as const;
  const found = await api.trajectories({ query, every: 5, stops: true, ...plain }, new AbortController().signal);
  expect(asked).toContain("&openFaces=stop");
  expect([...found.positions]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 7.5, 8, 9]);
  expect([...found.exits]).toEqual([Number.NaN, 0.25]);
  expect(found.times).toEqual([0, 0.375]);
});

it("asks for an integrator, a start of each particle and a quantity, and finds them by their columns", async () => {
  const api = new ApiClient();
  vi.stubGlobal("document", { baseURI: "http://127.0.0.1/" });
  const columns = JSON.stringify(["x", "y", "z", "exit", "steps", "norm(u)"]);
  const headers = { "fieldprobe-shape": "2,1,6", "fieldprobe-times": "0,0,0", "fieldprobe-columns": columns };
  let asked = "";
  let sent: unknown;
  vi.stubGlobal("fetch", async (address: string, { body }: { body: unknown }) => {
    [asked, sent] = [address, body];
    return new Response(Float32Array.of(1, 2, 3, Number.NaN, 7, 0.5, 4, 5, 6, 2.25, 8, 1.5), { headers });
  });
  const parameters = { StartTime: 1, dt: 0.1, nt: 1 } as const;
  const query = {
    operation: "GetPosition",
    dataset: "box",
    parameters,
    points: Float32Array.of(1, 2, 3, 4, 5, 6),
  } as const;
  const more = { integrator: "dopri5", starts: Float32Array.of(1, 2), along: "norm(u)" } as const;
  const found = await api.trajectories({ query, every: 1, stops: true, ...more }, new AbortController().signal);
  expect(asked).toContain("&integrator=dopri5&columns=xyzt&with=norm%28u%29&dt=0.1&nt=1");
  expect(asked).not.toContain("StartTime");
  expect(sent).toEqual(Float32Array.of(1, 2, 3, 1, 4, 5, 6, 2));
  expect([...found.positions]).toEqual([1, 2, 3, 4, 5, 6]);
  expect([...(found.values ?? [])]).toEqual([0.5, 1.5]);
  expect([...found.exits]).toEqual([Number.NaN, 0.25]);
});

it("lays the stretching of a plane out as a slice", async () => {
  const api = new ApiClient();
  const numbers = Float32Array.of(0.5, 1, Number.NaN, 2, 0.25, 1);
  const asked = watchRequests(() => new Response(numbers));
  const plane = { normal: "z", at: 1, count: [3, 2] } as const;
  const region = { origin: [0, 1], extent: [3, 4] };
  const body = { start: 0, end: 1, dt: 0.1, method: "Lag6", plane, region };
  const slice = await api.stretching({ dataset: "box", body }, new AbortController().signal);
  expect(slice.columns).toEqual({ axis: "x", count: 3, origin: 0.5, spacing: 1 });
  expect(slice.rows).toEqual({ axis: "y", count: 2, origin: 2, spacing: 2 });
  expect([slice.low, slice.high]).toEqual([0.25, 2]);
  expect(asked).toEqual(["datasets/box/flow_map"]);
});
