/** The box scene draws the domain with its axes, planes, paths of particles and an isosurface in 3-D. */
import {
  AmbientLight,
  BoxGeometry,
  BufferAttribute,
  BufferGeometry,
  CanvasTexture,
  Color,
  DirectionalLight,
  DoubleSide,
  EdgesGeometry,
  Group,
  LineBasicMaterial,
  LineSegments,
  type Material,
  MathUtils,
  Mesh,
  MeshBasicMaterial,
  MeshLambertMaterial,
  NearestFilter,
  type Object3D,
  PerspectiveCamera,
  PlaneGeometry,
  Points,
  Scene,
  ShaderMaterial,
  SphereGeometry,
  Sprite,
  SpriteMaterial,
  SRGBColorSpace,
  TOUCH,
  Vector2,
  Vector3,
  WebGLRenderer,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import type { Trajectories, Volume } from "../state/api.js";
import type { DomainBox } from "../state/domain-box.js";
import type { AxisFacts } from "../state/facts.js";
import type { PlaneWindow } from "../state/plane-geometry.js";
import type { ValueRange } from "../state/shown-quantity.js";
import { type ColourScale, pixelOf } from "./colour-scale.js";
import { outlineEdge } from "./outline-edge.js";
import { drawnTrail, type PathSegments, particlePixel, pathSegments } from "./path-segments.js";
import { clarityOf, freeRayVolume, MOST_PLANES, makeRayVolume, type RayVolume } from "./ray-volume.js";
import type { SchemeColours } from "./scheme-colours.js";
import { linearTicks } from "./ticks.js";

export type Position = readonly [number, number, number];

/** The value up to which a volume is clear, and those from which on it is densest. */
interface Shading {
  readonly level: number;
  readonly tails: ValueRange;
}

/** A picture of a part of a plane, to be placed in the box. */
export interface PlacedPicture {
  readonly picture: HTMLCanvasElement;
  readonly axis: number;
  readonly at: number;
  /** The part of the plane that the picture covers. */
  readonly covered: PlaneWindow;
}

/** Triangles in coordinates of the dataset; colours of the vertices as bytes of red, green and blue, or null. */
export interface SolidSurface {
  readonly positions: Float32Array;
  readonly normals: Float32Array;
  readonly indices: Uint32Array;
  readonly colours: Uint8Array | null;
}

/** Fading of what lies back in time, and the place of a point somewhat nearer to the eye, in front of what it is on. */
const PATH_PARTS = `
uniform float now;
uniform float trail;
uniform float size;
uniform vec2 viewport;
varying vec4 shade;
float fade(float record) {
  return clamp(1.0 - (now - record) / trail, 0.15, 1.0);
}
vec4 nearer(vec3 place, float sizes) {
  float radius = size / (projectionMatrix[1][1] * viewport.y);
  return vec4((modelViewMatrix * vec4(place, 1.0)).xyz * (1.0 - sizes * radius), 1.0);
}`;
/** Heads are discs: one whose middle is behind a plane is hidden, any other one is whole. */
const HEAD_VERTEX = `
attribute float record;
attribute vec3 tint;
uniform float ratio;
uniform int cuts;
uniform vec3 lows[${MOST_PLANES}];
uniform vec3 highs[${MOST_PLANES}];
${PATH_PARTS}
bool isBehind(vec3 low, vec3 high) {
  vec3 ray = position - cameraPosition;
  vec3 normal = step(high - low, vec3(1e-6));
  float part = dot(normal, low - cameraPosition) / dot(normal, ray);
  vec3 hit = cameraPosition + part * ray;
  vec3 within = max(normal, step(low, hit) * step(hit, high));
  return part > 0.0 && part < 0.9999 && within.x * within.y * within.z > 0.5;
}
void main() {
  shade = vec4(tint, fade(record));
  gl_Position = projectionMatrix * nearer(position, 4.0);
  for (int i = 0; i < cuts; i++) if (isBehind(lows[i], highs[i])) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
  gl_PointSize = size * ratio;
}`;
/** Segments are bands of some pixels; a segment that passes the eye is cut off in front of it. */
const PATH_VERTEX = `
attribute vec2 corner;
attribute vec3 begin;
attribute vec3 end;
attribute vec3 tint;
attribute float record;
${PATH_PARTS}
const float NEAR = -0.01;
void main() {
  shade = vec4(tint, fade(record));
  vec4 a = nearer(begin, 0.5);
  vec4 b = nearer(end, 0.5);
  if (a.z > NEAR && b.z > NEAR) {
    gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
    return;
  }
  if (a.z > NEAR) a = mix(a, b, (NEAR - a.z) / (b.z - a.z));
  if (b.z > NEAR) b = mix(b, a, (NEAR - b.z) / (a.z - b.z));
  vec4 from = projectionMatrix * a;
  vec4 to = projectionMatrix * b;
  vec2 along = (to.xy / to.w - from.xy / from.w) * viewport;
  vec2 across = vec2(-along.y, along.x) / max(length(along), 1e-6);
  gl_Position = corner.x < 0.5 ? from : to;
  gl_Position.xy += corner.y * size / viewport * across * gl_Position.w;
}`;
const PATH_FRAGMENT = `
uniform bool disc;
varying vec4 shade;
void main() {
  float away = disc ? length(gl_PointCoord - 0.5) : 0.0;
  if (away > 0.5) discard;
  // A white rim, by which a head is seen on a plane of its colour.
  gl_FragColor = away > 0.4 ? vec4(1.0, 1.0, 1.0, shade.a) : shade;
}`;
/** Diameter of the head of a path, and width of the path, in pixels of the page. */
const HEAD = 10;
const PATH = 2.5;

/** Angle that the shorter side of the picture takes in, degrees. */
const FIELD_OF_VIEW = 40;
/** Smallest and largest polar angle of the camera, so that up stays up. */
const POLE = 0.05;
const TURN = Math.PI / 24;
const ZOOM = 1.15;
/** Nearest and farthest place of the camera, in lengths of the longest side. */
const NEAREST = 0.3;
const FARTHEST = 6;
/** From where the camera first looks at a box. */
const BOX_VIEW: Position = [1.45, 1.05, 1.95];
/** From where the camera first looks at a plane across each axis: nearly from the front. */
const PLANE_VIEWS: readonly Position[] = [
  [1, 0.12, 0.2],
  [0.12, 1, 0.2],
  [0.2, 0.12, 1],
];
/** Part of the picture that the box fills at first; the rest is room for its labels. */
const FILLED = 0.84;

/** Radius of a grip, and the distance in pixels from which a pointer takes it. */
const GRIP_RADIUS = 0.026;
const GRIP_PIXELS = 24;

/** The place of particles without a position, beyond what the camera sees. */
const OUT_OF_SIGHT = 1000;

/** Ticks along an axis of the box, about. */
const TICKS = 4;
const LABEL_HEIGHT = 0.024;
/** Distances of ticks and names from their edge, in distances of the camera. */
const TICK_AWAY = 0.016;
const NAME_AWAY = 0.042;
/** An axis shorter than this part of the longest has room for its name only. */
const SHORTEST_WITH_TICKS = 0.15;

export class BoxScene {
  /** Called when the caller has moved the camera; null if it sees the whole box as at first. */
  onCamera: (camera: Position | null) => void = () => undefined;
  /** Called while the caller drags a plane, with its axis and its new position. */
  onPlane: (axis: number, at: number) => void = () => undefined;
  readonly #renderer: WebGLRenderer;
  readonly #scene = new Scene();
  readonly #camera = new PerspectiveCamera(FIELD_OF_VIEW, 1, 0.01, 100);
  readonly #controls: OrbitControls;
  readonly #axes: readonly AxisFacts[];
  readonly #units: string;
  readonly #scale: number;
  /** Lengths of the box as it is drawn. */
  readonly #sides: Position;
  /** Whether the camera sees the whole box as at first, and keeps to it when the picture changes its size. */
  #first = true;
  readonly #box: LineSegments<EdgesGeometry, LineBasicMaterial>;
  readonly #planes: Mesh<PlaneGeometry, MeshBasicMaterial>[] = [];
  /** Grips by which planes are dragged, one for each plane. */
  readonly #grips: Mesh<SphereGeometry, MeshBasicMaterial>[] = [];
  #volume: RayVolume | null = null;
  /** Whether something has changed since the last drawing. */
  #due = false;
  #part: LineSegments<EdgesGeometry, LineBasicMaterial> | null = null;
  #labels: Group | null = null;
  #surface: Mesh<BufferGeometry, MeshLambertMaterial> | null = null;
  #paths: Mesh<BufferGeometry, ShaderMaterial> | null = null;
  #heads: Points<BufferGeometry, ShaderMaterial> | null = null;
  /** What the shaders of paths and heads are told of the picture and of the planes in it. */
  readonly #shared = {
    viewport: { value: new Vector2(1, 1) },
    ratio: { value: 1 },
    cuts: { value: 0 },
    lows: { value: Array.from({ length: MOST_PLANES }, () => new Vector3()) },
    highs: { value: Array.from({ length: MOST_PLANES }, () => new Vector3()) },
  };
  #segments: PathSegments | null = null;
  #particles = 0;

  /** @throws if there is no WebGL */
  constructor(canvas: HTMLCanvasElement, axes: readonly AxisFacts[], unit: string) {
    this.#renderer = new WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true });
    this.#axes = axes;
    this.#units = unit === "" ? "" : ` (${unit})`;
    this.#scale = 1 / Math.max(...axes.map(lengthOf));
    this.#sides = axes.map((axis) => Math.max(1e-3, axis.length * this.#scale)) as unknown as Position;
    this.#box = new LineSegments(new EdgesGeometry(new BoxGeometry(...this.#sides)), new LineBasicMaterial());
    const light = new DirectionalLight(0xffffff, 2.2);
    light.position.set(0.5, 0.8, 1);
    this.#camera.add(light);
    this.#scene.add(this.#box, new AmbientLight(0xffffff, 0.9), this.#camera);
    this.#controls = new OrbitControls(this.#camera, canvas);
    this.#controls.enablePan = false;
    this.#controls.minDistance = NEAREST;
    this.#controls.maxDistance = FARTHEST;
    this.#controls.touches = { ONE: TOUCH.ROTATE, TWO: TOUCH.DOLLY_ROTATE };
    canvas.style.touchAction = "pan-y";
    this.#controls.addEventListener("change", () => this.#changed());
    this.#controls.addEventListener("start", () => {
      this.#first = false;
    });
    this.#controls.addEventListener("end", () => {
      this.#limitTilt();
      this.#tell();
    });
    this.#limitTilt();
    canvas.addEventListener("pointerdown", (event) => this.#keepUpright(event), { capture: true });
    canvas.addEventListener("pointerdown", (event) => this.#grip(event, canvas), { capture: true });
    canvas.addEventListener("pointermove", (event) => {
      if (event.buttons !== 0) return;
      const isGrip = this.#gripAt(event, canvas) >= 0;
      canvas.style.cursor = isGrip ? "move" : "grab";
      canvas.title = isGrip ? "Grip: drag it to move the plane" : "";
    });
  }

  /** One finger turns the view about the vertical only; mouse and two fingers tilt it, as far as up stays up. */
  #keepUpright({ pointerType, isPrimary }: PointerEvent): void {
    const polar = this.#controls.getPolarAngle();
    if (pointerType === "touch" && isPrimary) this.#limitTilt(polar, polar);
    else this.#limitTilt();
  }

  #limitTilt(least = POLE, most = Math.PI - POLE): void {
    this.#controls.minPolarAngle = least;
    this.#controls.maxPolarAngle = most;
  }

  /** The number of the grip under a pointer; -1 if there is none. */
  #gripAt({ clientX, clientY }: PointerEvent, canvas: HTMLCanvasElement): number {
    const box = canvas.getBoundingClientRect();
    const away = this.#grips.map((grip) => {
      const { x, y } = grip.position.clone().project(this.#camera);
      return Math.hypot(box.left + ((x + 1) / 2) * box.width - clientX, box.top + ((1 - y) / 2) * box.height - clientY);
    });
    const nearest = away.indexOf(Math.min(...away));
    return (away[nearest] ?? GRIP_PIXELS) < GRIP_PIXELS ? nearest : -1;
  }

  /** Begins to drag a plane if a grip is under the pointer: it follows the pointer along its normal. */
  #grip(event: PointerEvent, canvas: HTMLCanvasElement): void {
    const grip = this.#grips[this.#gripAt(event, canvas)];
    if (grip === undefined) return;
    event.stopImmediatePropagation();
    this.#controls.enabled = false;
    const axis = grip.userData.axis as number;
    const { height, width } = canvas.getBoundingClientRect();
    const onScreen = (point: Vector3) => {
      const { x, y } = point.project(this.#camera);
      return [(x * width) / 2, (-y * height) / 2] as const;
    };
    const from = onScreen(grip.position.clone());
    const to = onScreen(grip.position.clone().add(unitVector(axis).multiplyScalar(0.1)));
    const [dx, dy] = [(to[0] - from[0]) / 0.1, (to[1] - from[1]) / 0.1];
    const began = grip.userData.at as number;
    const { first, length } = this.#axes[axis];
    const listening = new AbortController();
    const { signal } = listening;
    const move = ({ clientX, clientY }: PointerEvent) => {
      const along = ((clientX - event.clientX) * dx + (clientY - event.clientY) * dy) / (dx * dx + dy * dy || 1);
      const at = Math.max(first, Math.min(first + length, began + along / this.#scale));
      this.onPlane(axis, Math.fround(at));
    };
    const end = () => {
      listening.abort();
      this.#controls.enabled = true;
    };
    canvas.setPointerCapture(event.pointerId);
    canvas.addEventListener("pointermove", move, { signal });
    for (const name of ["pointerup", "pointercancel"] as const) canvas.addEventListener(name, end, { signal });
  }

  /** Longest drawn segment as a fraction of the box. */
  get longestSegment(): number {
    return this.#segments?.longest ?? 0;
  }

  /** The place at which a point of the dataset is drawn along an axis. */
  #place(value: number, axis: number): number {
    const { first, length } = this.#axes[axis];
    return (value - first - length / 2) * this.#scale;
  }

  /** Draws paths of particles instead of those before, in the colours of a scale if there is one; null draws none. */
  setPaths(trajectories: Trajectories | null, scale: ColourScale | null = null): void {
    this.#drop(this.#paths);
    this.#drop(this.#heads);
    this.#paths = this.#heads = this.#segments = null;
    if (trajectories === null) {
      this.#changed();
      return;
    }
    const segments = pathSegments(trajectories, this.#axes);
    const { particles, times } = trajectories;
    const positions = segments.positions.map((value, i) =>
      Number.isNaN(value) ? OUT_OF_SIGHT : this.#place(value, i % 3),
    );
    const heads = headGeometry(positions, trajectories, scale);
    this.#paths = new Mesh(bandGeometry(heads, segments.pairs), this.#pathMaterial(times.length, PATH));
    this.#heads = new Points(heads, this.#pathMaterial(times.length, HEAD));
    for (const part of [this.#paths, this.#heads]) {
      part.frustumCulled = false;
      this.#scene.add(part);
    }
    this.#segments = segments;
    this.#particles = particles;
  }

  /** @param size of heads or bands, in pixels of the page */
  #pathMaterial(records: number, size: number): ShaderMaterial {
    const disc = size === HEAD;
    const trail = { value: Math.max(2, records) };
    return new ShaderMaterial({
      uniforms: { ...this.#shared, now: { value: 0 }, trail, size: { value: size }, disc: { value: disc } },
      vertexShader: disc ? HEAD_VERTEX : PATH_VERTEX,
      fragmentShader: PATH_FRAGMENT,
      side: DoubleSide,
      transparent: true,
    });
  }

  /** Shows the paths up to a record and the particles there. */
  setRecord(record: number): void {
    if (this.#paths === null || this.#heads === null || this.#segments === null) return;
    const { starts } = this.#segments;
    const [from = 0, to = 0] = [starts[Math.max(0, record + 1 - drawnTrail(this.#particles))], starts[record + 1]];
    this.#paths.geometry.setDrawRange((BAND.length * from) / 2, (BAND.length * (to - from)) / 2);
    this.#heads.geometry.setDrawRange(record * this.#particles, this.#particles);
    for (const part of [this.#paths, this.#heads]) {
      const { now } = part.material.uniforms;
      if (now !== undefined) now.value = record;
    }
    this.#changed();
  }

  /** Places pictures of planes in the box; meshes and materials are kept from one time to the next. */
  setPlanes(pictures: readonly PlacedPicture[]): void {
    while (this.#planes.length > pictures.length) {
      this.#drop(this.#planes.pop() ?? null);
      this.#drop(this.#grips.pop() ?? null);
    }
    for (const [i, placed] of pictures.entries()) {
      this.#planes[i] ??= this.#newPlane();
      this.#layPlane(this.#planes[i], placed, i);
      this.#grips[i] ??= this.#newGrip();
      this.#layGrip(this.#grips[i], placed);
    }
    this.#shared.cuts.value = pictures.length;
    this.#changed();
  }

  #newGrip(): Mesh<SphereGeometry, MeshBasicMaterial> {
    const grip = new Mesh(new SphereGeometry(GRIP_RADIUS), new MeshBasicMaterial({ color: this.#box.material.color }));
    this.#scene.add(grip);
    return grip;
  }

  /** Puts the grip of a plane at the corner of the box where nothing else is labelled. */
  #layGrip(grip: Mesh<SphereGeometry, MeshBasicMaterial>, { axis, at }: PlacedPicture): void {
    grip.position.set(...(this.#sides.map((side) => side / 2) as [number, number, number]));
    grip.position.setComponent(axis, this.#place(at, axis));
    grip.visible = this.#axes[axis].nodes > 1;
    Object.assign(grip.userData, { axis, at });
  }

  #newPlane(): Mesh<PlaneGeometry, MeshBasicMaterial> {
    const material = new MeshBasicMaterial({ side: DoubleSide, transparent: true, opacity: 0.9 });
    const plane = new Mesh(new PlaneGeometry(1, 1), material);
    // Before paths and heads, which it hides by its depth.
    plane.renderOrder = -1;
    plane.matrixAutoUpdate = false;
    plane.frustumCulled = false;
    this.#scene.add(plane);
    return plane;
  }

  /**
   * Row and column 0 of a texture are at its lower left as those of the plane, so the picture is turned over on the
   * way.
   */
  #layPlane(
    plane: Mesh<PlaneGeometry, MeshBasicMaterial>,
    { picture, axis, at, covered }: PlacedPicture,
    index: number,
  ): void {
    const { material } = plane;
    if (material.map?.image !== picture) {
      material.map?.dispose();
      const texture = new CanvasTexture(picture);
      texture.colorSpace = SRGBColorSpace;
      texture.magFilter = NearestFilter;
      const first = material.map === null;
      material.map = texture;
      if (first) material.needsUpdate = true;
    }
    const [across, up] = [0, 1, 2].filter((index) => index !== axis);
    const [left, right, bottom, top] = covered;
    const ends = [left, right].map((value) => this.#place(value, across));
    const sides = [bottom, top].map((value) => this.#place(value, up));
    const u = unitVector(across).multiplyScalar(ends[1] - ends[0]);
    const v = unitVector(up).multiplyScalar(sides[1] - sides[0]);
    plane.matrix.makeBasis(u, v, unitVector(axis));
    const middle = new Vector3();
    middle.setComponent(across, (ends[0] + ends[1]) / 2);
    middle.setComponent(up, (sides[0] + sides[1]) / 2);
    middle.setComponent(axis, this.#place(at, axis));
    plane.matrix.setPosition(middle);
    plane.matrixWorldNeedsUpdate = true;
    const half = u.add(v).multiplyScalar(0.5);
    this.#shared.lows.value[index]?.copy(middle).sub(half);
    this.#shared.highs.value[index]?.copy(middle).add(half);
  }

  /** Draws an isosurface instead of the one before; null draws none. */
  setSurface(surface: SolidSurface | null): void {
    this.#drop(this.#surface);
    this.#surface = null;
    if (surface !== null && surface.indices.length > 0) {
      const geometry = new BufferGeometry();
      geometry.setAttribute("position", new BufferAttribute(surface.positions, 3));
      geometry.setAttribute("normal", new BufferAttribute(surface.normals, 3));
      geometry.setIndex(new BufferAttribute(surface.indices, 1));
      const { colours } = surface;
      if (colours !== null) geometry.setAttribute("color", new BufferAttribute(linearColours(colours), 3));
      const material = new MeshLambertMaterial({ side: DoubleSide, vertexColors: colours !== null });
      if (colours === null) material.color.setStyle("#d9a441", SRGBColorSpace);
      this.#surface = new Mesh(geometry, material);
      this.#surface.frustumCulled = false;
      // The graphics card moves the vertices from the coordinates of the dataset to those of the drawing.
      this.#surface.scale.setScalar(this.#scale);
      this.#surface.position.fromArray([0, 1, 2].map((axis) => this.#place(0, axis)));
      this.#scene.add(this.#surface);
    }
    this.#changed();
  }

  /** Draws a volume by rays instead of the one before; null draws none. @throws if the card cannot hold it */
  setVolume(volume: Volume | null, scale: ColourScale | null, box: DomainBox): void {
    if (this.#volume !== null) freeRayVolume(this.#volume);
    this.#drop(this.#volume);
    this.#volume = null;
    if (volume !== null && scale !== null) {
      const context = this.#renderer.getContext() as WebGL2RenderingContext;
      const most = context.getParameter(context.MAX_3D_TEXTURE_SIZE) as number;
      if (volume.axes.some(({ count }) => count > most))
        throw new Error(`This graphics card holds ${most} samples a side, fewer than the volume has`);
      const { cuts, lows, highs } = this.#shared;
      this.#volume = makeRayVolume(volume, scale, box, { cuts, lows, highs });
      const ends = box.map((value, i) => this.#place(value, Math.floor(i / 2)));
      this.#volume.scale.set(
        ...([0, 2, 4].map((i) => Math.max(1e-3, ends[i + 1] - ends[i])) as [number, number, number]),
      );
      this.#volume.position.fromArray([0, 2, 4].map((i) => (ends[i] + ends[i + 1]) / 2));
      this.#scene.add(this.#volume);
    }
    this.#changed();
  }

  /** Sets what of the volume is clear (`clarityOf`), and the percentage of light its strongest values hold back. */
  shadeVolume(scale: ColourScale, { level, tails }: Shading, small: boolean, opacity: number): void {
    const uniforms = this.#volume?.material.uniforms;
    if (uniforms === undefined) return;
    for (const [name, value] of Object.entries({ ...clarityOf(scale, level, small, tails), opacity: opacity / 100 })) {
      const uniform = uniforms[name];
      if (uniform !== undefined) uniform.value = value;
    }
    this.#changed();
  }

  /** The picture as it is seen, without the grips, at a multiple of its resolution. */
  capture(times: number): HTMLCanvasElement {
    const grips = this.#grips.filter(({ visible }) => visible);
    for (const grip of grips) grip.visible = false;
    const size = this.#renderer.getSize(new Vector2());
    const ratio = this.#renderer.getPixelRatio();
    this.#renderer.setPixelRatio(times * ratio);
    this.#renderer.setSize(size.x, size.y, false);
    this.#render();
    const source = this.#renderer.domElement;
    const canvas = Object.assign(document.createElement("canvas"), { width: source.width, height: source.height });
    canvas.getContext("2d")?.drawImage(source, 0, 0);
    for (const grip of grips) grip.visible = true;
    this.#renderer.setPixelRatio(ratio);
    this.#renderer.setSize(size.x, size.y, false);
    this.#render();
    return canvas;
  }

  /** Draws the edges of a part of the domain; null draws none. */
  setPart(part: DomainBox | null): void {
    this.#drop(this.#part);
    this.#part = null;
    if (part !== null) {
      const ends = part.map((value, i) => this.#place(value, Math.floor(i / 2)));
      const sides = [0, 2, 4].map((i) => Math.max(1e-3, ends[i + 1] - ends[i])) as [number, number, number];
      this.#part = new LineSegments(new EdgesGeometry(new BoxGeometry(...sides)), new LineBasicMaterial());
      this.#part.material.color.copy(this.#box.material.color);
      this.#part.position.fromArray([0, 2, 4].map((i) => (ends[i] + ends[i + 1]) / 2));
      this.#scene.add(this.#part);
    }
    this.#changed();
  }

  setColours({ paper, ink }: SchemeColours): void {
    this.#scene.background = new Color().setStyle(paper);
    this.#box.material.color.setStyle(ink);
    this.#part?.material.color.setStyle(ink);
    for (const grip of this.#grips) grip.material.color.setStyle(ink);
    this.#drop(this.#labels);
    this.#labels = this.#axisLabels(ink);
    this.#scene.add(this.#labels);
    this.#changed();
  }

  /** Names and round values of the axes, the names first; `#placeLabels` puts them along edges of the box. */
  #axisLabels(ink: string): Group {
    const labels = new Group();
    const put = (text: string, axis: number, along: number, away: number) => {
      const sprite = textSprite(text, ink);
      Object.assign(sprite.userData, { axis, along, away });
      labels.add(sprite);
    };
    const ticks = this.#axes.map((axis) => {
      const relative = axis.length * this.#scale;
      const hasRoom = axis.nodes > 1 && relative >= SHORTEST_WITH_TICKS;
      return hasRoom ? linearTicks(axis.first, axis.first + axis.length, TICKS * relative) : [];
    });
    for (const [index, { name, nodes }] of this.#axes.entries()) {
      if (nodes > 1) put(`${name}${this.#units}`, index, 0, ticks[index].length === 0 ? TICK_AWAY : NAME_AWAY);
    }
    for (const [index, values] of ticks.entries()) {
      for (const { value, text } of values) put(text, index, this.#place(value, index), TICK_AWAY);
    }
    return labels;
  }

  /** Puts the labels along the outline of the box as it is seen, and hides those that would cover others. */
  #placeLabels(): void {
    if (this.#labels === null) return;
    this.#camera.updateMatrixWorld();
    const { position, projectionMatrix } = this.#camera;
    const eye = position.toArray();
    const reach = position.length();
    const edges = this.#axes.map((_, index) => outlineEdge(index, eye, this.#sides));
    const [wide, tall] = [projectionMatrix.elements[0] / 2, projectionMatrix.elements[5] / 2];
    const drawn: { readonly x: number; readonly y: number; readonly width: number }[] = [];
    const height = LABEL_HEIGHT * tall;
    for (const label of this.#labels.children) {
      const { axis, along, away } = label.userData as { axis: number; along: number; away: number };
      const outwards = edges[axis];
      const place = outwards.map((sense, i) => (i === axis ? along : sense * (this.#sides[i] / 2 + away * reach)));
      label.position.fromArray(place);
      const { x, y } = label.position.clone().project(this.#camera);
      const width = label.scale.x * wide;
      label.visible = drawn.every((one) => Math.abs(one.x - x) > one.width + width || Math.abs(one.y - y) > 2 * height);
      if (label.visible) drawn.push({ x, y, width });
    }
  }

  /** The nearest place from which the first view sees the whole box. */
  #fittingPlace(): Vector3 {
    const flat = this.#axes.findIndex(({ nodes }) => nodes === 1);
    const back = new Vector3(...(flat < 0 ? BOX_VIEW : PLANE_VIEWS[flat])).normalize();
    const right = new Vector3(0, 1, 0).cross(back).normalize();
    const up = back.clone().cross(right);
    const half = Math.tan(MathUtils.degToRad(this.#camera.fov / 2)) * FILLED;
    let distance = NEAREST;
    for (let i = 0; i < 8; i++) {
      const corner = new Vector3(...this.#sides.map((side, axis) => (((i >> axis) & 1) - 0.5) * side));
      const away = Math.max(
        Math.abs(corner.dot(up)) / half,
        Math.abs(corner.dot(right)) / (half * this.#camera.aspect),
      );
      distance = Math.max(distance, corner.dot(back) + away);
    }
    return back.multiplyScalar(distance);
  }

  /**
   * Puts the camera at a place relative to the middle of the box, in lengths of its longest side; null puts it where it
   * sees the whole box.
   */
  setCamera(camera: Position | null): void {
    this.#first = camera === null || camera.every((part) => part === 0);
    const place = this.#first ? this.#fittingPlace() : new Vector3(...(camera ?? []));
    place.clampLength(NEAREST, FARTHEST);
    this.#camera.position.copy(place);
    this.#limitTilt();
    this.#controls.update();
    this.#changed();
  }

  /** Moves the camera by a key; returns whether the key means something here. */
  key(name: string): boolean {
    const keys: Readonly<Record<string, Position>> = {
      ArrowLeft: [-TURN, 0, 1],
      ArrowRight: [TURN, 0, 1],
      ArrowUp: [0, -TURN, 1],
      ArrowDown: [0, TURN, 1],
      "+": [0, 0, 1 / ZOOM],
      "=": [0, 0, 1 / ZOOM],
      "-": [0, 0, ZOOM],
    };
    if (name === "0") {
      this.setCamera(null);
      this.onCamera(null);
      return true;
    }
    if (!Object.hasOwn(keys, name)) return false;
    const [turn, tilt, zoom] = keys[name];
    const { position } = this.#camera;
    const radius = position.length() * zoom;
    this.#first = false;
    const azimuth = Math.atan2(position.x, position.z) + turn;
    const polar = Math.max(POLE, Math.min(Math.PI - POLE, Math.acos(position.y / position.length()) + tilt));
    this.#limitTilt();
    position.setFromSphericalCoords(Math.max(NEAREST, Math.min(FARTHEST, radius)), polar, azimuth);
    this.#controls.update();
    this.#changed();
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
    if (this.#first) this.setCamera(null);
    else this.#changed();
  }

  /** Draws after this task, once for all its changes: drawing what is half changed may take minutes in software. */
  #changed(): void {
    if (this.#due) return;
    this.#due = true;
    queueMicrotask(() => {
      if (this.#due) this.#render();
    });
  }

  #render(): void {
    this.#due = false;
    this.#placeLabels();
    this.#renderer.getSize(this.#shared.viewport.value);
    this.#shared.ratio.value = this.#renderer.getPixelRatio();
    this.#renderer.render(this.#scene, this.#camera);
  }

  /** Frees everything, the context first of all: browsers keep only a few. */
  dispose(): void {
    this.#due = false;
    this.#controls.dispose();
    if (this.#volume !== null) freeRayVolume(this.#volume);
    for (const part of [
      ...this.#planes,
      ...this.#grips,
      this.#volume,
      this.#paths,
      this.#heads,
      this.#surface,
      this.#part,
      this.#labels,
      this.#box,
    ])
      this.#drop(part);
    this.#renderer.dispose();
    this.#renderer.forceContextLoss();
  }

  /** Takes a part out of the scene and frees what it holds on the graphics card. */
  #drop(part: Object3D | null): void {
    if (part === null) return;
    this.#scene.remove(part);
    part.traverse((child) => {
      const { geometry, material } = child as Partial<Mesh>;
      if (!(child instanceof Sprite)) geometry?.dispose();
      for (const one of [material ?? []].flat() as (Material & { map?: CanvasTexture | null })[]) {
        one.map?.dispose();
        one.dispose();
      }
    });
  }

  #tell(): void {
    const { x, y, z } = this.#camera.position;
    this.onCamera([x, y, z].map((value) => Number(value.toPrecision(5))) as unknown as Position);
  }
}

function lengthOf({ length }: AxisFacts): number {
  return length;
}

function unitVector(index: number): Vector3 {
  return new Vector3().setComponent(index, 1);
}

/**
 * Positions of all records with a colour for each particle, or by the quantity along the paths, grey once it has left,
 * and the number of each record.
 */
function headGeometry(
  positions: Float32Array,
  { particles, times, exits, values }: Trajectories,
  scale: ColourScale | null,
): BufferGeometry {
  const count = particles * times.length;
  const tints = new Float32Array(3 * count);
  const record = new Float32Array(count);
  for (let i = 0; i < count; i++) {
    const particle = i % particles;
    record[i] = Math.floor(i / particles);
    const left = exits[particle] <= times[record[i]];
    const pixel =
      values === null || scale === null || left
        ? particlePixel(particle, particles, left)
        : pixelOf(scale, values[particle * times.length + record[i]]);
    // The shader writes these as they are, so that they are those of the bar.
    tints.set(
      [0, 8, 16].map((shift) => ((pixel >> shift) & 255) / 255),
      3 * i,
    );
  }
  return new BufferGeometry()
    .setAttribute("position", new BufferAttribute(positions, 3))
    .setAttribute("tint", new BufferAttribute(tints, 3))
    .setAttribute("record", new BufferAttribute(record, 1));
}

/** Corners of a band: the end that each is at, and its side. */
const CORNERS = [0, -1, 0, 1, 1, 1, 1, -1] as const;
/** The two triangles of a band, by its corners. */
const BAND = [0, 1, 2, 0, 2, 3] as const;

/**
 * Bands for pairs of the positions of heads, each with four vertices of its own: software draws instances one by one,
 * which takes it a hundred times as long.
 */
function bandGeometry(heads: BufferGeometry, pairs: Uint32Array): BufferGeometry {
  const bands = pairs.length / 2;
  const ends = (name: string, end: 0 | 1): BufferAttribute => {
    const { array, itemSize } = heads.getAttribute(name);
    const values = new Float32Array(4 * bands * itemSize);
    for (let band = 0; band < bands; band++) {
      const from = (pairs[2 * band + end] as number) * itemSize;
      for (let i = 0; i < 4 * itemSize; i++) values[4 * band * itemSize + i] = array[from + (i % itemSize)] as number;
    }
    return new BufferAttribute(values, itemSize);
  };
  const corners = Float32Array.from({ length: 8 * bands }, (_, i) => CORNERS[i % 8] as number);
  const triangles = Uint32Array.from({ length: 6 * bands }, (_, i) => 4 * Math.floor(i / 6) + (BAND[i % 6] as number));
  return new BufferGeometry()
    .setIndex(new BufferAttribute(triangles, 1))
    .setAttribute("corner", new BufferAttribute(corners, 2))
    .setAttribute("begin", ends("position", 0))
    .setAttribute("end", ends("position", 1))
    .setAttribute("tint", ends("tint", 1))
    .setAttribute("record", ends("record", 1));
}

/** Colours of the screen as the linear ones that lights are computed with. */
function linearColours(colours: Uint8Array): Float32Array {
  return Float32Array.from(colours, (byte) => {
    const c = byte / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
}

/** A text that always faces the camera and keeps its size on the screen. */
function textSprite(text: string, ink: string): Sprite {
  const canvas = document.createElement("canvas");
  const pen = canvas.getContext("2d");
  const font = "44px system-ui, sans-serif";
  if (pen !== null) {
    pen.font = font;
    canvas.width = Math.ceil(pen.measureText(text).width) + 8;
    canvas.height = 56;
    pen.font = font;
    pen.fillStyle = ink;
    pen.textBaseline = "middle";
    pen.fillText(text, 4, 30);
  }
  const texture = new CanvasTexture(canvas);
  texture.colorSpace = SRGBColorSpace;
  const sprite = new Sprite(new SpriteMaterial({ map: texture, sizeAttenuation: false, depthTest: false }));
  sprite.scale.set((LABEL_HEIGHT * canvas.width) / canvas.height, LABEL_HEIGHT, 1);
  return sprite;
}
