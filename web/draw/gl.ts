/** Helpers of WebGL2: programs, textures and render targets. */
import { extentOf } from "../state/volumes.js";

export interface Program {
  readonly program: WebGLProgram;
  readonly at: (name: string) => WebGLUniformLocation | null;
}

function compile(gl: WebGL2RenderingContext, kind: number, source: string): WebGLShader {
  const shader = gl.createShader(kind);
  if (shader === null) throw new Error("the context is lost");
  gl.shaderSource(shader, source);
  gl.compileShader(shader);
  return shader;
}

export function makeProgram(gl: WebGL2RenderingContext, vertex: string, fragment: string): Program {
  const program = gl.createProgram();
  const shaders = [compile(gl, gl.VERTEX_SHADER, vertex), compile(gl, gl.FRAGMENT_SHADER, fragment)];
  for (const shader of shaders) gl.attachShader(program, shader);
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
    const logs = shaders.map((shader) => gl.getShaderInfoLog(shader)).join("\n");
    throw new Error(`${gl.getProgramInfoLog(program)}\n${logs}`);
  }
  const known = new Map<string, WebGLUniformLocation | null>();
  const at = (name: string) => {
    let location = known.get(name);
    if (location === undefined) {
      location = gl.getUniformLocation(program, name);
      known.set(name, location);
    }
    return location;
  };
  return { program, at };
}

export const COVER = `#version 300 es
void main() { gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0); }`;

/** Storage of values: as float32, or as half floats of (v - middle) / half range. */
export interface StoredTexture {
  readonly texture: WebGLTexture;
  readonly half: number;
  readonly middle: number;
  /** A power of two near the largest value. */
  readonly unit: number;
  readonly bytes: number;
}

/** The power of two below a size, by which shaders divide: float32 has no room for differences of the largest values. */
export const unitOf = (size: number): number => 2 ** Math.min(126, Math.max(-126, Math.floor(Math.log2(size || 1))));

export interface Values {
  readonly dims: readonly number[];
  readonly data: Float32Array;
  readonly isMasked: boolean;
}

export function halfFloat(value: number): number {
  FLOAT[0] = value;
  const bits = BITS[0];
  const sign = (bits >>> 16) & 0x8000;
  const exponent = ((bits >>> 23) & 0xff) - 112;
  if (exponent <= 0) return sign;
  if (exponent >= 31) return sign | 0x7bff;
  const rounded = (exponent << 10) + ((bits & 0x7fffff) >>> 13) + ((bits >>> 12) & 1);
  return sign | Math.min(0x7bff, rounded);
}
const FLOAT = new Float32Array(1);
const BITS = new Uint32Array(FLOAT.buffer);

/** A texture of values: one channel, or value times mask and mask where some are missing. */
export function valueTexture(
  gl: WebGL2RenderingContext,
  { dims, data, isMasked }: Values,
  wrap: readonly boolean[],
  isFloat: boolean,
): StoredTexture {
  const { low, high } = extentOf(data);
  const unit = unitOf(Math.max(-low, high));
  const middle = isFloat ? 0 : (low + high) / 2;
  // The smallest numbers of float32 are zero to graphics cards.
  const half = !isFloat ? (high - low) / 2 || 1 : unit < 2 ** -100 ? unit : 1;
  const channels = isMasked ? 2 : 1;
  let source: Float32Array | Uint16Array = data;
  if (isMasked || !isFloat || half !== 1) {
    source = isFloat ? new Float32Array(channels * data.length) : new Uint16Array(channels * data.length);
    const put = isFloat ? (value: number) => value : halfFloat;
    for (let i = 0; i < data.length; i++) {
      const known = Number.isFinite(data[i]);
      source[channels * i] = put(known ? (data[i] - middle) / half : 0);
      if (isMasked) source[2 * i + 1] = put(known ? 1 : 0);
    }
  }
  const target = dims.length === 3 ? gl.TEXTURE_3D : gl.TEXTURE_2D;
  const texture = gl.createTexture();
  gl.bindTexture(target, texture);
  const internal = isFloat ? (isMasked ? gl.RG32F : gl.R32F) : isMasked ? gl.RG16F : gl.R16F;
  const [format, type] = [isMasked ? gl.RG : gl.RED, isFloat ? gl.FLOAT : gl.HALF_FLOAT];
  gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
  if (dims.length === 3) gl.texImage3D(target, 0, internal, dims[0], dims[1], dims[2], 0, format, type, source);
  else gl.texImage2D(target, 0, internal, dims[0], dims[1], 0, format, type, source);
  filter(gl, target, gl.LINEAR, wrap);
  return { texture, half, middle, unit, bytes: source.byteLength };
}

export function filter(gl: WebGL2RenderingContext, target: number, how: number, wrap: readonly boolean[] = []): void {
  gl.texParameteri(target, gl.TEXTURE_MIN_FILTER, how);
  gl.texParameteri(target, gl.TEXTURE_MAG_FILTER, how);
  for (const [i, name] of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T, gl.TEXTURE_WRAP_R].entries()) {
    if (i < 2 || target === gl.TEXTURE_3D) gl.texParameteri(target, name, wrap[i] ? gl.REPEAT : gl.CLAMP_TO_EDGE);
  }
}

export function tableTexture(gl: WebGL2RenderingContext, table: Uint8Array): WebGLTexture {
  const texture = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, texture);
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, table.length / 4, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, table);
  filter(gl, gl.TEXTURE_2D, gl.LINEAR);
  return texture;
}

export interface Target {
  readonly framebuffer: WebGLFramebuffer;
  readonly textures: readonly WebGLTexture[];
  readonly width: number;
  readonly height: number;
}

export function makeTarget(
  gl: WebGL2RenderingContext,
  width: number,
  height: number,
  formats: readonly number[],
  how: number = gl.NEAREST,
  levels = 1,
): Target {
  const framebuffer = gl.createFramebuffer();
  gl.bindFramebuffer(gl.FRAMEBUFFER, framebuffer);
  const textures = formats.map((format, i) => {
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texStorage2D(gl.TEXTURE_2D, levels, format, width, height);
    filter(gl, gl.TEXTURE_2D, how);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0 + i, gl.TEXTURE_2D, texture, 0);
    return texture;
  });
  gl.drawBuffers(textures.map((_, i) => gl.COLOR_ATTACHMENT0 + i));
  gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  return { framebuffer, textures, width, height };
}

export function freeTarget(gl: WebGL2RenderingContext, target: Target): void {
  gl.deleteFramebuffer(target.framebuffer);
  for (const texture of target.textures) gl.deleteTexture(texture);
}
