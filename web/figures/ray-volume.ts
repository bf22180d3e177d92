/**
 * The ray volume draws a box of values by rays through it: each step adds the colour of its value, the denser the
 * farther the value is beyond a level: by the root, so that most of what is beyond it is seen.
 */
import {
  BackSide,
  BoxGeometry,
  ClampToEdgeWrapping,
  Data3DTexture,
  DataTexture,
  GLSL3,
  LinearFilter,
  Mesh,
  RepeatWrapping,
  RGBAFormat,
  RGFormat,
  ShaderMaterial,
  UnsignedByteType,
} from "three";
import { COLOUR_STEPS } from "../../src/shared/colour-map.js";
import type { Volume } from "../state/api.js";
import type { DomainBox } from "../state/domain-box.js";
import type { ValueRange } from "../state/shown-quantity.js";
import { type ColourScale, placeOnMap } from "./colour-scale.js";

/** Planes in the box at most. */
export const MOST_PLANES = 3;

const VERTEX = `
out vec3 inBox;
out vec3 inScene;
void main() {
  inBox = position + 0.5;
  inScene = (modelMatrix * vec4(position, 1.0)).xyz;
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
}`;

/**
 * A ray goes from where it enters the box to where it leaves it or meets a plane. Opaque parts hide what is behind.
 * Values are places on the colour map: `zero` is clear, as is all up to `clear`, a part of the way to the farther end;
 * from `full` on, nothing is denser.
 */
const FRAGMENT = `
precision highp sampler3D;
in vec3 inBox;
in vec3 inScene;
out vec4 colour;
uniform sampler3D values;
uniform sampler2D colours;
uniform vec3 eye;
uniform vec3 first;
uniform vec3 reach;
uniform float steps;
uniform float zero;
uniform float clear;
uniform float full;
uniform float opacity;
uniform int cuts;
uniform vec3 lows[${MOST_PLANES}];
uniform vec3 highs[${MOST_PLANES}];
void main() {
  vec3 ray = inBox - eye;
  vec3 near = min(-eye / ray, (1.0 - eye) / ray);
  float enters = max(max(max(near.x, near.y), near.z), 0.0);
  float leaves = 1.0;
  vec3 way = inScene - cameraPosition;
  for (int i = 0; i < cuts; i++) {
    vec3 normal = step(highs[i] - lows[i], vec3(1e-6));
    float met = dot(normal, lows[i] - cameraPosition) / dot(normal, way);
    vec3 hit = cameraPosition + met * way;
    vec3 within = max(normal, step(lows[i], hit) * step(hit, highs[i]));
    if (met > 0.0 && within.x * within.y * within.z > 0.5) leaves = min(leaves, met);
  }
  vec4 sum = vec4(0.0);
  float part = max(0.0, leaves - enters) / steps;
  for (float i = 0.5; i < steps; i += 1.0) {
    vec3 place = eye + ray * (enters + i * part);
    vec2 stored = texture(values, first + place * reach).rg;
    if (stored.g < 0.5) continue;
    float value = stored.r / stored.g;
    float strength = abs(value - zero) / max(zero, 1.0 - zero);
    float beyond = clamp((strength - clear) / max(full - clear, 1e-3), 0.0, 1.0);
    float density = 1.0 - pow(1.0 - opacity, 50.0 * sqrt(beyond) * part * length(way));
    vec3 own = texture(colours, vec2(value, 0.5)).rgb;
    sum += (1.0 - sum.a) * density * vec4(own, 1.0);
    if (sum.a > 0.98) break;
  }
  if (sum.a < 0.004) discard;
  colour = vec4(sum.rgb / sum.a, sum.a);
}`;

/** Steps of a ray, and the most of them. */
const STEPS_PER_SAMPLE = 1.5;
const MOST_STEPS = 256;

export type RayVolume = Mesh<BoxGeometry, ShaderMaterial>;

/**
 * What of a volume is clear: `zero`, a place on the map, is that of zero, or of values of one sign the end nearest to
 * zero, or the upper end if small values are looked for; and all up to a level is, `clear` of the way from there to the
 * farther end, on both sides. The tails of the values are the densest, `full` of that way.
 */
export function clarityOf(
  scale: ColourScale,
  level: number,
  small: boolean,
  tails: ValueRange,
): { readonly zero: number; readonly clear: number; readonly full: number } {
  const [low, high] = scale.range;
  const inside = (value: number) => placeInside(scale, value);
  const zero = low < 0 && high > 0 ? inside(0) : small || high <= 0 ? 1 : 0;
  const strength = (value: number) => Math.abs(inside(value) - zero) / Math.max(zero, 1 - zero);
  return { zero, clear: strength(level), full: Math.max(...tails.map(strength)) };
}

/** The place of a value on the map of a scale, at an end if it is beyond the range. */
function placeInside(scale: ColourScale, value: number): number {
  return Math.max(0, Math.min(1, placeOnMap(scale, value)));
}

/** Places of values on the map of a scale as bytes, each with one that says whether there is a value. */
export function mapPlaces(values: Float32Array, scale: ColourScale): Uint8Array {
  const bytes = new Uint8Array(2 * values.length);
  for (let i = 0; i < values.length; i++) {
    if (!Number.isFinite(values[i])) continue;
    bytes[2 * i] = Math.round(255 * placeInside(scale, values[i]));
    bytes[2 * i + 1] = 255;
  }
  return bytes;
}

/**
 * A mesh of unit sides that draws a volume in the colours of a scale; samples without a value are clear.
 *
 * @param box    the ends of what it fills, in coordinates of the dataset
 * @param planes uniforms of the planes that end rays: `cuts` of them, with their corners `lows` and `highs`
 */
export function makeRayVolume(
  { axes, values }: Volume,
  scale: ColourScale,
  box: DomainBox,
  planes: ShaderMaterial["uniforms"],
): RayVolume {
  const [nx, ny, nz] = axes.map(({ count }) => count) as [number, number, number];
  const texture = new Data3DTexture(mapPlaces(values, scale), nx, ny, nz);
  Object.assign(texture, { format: RGFormat, type: UnsignedByteType, unpackAlignment: 1 });
  Object.assign(texture, { minFilter: LinearFilter, magFilter: LinearFilter });
  // Samples of a whole period begin at its end; the last one's neighbour is the first.
  const around = axes.map(({ origin }, i) => Math.abs(origin - box[2 * i]) < 1e-6 * (box[2 * i + 1] - box[2 * i]));
  const [wrapS, wrapT, wrapR] = around.map((one) => (one ? RepeatWrapping : ClampToEdgeWrapping));
  Object.assign(texture, { wrapS, wrapT, wrapR });
  texture.needsUpdate = true;
  const pixels = new Uint8Array(scale.pixels.slice().buffer);
  const colours = new DataTexture(pixels, COLOUR_STEPS, 1, RGBAFormat);
  colours.needsUpdate = true;
  const texels = axes.map(({ origin, spacing, count }, i) => {
    return [(0.5 + (box[2 * i] - origin) / spacing) / count, (box[2 * i + 1] - box[2 * i]) / (spacing * count)];
  });
  const material = new ShaderMaterial({
    ...{ glslVersion: GLSL3, vertexShader: VERTEX, fragmentShader: FRAGMENT },
    ...{ side: BackSide, transparent: true, depthTest: false, depthWrite: false },
    uniforms: {
      ...planes,
      values: { value: texture },
      colours: { value: colours },
      eye: { value: null },
      first: { value: texels.map(([first]) => first) },
      reach: { value: texels.map(([, reach]) => reach) },
      steps: { value: Math.min(MOST_STEPS, Math.round(STEPS_PER_SAMPLE * Math.max(nx, ny, nz))) },
      ...{ zero: { value: 0 }, clear: { value: 1 }, full: { value: 1 }, opacity: { value: 0 } },
    },
  });
  const mesh = new Mesh(new BoxGeometry(1, 1, 1), material);
  mesh.frustumCulled = false;
  mesh.renderOrder = 10;
  mesh.onBeforeRender = (_renderer, _scene, camera) => {
    material.uniforms.eye.value = mesh.worldToLocal(camera.position.clone()).addScalar(0.5);
  };
  return mesh;
}

/** Frees the textures of a volume. */
export function freeRayVolume({ material }: RayVolume): void {
  for (const name of ["values", "colours"]) (material.uniforms[name]?.value as DataTexture | null)?.dispose();
}
