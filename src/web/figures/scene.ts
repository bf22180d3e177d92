/** The box scene draws the domain, the slice inside it and the paths of particles in 3-D; the page loads it on demand. */
import {
  AdditiveBlending,
  BoxGeometry,
  BufferAttribute,
  BufferGeometry,
  CanvasTexture,
  Color,
  DoubleSide,
  EdgesGeometry,
  LineBasicMaterial,
  LineSegments,
  MathUtils,
  Mesh,
  MeshBasicMaterial,
  NearestFilter,
  NormalBlending,
  PerspectiveCamera,
  PlaneGeometry,
  Points,
  Scene,
  ShaderMaterial,
  SRGBColorSpace,
  Vector3,
  WebGLRenderer,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import type { Trajectories } from "../state/api.js";
import type { AxisFacts } from "../state/facts.js";
import { type PathSegments, pathSegments } from "./path-segments.js";
import type { SchemeColours } from "./scheme-colours.js";

type Position = readonly [number, number, number];

const PATH_VERTEX = `
attribute float record;
attribute vec3 tint;
uniform float now;
uniform float trail;
uniform float size;
varying vec4 shade;
void main() {
  shade = vec4(tint, clamp(1.0 - (now - record) / trail, 0.15, 1.0));
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
  gl_PointSize = size;
}`;
const PATH_FRAGMENT = `
varying vec4 shade;
void main() { gl_FragColor = shade; }`;

/** Angle that the shorter side of the picture takes in, degrees. */
const FIELD_OF_VIEW = 40;
/** Smallest and largest polar angle of the camera, so that up stays up. */
const POLE = 0.05;
const TURN = Math.PI / 24;
const ZOOM = 1.15;

export class BoxScene {
  /** Called when the caller has moved the camera. */
  onCamera: (camera: Position) => void = () => undefined;
  readonly #renderer: WebGLRenderer;
  readonly #stage = new Scene();
  readonly #camera = new PerspectiveCamera(FIELD_OF_VIEW, 1, 0.01, 100);
  readonly #controls: OrbitControls;
  readonly #axes: readonly AxisFacts[];
  readonly #scale: number;
  readonly #box: LineSegments<EdgesGeometry, LineBasicMaterial>;
  #plane: Mesh<PlaneGeometry, MeshBasicMaterial> | null = null;
  #paths: LineSegments<BufferGeometry, ShaderMaterial> | null = null;
  #heads: Points<BufferGeometry, ShaderMaterial> | null = null;
  #segments: PathSegments | null = null;
  #particles = 0;

  /** @throws where there is no WebGL */
  constructor(canvas: HTMLCanvasElement, axes: readonly AxisFacts[]) {
    this.#renderer = new WebGLRenderer({ canvas, antialias: true });
    this.#axes = axes;
    this.#scale = 1 / Math.max(...axes.map((axis) => axis.length));
    const [x, y, z] = axes.map((axis) => axis.length * this.#scale) as [number, number, number];
    this.#box = new LineSegments(new EdgesGeometry(new BoxGeometry(x, y, z)), new LineBasicMaterial());
    this.#stage.add(this.#box);
    this.#controls = new OrbitControls(this.#camera, canvas);
    this.#controls.enablePan = false;
    this.#controls.enableZoom = false;
    this.#controls.addEventListener("change", () => this.render());
    this.#controls.addEventListener("end", () => this.#tell());
  }

  /** Longest drawn segment as a fraction of the box. */
  get longestSegment(): number {
    return this.#segments?.longest ?? 0;
  }

  /** Paths to draw; replaces those before. */
  setPaths(trajectories: Trajectories): void {
    this.#drop(this.#paths);
    this.#drop(this.#heads);
    const segments = pathSegments(trajectories, this.#axes);
    const { particles, times } = trajectories;
    const count = particles * times.length;
    const positions = new Float32Array(3 * count);
    for (let i = 0; i < 3 * count; i++) {
      const axis = this.#axes[i % 3] as AxisFacts;
      positions[i] = (segments.positions[i] - axis.first - axis.length / 2) * this.#scale;
    }
    const tints = new Float32Array(3 * count);
    const record = new Float32Array(count);
    const tint = new Color();
    for (let i = 0; i < count; i++) {
      tint.setHSL(((i % particles) / particles) * 0.85, 0.8, 0.55, SRGBColorSpace);
      tints.set([tint.r, tint.g, tint.b], 3 * i);
      record[i] = Math.floor(i / particles);
    }
    const attributes = (geometry: BufferGeometry) =>
      geometry
        .setAttribute("position", new BufferAttribute(positions, 3))
        .setAttribute("tint", new BufferAttribute(tints, 3))
        .setAttribute("record", new BufferAttribute(record, 1));
    const material = () =>
      new ShaderMaterial({
        uniforms: { now: { value: 0 }, trail: { value: Math.max(2, times.length) }, size: { value: 5 } },
        vertexShader: PATH_VERTEX,
        fragmentShader: PATH_FRAGMENT,
        transparent: true,
      });
    this.#paths = new LineSegments(attributes(new BufferGeometry()), material());
    this.#paths.geometry.setIndex(new BufferAttribute(segments.pairs, 1));
    this.#heads = new Points(attributes(new BufferGeometry()), material());
    for (const part of [this.#paths, this.#heads]) {
      part.frustumCulled = false;
      this.#stage.add(part);
    }
    this.#segments = segments;
    this.#particles = particles;
  }

  /** Shows the paths up to a record and the particles there. */
  setRecord(record: number): void {
    if (this.#paths === null || this.#heads === null || this.#segments === null) return;
    this.#paths.geometry.setDrawRange(0, this.#segments.starts[record + 1] ?? 0);
    this.#heads.geometry.setDrawRange(record * this.#particles, this.#particles);
    for (const part of [this.#paths, this.#heads]) {
      const now = part.material.uniforms.now;
      if (now !== undefined) now.value = record;
    }
    this.render();
  }

  /** The slice inside the box. A texture's rows count from below as the plane's do, so the picture is turned over on the way. */
  setPlane(picture: HTMLCanvasElement, axis: number, at: number): void {
    this.#drop(this.#plane);
    const [across, up] = [0, 1, 2].filter((index) => index !== axis) as [number, number];
    const side = (index: number) => (this.#axes[index] as AxisFacts).length * this.#scale;
    const texture = new CanvasTexture(picture);
    texture.colorSpace = SRGBColorSpace;
    texture.magFilter = NearestFilter;
    const material = new MeshBasicMaterial({ map: texture, side: DoubleSide, transparent: true, opacity: 0.85 });
    this.#plane = new Mesh(new PlaneGeometry(side(across), side(up)), material);
    const basis = [0, 1, 2].map((index) => new Vector3(index === 0 ? 1 : 0, index === 1 ? 1 : 0, index === 2 ? 1 : 0));
    const [u, v] = [basis[across] as Vector3, basis[up] as Vector3];
    this.#plane.matrixAutoUpdate = false;
    this.#plane.matrix.makeBasis(u, v, new Vector3().crossVectors(u, v));
    const normal = this.#axes[axis] as AxisFacts;
    this.#plane.matrix.setPosition(
      (basis[axis] as Vector3).multiplyScalar((at - normal.first - normal.length / 2) * this.#scale),
    );
    this.#stage.add(this.#plane);
    this.render();
  }

  setColours({ paper, ink, dark }: SchemeColours): void {
    this.#stage.background = new Color().setStyle(paper);
    this.#box.material.color.setStyle(ink);
    for (const part of [this.#paths, this.#heads]) {
      if (part !== null) part.material.blending = dark ? AdditiveBlending : NormalBlending;
    }
    this.render();
  }

  /** Puts the camera at a place relative to the middle of the box, in lengths of its longest side. */
  setCamera([x, y, z]: Position): void {
    this.#camera.position.set(x, y, z);
    this.#controls.update();
    this.render();
  }

  /** Moves the camera by a key; whether the key means something here. */
  key(name: string): boolean {
    const keys: Readonly<Record<string, readonly [number, number, number]>> = {
      ArrowLeft: [-TURN, 0, 1],
      ArrowRight: [TURN, 0, 1],
      ArrowUp: [0, -TURN, 1],
      ArrowDown: [0, TURN, 1],
      "+": [0, 0, 1 / ZOOM],
      "=": [0, 0, 1 / ZOOM],
      "-": [0, 0, ZOOM],
    };
    const move = Object.hasOwn(keys, name) ? keys[name] : undefined;
    if (move === undefined) return false;
    const [turn, tilt, zoom] = move;
    const { position } = this.#camera;
    const radius = position.length() * zoom;
    const azimuth = Math.atan2(position.x, position.z) + turn;
    const polar = Math.max(POLE, Math.min(Math.PI - POLE, Math.acos(position.y / position.length()) + tilt));
    position.setFromSphericalCoords(Math.max(0.3, Math.min(10, radius)), polar, azimuth);
    this.#controls.update();
    this.render();
    this.#tell();
    return true;
  }

  resize(width: number, height: number): void {
    this.#renderer.setPixelRatio(Math.min(2, window.devicePixelRatio));
    this.#renderer.setSize(width, height, false);
    this.#camera.aspect = width / height;
    const half = Math.tan(MathUtils.degToRad(FIELD_OF_VIEW / 2)) / Math.min(1, width / height);
    this.#camera.fov = MathUtils.radToDeg(2 * Math.atan(half));
    this.#camera.updateProjectionMatrix();
    this.render();
  }

  render(): void {
    this.#renderer.render(this.#stage, this.#camera);
  }

  /** Frees everything, the context first of all: browsers keep only so many. */
  dispose(): void {
    this.#controls.dispose();
    for (const part of [this.#plane, this.#paths, this.#heads, this.#box]) this.#drop(part);
    this.#renderer.dispose();
    this.#renderer.forceContextLoss();
  }

  #drop(part: Mesh<PlaneGeometry, MeshBasicMaterial> | LineSegments | Points | null): void {
    if (part === null) return;
    this.#stage.remove(part);
    part.geometry.dispose();
    const materials = Array.isArray(part.material) ? part.material : [part.material];
    for (const material of materials) {
      if (material instanceof MeshBasicMaterial) material.map?.dispose();
      material.dispose();
    }
  }

  #tell(): void {
    const { x, y, z } = this.#camera.position;
    this.onCamera([x, y, z].map((value) => Number(value.toPrecision(5))) as unknown as Position);
  }
}
