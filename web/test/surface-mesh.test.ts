/** Meshes of known surfaces: a sphere is closed and as large as it is, a slab ends at the seam, files have what they say. */
import { describe, expect, it } from "vitest";
import { type Mesh, surfaceMesh } from "../draw/surface-mesh.js";
import { glbOf, vtpOf, vtpOfPaths } from "../export/mesh.js";
import type { Samples } from "../state/volumes.js";

const N = 40;
const RADIUS = 0.7;
const SPACING = 2 / (N - 1);

/** The signed distance to a sphere about the origin, positive inside. */
function sphere(): Samples {
  const data = new Float32Array(N ** 3);
  const place = (i: number) => -1 + i * SPACING;
  for (let k = 0, at = 0; k < N; k++)
    for (let j = 0; j < N; j++)
      for (let i = 0; i < N; i++, at++) data[at] = RADIUS - Math.hypot(place(i), place(j), place(k));
  const spacing = [SPACING, SPACING, SPACING] as const;
  return { dims: [N, N, N], first: [-1, -1, -1], spacing, data, isMasked: false };
}

/** Six times the volume that a mesh encloses, by the divergence theorem. */
function volumeOf({ positions, triangles }: Pick<Mesh, "positions" | "triangles">): number {
  let sum = 0;
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [0, 1, 2].map((i) => positions.subarray(3 * (triangles[t + i] as number)));
    const p = a as Float64Array;
    const [q, r] = [b as Float64Array, c as Float64Array];
    sum +=
      (p[0] as number) * ((q[1] as number) * (r[2] as number) - (q[2] as number) * (r[1] as number)) +
      (p[1] as number) * ((q[2] as number) * (r[0] as number) - (q[0] as number) * (r[2] as number)) +
      (p[2] as number) * ((q[0] as number) * (r[1] as number) - (q[1] as number) * (r[0] as number));
  }
  return sum / 6;
}

describe("the mesh of a sphere", () => {
  const mesh = surfaceMesh(sphere(), 0, 1, [false, false, false]);

  it("is closed: every edge has two triangles that pass it in opposite directions", () => {
    const edges = new Map<string, number>();
    for (let t = 0; t < mesh.triangles.length; t += 3)
      for (let i = 0; i < 3; i++) {
        const [a, b] = [mesh.triangles[t + i] as number, mesh.triangles[t + ((i + 1) % 3)] as number];
        edges.set(`${a}>${b}`, (edges.get(`${a}>${b}`) ?? 0) + 1);
      }
    for (const [edge, count] of edges) {
      const [a, b] = edge.split(">");
      expect(count).toBe(1);
      expect(edges.get(`${b}>${a}`)).toBe(1);
    }
    expect(edges.size).toBeGreaterThan(1000);
  });

  it("has its radius, its volume and normals that point out", () => {
    for (let v = 0; v < mesh.positions.length; v += 3) {
      const p = [...mesh.positions.subarray(v, v + 3)];
      const n = [...mesh.normals.subarray(v, v + 3)];
      expect(Math.abs(Math.hypot(...p) - RADIUS)).toBeLessThan(0.2 * SPACING);
      expect(p.reduce((sum, one, a) => sum + one * (n[a] as number), 0) / RADIUS).toBeGreaterThan(0.99);
    }
    // Facets lie inside of the sphere by some of (SPACING / RADIUS)^2.
    const part = volumeOf(mesh) / ((4 / 3) * Math.PI * RADIUS ** 3);
    expect(Math.abs(part - 1)).toBeLessThan(2 * (SPACING / RADIUS) ** 2);
  });

  it("is turned inside out by the other side, and has a hole where samples are missing", () => {
    expect(volumeOf(surfaceMesh(sphere(), 0, -1, [false, false, false]))).toBeLessThan(0);
    const holed = sphere();
    for (let i = 0; i < holed.data.length; i++) if (i % N > (3 * N) / 4) holed.data[i] = Number.NaN;
    const open = surfaceMesh(holed, 0, 1, [false, false, false]);
    expect(open.triangles.length).toBeLessThan(mesh.triangles.length);
    expect(Math.max(...open.positions.filter((_, i) => i % 3 === 0))).toBeLessThan(
      -1 + (3 * N * SPACING) / 4 + SPACING,
    );
  });

  it("has its area and no other vertices wherever seams cut it", () => {
    const [n, centre, place] = [24, 12, [0, 1, 2]];
    const all = [centre, 0, 1, 23].flatMap((at) => [[at, at, at] as const, [at, centre, at] as const]);
    const made = all.map((at) => {
      const data = Float32Array.from({ length: n ** 3 }, (_, i) => {
        const node = [i % n, Math.floor(i / n) % n, Math.floor(i / n ** 2)] as const;
        const off = place.map((a) => ((node[a as 0] - at[a as 0] + 2.5 * n) % n) - n / 2);
        return 7.3 - Math.hypot(...off);
      });
      const box = { dims: [n, n, n], first: [50, 50, 50], spacing: [0.5, 0.5, 0.5], data, isMasked: false } as const;
      const { positions, triangles } = surfaceMesh(box, 0, 1, [true, true, true]);
      const area = Array.from({ length: triangles.length / 3 }, (_, t) => {
        const [p = [], q = [], r = []] = [0, 1, 2].map((c) => {
          const v = 3 * (triangles[3 * t + c] as number);
          return [...positions.subarray(v, v + 3)];
        });
        const [u = [], w = []] = [q, r].map((one) => one.map((end, a) => end - (p[a] as number)));
        const [ux = 0, uy = 0, uz = 0, wx = 0, wy = 0, wz = 0] = [...u, ...w];
        return Math.hypot(uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx) / 2;
      }).reduce((sum, one) => sum + one, 0);
      expect(new Set(triangles).size).toBe(positions.length / 3);
      return [triangles.length, area] as const;
    });
    const [[count, area] = [0, 0]] = made;
    expect(Math.abs(area / (4 * Math.PI * 3.65 ** 2) - 1)).toBeLessThan((0.5 / 3.65) ** 2);
    for (const [other, own] of made) {
      expect(other).toBe(count);
      expect(own).toBeCloseTo(area, 6);
    }
  });

  it("goes on over a seam by the cell that closes the period", () => {
    const data = Float32Array.from({ length: 8 * 8 * 8 }, (_, i) => (i % 8 === 0 ? 1 : -1));
    const slab = { dims: [8, 8, 8], first: [0, 0, 0], spacing: [1, 1, 1], data, isMasked: false } as const;
    const x = [...surfaceMesh(slab, 0, 1, [true, true, true]).positions].filter((_, i) => i % 3 === 0);
    expect([...new Set(x)].sort()).toEqual([0.5, 7.5]);
  });

  it("becomes files that hold it", async () => {
    const count = mesh.positions.length / 3;
    const coloured = {
      ...mesh,
      colours: new Uint8Array(4 * count).fill(255),
      values: new Float32Array(count),
      name: "u",
    };
    const glb = await bytesOf(glbOf(coloured, { dataset: "ball" }));
    expect([glb.readUInt32LE(0), glb.readUInt32LE(8)]).toEqual([0x46546c67, glb.length]);
    const scene = JSON.parse(glb.toString("utf8", 20, 20 + glb.readUInt32LE(12)));
    expect(scene.accessors.map((one: { count: number }) => one.count)).toEqual([
      count,
      count,
      count,
      mesh.triangles.length,
    ]);
    const vtp = await bytesOf(vtpOf(coloured));
    expect(vtp.toString("latin1")).toContain(`NumberOfPoints="${count}" NumberOfPolys="${mesh.triangles.length / 3}"`);
    expect(vtp.length).toBeGreaterThan(24 * count);
  });

  it.each([
    ["in GLB, by the place of its node", glbOf, 1e-7],
    ["in VTP", vtpOf, 1e-12],
  ] as const)("is where it is far from zero too, %s", async (_, fileOf, off) => {
    const there = [5.8e6, 499_000, -7] as const;
    const { positions, ...rest } = surfaceMesh({ ...sphere(), first: there }, 0, 1, [false, false, false]);
    const count = positions.length / 3;
    const more = { colours: new Uint8Array(4 * count), values: new Float32Array(count), name: "u" };
    const file = await bytesOf(fileOf({ positions, ...rest, ...more }, {}));
    const start = file.readUInt32LE(12);
    const placeOf = (v: number): number[] => {
      if (fileOf === vtpOf) return arrayOf(file, "Points", "readDoubleLE", 8).slice(3 * v, 3 * v + 3);
      const { nodes, bufferViews, accessors } = JSON.parse(file.toString("utf8", 20, 20 + start));
      const own = [0, 1, 2].map((i) => file.readFloatLE(28 + start + bufferViews[0].byteOffset + 12 * v + 4 * i));
      for (const [a, one] of own.entries()) {
        expect(one).toBeGreaterThanOrEqual(accessors[0].min[a]);
        expect(one).toBeLessThanOrEqual(accessors[0].max[a]);
      }
      return own.map((one, a) => one + nodes[0].translation[a]);
    };
    for (const v of [0, 17, count - 1]) {
      const place = placeOf(v);
      for (let a = 0; a < 3; a++)
        expect(Math.abs((place[a] as number) - (positions[3 * v + a] as number))).toBeLessThan(off);
      const radius = Math.hypot(...place.map((one, a) => one - (there[a] as number) - 1));
      expect(Math.abs(radius - RADIUS)).toBeLessThan(0.2 * SPACING);
    }
  });
});

const bytesOf = async (file: Blob) => Buffer.from(await file.arrayBuffer());

/** The numbers of an array of a VTP file. */
function arrayOf(file: Buffer, name: string, read: "readDoubleLE" | "readUInt32LE", size: number): number[] {
  const head = file.toString("latin1", 0, file.indexOf('"raw">_'));
  const [, offset] = new RegExp(`Name="${name}"[^>]*offset="(\\d+)"`).exec(head) as string[];
  const at = head.length + 7 + Number(offset);
  return Array.from({ length: file.readUInt32LE(at) / size }, (_, i) => file[read](at + 4 + i * size));
}

it("writes paths as lines that end where their particles have no position", async () => {
  const names = ["particle", "t", "x", "y", "z", "exit", "norm(u)"];
  const rows = [
    [0, 0.5, 1, 2, 3, null, 7],
    [0, 0.625, 1.5, 2, 3, null, 8],
    [0, 0.75, null, null, null, null, null],
    [1, 0.5, 4, 5, 6, 0.6, 9],
  ];
  const file = await bytesOf(vtpOfPaths({ columns: names.map((name) => ({ name })), rows }));
  const head = file.toString("latin1", 0, file.indexOf('"raw">_'));
  expect(head).toContain('NumberOfPoints="3" NumberOfLines="2"');
  expect(arrayOf(file, "Points", "readDoubleLE", 8)).toEqual([1, 2, 3, 1.5, 2, 3, 4, 5, 6]);
  expect(arrayOf(file, "connectivity", "readUInt32LE", 4)).toEqual([0, 1, 2]);
  expect(arrayOf(file, "offsets", "readUInt32LE", 4)).toEqual([2, 3]);
  expect(arrayOf(file, "t", "readDoubleLE", 8)).toEqual([0.5, 0.625, 0.5]);
  expect(arrayOf(file, "exit", "readDoubleLE", 8)).toEqual([Number.NaN, Number.NaN, 0.6]);
});
