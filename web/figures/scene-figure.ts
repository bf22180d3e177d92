/**
 * The 3-D figure shows planes, an isosurface and paths of particles in the box of the domain; it is loaded on demand.
 */
import { html, nothing, type TemplateResult } from "lit-html";
import { keyed } from "lit-html/directives/keyed.js";
import { ref } from "lit-html/directives/ref.js";
import { shortText } from "../../src/float32/format.js";
import { unitOf } from "../../src/shared/quantities.js";
import { boxAround, clampBox, type DomainBox, wholeBox } from "../state/domain-box.js";
import { flatAxis } from "../state/facts.js";
import { AXES, extremesOf } from "../state/plane-geometry.js";
import { shownTitle, shownUnit, showsQuantity } from "../state/queries.js";
import {
  listedTitle,
  marksBySmall,
  quantitiesOf,
  quantityOf,
  unitOfQuantity,
  type ValueRange,
} from "../state/shown-quantity.js";
import { hasScene, type ViewState, VOLUMES, withPlace } from "../state/view-state.js";
import type { ViewStore } from "../state/view-store.js";
import { fittingVolume, volumeSide } from "../state/volume.js";
import { barLegend } from "./colour-bar.js";
import { type ColourScale, makeScale, type NamedScale, pixelOf } from "./colour-scale.js";
import { check, choose, number, rangeInput, tellCorrection } from "./inputs.js";
import type { Launched, ParticlesFigure } from "./particles-figure.js";
import { drawnTrail } from "./path-segments.js";
import { coveredBy } from "./plane-samples.js";
import type { BoxScene, PlacedPicture } from "./scene.js";
import { schemeColours } from "./scheme-colours.js";
import type { SliceFigure } from "./slice-figure.js";
import { type Fitting, statusBar } from "./status-bar.js";
import { describeRays, describeSurface, IsoSurface, type ShownSurface } from "./surface.js";

/** Maps of values of one sign and of both, in the order in which surface and paths take those that are left. */
const SEQUENTIAL = ["inferno", "plasma", "viridis"] as const;
const DIVERGING = ["PuOr", "RdBu", "RdBu-dark"] as const;

/** The drawings of a volume, in words. */
const DRAWINGS = [
  { value: "surface" as const, text: "an isosurface" },
  { value: "rays" as const, text: "a volume, by rays through it" },
];

/** Windows that have room for controls beside the view. */
const ROOMY = "(min-width: 72rem)";

export class SceneFigure {
  readonly surface: IsoSurface;
  readonly #store: ViewStore;
  readonly #render: () => void;
  readonly #slice: SliceFigure;
  readonly #particles: ParticlesFigure;
  #scene: BoxScene | null = null;
  #canvas: HTMLCanvasElement | null = null;
  #opened = 0;
  #failure = "";
  #drawn = "";
  #paths: Launched | null = null;
  #record = -1;
  #pictures: readonly HTMLCanvasElement[] = [];
  #surface: ShownSurface | null = null;
  #tinted: { surface: ShownSurface; planes: ColourScale; scale: ColourScale | null } | null = null;
  #scale: ColourScale | null = null;
  #pathScale: ColourScale | null = null;
  #rays: IsoSurface["request"]["value"] = null;
  #rayScale: ColourScale | null = null;
  #noRays = "";
  /** The level and the opacity by which the volume is drawn. */
  #shading = "";
  #volumed: { shown: object; planes: ColourScale; scale: ColourScale } | null = null;
  #coloured: { launched: Launched; planes: ColourScale; taken: ColourScale | null; scale: ColourScale } | null = null;
  #part: DomainBox | null = null;
  /** Whether opening the view has opened its controls. */
  #hasOpened = false;
  /** The camera that the scene has, as the view knows it. */
  #camera: ViewState["camera"] = null;
  /** Whether the view was open before; null before the page has been shown. */
  #wasOpen: boolean | null = null;

  constructor(store: ViewStore, slice: SliceFigure, particles: ParticlesFigure, render: () => void) {
    this.#store = store;
    this.#render = render;
    this.#slice = slice;
    this.#particles = particles;
    this.surface = new IsoSurface(store, render);
  }

  get #isOpen(): boolean {
    return hasScene(this.#store.state);
  }

  refresh(): void {
    this.surface.refresh();
    if (!this.#isOpen && this.#scene !== null) this.#dispose();
    if (this.#isOpen && this.#wasOpen === false) requestAnimationFrame(() => this.reveal());
    this.#wasOpen = this.#isOpen;
  }

  /** Scrolls to the view: on narrow windows it may lie far above what opened it. */
  reveal(): void {
    this.#canvas?.closest(".scene")?.scrollIntoView({ block: "nearest" });
  }

  /** Goes to the view, which opens; from inside of it, closes it and goes back to the plane. */
  go(): void {
    const leaves = document.activeElement === this.#canvas && this.#canvas !== null;
    if (leaves || !this.#isOpen) this.toggle();
    requestAnimationFrame(() => (leaves ? document.querySelector<HTMLElement>("canvas.plane") : this.#canvas)?.focus());
  }

  /** Forgets drawing, paths and surface, for another dataset. */
  clear(): void {
    this.#dispose();
    this.#particles.close();
    this.surface.close();
  }

  /** Opens the view, with its controls beside it if there is room, or closes it, with what it has opened. */
  toggle(): void {
    const { state } = this.#store;
    const { open } = state;
    const panel = "particles" as const;
    const beside = window.matchMedia(ROOMY).matches && !open.includes(panel) && !this.#isOpen;
    const gone = this.#isOpen && this.#hasOpened;
    this.#hasOpened = beside;
    const panels = beside ? [...open, panel] : gone ? open.filter((name) => name !== panel) : open;
    this.#store.set({ scene: !this.#isOpen, open: panels });
  }

  #dispose(): void {
    this.#scene?.dispose();
    this.#scene = null;
    this.#canvas = null;
    this.#paths = null;
    this.#record = -1;
    this.#pictures = [];
    this.#surface = null;
    this.#rays = null;
    this.#rayScale = null;
    this.#part = null;
    this.#drawn = "";
    this.#opened++;
  }

  /** Brings the drawing up to date with what the other figures show. */
  paint(): void {
    const canvas = this.#canvas;
    if (canvas === null || !this.#isOpen) return;
    if (this.#scene === null) void this.#open(canvas);
    else this.#draw(this.#scene, canvas);
  }

  async #open(canvas: HTMLCanvasElement): Promise<void> {
    if (this.#failure !== "") return;
    try {
      const { BoxScene } = await import("./scene.js");
      if (this.#scene !== null || this.#canvas !== canvas) return;
      const { facts, state } = this.#store;
      this.#scene = new BoxScene(canvas, facts.axes, unitOf(facts, "length"));
      this.#camera = state.camera;
      this.#scene.setCamera(state.camera);
      this.#scene.onPlane = (axis, at) => this.#movePlane(axis, at);
      this.#scene.onCamera = (camera) => {
        this.#camera = camera;
        this.#store.set({ camera });
      };
    } catch {
      this.#failure = "This browser cannot draw 3-D (WebGL is missing); the table lists the positions.";
    }
    this.#render();
  }

  #draw(scene: BoxScene, canvas: HTMLCanvasElement): void {
    const launched = this.#particles.launched;
    const pathScale = launched === null ? null : this.#scaleOf(launched);
    if (this.#paths !== launched || this.#pathScale !== pathScale) {
      this.#paths = launched;
      this.#pathScale = pathScale;
      this.#record = -1;
      scene.setPaths(launched?.drawn ?? null, pathScale);
      this.#drawn = "";
      if (launched === null) delete canvas.dataset.longestSegment;
      else canvas.dataset.longestSegment = String(scene.longestSegment);
    }
    const colours = schemeColours(canvas);
    const size = [canvas.clientWidth, canvas.clientHeight] as const;
    const key = [colours.paper, ...size].join(" ");
    if (key !== this.#drawn && size[0] > 0) {
      this.#drawn = key;
      scene.setColours(colours);
      scene.resize(...size);
    }
    // Back and forward bring the camera of the view along.
    if (this.#store.state.camera !== this.#camera) {
      this.#camera = this.#store.state.camera;
      scene.setCamera(this.#camera);
    }
    this.#drawPlanes(scene, canvas);
    this.#drawSurface(scene, canvas);
    if (launched !== null && this.#record !== this.#particles.record) {
      this.#record = this.#particles.record;
      scene.setRecord(this.#record);
    }
  }

  /** Places the pictures that the slice figure shows, each where its own view has it. */
  #drawPlanes(scene: BoxScene, canvas: HTMLCanvasElement): void {
    const placed = this.#slice.planes.flatMap(({ picture, request: { value } }): PlacedPicture[] => {
      if (picture === null || value === null || !this.#store.state.scenePlanes) return [];
      const { axis, at } = value.state;
      return [{ picture, axis: AXES.indexOf(axis), at, covered: coveredBy(value.slice) }];
    });
    const pictures = placed.map(({ picture }) => picture);
    if (pictures.length === this.#pictures.length && pictures.every((picture, i) => picture === this.#pictures[i]))
      return;
    this.#pictures = pictures;
    scene.setPlanes(placed);
    canvas.dataset.planes = String(placed.length);
  }

  /** Moves the plane across an axis: the only one, or one of three through the probe. */
  #movePlane(axis: number, at: number): void {
    const { state } = this.#store;
    if (state.layout === "one") this.#store.set({ at });
    else this.#store.set({ probe: withPlace(state.probe, AXES[axis], at) });
  }

  /** The volume to be drawn by rays once its level is known, until then the one before; null if that is not chosen. */
  #wantedRays(): IsoSurface["request"]["value"] {
    if (this.#store.state.drawing !== "rays") return null;
    const { value } = this.surface.request;
    return value?.state === this.surface.shown?.state ? value : this.#rays;
  }

  /** Draws the volume of the isosurface's quantity by rays, if that was chosen; says so if the card cannot. */
  #drawRays(scene: BoxScene, canvas: HTMLCanvasElement): boolean {
    const wanted = this.#wantedRays();
    const scale = wanted === null ? null : this.#volumeScale(wanted);
    if (wanted !== this.#rays || scale !== this.#rayScale) {
      [this.#rays, this.#rayScale] = [wanted, scale];
      this.#noRays = "";
      this.#shading = "";
      delete canvas.dataset.rays;
      try {
        scene.setVolume(wanted?.volume ?? null, scale, wanted?.state.box ?? wholeBox(this.#store.facts));
        if (wanted !== null) canvas.dataset.rays = String(wanted.volume.values.length);
      } catch (error) {
        this.#noRays = `${error instanceof Error ? error.message : String(error)}; its isosurface is drawn instead.`;
        this.#render();
      }
    }
    if (!this.#isByRays || scale === null) return false;
    const shown = this.surface.shown as ShownSurface;
    const { opacity } = this.#store.state;
    const shading = `${shown.level} ${opacity}`;
    if (shading !== this.#shading) {
      this.#shading = shading;
      scene.shadeVolume(scale, shown, marksBySmall(shown.state.surface), opacity);
    }
    return true;
  }

  /** Whether the volume is drawn by rays. */
  get #isByRays(): boolean {
    return this.#wantedRays() !== null && this.#noRays === "" && this.surface.shown !== null;
  }

  /** The colours of a volume: those of the planes if they show the same quantity. */
  #volumeScale(shown: NonNullable<IsoSurface["request"]["value"]>): ColourScale {
    const planes = this.#slice.scale;
    if (shown.state.surface === this.#planeField) return planes;
    if (this.#volumed?.shown !== shown || this.#volumed.planes !== planes)
      this.#volumed = { shown, planes, scale: otherScale(shown.volume.values, [planes], this.surface.shown?.tails) };
    return this.#volumed.scale;
  }

  /** The picture at twice its resolution, with its bars; null while there is none. */
  capture(): {
    readonly picture: HTMLCanvasElement;
    readonly note: string;
    readonly bars: readonly NamedScale[];
  } | null {
    if (this.#scene === null || !this.#isOpen) return null;
    return { picture: this.#scene.capture(2), note: this.#note(), bars: this.#bars() };
  }

  #drawSurface(scene: BoxScene, canvas: HTMLCanvasElement): void {
    const shown = this.#drawRays(scene, canvas) ? null : this.surface.shown;
    const part = this.surface.shown?.state.box ?? null;
    if (part !== this.#part) {
      this.#part = part;
      scene.setPart(part);
    }
    const scale = shown === null ? null : this.#tintScale(shown);
    if (shown === this.#surface && scale === this.#scale) return;
    this.#surface = shown;
    this.#scale = scale;
    scene.setSurface(
      shown === null ? null : { ...shown, colours: scale === null ? null : vertexColours(scale, shown.tints) },
    );
    if (shown === null) delete canvas.dataset.triangles;
    else canvas.dataset.triangles = String(shown.indices.length / 3);
  }

  /**
   * The colours of a surface by its second quantity; null without one. The quantity of the planes has their scale, any
   * other one another map.
   */
  #tintScale(surface: ShownSurface): ColourScale | null {
    const planes = this.#slice.scale;
    const { tint } = surface.state;
    if (this.#tinted?.surface !== surface || this.#tinted.planes !== planes) {
      const scale = tint === this.#planeField ? planes : otherScale(surface.tints, [planes]);
      this.#tinted = { surface, planes, scale: tint === "none" || surface.tints.length === 0 ? null : scale };
    }
    return this.#tinted.scale;
  }

  /** The quantity of the planes; empty if they show differences or stretching. */
  get #planeField(): string {
    const shown = this.#slice.shown?.state;
    return shown === undefined || !showsQuantity(shown) ? "" : shown.field;
  }

  /** The colours of paths by a quantity along them; null without one. */
  #scaleOf(launched: Launched): ColourScale | null {
    const { values } = launched.drawn;
    if (values === null) return null;
    const planes = this.#slice.scale;
    if (launched.quantity === this.#planeField) return planes;
    const surface = this.surface.shown;
    const taken = surface === null ? null : this.#tintScale(surface);
    if (taken !== null && surface?.state.tint === launched.quantity) return taken;
    const before = this.#coloured;
    if (before?.launched !== launched || before.planes !== planes || before.taken !== taken)
      this.#coloured = {
        launched,
        planes,
        taken,
        scale: otherScale(values, taken === null ? [planes] : [planes, taken]),
      };
    return this.#coloured?.scale ?? null;
  }

  /** The view itself, for the place of the picture; nothing while it is closed. */
  view(): TemplateResult | typeof nothing {
    if (!this.#isOpen) return nothing;
    return html`
      <section class="scene" id="view-3d" aria-labelledby="scene-title">
        <h2 id="scene-title">3-D view</h2>
        ${this.#stage()} ${this.#failure === "" ? this.#legend() : nothing}
        ${this.#store.state.open.includes("particles") || this.surface.request.status.error === null ? nothing : this.#status()}
      </section>
    `;
  }

  /** The controls of isosurface and particles, for a panel. */
  controls(): TemplateResult {
    return html`
      <section class="panel particles" aria-labelledby="particles-title">
        <h2 id="particles-title">3-D and particles</h2>
        ${
          this.#isOpen
            ? this.#surfaceControls()
            : html`<button type="button" id="open-scene" @click=${() => this.toggle()}>Open the 3-D view</button>`
        }
        ${this.#particles.view()}
      </section>
    `;
  }

  #stage(): TemplateResult {
    const launched = this.#particles.launched;
    const what = launched === null ? "Planes and isosurface" : `Paths of ${launched.trajectories.particles} particles`;
    if (this.#failure !== "") return html`<p class="error" role="status" id="no-scene">${this.#failure}</p>`;
    return html`
      ${keyed(
        this.#opened,
        html`<canvas
          id="scene"
          tabindex="0"
          role="application"
          aria-roledescription="3-D view"
          aria-label="${what} in the box of the domain. Arrow keys turn the view, plus and minus zoom, 0 resets it; planes are dragged by the round grips at their corners."
          ${ref((element) => {
            this.#canvas = (element as HTMLCanvasElement | undefined) ?? null;
          })}
          @keydown=${(event: KeyboardEvent) => {
            if (this.#scene?.key(event.key)) event.preventDefault();
          }}
        ></canvas>`,
      )}
      <div class="row">
        <span class="note" id="scene-note" title=${this.#note()}>${this.#note()}</span>
        <span class="note gestures">Drag: turn · Wheel: zoom · Dot: move the plane</span>
        <button type="button" id="reset-camera" @click=${() => this.#scene?.key("0")}>Reset view</button>
        <button type="button" id="close-scene" @click=${() => this.toggle()}>Close 3-D</button>
      </div>
    `;
  }

  /** The drawn parts, with the time of each. */
  #note(): string {
    const shown = this.#slice.shown;
    const { launched } = this.#particles;
    if (this.#scene === null) return "The 3-D view is on its way …";
    const unit = this.surface.shown === null ? "" : this.#unit(this.surface.shown.state.surface);
    const { surface } = this.#store.state;
    const isComing = this.surface.shown === null && surface !== "none" && this.surface.request.status.error === null;
    return [
      ...(shown === null || !this.#store.state.scenePlanes ? [] : [`Planes at t = ${shortText(shown.state.time)}.`]),
      ...(launched === null
        ? []
        : [`Particles at t = ${shortText(launched.drawn.times[this.#particles.record])}${trailText(launched)}.`]),
      ...(this.surface.shown === null
        ? []
        : [
            `${this.#isByRays ? "Volume" : "Surface"} at t = ${shortText(this.surface.shown.state.time)}: ${this.#describe(this.surface.shown, unit)}.`,
          ]),
      ...(isComing ? [`${quantityOf(surface).title} is on its way …`] : []),
    ].join(" ");
  }

  /** What is drawn of a volume, in words. */
  #describe(surface: ShownSurface, unit: string): string {
    const volume = this.#isByRays ? this.#wantedRays() : null;
    return volume === null
      ? describeSurface(surface, unit)
      : describeRays(surface, this.#volumeScale(volume).range, unit);
  }

  #unit(name: string): string {
    return name === "none" ? "" : unitOfQuantity(this.#store.facts, name);
  }

  #named(field: string): string {
    return field === "none" ? "" : `${quantityOf(field).title} ${this.#unit(field)}`.trim();
  }

  /** The colours of the paths with their name; null without paths, or if these have the colours of their particles. */
  pathBar(): NamedScale | null {
    const { launched } = this.#particles;
    const scale = launched === null ? null : this.#scaleOf(launched);
    return launched && scale && { scale, name: `Particles: ${this.#named(launched.quantity)}` };
  }

  /** The colour bars of everything that is drawn, with their names. */
  #bars(): readonly NamedScale[] {
    const shown = this.#slice.shown;
    const surface = this.surface.shown;
    const volume = this.#isByRays ? this.#wantedRays() : null;
    const tint = surface === null || volume !== null ? null : this.#tintScale(surface);
    const name = (field: string) => this.#named(field);
    const all: readonly (NamedScale | null)[] = [
      this.#store.state.scenePlanes && shown !== null
        ? {
            scale: this.#slice.scale,
            name: `Planes: ${shownTitle(shown.state)} ${shownUnit(shown.state, this.#store.facts)}`.trim(),
          }
        : null,
      surface && tint && { scale: tint, name: `Surface: ${name(surface.state.tint)}` },
      volume && {
        scale: this.#volumeScale(volume),
        name: `Volume: ${name(volume.state.surface)}${volume.state.surface === this.#planeField ? "" : ", 0.5 % to 99.5 % of its values"}`,
      },
      this.pathBar(),
    ];
    const bars = all.filter((bar) => bar !== null);
    // What has one scale has one bar, with the names of all that it tells of.
    return [...new Set(bars.map(({ scale }) => scale))].map((scale) => ({
      scale,
      name: bars.flatMap((bar) => (bar.scale === scale ? bar.name : [])).join("; "),
    }));
  }

  #legend(): readonly TemplateResult[] {
    return this.#bars().map(({ scale, name }) => barLegend(scale, name));
  }

  #surfaceControls(): TemplateResult {
    const { state, facts } = this.#store;
    const choices = (first: string) => [
      { value: "none" as const, text: first },
      ...quantitiesOf(facts).map((quantity) => ({ value: quantity.name, text: listedTitle(facts, quantity) })),
    ];
    const ms = this.surface.shown?.ms;
    if (flatAxis(facts) !== null) {
      return html`<p class="note" id="no-surface">An isosurface needs a box of nodes; these data lie on a plane.</p>`;
    }
    return html`
      <h3>Isosurface and volume</h3>
      <div class="row" id="surface-controls">
        ${choose("surface", "Quantity in 3-D", state.surface, choices("nothing"), (surface) => this.#store.set({ surface, level: null }))}
        ${
          state.surface === "none"
            ? nothing
            : html`
                ${this.#isByRays ? nothing : choose("tint", "Coloured by", state.tint, choices("one colour"), (tint) => this.#store.set({ tint }))}
                ${choose("volume", "Samples per side", state.volume, this.#volumes(), (volume) => this.#store.set({ volume }))}
                ${choose("drawing", "Drawn as", state.drawing, DRAWINGS, (drawing) => this.#store.set({ drawing }))}
                ${this.#noRays === "" ? nothing : html`<p class="note" role="status" id="no-rays">${this.#noRays}</p>`}
                ${this.#levelControls()}
                <span class="note" id="surface-note">
                  ${ms === undefined || this.#isByRays ? nothing : `${(this.surface.shown?.indices.length ?? 0) / 3} triangles in ${Math.round(ms)} ms`}
                </span>
              `
        }
      </div>
      ${check("scene-planes", "planes in the box", state.scenePlanes, (scenePlanes) => this.#store.set({ scenePlanes }))}
      ${state.surface === "none" ? nothing : this.#boxControls()} ${this.#status()}
    `;
  }

  /**
   * The value of the isosurface, or the one up to which a volume is clear: itself, over the rms of the quantity, or by
   * the volume beyond it.
   */
  #levelControls(): TemplateResult {
    const { state } = this.#store;
    const shown = this.surface.shown;
    const enclosed = Number((shown?.enclosed ?? state.enclosed).toPrecision(3));
    const set = (level: number) => this.#store.set({ level: Number(level.toPrecision(6)) });
    const side = marksBySmall(state.surface) ? "Below" : "Above";
    const [value, beyond] = this.#isByRays ? ["Clear up to", `${side} it: `] : ["Value", "Encloses "];
    return html`
      ${shown === null ? nothing : number("level", value, Number(shown.level.toPrecision(5)), {}, set)}
      ${shown === null ? nothing : number("level-rms", "Multiple of rms", Number((shown.level / shown.rms).toPrecision(4)), {}, (parts) => set(parts * shown.rms))}
      <label for="enclosed">
        <span>${beyond}<b>${enclosed} %</b> of the ${state.box === null ? "volume" : "part"}</span>
        ${rangeInput("enclosed", enclosed, { min: 0.5, max: 60, step: 0.5 }, (part) => this.#store.set({ enclosed: part, level: null }))}
      </label>
      ${this.#isByRays ? html`<label for="opacity"><span>Opacity <b>${state.opacity} %</b></span> ${rangeInput("opacity", state.opacity, { min: 1, max: 99, step: 1 }, (opacity) => this.#store.set({ opacity }))}</label>` : nothing}
    `;
  }

  /** The samplings of the volume, in words. */
  #volumes(): readonly { readonly value: ViewState["volume"]; readonly text: string }[] {
    const { state, facts } = this.#store;
    const usual = `automatic (${volumeSide({ ...state, volume: "auto" }, facts)})`;
    return VOLUMES.map((value) => ({ value, text: value === "auto" ? usual : value }));
  }

  /** The progress and the failures of the volume. */
  #status(): TemplateResult | typeof nothing {
    return statusBar("isosurface", this.surface.request, undefined, () => this.#fitting());
  }

  /** The sampling of the volume that the limits of the service admit. */
  #fitting(): Fitting {
    const { state, facts } = this.#store;
    const side = fittingVolume(state.box ?? wholeBox(facts), facts, Number(VOLUMES.at(-1)));
    const volume = VOLUMES.findLast((value) => Number(value) <= side) ?? "auto";
    return {
      text: `${facts.points} points fit into one request, and about ${side} × ${side} × ${side} samples into those of a volume.`,
      choose: () => this.#store.set({ volume }),
    };
  }

  /** The part of the domain in which the surface is drawn, by its ends. */
  #boxControls(): TemplateResult {
    const { state, facts } = this.#store;
    const { box } = state;
    const parts = [
      { value: "whole" as const, text: "the whole domain" },
      { value: "part" as const, text: "a part of it" },
    ];
    const whole = wholeBox(facts);
    const end = (i: number) => (value: number) => {
      const ends = (box ?? whole).map((before, k) => (k === i ? value : before));
      const next = clampBox(ends, facts);
      if (next === null)
        tellCorrection(document.body, "The low end of a box must be below its high end; the old value stays.");
      this.#store.set(next === null ? {} : { box: next });
    };
    return html`
      <div class="row" id="surface-box" role="group" aria-label="Part of the domain">
        ${choose("box", "Within", box === null ? "whole" : "part", parts, (value) =>
          this.#store.set({ box: value === "whole" ? null : boxAround(state.probe, facts) }),
        )}
        ${
          box === null
            ? nothing
            : html`
                ${AXES.map((name, axis) =>
                  [0, 1].map((side) => {
                    const i = 2 * axis + side;
                    const limits = { min: whole[2 * axis], max: whole[2 * axis + 1] };
                    return number(
                      `box-${name}${side}`,
                      `${name} ${side === 0 ? "from" : "to"}`,
                      box[i],
                      limits,
                      end(i),
                    );
                  }),
                )}
                <button type="button" id="box-probe" @click=${() => this.#store.set({ box: boxAround(state.probe, facts) })}>
                  Half of the domain around the probe
                </button>
              `
        }
      </div>
    `;
  }
}

/**
 * The scale of some values, in a map that no other scale has.
 *
 * @param ends its range if that is not empty; otherwise the range is that from the least value to the greatest
 */
function otherScale(values: Float32Array, taken: readonly ColourScale[], ends: ValueRange = [0, 0]): ColourScale {
  const all = { values, ...extremesOf(values) };
  const [low, high] = ends[0] < ends[1] ? ends : [all.low, all.high];
  const maps = low < 0 && high > 0 ? DIVERGING : SEQUENTIAL;
  const name = maps.find((map) => taken.every((scale) => scale.name !== map)) ?? maps[0];
  return makeScale(name, [low, high], 0, [all]);
}

/** The part of long paths of many particles that is drawn, in words. */
function trailText({ drawn: { particles, times } }: Launched): string {
  const trail = drawnTrail(particles);
  return trail < times.length - 1 ? `, with the last ${trail} positions of their paths` : "";
}

/** Red, green and blue of each vertex. */
function vertexColours(scale: ColourScale, tints: Float32Array): Uint8Array {
  const colours = new Uint8Array(3 * tints.length);
  for (let i = 0; i < tints.length; i++) {
    const pixel = pixelOf(scale, tints[i]);
    colours[3 * i] = pixel & 255;
    colours[3 * i + 1] = (pixel >> 8) & 255;
    colours[3 * i + 2] = (pixel >> 16) & 255;
  }
  return colours;
}
