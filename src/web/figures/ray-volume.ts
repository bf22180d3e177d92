/** The ray volume draws a box of values by rays through it: each step adds the colour of its value. */
import {
  BackSide,
  BoxGeometry,
  ClampToEdgeWrapping,
  Data3DTexture,
  DataTexture,
  GLSL3,
  LinearFilter,
  Mesh,
  RedFormat,
  RGBAFormat,
  ShaderMaterial,
  UnsignedByteType,
} from "three";
import { COLOUR_STEPS } from "../../colour-map.js";
import type { Volume } from "../state/api.js";
import { type ColourScale, positionOn } from "./colour-scale.js";

const VERTEX = `
out vec3 inBox;
void main() {
  inBox = position + 0.5;
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
}`;

/** A ray goes from where it enters the box to where it leaves; opaque parts hide what is behind them. */
const FRAGMENT = `
precision highp sampler3D;
in vec3 inBox;
out vec4 colour;
uniform sampler3D values;
uniform sampler2D colours;
uniform vec3 eye;
uniform float steps;
uniform float both;
void main() {
  vec3 ray = inBox - eye;
  vec3 near = min(-eye / ray, (1.0 - eye) / ray);
  float enters = max(max(max(near.x, near.y), near.z), 0.0);
  vec4 sum = vec4(0.0);
  float part = (1.0 - enters) / steps;
  for (float i = 0.5; i < steps; i += 1.0) {
    vec3 place = eye + ray * (enters + i * part);
    float value = texture(values, place).r;
    if (value <= 0.0) continue;
    float strength = mix(value, abs(2.0 * value - 1.0), both);
    float density = 1.0 - exp(-12.0 * strength * strength * strength * part * length(ray));
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

/** A mesh of unit sides that draws a volume in the colours of a scale; samples without a value are clear. */
export function makeRayVolume({ axes, values }: Volume, scale: ColourScale): RayVolume {
  const [nx, ny, nz] = axes.map(({ count }) => count) as [number, number, number];
  const bytes = Uint8Array.from(values, (value) => {
    const place = positionOn(scale, value);
    return Number.isFinite(place) ? Math.round(1 + 254 * Math.max(0, Math.min(1, place))) : 0;
  });
  const texture = new Data3DTexture(bytes, nx, ny, nz);
  Object.assign(texture, { format: RedFormat, type: UnsignedByteType, unpackAlignment: 1 });
  Object.assign(texture, { minFilter: LinearFilter, magFilter: LinearFilter });
  Object.assign(texture, { wrapS: ClampToEdgeWrapping, wrapT: ClampToEdgeWrapping, wrapR: ClampToEdgeWrapping });
  texture.needsUpdate = true;
  const pixels = new Uint8Array(scale.pixels.slice().buffer);
  const colours = new DataTexture(pixels, COLOUR_STEPS, 1, RGBAFormat);
  colours.needsUpdate = true;
  const [low, high] = scale.range;
  const material = new ShaderMaterial({
    ...{ glslVersion: GLSL3, vertexShader: VERTEX, fragmentShader: FRAGMENT },
    ...{ side: BackSide, transparent: true, depthTest: false, depthWrite: false },
    uniforms: {
      values: { value: texture },
      colours: { value: colours },
      eye: { value: null },
      steps: { value: Math.min(MOST_STEPS, Math.round(STEPS_PER_SAMPLE * Math.max(nx, ny, nz))) },
      both: { value: low < 0 && high > 0 ? 1 : 0 },
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
