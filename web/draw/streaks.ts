/** Moving streaks: image-based flow visualisation (van Wijk 2002), one warp and one blend per picture. */
import { COVER, filter, makeProgram, makeTarget, type Program, type Target } from "./gl.js";

const NOISE = 128;
/** Pictures in which a grain of the noise is bright and dark once. */
const PERIOD = 64;

const WARP = `#version 300 es
precision highp float;
uniform sampler2D before, noise, flow;
uniform vec2 size;
out vec4 colour;
void main() {
  vec2 uv = gl_FragCoord.xy / size;
  vec2 v = texture(flow, uv).rg;
  float old = texture(before, uv - v / size).r;
  float grain = texture(noise, gl_FragCoord.xy / (1.6 * ${NOISE}.0)).r;
  colour = vec4(mix(old, grain, 0.055), 0.0, 0.0, 1.0);
}`;

const STRETCH = `#version 300 es
precision highp float;
uniform sampler2D before, flow;
uniform vec2 size;
out vec4 colour;
void main() {
  vec2 uv = gl_FragCoord.xy / size;
  float v = texture(before, uv).r;
  // Where nothing flows there would be noise only, which is left out.
  float speed = smoothstep(0.04, 0.4, length(texture(flow, uv).rg));
  colour = vec4(clamp(0.5 + (v - 0.5) * 3.0 * speed, 0.0, 1.0), 0.0, 0.0, 1.0);
}`;

/** The flow of a pane: two components on a coarse grid of the pane. */
export interface PaneFlow {
  readonly key: string;
  /** The position in the key: streaks continue from one time to the next, and restart at another position. */
  readonly place: string;
  readonly width: number;
  readonly height: number;
  /** Samples that suffice for the grid that is filled. */
  readonly columns: number;
  readonly rows: number;
  /** Fills a grid of velocities, two numbers a point, in pixels of the pane a picture. */
  readonly fill: (columns: number, rows: number) => Float32Array;
}

interface PaneState {
  key: string;
  place: string;
  pictures: number;
  readonly targets: [Target, Target];
  readonly shown: Target;
  readonly flow: WebGLTexture;
}

/** Pixels of streaks beside those of their pane. */
export const streakPixels = (pixels: number): number => 8 * Math.max(1, Math.ceil(pixels / 16));

export class Streaks {
  readonly #gl: WebGL2RenderingContext;
  readonly #warp: Program;
  readonly #stretch: Program;
  readonly #noise: WebGLTexture;
  readonly #phases: Uint8Array;
  readonly #panes = new Map<number, PaneState>();

  constructor(gl: WebGL2RenderingContext) {
    this.#gl = gl;
    this.#warp = makeProgram(gl, COVER, WARP);
    this.#stretch = makeProgram(gl, COVER, STRETCH);
    this.#noise = gl.createTexture();
    let state = 12345;
    this.#phases = Uint8Array.from({ length: NOISE * NOISE }, () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return (state >>> 16) % PERIOD;
    });
    gl.bindTexture(gl.TEXTURE_2D, this.#noise);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.R8, NOISE, NOISE);
    filter(gl, gl.TEXTURE_2D, gl.LINEAR, [true, true]);
  }

  /** Advances the streaks of a pane by one picture; level 2 of the texture holds their means over 4 by 4. */
  advance(index: number, flow: PaneFlow): WebGLTexture {
    const gl = this.#gl;
    const [width, height] = [flow.width, flow.height].map(streakPixels);
    let pane = this.#panes.get(index);
    if (pane === undefined || pane.shown.width !== width || pane.shown.height !== height) {
      const make = (levels = 1) => makeTarget(gl, width, height, [gl.R8], gl.LINEAR, levels);
      pane = { key: "", place: "", pictures: 0, targets: [make(), make()], shown: make(3), flow: gl.createTexture() };
      for (const { framebuffer } of pane.targets) {
        gl.bindFramebuffer(gl.FRAMEBUFFER, framebuffer);
        gl.disable(gl.SCISSOR_TEST);
        gl.clearColor(0.5, 0.5, 0.5, 1);
        gl.clear(gl.COLOR_BUFFER_BIT);
      }
      this.#panes.set(index, pane);
    }
    const isElsewhere = pane.place !== flow.place;
    pane.place = flow.place;
    if (pane.key !== flow.key) {
      pane.key = flow.key;
      const { columns, rows } = flow;
      gl.activeTexture(gl.TEXTURE0);
      gl.bindTexture(gl.TEXTURE_2D, pane.flow);
      gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RG32F, columns, rows, 0, gl.RG, gl.FLOAT, flow.fill(columns, rows));
      filter(gl, gl.TEXTURE_2D, gl.LINEAR);
    }
    gl.disable(gl.SCISSOR_TEST);
    gl.viewport(0, 0, width, height);
    for (let i = 0; i < (isElsewhere ? 20 : 1); i++) {
      const [from, to] = pane.targets;
      this.#setNoise(pane.pictures++);
      this.#draw(this.#warp, to, [from.textures[0], this.#noise, pane.flow], ["before", "noise", "flow"]);
      pane.targets.reverse();
    }
    this.#draw(this.#stretch, pane.shown, [pane.targets[0].textures[0], pane.flow], ["before", "flow"]);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.bindTexture(gl.TEXTURE_2D, pane.shown.textures[0]);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR_MIPMAP_NEAREST);
    gl.generateMipmap(gl.TEXTURE_2D);
    return pane.shown.textures[0];
  }

  /** Sets the noise of a picture: its grains change, each at another moment, so that the flow carries the streaks. */
  #setNoise(picture: number): void {
    const gl = this.#gl;
    const grains = this.#phases.map((phase) => ((phase + picture) % PERIOD < PERIOD / 2 ? 255 : 0));
    gl.bindTexture(gl.TEXTURE_2D, this.#noise);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, NOISE, NOISE, gl.RED, gl.UNSIGNED_BYTE, grains);
  }

  #draw(program: Program, to: Target, textures: readonly WebGLTexture[], names: readonly string[]): void {
    const gl = this.#gl;
    gl.useProgram(program.program);
    for (const [i, texture] of textures.entries()) {
      gl.activeTexture(gl.TEXTURE0 + i);
      gl.bindTexture(gl.TEXTURE_2D, texture);
      gl.uniform1i(program.at(names[i]), i);
    }
    gl.uniform2f(program.at("size"), to.width, to.height);
    gl.bindFramebuffer(gl.FRAMEBUFFER, to.framebuffer);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }
}
