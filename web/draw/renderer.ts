/** Renderer of the stage on one WebGL2 context: planes, a lit surface with depth, and segments, each in a pane. */
import { type Dataset, sizeOf, type Vec3 } from "../state/dataset.js";
import type { MapName, Range } from "../state/link.js";
import type { Picture, Samples, Volume } from "../state/volumes.js";
import { type Camera, matrixOf } from "./camera.js";
import { COVER, filter, freeTarget, makeProgram, makeTarget, type Program, type Target, unitOf } from "./gl.js";
import { localIn, type Rect } from "./layout.js";
import type { Rule } from "./overlay.js";
import * as shaders from "./shaders.js";
import { Textures } from "./textures.js";

export interface PlaneLayer {
  readonly dataset: Dataset;
  readonly volume: Volume;
  readonly picture: Picture | null;
  readonly range: Range;
  readonly map: MapName;
  /** Position of the lower left pixel, and length of a CSS pixel. */
  readonly origin: Vec3;
  readonly scale: number;
  readonly axes: readonly [number, number];
  readonly brush: { readonly volume: Volume; readonly low: number; readonly high: number } | null;
  /** Part of the pane that is drawn, in pixels from its left or, if negative, from its right edge; 0 draws all. */
  readonly swipe: number;
  /** The crosshair in pixels of CSS from the lower left corner of the pane. */
  readonly crosshair: readonly [number, number];
}

/** All that the picture of a plane depends on, except crosshair and streaks. */
export const inputsOfPlane = ({ volume, picture, origin, scale, range, map, brush }: PlaneLayer): unknown => [
  ...[volume.key, picture !== null, origin, scale, range, map],
  brush && [brush.volume.key, brush.low, brush.high],
];

export interface SurfaceLayer {
  readonly dataset: Dataset;
  /** The samples that rays march through. */
  readonly fine: Samples;
  readonly level: number;
  /** 1 if the surface encloses values above the level, -1 if it encloses values below it. */
  readonly side: 1 | -1;
  readonly colour: Volume;
  readonly range: Range;
  readonly map: MapName;
  readonly camera: Camera;
  /** Lower and upper corner of the box that is drawn. */
  readonly low: Vec3;
  readonly high: Vec3;
  /** A surface that is drawn transparently around this one. */
  readonly faint: SurfaceLayer | null;
}

/** Red, green and blue of grounds and marks, from 0 to 1. */
export type Palette = Readonly<
  Record<"plane" | "hatch" | "mark" | "top" | "bottom", readonly [number, number, number]>
>;

/** Left, bottom, width and height in pixels of the canvas. */
type DeviceRect = readonly [number, number, number, number];
/** Screen pixels per CSS pixel, and the fraction of them along each side that is drawn. */
type Scale = Readonly<Record<"ratio" | "resolution", number>>;

/** Numbers of a segment: two ends and a colour. */
const SEGMENT_FLOATS = 10;
/** Milliseconds that a tile of the surface should take. */
const TILE_MS = 36;

interface SurfaceImage {
  key: string;
  coarse: Target | null;
  faint: Target | null;
  full: Target | null;
  /** Tiles of the full picture that remain; null before it is begun. */
  tiles: number[][] | null;
  shown: "none" | "coarse" | "full";
}

/** Preprocessor flags of shaders: whether axes are stretched, and the scale of values. */
function shaderFlags({ axes }: Dataset, { scale }: Range): Readonly<Record<string, boolean>> {
  const isStretched = axes.some(({ coordinates }) => coordinates !== undefined);
  return { STRETCHED: isStretched, LOG: scale === "log", SYMLOG: scale.startsWith("symlog") };
}

/** Renders the panes of one canvas. Throws Error if there is no WebGL2. */
export class Renderer {
  readonly gl: WebGL2RenderingContext;
  readonly #programs = new Map<string, Program>();
  /** Pictures of the planes by pane, and what was drawn over them. */
  readonly #planes = new Map<
    number,
    {
      readonly key: string;
      readonly target: Target;
      readonly crosshairBoxes: DeviceRect[];
      readonly isStreaked: boolean;
      readonly clearedAt: number;
    }
  >();
  readonly #textures: Textures;
  /** Number of pictures, and the last one before which the canvas was cleared. */
  #frame = 0;
  #clearedAt = 0;
  readonly #segments: { readonly array: WebGLVertexArrayObject; readonly buffer: WebGLBuffer };
  /** The surface as rays find it, then the same drawn on the background; lines are drawn over the latter. */
  #lit: SurfaceImage = { key: "", coarse: null, faint: null, full: null, tiles: null, shown: "none" };
  #composed: { readonly key: string; readonly target: Target } | null = null;
  /** Fence behind what the context draws, and since when; edge of tiles that take about TILE_MS. */
  #fence: WebGLSync | null = null;
  #fenceSince = 0;
  #tile = 96;
  /** Canvas pixels per CSS pixel, and the fraction of the screen pixels along each side. */
  #ratio = 1;
  #resolution = 1;

  constructor(canvas: HTMLCanvasElement, { half = false, limit = 256 * 2 ** 20 } = {}) {
    const gl = canvas.getContext("webgl2", { antialias: false, alpha: false, preserveDrawingBuffer: true });
    if (gl === null) throw new Error("no WebGL2");
    this.gl = gl;
    gl.getExtension("EXT_color_buffer_float");
    this.#textures = new Textures(gl, half, limit);
    this.#segments = this.#makeSegments();
  }

  /** Fits the canvas to its element, and clears it if its size or its panes have changed. Returns whether it did. */
  begin(width: number, height: number, scale: Scale, ground: readonly number[], isNew: boolean): boolean {
    const { gl } = this;
    this.#frame++;
    this.#textures.beginPicture();
    this.#resolution = scale.resolution;
    this.#ratio = scale.ratio * scale.resolution;
    const canvas = gl.canvas as HTMLCanvasElement;
    const [w, h] = [width, height].map((side) => Math.max(1, Math.round(side * this.#ratio)));
    const isResized = canvas.width !== w || canvas.height !== h;
    if (isResized) Object.assign(canvas, { width: w, height: h });
    if (!isResized && !isNew) return false;
    this.#clearedAt = this.#frame;
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.disable(gl.SCISSOR_TEST);
    gl.disable(gl.BLEND);
    gl.clearColor(ground[0], ground[1], ground[2], 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.enable(gl.SCISSOR_TEST);
    return true;
  }

  /**
   * Draws planes over each other in a pane, with the crosshair of the first. Their picture without crosshair and streaks
   * is reused until `key` changes.
   */
  drawPlanes(
    index: number,
    rect: Rect,
    layers: readonly PlaneLayer[],
    palette: Palette,
    key: string,
    streaks: WebGLTexture | null,
    rules: readonly Rule[],
  ): void {
    const { gl } = this;
    const [left, bottom, w, h] = this.#deviceRect(rect);
    const known = this.#planes.get(index);
    const target = this.#targetOfSize(known?.target ?? null, w, h, true);
    const isSame = known?.key === key && known.target === target;
    if (!isSame) {
      // One half of a comparison may have no picture.
      if (layers[0].swipe !== 0) this.#fill(target.framebuffer, [0, 0, w, h], palette);
      for (const layer of layers) this.#renderPlane(target, rect, layer, palette);
    }
    this.#bindPane(rect);
    const crosshairBoxes = this.#crosshairBoxes(rect, layers[0].crosshair);
    let redrawn: readonly DeviceRect[] = [[left, bottom, w, h]];
    if (streaks === null) {
      // Where only the crosshair has moved, only its old and new boxes are drawn.
      if (isSame && known.clearedAt === this.#clearedAt && !known.isStreaked) redrawn = known.crosshairBoxes;
      for (const part of redrawn) this.#copy(target, [left, bottom], part);
    } else {
      const { at } = this.#useProgram(COVER, shaders.STREAKED);
      this.#bind(0, gl.TEXTURE_2D, target.textures[0], at("picture"));
      this.#bind(1, gl.TEXTURE_2D, streaks, at("streaks"));
      gl.uniform4f(at("pane"), left, bottom, w, h);
      gl.drawArrays(gl.TRIANGLES, 0, 3);
    }
    this.#renderRules(rules, redrawn, palette);
    this.#planes.set(index, { key, target, crosshairBoxes, isStreaked: streaks !== null, clearedAt: this.#clearedAt });
    this.#renderCrosshair(rect, layers[0].crosshair, crosshairBoxes, palette);
  }

  clearPane(index: number, rect: Rect, palette: Palette): void {
    const known = this.#planes.get(index);
    if (known !== undefined) this.#planes.set(index, { ...known, clearedAt: -1 });
    this.#fill(null, this.#deviceRect(rect), palette);
  }

  /**
   * Draws the surface: first with a quarter of the pixels, then with all, tile by tile as they are done.
   * @returns whether an older picture is shown because the context is busy
   */
  drawSurface(rect: Rect, layer: SurfaceLayer, key: string, palette: Palette): boolean {
    const [width, height] = this.#litSize(rect);
    const lit = this.#lit;
    const sizedKey = `${key} ${width} ${height}`;
    const needsNewPicture = lit.key !== sizedKey || lit.coarse === null;
    const isIdle = this.#pollFence() || lit.shown === "none";
    if (needsNewPicture && isIdle) {
      Object.assign(lit, { key: sizedKey, tiles: null });
      lit.coarse = this.#targetOfSize(lit.coarse, Math.ceil(width / 2), Math.ceil(height / 2));
      this.#march(lit.coarse, [0, 0, lit.coarse.width, lit.coarse.height], layer, false);
      const { faint } = layer;
      if (faint !== null) {
        lit.faint = this.#targetOfSize(lit.faint, lit.coarse.width, lit.coarse.height);
        this.#march(lit.faint, [0, 0, lit.faint.width, lit.faint.height], faint, false);
      } else if (lit.faint !== null) {
        freeTarget(this.gl, lit.faint);
        lit.faint = null;
      }
      lit.shown = "coarse";
      this.#setFence();
    }
    this.#composeLit(rect, palette);
    return needsNewPicture && !isIdle;
  }

  /**
   * Draws the next tile of the surface once the previous tile is done.
   * @returns the number of tiles that remain; null while the context is busy
   */
  refine(rect: Rect, layer: SurfaceLayer): number | null {
    const lit = this.#lit;
    if (lit.coarse === null || !this.#pollFence()) return null;
    const [width, height] = this.#litSize(rect);
    if (lit.tiles === null) this.#beginFull(lit, width, height);
    const tile = lit.tiles?.pop();
    if (tile !== undefined && lit.full !== null) {
      this.#march(lit.full, tile, layer, true);
      this.#setFence();
      return (lit.tiles?.length ?? 0) + 1;
    }
    return 0;
  }

  drawBackground(rect: Rect, palette: Palette): void {
    this.#lit.shown = "none";
    this.#composeLit(rect, palette);
  }

  /** Draws segments of ten numbers: two ends in the local coordinates of the shaders, and a colour with its opacity. */
  drawSegments(rect: Rect, { camera, dataset }: SurfaceLayer, segments: Float32Array, width: number): void {
    if (segments.length === 0) return;
    const { gl } = this;
    const box = this.#bindPane(rect);
    const { at } = this.#useProgram(shaders.SEGMENT_VERTEX, shaders.SEGMENT_FRAGMENT);
    const target = this.#lit.shown === "full" ? this.#lit.full : this.#lit.coarse;
    const hasDepth = this.#lit.shown !== "none" && target !== null;
    gl.uniform1i(at("hasDepth"), Number(hasDepth));
    this.#bind(0, gl.TEXTURE_2D, target?.textures[1] ?? this.#textures.clear, at("depth"));
    const eye = localIn(dataset)(camera.eye);
    gl.uniformMatrix4fv(at("matrix"), false, matrixOf({ ...camera, eye }, rect.width / rect.height));
    gl.uniform4f(at("pane"), ...box);
    gl.uniform1f(at("width"), width * this.#ratio);
    gl.bindVertexArray(this.#segments.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.#segments.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, segments, gl.STREAM_DRAW);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.drawArraysInstanced(gl.TRIANGLES, 0, 6, segments.length / SEGMENT_FLOATS);
    gl.disable(gl.BLEND);
    gl.bindVertexArray(null);
  }

  #fill(framebuffer: WebGLFramebuffer | null, box: DeviceRect, { plane }: Palette): void {
    const { gl } = this;
    gl.bindFramebuffer(gl.FRAMEBUFFER, framebuffer);
    gl.enable(gl.SCISSOR_TEST);
    gl.scissor(...box);
    gl.clearColor(...plane, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
  }

  /** Copies a part of a pane from its picture. */
  #copy({ framebuffer }: Target, [left, bottom]: readonly number[], [x, y, w, h]: DeviceRect): void {
    const { gl } = this;
    const [u, v] = [x - left, y - bottom];
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, framebuffer);
    gl.blitFramebuffer(u, v, u + w, v + h, x, y, x + w, y + h, gl.COLOR_BUFFER_BIT, gl.NEAREST);
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, null);
  }

  #renderRules(rules: readonly Rule[], parts: readonly DeviceRect[], palette: Palette): void {
    const { gl } = this;
    const ratio = this.#ratio;
    const thick = Math.max(1, Math.round(ratio));
    const { height } = gl.canvas;
    const program = this.#useProgram(COVER, shaders.RULE);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    for (const { side, at: place, isSeam } of rules) {
      const from = side === 0 ? Math.round(place * ratio) : height - Math.round(place * ratio) - thick;
      const [opacity, dash] = isSeam ? [0.38, 6 * ratio] : [0.78, 0];
      this.#setUniforms(program, { tint: [...palette.mark, opacity], dash: [dash, 1 / 3], side });
      for (const [l, b, w, h] of parts) {
        const [low, high] = side === 0 ? [l, l + w] : [b, b + h];
        const [begin, end] = [Math.max(low, from), Math.min(high, from + thick)];
        if (end <= begin) continue;
        if (side === 0) gl.scissor(begin, b, end - begin, h);
        else gl.scissor(l, begin, w, end - begin);
        gl.drawArrays(gl.TRIANGLES, 0, 3);
      }
    }
    gl.disable(gl.BLEND);
  }

  /** The corner of the device pixel that the crosshair is in, on whose middle its lines are sharp. */
  #crosshairPixel(rect: Rect, point: readonly [number, number]): [number, number] {
    const [left, bottom, w] = this.#deviceRect(rect);
    const [x, y] = point.map((one) => Math.floor((one * w) / rect.width + 1e-3));
    return [left + x, bottom + y];
  }

  /** Boxes in device pixels that the crosshair fills: its ring and its four lines. */
  #crosshairBoxes(rect: Rect, point: readonly [number, number]): DeviceRect[] {
    const [left, bottom, w, h] = this.#deviceRect(rect);
    const ratio = w / rect.width;
    const [x, y] = this.#crosshairPixel(rect, point).map((one) => one + 0.5);
    const [ring, line] = [Math.ceil(11 * ratio), Math.ceil(ratio)];
    return [
      [x - ring, y - ring, x + ring, y + ring],
      [left, y - line, x - ring, y + line],
      [x + ring, y - line, left + w, y + line],
      [x - line, bottom, x + line, y - ring],
      [x - line, y + ring, x + line, bottom + h],
    ].flatMap(([x0, y0, x1, y1]) => {
      const [l, b] = [Math.max(left, Math.floor(x0)), Math.max(bottom, Math.floor(y0))];
      const [r, t] = [Math.min(left + w, Math.floor(x1)), Math.min(bottom + h, Math.floor(y1))];
      return r <= l || t <= b ? [] : [[l, b, r - l, t - b] as DeviceRect];
    });
  }

  #renderCrosshair(rect: Rect, point: readonly [number, number], boxes: readonly DeviceRect[], palette: Palette): void {
    const { gl } = this;
    const program = this.#useProgram(COVER, shaders.CROSSHAIR);
    const [x, y] = this.#crosshairPixel(rect, point);
    const ratio = this.#deviceRect(rect)[2] / rect.width;
    this.#setUniforms(program, { crosshair: [x + 0.5, y + 0.5], mark: palette.mark, ratio });
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    for (const box of boxes) {
      gl.scissor(...box);
      gl.drawArrays(gl.TRIANGLES, 0, 3);
    }
    gl.disable(gl.BLEND);
  }

  #renderPlane(target: Target, rect: Rect, layer: PlaneLayer, palette: Palette): void {
    const { gl } = this;
    const { dataset, volume, picture, range, brush, axes, swipe } = layer;
    const { width, height } = target;
    const [across, up] = axes;
    const [size, origin] = [sizeOf(dataset), localIn(dataset)(layer.origin)];
    const wrap = dataset.axes.map(({ periodic }) => periodic);
    const program = this.#useProgram(COVER, shaders.PLANE, {
      // Texture coordinates are linear in pixels, unless axes are stretched.
      AFFINE: dataset.axes.every(({ coordinates }) => coordinates === undefined),
      ...{ PICTURE: picture !== null, MASKED_PICTURE: picture?.isMasked === true, MASKED: volume.isMasked },
      ...{ BRUSH: brush !== null, MASKED_BRUSH: brush?.volume.isMasked === true, SWIPED: swipe !== 0 },
      ...{ WHOLE: picture?.tiles.every(Boolean) === true, BOUNDED: axes.some((a) => !wrap[a]) },
      ...shaderFlags(dataset, range),
    });
    const { at } = program;
    const unit = this.#setGridUniforms(program, layer, volume, false);
    const box = this.#textures.ofValues(volume, wrap);
    this.#bind(0, gl.TEXTURE_3D, box.texture, at("volume"));
    this.#setUniforms(program, { stored: [box.half / unit, box.middle / unit] });
    if (picture !== null) {
      const flat = this.#textures.ofValues({ ...picture, dims: [picture.columns, picture.rows] }, picture.tiles);
      this.#bind(3, gl.TEXTURE_2D, flat.texture, at("picture"));
      const [x, y] = axes.map((a, side) => (picture.box[side] - dataset.axes[a].first) / size);
      this.#setUniforms(program, {
        storedPicture: [flat.half / unit, flat.middle / unit],
        pictureBox: [x, y, picture.box[2] / size, picture.box[3] / size],
        pictureTiles: picture.tiles.map(Number),
      });
    }
    if (brush !== null) {
      const values = this.#textures.ofValues(brush.volume, wrap);
      this.#bind(4, gl.TEXTURE_3D, values.texture, at("brush"));
      this.#setUniforms(program, {
        storedBrush: [values.half, values.middle],
        brushRange: [brush.low, brush.high],
        brushScale: volume.strides.map((stride, a) => stride / brush.volume.strides[a]),
      });
    }
    const ratio = width / rect.width;
    const step = layer.scale / ratio / size;
    const texels = dataset.axes.map(({ spacing }, a) => size / (spacing * volume.strides[a] * volume.dims[a]));
    const along = (axis: number, length: number) => [0, 1, 2].map((a) => (a === axis ? length : 0));
    this.#setUniforms(program, {
      ...{ origin, across: along(across, step), up: along(up, step) },
      texelOrigin: origin.map((place, a) => place * texels[a] + 0.5 / volume.dims[a]),
      texelAcross: along(across, step * texels[across]),
      texelUp: along(up, step * texels[up]),
      inPlane: [0, 1, 2].map((a) => Number(axes.includes(a))),
      ...{ planeOrigin: [origin[across], origin[up]], planeStep: step, swipe: swipe * ratio, ratio },
      ...{ ground: palette.plane, hatch: palette.hatch, pane: [0, 0, width, height] },
    });
    this.#drawWholeTarget(target);
  }

  #makeSegments() {
    const { gl } = this;
    const array = gl.createVertexArray();
    const buffer = gl.createBuffer();
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    // The two ends, and the colour with its opacity.
    for (const [location, [size, first]] of [[3, 0] as const, [3, 3] as const, [4, 6] as const].entries()) {
      gl.enableVertexAttribArray(location);
      gl.vertexAttribPointer(location, size, gl.FLOAT, false, 4 * SEGMENT_FLOATS, 4 * first);
      gl.vertexAttribDivisor(location, 1);
    }
    gl.bindVertexArray(null);
    return { array, buffer };
  }

  #beginFull(lit: SurfaceImage, width: number, height: number): void {
    const { gl } = this;
    lit.full = this.#targetOfSize(lit.full, width, height);
    const { coarse, full } = lit;
    if (coarse === null) return;
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, coarse.framebuffer);
    gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, full.framebuffer);
    gl.disable(gl.SCISSOR_TEST);
    const buffers = full.textures.map((_, i) => gl.COLOR_ATTACHMENT0 + i);
    for (const buffer of buffers) {
      gl.readBuffer(buffer);
      gl.drawBuffers(buffers.map((other) => (other === buffer ? buffer : gl.NONE)));
      gl.blitFramebuffer(0, 0, coarse.width, coarse.height, 0, 0, width, height, gl.COLOR_BUFFER_BIT, gl.NEAREST);
    }
    gl.readBuffer(buffers[0]);
    gl.drawBuffers(buffers);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    lit.shown = "full";
    const tiles: number[][] = [];
    const size = this.#tile;
    for (let y = 0; y < height; y += size)
      for (let x = 0; x < width; x += size) tiles.push([x, y, Math.min(size, width - x), Math.min(size, height - y)]);
    // Tiles are taken from the end, the middle of the pane first.
    const distanceFromMiddle = ([x, y, w, h]: number[]) => Math.hypot(x + w / 2 - width / 2, y + h / 2 - height / 2);
    lit.tiles = tiles.toSorted((a, b) => distanceFromMiddle(b) - distanceFromMiddle(a));
  }

  #pollFence(): boolean {
    const { gl } = this;
    if (this.#fence === null) return true;
    if (gl.getSyncParameter(this.#fence, gl.SYNC_STATUS) !== gl.SIGNALED && !gl.isContextLost()) return false;
    gl.deleteSync(this.#fence);
    this.#fence = null;
    const took = performance.now() - this.#fenceSince;
    if (this.#lit.tiles !== null) {
      if (took > 1.5 * TILE_MS) this.#tile = Math.max(48, Math.round(this.#tile * 0.8));
      else if (took < 0.7 * TILE_MS) this.#tile = Math.min(512, Math.round(this.#tile * 1.15));
    }
    return true;
  }

  #setFence(): void {
    const { gl } = this;
    if (this.#fence !== null) gl.deleteSync(this.#fence);
    this.#fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    this.#fenceSince = performance.now();
    gl.flush();
  }

  /** The given target if it has this size, else a new one: a texture of colours and, unless of these only, distances. */
  #targetOfSize(target: Target | null, width: number, height: number, isOfColours = false): Target {
    if (target?.width === width && target.height === height) return target;
    const { gl } = this;
    if (target !== null) freeTarget(gl, target);
    if (isOfColours) return makeTarget(gl, width, height, [gl.RGBA8], gl.LINEAR);
    return makeTarget(gl, width, height, [gl.RGBA8, gl.RG32F]);
  }

  #march(target: Target, tile: readonly number[], layer: SurfaceLayer, hasOcclusion: boolean): void {
    const { gl } = this;
    const { dataset, fine, level, side, colour, range, camera, low, high } = layer;
    const wrap = dataset.axes.map(({ periodic }) => periodic);
    const masked = { MASKED: fine.isMasked, MASKED_COLOUR: colour.isMasked };
    const flags = { ...masked, OCCLUSION: hasOcclusion, ...shaderFlags(dataset, range) };
    const program = this.#useProgram(COVER, shaders.SURFACE, flags);
    const { at } = program;
    const unit = this.#setGridUniforms(program, layer, colour, true);
    const field = this.#textures.ofValues(fine, wrap);
    const values = this.#textures.ofValues(colour, wrap);
    this.#bind(0, gl.TEXTURE_3D, field.texture, at("field"));
    this.#bind(3, gl.TEXTURE_3D, values.texture, at("volume"));
    this.#bind(4, gl.TEXTURE_3D, this.#textures.ofEmptySpace(fine, level, side, wrap), at("empty"));
    const [size, local] = [sizeOf(dataset), localIn(dataset)];
    const { right, up, forward, tangent } = camera;
    // The light comes from above the left shoulder of the viewer.
    const lamp = [0, 1, 2].map((a) => -0.42 * right[a] + 0.52 * up[a] - 0.62 * forward[a] + (a === 1 ? 0.35 : 0));
    this.#setUniforms(program, {
      stored: [field.half / field.unit, field.middle / field.unit],
      storedColour: [values.half / unit, values.middle / unit],
      ...{ level: level / field.unit, side, eye: local(camera.eye), right, above: up, forward },
      ...{ view: [(tangent * target.width) / target.height, tangent], low: local(low), high: local(high) },
      ...{ fineSpacing: fine.spacing.map((step) => step / size), fineSamples: fine.dims },
      ...{ lamp: lamp.map((part) => part / Math.hypot(...lamp)), pane: [0, 0, target.width, target.height] },
    });
    gl.bindFramebuffer(gl.FRAMEBUFFER, target.framebuffer);
    gl.viewport(0, 0, target.width, target.height);
    gl.enable(gl.SCISSOR_TEST);
    gl.scissor(tile[0], tile[1], tile[2], tile[3]);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  /** Draws the lit picture on its background. Both are reused until one changes: lines over them change more often. */
  #composeLit(rect: Rect, palette: Palette): void {
    const { gl } = this;
    const [x, y, w, h] = this.#deviceRect(rect);
    const { key, shown, full, coarse, faint, tiles } = this.#lit;
    const target = shown === "full" ? full : shown === "coarse" ? coarse : null;
    const isComplete = shown === "full" && tiles?.length === 0;
    const composedKey = JSON.stringify([key, shown, tiles?.length, palette.top, w, h]);
    if (this.#composed?.key !== composedKey) {
      const reused = this.#composed?.target ?? null;
      this.#composed = { key: composedKey, target: this.#targetOfSize(reused, w, h, true) };
      const program = this.#useProgram(COVER, shaders.COMPOSE, {
        SMOOTH: isComplete,
        FAINT: target !== null && faint !== null,
      });
      if (target !== null) {
        gl.bindTexture(gl.TEXTURE_2D, target.textures[0]);
        filter(gl, gl.TEXTURE_2D, gl.LINEAR);
      }
      this.#bind(0, gl.TEXTURE_2D, target?.textures[0] ?? this.#textures.clear, program.at("picture"));
      if (target !== null && faint !== null) {
        this.#bind(1, gl.TEXTURE_2D, target.textures[1], program.at("depth"));
        this.#bind(2, gl.TEXTURE_2D, faint.textures[0], program.at("faint"));
        this.#bind(3, gl.TEXTURE_2D, faint.textures[1], program.at("faintDepth"));
      }
      this.#setUniforms(program, { top: palette.top, bottom: palette.bottom, pane: [0, 0, w, h] });
      this.#drawWholeTarget(this.#composed.target);
    }
    this.#bindPane(rect);
    this.#copy(this.#composed.target, [x, y], [x, y, w, h]);
  }

  /** Sets what planes and surfaces have in common; returns the unit that values are to be divided by. */
  #setGridUniforms(program: Program, layer: PlaneLayer | SurfaceLayer, volume: Volume, isLit: boolean): number {
    const { dataset, range, map } = layer;
    const { gl } = this;
    const { axes } = dataset;
    const size = sizeOf(dataset);
    const unit = unitOf(Math.max(Math.abs(range.low), Math.abs(range.high)));
    // With a linear part of a thousand ranges the scale is linear anyway, and log1p would vanish in float32.
    const part = Math.min(1000, Number(range.scale.split(":")[1] ?? 1) / unit);
    this.#setUniforms(program, {
      spacing: axes.map(({ spacing }, a) => (spacing * volume.strides[a]) / size),
      extent: axes.map(({ length }) => (length || size) / size),
      samples: volume.dims,
      periodic: axes.map(({ periodic }) => Number(periodic)),
      stretched: axes.map(({ coordinates }) => Number(coordinates !== undefined)),
      range: [range.low / unit, range.high / unit, part],
    });
    this.#bind(1, gl.TEXTURE_2D, this.#textures.ofNodes(dataset, volume.strides), program.at("places"));
    this.#bind(2, gl.TEXTURE_2D, this.#textures.ofColours(map, isLit), program.at("colours"));
    return unit;
  }

  #useProgram(vertex: string, fragment: string, flags: Readonly<Record<string, boolean>> = {}): Program {
    const names = Object.keys(flags).filter((name) => flags[name]);
    const source = names.reduce((text, name) => text.replace("\n", `\n#define ${name}\n`), fragment);
    const program = this.#programs.get(source) ?? makeProgram(this.gl, vertex, source);
    this.#programs.set(source, program);
    this.gl.useProgram(program.program);
    return program;
  }

  /** Sets uniforms of one to four numbers. */
  #setUniforms({ at }: Program, uniforms: Readonly<Record<string, number | readonly number[]>>): void {
    const { gl } = this;
    const setters = [gl.uniform1fv, gl.uniform2fv, gl.uniform3fv, gl.uniform4fv];
    for (const [name, value] of Object.entries(uniforms)) {
      const numbers = [value].flat();
      setters[numbers.length - 1].call(gl, at(name), numbers);
    }
  }

  #drawWholeTarget({ framebuffer, width, height }: Target): void {
    const { gl } = this;
    gl.bindFramebuffer(gl.FRAMEBUFFER, framebuffer);
    gl.disable(gl.SCISSOR_TEST);
    gl.viewport(0, 0, width, height);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }

  #bind(unit: number, target: number, texture: WebGLTexture, location: WebGLUniformLocation | null): void {
    const { gl } = this;
    gl.activeTexture(gl.TEXTURE0 + unit);
    gl.bindTexture(target, texture);
    gl.uniform1i(location, unit);
  }

  #deviceRect({ x, y, width, height }: Rect): [number, number, number, number] {
    const ratio = this.#ratio;
    const canvas = this.gl.canvas as HTMLCanvasElement;
    const [left, top] = [Math.round(x * ratio), Math.round(y * ratio)];
    const [right, bottom] = [Math.round((x + width) * ratio), Math.round((y + height) * ratio)];
    return [left, canvas.height - bottom, Math.max(1, right - left), Math.max(1, bottom - top)];
  }

  /** Width and height of the lit picture of a pane, which has all pixels of the screen in motion as well. */
  #litSize({ width, height }: Rect): [number, number] {
    const ratio = this.#ratio / this.#resolution;
    return [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
  }

  #bindPane(rect: Rect): [number, number, number, number] {
    const { gl } = this;
    const size = this.#deviceRect(rect);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.enable(gl.SCISSOR_TEST);
    gl.viewport(...size);
    gl.scissor(...size);
    return size;
  }
}
