/** Textures of one context, made once: of values, within a limit of memory, of colours, of nodes, and of empty space. */
import { coordinateOf, type Dataset, nodeOf, type Vec3 } from "../state/dataset.js";
import type { MapName } from "../state/link.js";
import type { Samples } from "../state/volumes.js";
import { emptySpace } from "./empty.js";
import { filter, type StoredTexture, tableTexture, type Values, valueTexture } from "./gl.js";
import { colourTable, surfaceTable } from "./maps.js";

/** Positions of a table of nodes, and colours of a table of colours. */
const [NODE_TABLE_SIZE, FINE_COLOURS] = [4096, 1024];
/** Allocations of at least this many bytes are checked for success. */
const LARGE_TEXTURE_BYTES = 16 * 2 ** 20;

export class Textures {
  /** Without colour or opacity. */
  readonly clear: WebGLTexture;
  readonly #gl: WebGL2RenderingContext;
  /** Whether float32 is interpolated; else values are half floats. */
  readonly #isFloat: boolean;
  /** Textures of values with the last picture that used each, their bytes, and most bytes. */
  readonly #values = new Map<Float32Array, { stored: StoredTexture; used: number }>();
  #picture = 0;
  #bytes = 0;
  #limit: number;
  readonly #colours = new Map<string, WebGLTexture>();
  readonly #nodes = new WeakMap<Dataset, Map<string, WebGLTexture>>();
  readonly #emptySpaces = new WeakMap<Samples, { key: string; texture: WebGLTexture }>();

  constructor(gl: WebGL2RenderingContext, half: boolean, limit: number) {
    this.#gl = gl;
    this.#limit = limit;
    this.#isFloat = !half && gl.getExtension("OES_texture_float_linear") !== null;
    this.clear = tableTexture(gl, new Uint8Array(4));
  }

  /** Begins a picture: textures that neither it nor the last one uses may be freed. */
  beginPicture(): void {
    this.#picture++;
  }

  /** The texture of values; beyond the limit of memory the least recently used textures are freed. */
  ofValues(values: Values, wrap: readonly boolean[]): StoredTexture {
    const { data } = values;
    let known = this.#values.get(data);
    if (known === undefined) {
      const gl = this.#gl;
      gl.activeTexture(gl.TEXTURE7);
      this.#evict(data.byteLength);
      // Values that do not fit in memory next to those shown are stored as half floats.
      const isFloat = this.#isFloat && this.#bytes + data.byteLength <= this.#limit;
      let stored = valueTexture(gl, values, wrap, isFloat);
      // Only large allocations are checked, since the check waits for the graphics card.
      if (data.byteLength >= LARGE_TEXTURE_BYTES && gl.getError() === gl.OUT_OF_MEMORY) {
        gl.deleteTexture(stored.texture);
        this.#limit /= 2;
        this.#evict(data.byteLength / 2);
        stored = valueTexture(gl, values, wrap, false);
      }
      known = { stored, used: 0 };
      this.#values.set(data, known);
      this.#bytes += stored.bytes;
    }
    known.used = this.#picture;
    return known.stored;
  }

  /** A texture of the colours of a map, on planes or on the surface, which is lit. */
  ofColours(map: MapName, isLit: boolean): WebGLTexture {
    const key = `${map} ${isLit}`;
    const table = () => interpolatedTable(isLit ? surfaceTable(map) : colourTable(map));
    const texture = this.#colours.get(key) ?? tableTexture(this.#gl, table());
    this.#colours.set(key, texture);
    return texture;
  }

  /** A texture of the fractional node at 4096 positions of each axis, which inverts stretched coordinates. */
  ofNodes(dataset: Dataset, strides: Vec3): WebGLTexture {
    const ofStrides = this.#nodes.get(dataset) ?? new Map<string, WebGLTexture>();
    this.#nodes.set(dataset, ofStrides);
    const known = ofStrides.get(String(strides));
    if (known !== undefined) return known;
    const gl = this.#gl;
    const table = new Float32Array(3 * NODE_TABLE_SIZE);
    for (const [a, axis] of dataset.axes.entries()) {
      if (axis.coordinates === undefined) continue;
      const [from, to] = [coordinateOf(axis, 0), coordinateOf(axis, axis.nodes - 1)];
      for (let i = 0; i < NODE_TABLE_SIZE; i++)
        table[a * NODE_TABLE_SIZE + i] = nodeOf(axis, from + ((to - from) * i) / (NODE_TABLE_SIZE - 1)) / strides[a];
    }
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.R32F, NODE_TABLE_SIZE, 3, 0, gl.RED, gl.FLOAT, table);
    filter(gl, gl.TEXTURE_2D, this.#isFloat ? gl.LINEAR : gl.NEAREST);
    ofStrides.set(String(strides), texture);
    return texture;
  }

  /** A texture of the distances to blocks with surface, by which rays skip empty space. */
  ofEmptySpace(fine: Samples, level: number, side: 1 | -1, wrap: readonly boolean[]): WebGLTexture {
    const gl = this.#gl;
    const key = `${level} ${side}`;
    const known = this.#emptySpaces.get(fine);
    if (known?.key === key) return known.texture;
    const space = emptySpace(fine, level, side, wrap);
    const texture = known?.texture ?? gl.createTexture();
    gl.activeTexture(gl.TEXTURE4);
    gl.bindTexture(gl.TEXTURE_3D, texture);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    const [x, y, z] = space.dims;
    gl.texImage3D(gl.TEXTURE_3D, 0, gl.R8UI, x, y, z, 0, gl.RED_INTEGER, gl.UNSIGNED_BYTE, space.distance);
    filter(gl, gl.TEXTURE_3D, gl.NEAREST);
    this.#emptySpaces.set(fine, { key, texture });
    return texture;
  }

  #evict(bytes: number): void {
    const old = [...this.#values].filter(([, { used }]) => used < this.#picture - 1 && used > 0);
    for (const [key, { stored }] of old.toSorted(([, a], [, b]) => a.used - b.used)) {
      if (this.#bytes + bytes <= this.#limit) return;
      this.#gl.deleteTexture(stored.texture);
      this.#values.delete(key);
      this.#bytes -= stored.bytes;
    }
  }
}

/** A table with more colours, interpolated: a nearest look-up in it costs less than interpolation in the shader. */
function interpolatedTable(table: Uint8Array): Uint8Array {
  const last = table.length / 4 - 1;
  return Uint8Array.from({ length: 4 * FINE_COLOURS }, (_, i) => {
    const at = ((i >> 2) * last) / (FINE_COLOURS - 1);
    const from = 4 * Math.min(last - 1, Math.floor(at)) + (i & 3);
    return Math.round(table[from] + (at - Math.floor(from / 4)) * (table[from + 4] - table[from]));
  });
}
