/** Meshes as files: GLB for 3D programs, VTP for ParaView. */
import type { Mesh } from "../draw/surface-mesh.js";
import type { Rows } from "../state/ask.js";

export interface ColouredMesh extends Mesh {
  /** Red, green, blue and 255 of each vertex. */
  readonly colours: Uint8Array;
  readonly values: Float32Array;
  readonly name: string;
}

const FLOAT = 5126;
const UNSIGNED_BYTE = 5121;
const UNSIGNED_INT = 5125;

function extremes(positions: Float64Array): { readonly min: number[]; readonly max: number[] } {
  const [min, max] = [[1, 1, 1].map(() => Number.POSITIVE_INFINITY), [1, 1, 1].map(() => Number.NEGATIVE_INFINITY)];
  for (let i = 0; i < positions.length; i++) {
    min[i % 3] = Math.min(min[i % 3], positions[i]);
    max[i % 3] = Math.max(max[i % 3], positions[i]);
  }
  return { min, max };
}

/** Binary glTF 2.0; colours are linear, and positions are from the lower corner, where a node places them, as float32. */
export function glbOf(mesh: ColouredMesh, extras: object): Blob {
  const linear = mesh.colours.map((byte, i) => (i % 4 === 3 ? byte : Math.round(255 * (byte / 255) ** 2.2)));
  const { min, max } = extremes(mesh.positions);
  const positions = Float32Array.from(mesh.positions, (one, i) => one - min[i % 3]);
  const parts = [positions, mesh.normals, linear, mesh.triangles] as const;
  const offsets = parts.map((_, i) => parts.slice(0, i).reduce((sum, { byteLength }) => sum + byteLength, 0));
  const bytes = offsets[3] + mesh.triangles.byteLength;
  const count = positions.length / 3;
  const ends = { min: [0, 0, 0], max: max.map((one, a) => Math.fround(one - min[a])) };
  const scene = {
    asset: { version: "2.0", generator: "fieldprobe", extras },
    scene: 0,
    scenes: [{ nodes: [0] }],
    nodes: [{ mesh: 0, translation: min }],
    materials: [{ pbrMetallicRoughness: { metallicFactor: 0, roughnessFactor: 0.6 }, doubleSided: true }],
    meshes: [{ primitives: [{ attributes: { POSITION: 0, NORMAL: 1, COLOR_0: 2 }, indices: 3, material: 0 }] }],
    buffers: [{ byteLength: bytes }],
    bufferViews: parts.map(({ byteLength }, i) => ({
      ...{ buffer: 0, byteOffset: offsets[i], byteLength },
      target: i === 3 ? 34963 : 34962,
    })),
    accessors: [
      { bufferView: 0, componentType: FLOAT, count, type: "VEC3", ...ends },
      { bufferView: 1, componentType: FLOAT, count, type: "VEC3" },
      { bufferView: 2, componentType: UNSIGNED_BYTE, normalized: true, count, type: "VEC4" },
      { bufferView: 3, componentType: UNSIGNED_INT, count: mesh.triangles.length, type: "SCALAR" },
    ],
  };
  const plain = new TextEncoder().encode(JSON.stringify(scene));
  // Parts are whole words; the text is filled up by spaces.
  const text = new Uint8Array((plain.length + 3) & ~3).fill(0x20);
  text.set(plain);
  const head = Uint32Array.of(0x46546c67, 2, 28 + text.length + bytes, text.length, 0x4e4f534a);
  return new Blob([head, text, Uint32Array.of(bytes, 0x004e4942), ...(parts as readonly BlobPart[])]);
}

type DataArray = readonly [name: string, components: number, values: Float32Array | Float64Array | Uint32Array];

/** VTK polygons or lines with appended raw data: their points, the points of each in order, and data of points. */
function vtkOf(
  kind: "Polys" | "Lines",
  positions: Float64Array,
  connectivity: Uint32Array,
  offsets: Uint32Array,
  data: readonly DataArray[],
): Blob {
  const cells: readonly DataArray[] = [
    ["connectivity", 1, connectivity],
    ["offsets", 1, offsets],
  ];
  const arrays: readonly DataArray[] = [["Points", 3, positions], ...data, ...cells];
  let offset = 0;
  const texts = arrays.map(([title, components, values]) => {
    const safe = title.replace(/[&<>"]/g, (mark) => `&#${mark.charCodeAt(0)};`);
    const type = values.constructor.name.replace("Array", "").replace("Ui", "UI");
    const text = `<DataArray type="${type}" Name="${safe}" NumberOfComponents="${components}" format="appended" offset="${offset}"/>`;
    offset += 4 + values.byteLength;
    return text;
  });
  const head = `<?xml version="1.0"?>
<VTKFile type="PolyData" version="1.0" byte_order="LittleEndian" header_type="UInt32"><PolyData>
<Piece NumberOfPoints="${positions.length / 3}" NumberOf${kind}="${offsets.length}"><Points>${texts[0]}</Points>
<PointData>${texts.slice(1, -2).join("")}</PointData><${kind}>${texts.slice(-2).join("")}</${kind}></Piece></PolyData>
<AppendedData encoding="raw">_`;
  const parts = arrays.flatMap(([, , values]) => [Uint32Array.of(values.byteLength), values]);
  return new Blob([head, ...(parts as readonly BlobPart[]), "</AppendedData></VTKFile>"]);
}

export function vtpOf({ positions, normals, triangles, values, name }: ColouredMesh): Blob {
  const ends = Uint32Array.from({ length: triangles.length / 3 }, (_, i) => 3 * (i + 1));
  return vtkOf("Polys", positions, triangles, ends, [
    ["Normals", 3, normals],
    [name, 1, values],
  ]);
}

/** Paths as lines, each to the last position that its particle has; data of points are the other columns. */
export function vtpOfPaths({ columns, rows }: Rows): Blob {
  const known = rows.filter((row) => row[2] !== null);
  const ends = known.flatMap((row, i) => (known[i + 1]?.[0] === row[0] ? [] : [i + 1]));
  const data = columns.flatMap(({ name }, i): DataArray[] =>
    i > 1 && i < 5 ? [] : [[name, 1, Float64Array.from(known, (row) => row[i] ?? Number.NaN)]],
  );
  const positions = Float64Array.from(known.flatMap((row) => row.slice(2, 5) as number[]));
  return vtkOf("Lines", positions, Uint32Array.from(known.keys()), Uint32Array.from(ends), data);
}
