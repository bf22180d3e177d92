/**
 * Fields whose components have nodes of their own, as those of a C-grid, with w at the faces of the cells, and scalars
 * at other places: orders of interpolation and of derivatives, the wall, particles, cutouts, and what is refused.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { File } from "h5wasm/node";
import { describe, expect, it } from "vitest";
import { ask as askOf } from "../server/ask/ask.js";
import { serveCopies } from "../support/copied-view.js";
import { writeDescriptor, writeField, writeHdf5 } from "../support/cubes.js";
import { operationValues, pathEnds, soapRecords } from "../support/operation-questions.js";
import { generator } from "../support/run-query.js";
import { folderIn, scratchFolder } from "../support/scratch.js";
import { useTestData } from "../support/service.js";
import { SYMMETRIC } from "../support/symmetric.js";

type Place = Readonly<Record<"x" | "y" | "z", number>>;
const L = 2 * Math.PI;
const DEPTH = 2;
/** Components whose third one vanishes at z = 0 and z = DEPTH, and a scalar. */
const FIELDS = [
  ({ x, y, z }: Place) => Math.sin(2 * x) * Math.cos(y) * Math.cos(1.3 * z),
  ({ x, y, z }: Place) => Math.cos(x + 0.4) * Math.sin(2 * y) * Math.sin(1.1 * z + 0.3),
  ({ x, y, z }: Place) => Math.sin((Math.PI * z) / DEPTH) * Math.cos(x) * Math.sin(y + 0.2),
  ({ x, y, z }: Place) => Math.cos(2 * x + 0.1) * Math.sin(y) + Math.cos(1.7 * z),
] as const;

const WAYS = {
  /** A C-grid in a periodic box: each component at its faces. */
  cgrid: { periodic: true, at: [{ x: -0.5 }, { y: -0.5 }, { z: -0.5 }, {}] },
  /** Levels between walls: w at the faces, with one node more, everything else at the centres. */
  levels: { periodic: false, at: [{}, {}, { z: { offset: -0.5, nodes: 1 } }, {}] },
  /** Each field at other places of the cell, by coordinates. */
  offsets: { periodic: false, at: [{ x: 0.25 }, { x: 0.5, y: 0.5 }, { z: "faces" }, { x: 0.5, y: 0.25, z: "faces" }] },
} as const;
type Way = keyof typeof WAYS;
type At = Readonly<Partial<Record<"x" | "y" | "z", number | { offset: number; nodes: number } | "faces">>>;
const SIZES = [20, 40] as const;
const period = (way: Way) => (WAYS[way].periodic ? L : DEPTH);
/** In the periodic box the fields repeat along z too. */
const valueIn = (way: Way, c: number) => (place: Place) =>
  FIELDS[c as 0](WAYS[way].periodic ? { ...place, z: Math.sin(place.z) } : place);

function nodesAlong(way: Way, n: number, axis: "x" | "y" | "z", at: At) {
  const isEnded = axis === "z" && !WAYS[way].periodic;
  const step = (axis === "z" ? period(way) : L) / n;
  const own = at[axis] ?? 0;
  const offset = typeof own === "number" ? own : -0.5;
  const nodes = typeof own === "number" ? n : n + 1;
  return { nodes, first: (isEnded ? 0.5 : 0) * step + offset * step, step };
}

function writeWay(folder: string, way: Way, n: number): Promise<string> {
  const { periodic, at } = WAYS[way];
  const name = `${way}${n}`;
  const home = folderIn(folder, name);
  const dimensions = ["t", "z", "y", "x"] as const;
  const write = (file: File): void => {
    for (const [c, one] of at.entries()) {
      const [x, y, z] = [nodesAlong(way, n, "x", one), nodesAlong(way, n, "y", one), nodesAlong(way, n, "z", one)];
      const along = ({ first, step }: typeof x, i: number) => first + i * step;
      writeField(file, `/f${c}`, {
        ...{ dimensions, lengths: { x: x.nodes, y: y.nodes, z: z.nodes, t: 2 }, type: "<d" },
        value: (i) => valueIn(way, c)({ x: along(x, i.x), y: along(y, i.y), z: along(z, i.z) }),
      });
    }
    const { nodes, first, step } = nodesAlong(way, n, "z", { z: "faces" });
    const faces = Float64Array.from({ length: nodes }, (_, i) => first + i * step);
    file.create_dataset({ name: "zw", data: faces, shape: [nodes] });
  };
  const described = (one: At) =>
    Object.fromEntries(
      Object.entries(one).map(([axis, own]) => {
        if (own === "faces") return [axis, { file: "f.h5", path: "/zw" }];
        return [axis, typeof own === "number" ? own : { ...own, nodes: n + 1 }];
      }),
    );
  const place = (c: number) => ({ file: "f.h5", path: `/f${c}`, at: described(at[c] as At) });
  const uniform = { nodes: n, origin: 0, spacing: L / n, periodic: true };
  const depth = nodesAlong(way, n, "z", {});
  writeDescriptor(home, {
    ...{ schemaVersion: 1, name, time: { values: [0, 1] } },
    axes: {
      ...{ x: uniform, y: uniform },
      z: periodic ? uniform : { nodes: n, origin: depth.first, spacing: depth.step, faces: "wall" },
    },
    fields: {
      velocity: { components: [place(0), place(1), place(2)], dimensions: ["t", "z", "y", "x"] },
      theta: { ...place(3), dimensions: ["t", "z", "y", "x"] },
    },
  });
  return writeHdf5(join(home, "f.h5"), write);
}

const folder = scratchFolder();
for (const way of Object.keys(WAYS) as Way[]) for (const n of SIZES) await writeWay(folder, way, n);
const service = await useTestData([folder]);

/** Values at points are asked as questions, all else over SOAP. */
function ask(dataset: string, operation: string, members: object): Promise<number[][]> {
  const asked = { time: 0, temporalInterpolation: "None", ...members };
  const isValue = /^Get(Velocity|Field)(Gradient)?$/.test(operation);
  return (isValue ? operationValues : soapRecords)(service.url, dataset, operation, asked);
}

const random = generator(7);
/** Points anywhere in the domain, also between a wall and the first node of a component. */
const pointsOf = (way: Way): number[][] =>
  Array.from({ length: 300 }, () => [L * random(), L * random(), period(way) * random()].map((x) => Math.fround(x)));

const at = ([x = 0, y = 0, z = 0]: readonly number[]): Place => ({ x, y, z });
/** Derivatives of the exact fields by central differences, whose error is below 1e-9. */
function slope(value: (place: Place) => number, place: Place, axis: "x" | "y" | "z"): number {
  const h = 1e-3;
  const along = (k: number) => value({ ...place, [axis]: place[axis] + k * h });
  return (8 * (along(1) - along(-1)) - (along(2) - along(-2))) / (12 * h);
}

function errorsOf(values: readonly number[][], exact: readonly number[][]): number[] {
  return (exact[0] ?? []).map((_, c) =>
    Math.max(...values.map((row, i) => Math.abs((row[c] ?? NaN) - (exact[i]?.[c] ?? NaN)))),
  );
}

describe.each(Object.keys(WAYS) as Way[])("%s", (way) => {
  const points = pointsOf(way);

  it.each([
    ["Lag4", 4],
    ["Lag6", 6],
    ["Lag8", 8],
  ] as const)("interpolates by %s with order %d in every component", async (method, order) => {
    const [coarse, fine] = await Promise.all(
      SIZES.map(async (n) => {
        const velocity = await ask(`${way}${n}`, "GetVelocity", { spatialInterpolation: method, points });
        const theta = await ask(`${way}${n}`, "GetField", { spatialInterpolation: method, points, field: "theta" });
        const exact = points.map((point) => [0, 1, 2, 3].map((c) => valueIn(way, c)(at(point))));
        return errorsOf(
          velocity.map((row, i) => [...row, ...(theta[i] as number[])]),
          exact,
        );
      }),
    );
    // Float32 values carry an error of their own.
    for (const [c, error] of (fine as number[]).entries())
      if (error > 2e-6)
        expect(Math.log2((coarse?.[c] as number) / error), `component ${c}`).toBeGreaterThan(order - 0.6);
      else expect(error).toBeLessThan(2e-6);
  });

  it("differentiates with order 4 in every component", async () => {
    const errors = await Promise.all(
      SIZES.map(async (n) => {
        const rows = await ask(`${way}${n}`, "GetVelocityGradient", { spatialInterpolation: "Fd4Lag4", points });
        const exact = points.map((point) =>
          [0, 1, 2].flatMap((c) => (["x", "y", "z"] as const).map((axis) => slope(valueIn(way, c), at(point), axis))),
        );
        return errorsOf(rows, exact);
      }),
    );
    const [coarse, fine] = errors as [number[], number[]];
    // At walls the differences are one-sided, of three nodes of an interpolation of four.
    const least = WAYS[way].periodic ? 3.5 : 2.6;
    for (const [k, error] of fine.entries())
      expect(Math.log2((coarse[k] as number) / error), `derivative ${k}`).toBeGreaterThan(least);
  });

  it.each([4, 6, 8] as const)(
    "differentiates at the nodes of each component and of a scalar with order %d",
    async (order) => {
      const { at: ways } = WAYS[way];
      for (const [c, field] of ["velocity.x", "velocity.y", "velocity.z", "theta"].entries()) {
        const errors = await Promise.all(
          SIZES.map(async (n) => {
            // Nodes of the field, the same places of both grids, away from the ends.
            const place = (axis: "x" | "y" | "z", k: number) => {
              const { first, step } = nodesAlong(way, n, axis, (ways[c] ?? {}) as At);
              return first + k * (n / 20) * step;
            };
            const nodes = [5, 7, 8, 10, 13].map((k) =>
              [place("x", k), place("y", k + 1), place("z", k)].map(Math.fround),
            );
            const rows = await ask(`${way}${n}`, "GetFieldGradient", {
              ...{ field, spatialInterpolation: `None_Fd${order}`, points: nodes },
            });
            const exact = nodes.map((node) =>
              (["x", "y", "z"] as const).map((axis) => slope(valueIn(way, c), at(node), axis)),
            );
            return Math.max(...errorsOf(rows, exact));
          }),
        );
        const [coarse, fine] = errors as [number, number];
        // Values and places are float32.
        if (fine > 4e-6) expect(Math.log2(coarse / fine), field).toBeGreaterThan(order - 0.8);
        else expect(coarse, field).toBeLessThan(2 ** order * 4e-6);
      }
    },
  );

  it("moves particles as the exact velocity does", async () => {
    const starts = points.slice(0, 20).map(([x, y]) => [x, y, period(way) / 2]);
    const moved = await pathEnds(service.url, `${way}40`, {
      ...{ StartTime: 0, dt: 0.1, nt: 5, integrator: "rk4", spatialInterpolation: "Lag6", points: starts },
    });
    const speed = (place: Place) => [0, 1, 2].map((c) => valueIn(way, c)(place));
    for (const [i, start] of starts.entries()) {
      let place: readonly number[] = start.map((x) => Math.fround(x ?? 0));
      const ahead = (from: readonly number[], k: readonly number[], h: number) =>
        from.map((x, c) => x + h * (k[c] as number));
      for (let step = 0; step < 50; step++) {
        const h = 0.01;
        const k1 = speed(at(place));
        const k2 = speed(at(ahead(place, k1, h / 2)));
        const k3 = speed(at(ahead(place, k2, h / 2)));
        const k4 = speed(at(ahead(place, k3, h)));
        place = place.map(
          (x, c) =>
            x + (h / 6) * ((k1[c] as number) + 2 * (k2[c] as number) + 2 * (k3[c] as number) + (k4[c] as number)),
        );
      }
      for (const [c, x] of place.entries()) expect(Math.abs((moved[i]?.[c] as number) - x)).toBeLessThan(2e-4);
    }
  });
});

describe("a staggered dataset", () => {
  it("has w = 0 at both walls, and every other component there too", async () => {
    const walls = [0, DEPTH].map((z) => [1.1, 2.2, z]);
    for (const method of ["Lag4", "Lag6", "Lag8", "M2Q8"]) {
      const values = await ask("levels40", "GetVelocity", { spatialInterpolation: method, points: walls });
      for (const [i, [u = NaN, , w = NaN]] of values.entries()) {
        expect(Math.abs(w)).toBeLessThan(1e-7);
        expect(u).toBeCloseTo(FIELDS[0](at(walls[i] as number[])), 3);
      }
    }
    await expect(
      ask("levels40", "GetVelocity", { spatialInterpolation: "Lag4", points: [[0, 0, -0.01]] }),
    ).rejects.toThrow("smaller than the smallest");
  });

  it("describes the nodes of each component, and answers one by itself", async () => {
    const { fields } = (await (await fetch(`${service.url}/api/datasets/levels40`)).json()) as never as {
      fields: { nodes: { of: string; axes: { nodes: number; first: number }[] }[] }[];
    };
    const [velocity] = fields;
    expect(velocity?.nodes.map(({ of }) => of)).toEqual(["velocity.x", "velocity.y", "velocity.z"]);
    expect(velocity?.nodes[2]?.axes[2]).toMatchObject({ nodes: 41, first: 0 });
    const points = [[1.1, 2.2, 0.7]];
    const [[w]] = (await ask("levels40", "GetField", {
      field: "velocity.z",
      spatialInterpolation: "Lag8",
      points,
    })) as [[number]];
    expect(w).toBe((await ask("levels40", "GetVelocity", { spatialInterpolation: "Lag8", points }))[0]?.[2]);
  });

  it("gives the stored nodes of a component, and says which ones there are of a vector", async () => {
    const question = (what: string) =>
      fetch(
        `${service.url}/api/datasets/levels20/nodes?${new URLSearchParams({ what, frame: "0", i: "1:3", j: "2", k: "0:2" })}`,
      );
    for (const c of [0, 2] as const) {
      const component = `u.${"xyz"[c]}`;
      const { data, coords } = (await (await question(component)).json()) as {
        data: Record<string, number[][]>;
        coords: { x: number[]; y: number; z: number[] };
      };
      for (const [k, z] of coords.z.entries()) {
        expect(z).toBeCloseTo((DEPTH / 20) * (k + (c === 2 ? 0 : 0.5)), 12);
        for (const [i, x] of coords.x.entries())
          expect(data[component]?.[k]?.[i]).toBeCloseTo(FIELDS[c]({ x, y: coords.y, z }), 6);
      }
    }
    const { detail } = (await (await question("u")).json()) as { detail: string };
    expect(detail).toBe(
      "what: u lies on nodes of its own, each component on others: ask u.x, u.y or u.z alone, or values between nodes by grid.",
    );
  });

  it("has box filters of each component, as means over the leaves of the cube", async () => {
    const length = (4 * L) / 20;
    const centre = [1.3, 2.1, 3.3];
    const leaves = [-0.375, -0.125, 0.125, 0.375].map((part) => part * length);
    const points = leaves.flatMap((dz) =>
      leaves.flatMap((dy) => leaves.map((dx) => [dx, dy, dz].map((d, a) => Math.fround((centre[a] as number) + d)))),
    );
    for (const [filter, operation, method] of [
      ["GetBoxFilterVelocity", "GetVelocity", "Lag4"],
      ["GetBoxFilterVelocityGradient", "GetVelocityGradient", "Fd4Lag4"],
    ] as const) {
      const asked = { filterlength: length, nlayers: 1, points: [centre], temporalInterpolation: undefined };
      const [mean = []] = await ask("cgrid20", filter, { ...asked, temporalInterpolation: "None" });
      const rows = await ask("cgrid20", operation, { spatialInterpolation: method, points });
      for (const [c, value] of mean.entries())
        expect(value).toBeCloseTo(rows.reduce((sum, row) => sum + (row[c] as number), 0) / 64, 5);
    }
  });

  it.each([
    ["cgrid20", 4],
    ["levels20", 8],
  ] as const)("has the stress of %s as the covariance of values over %i leaves an edge", async (name, edge) => {
    const [length, centre] = [(8 * Math.min(L, DEPTH)) / 20, [1.3, 2.1, DEPTH / 2]];
    const leaves = Array.from({ length: edge }, (_, i) => ((i + 0.5) / edge - 0.5) * length);
    const points = leaves.flatMap((dz) =>
      leaves.flatMap((dy) => leaves.map((dx) => [dx, dy, dz].map((d, a) => Math.fround((centre[a] as number) + d)))),
    );
    const rows = await ask(name, "GetVelocity", { spatialInterpolation: "Lag4", points });
    const mean = (of: (row: number[]) => number) => rows.reduce((sum, row) => sum + of(row), 0) / rows.length;
    const component = (c: number) => (row: number[]) => row[c] as number;
    const asked = { filterlength: length, nlayers: 1, points: [centre] };
    const [stress = []] = await ask(name, "GetBoxFilterSGSStress", asked);
    for (const [at, [i, j]] of SYMMETRIC.entries()) {
      const [u, v] = [component(i), component(j)];
      expect(stress[at]).toBeCloseTo(mean((row) => u(row) * v(row)) - mean(u) * mean(v), 5);
    }
    expect(Math.max(...stress.map(Math.abs))).toBeGreaterThan(0.01);
    const sampled = `grid?what=tau[0][2]&time=0&time_method=nearest&filter=box:${length}&z=${DEPTH / 2}&samples=2`;
    expect((await fetch(`${service.url}/api/datasets/${name}/${sampled}`)).status).toBe(200);
  });

  it("searches a scalar, sends its file and its public cutout at nodes of its own", async () => {
    const corners = { x_start: 1, y_start: 1, z_start: 1, x_end: 20, y_end: 20, z_end: 21 };
    const asked = { field: "theta", threshold: 1.5, spatialInterpolation: "None", ...corners };
    const found = await ask("offsets20", "GetThreshold", { ...asked, temporalInterpolation: undefined });
    const along = (axis: "x" | "y" | "z", i: number) => {
      const { first, step } = nodesAlong("offsets", 20, axis, WAYS.offsets.at[3]);
      return first + i * step;
    };
    const place = (i: number, j: number, k: number) => ({ x: along("x", i), y: along("y", j), z: along("z", k) });
    const above = Array.from({ length: 20 * 20 * 21 }, (_, n) => [
      n % 20,
      Math.floor(n / 20) % 20,
      Math.floor(n / 400),
    ]).filter(([i = 0, j = 0, k = 0]) => Math.abs(FIELDS[3](place(i, j, k))) > 1.5);
    expect(found).toHaveLength(above.length);
    expect(above.length).toBeGreaterThan(5);
    for (const [x = 0, y = 0, z = 0, value = NaN] of found)
      expect(value).toBeCloseTo(Math.abs(FIELDS[3](place(x - 1, y - 1, z - 1))), 5);
    expect(found.some(([, , z]) => z === 1 || z === 21)).toBe(true);

    const name = join(scratchFolder(), "theta.h5");
    const sent = await fetch(`${service.url}/api/datasets/offsets20/nodes?what=theta&frame=0&format=h5`);
    writeFileSync(name, Buffer.from(await sent.arrayBuffer()));
    const file = new File(name, "r");
    const { shape } = file.get("theta_0001") as unknown as { shape: number[] };
    const z = (file.get("zcoor") as unknown as { value: Float64Array }).value;
    file.close();
    expect([shape, z[0], z.length]).toEqual([[21, 20, 20, 1], 0, 21]);

    const box = "xs=1&xe=2&ys=1&ye=1&zs=21&ze=21&ts=1&te=1";
    const path = `${service.url}/turbulence-svc/cutout/api/local?token=T&function=theta&dataset=offsets20&${box}`;
    const { coords, data_vars } = (await (await fetch(path)).json()) as never as {
      coords: Record<string, { data: number[] }>;
      data_vars: Record<string, { data: number[][][][] }>;
    };
    expect(coords.zcoor?.data).toEqual([DEPTH]);
    const [values = []] = Object.values(data_vars).map(({ data }) => data.flat(3));
    expect(values[1]).toBeCloseTo(FIELDS[3](place(1, 0, 20)), 5);
  });

  it("tells the first nodes of each component in the public metadata", async () => {
    const { datasets } = (await (await fetch(`${service.url}/turbulence-svc/jhtdb_config.json`)).json()) as never as {
      datasets: {
        code: string;
        physicalVariables: { code: string; offsets: { code: string; coordinate: number[] }[] }[];
      }[];
    };
    const levels = datasets.find(({ code }) => code === "levels20")?.physicalVariables;
    const offsets = levels?.find(({ code }) => code === "velocity")?.offsets;
    expect(offsets?.map(({ code }) => code)).toEqual(["velocity", "velocity_uv", "velocity_w"]);
    expect(offsets?.slice(1).map(({ coordinate }) => coordinate[2])).toEqual([DEPTH / 40, 0]);
    expect(levels?.find(({ code }) => code === "theta")?.offsets).toEqual([
      { code: "theta", coordinate: [0, 0, DEPTH / 40] },
    ]);
  });

  it("refuses what needs all components at one node, by name", async () => {
    const question = { dataset: "levels20", call: "statistics", time: 0, reduce: [{ moments: "u.x" }] };
    const text = await (await askOf(service, question)).text();
    expect(text).toContain("velocity has its own nodes: ask for values at points");
    const file = await fetch(`${service.url}/api/datasets/levels20/nodes?what=u&frame=0&format=h5`);
    expect(await file.text()).toContain("u lies on nodes of its own");
    const filter = { field: "u", filterwidth: 0.5, points: [[1, 1, 1]], temporalInterpolation: undefined };
    await expect(ask("cgrid20", "GetBoxFilterSGSsymtensor", filter)).rejects.toThrow("velocity has its own nodes");
    const [mean] = await ask("cgrid20", "GetBoxFilter", { ...filter, filterwidth: 0 });
    expect(mean).toHaveLength(3);
  });

  it("keeps its nodes in a copy of its Zarr view", async () => {
    const ways = Object.keys(WAYS) as Way[];
    const copies = await serveCopies(
      service.url,
      ways.map((way) => `${way}20`),
    );
    for (const way of ways) {
      const members = { time: 1, points: pointsOf(way), temporalInterpolation: "None", spatialInterpolation: "Lag6" };
      const own = await soapRecords(service.url, `${way}20`, "GetVelocity", members);
      const copied = await soapRecords(copies.url, `${way}20`, "GetVelocity", members);
      expect(Math.max(...errorsOf(copied, own))).toBeLessThan(1e-6);
    }
    await copies.close();
  });
});
