/** The isosurface requests a volume, lets the worker extract a surface from it, and keeps the latest one. */

import { withMinus } from "../../src/float32/format.js";
import type { Volume } from "../state/api.js";
import { LatestRequest } from "../state/latest-request.js";
import { questionKey } from "../state/question-key.js";
import { marksBySmall, quantityOf, type ValueRange } from "../state/shown-quantity.js";
import { hasScene, type ViewState } from "../state/view-state.js";
import type { ViewStore } from "../state/view-store.js";
import { goesAround, joinVolumes, volumeParts } from "../state/volume.js";
import type { LevelMessage, SurfaceMessage, VolumeMessage } from "./surface-worker.js";
import workerAddress from "./surface-worker.ts?worker&url";

/** A surface in coordinates of the dataset with the view that asked for it. */
export interface ShownSurface {
  readonly state: ViewState;
  readonly level: number;
  /** Percentage of the volume inside, and the root mean square of the values. */
  readonly enclosed: number;
  readonly rms: number;
  /** The values below and above which five thousandths of all values are. */
  readonly tails: ValueRange;
  /** Time from the arrival of the values, or from the choice of a level, to the surface. */
  readonly ms: number;
  readonly positions: Float32Array;
  readonly normals: Float32Array;
  readonly tints: Float32Array;
  readonly indices: Uint32Array;
}

/** The part of Trusted Types that a worker needs; browsers without them take any address. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): { createScriptURL(url: string): string };
}

/** Starts the worker by an address that the content policy trusts: only that of the bundled file. */
function startWorker(): Worker {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  const createScriptURL = (url: string) => {
    if (url !== workerAddress) throw new TypeError("Only the surface worker may be started.");
    return url;
  };
  const policy = trustedTypes?.createPolicy("fieldprobe-worker", { createScriptURL });
  return new Worker(policy?.createScriptURL(workerAddress) ?? workerAddress, { type: "module" });
}

export class IsoSurface {
  readonly request: LatestRequest<{ readonly volume: Volume; readonly state: ViewState }>;
  readonly #store: ViewStore;
  readonly #render: () => void;
  #worker: Worker | null = null;
  #shown: ShownSurface | null = null;
  #asked = "";
  #level = "";
  #asking = 0;
  #queried: ViewState | null = null;
  /** The time at which the values of the volume arrived, or another level was asked for. */
  #since = 0;

  constructor(store: ViewStore, render: () => void) {
    this.#store = store;
    this.#render = render;
    this.request = new LatestRequest(render);
  }

  /** The surface to draw; null before there is one. */
  get shown(): ShownSurface | null {
    return this.#shown;
  }

  /** Whether the surface shows the time of the view, or there is none to show. */
  get isCurrent(): boolean {
    const { state } = this.#store;
    if (this.#asked === "") return true;
    return !this.request.status.running && this.#shown?.state.time === state.time;
  }

  /** Requests the volume of the view if it is another one, and the surface if its level is. */
  refresh(): void {
    const { state, facts, api } = this.#store;
    const { surface, tint } = state;
    if (surface === "none" || !hasScene(state)) {
      if (this.#shown !== null || this.#asked !== "") this.close();
      return;
    }
    const shown = [surface, tint].filter((name) => name !== "none");
    const volumes = shown.map((name) => volumeParts(state, facts, name));
    const key = questionKey(
      facts,
      shown,
      volumes.map((parts) => parts.map(({ path }) => path)),
    );
    if (key !== this.#asked) {
      this.#asked = key;
      void this.request.run(async (signal) => {
        const [volume, tints] = await Promise.all(
          volumes.map(async (parts) => {
            return joinVolumes(parts, await Promise.all(parts.map(({ path }) => api.volume(path, signal))));
          }),
        );
        this.#since = performance.now();
        this.#hand(volume, tints ?? null, state);
        this.#queried = state;
        this.#ask();
        return { volume, state };
      });
    } else if (this.request.value !== null) {
      if (this.#levelKey() !== this.#level) this.#since = performance.now();
      this.#ask();
    }
  }

  invalidate(): void {
    this.#asked = "";
  }

  close(): void {
    this.#worker?.terminate();
    this.#worker = null;
    this.#shown = null;
    this.#asked = "";
    this.#level = "";
    this.#queried = null;
    this.request.clear();
  }

  #hand(volume: Volume, tint: Volume | null, state: ViewState): void {
    this.#worker ??= this.#start();
    const { facts } = this.#store;
    const { axes } = volume;
    const message: VolumeMessage = {
      kind: "volume",
      counts: [axes[0].count, axes[1].count, axes[2].count],
      origin: [axes[0].origin, axes[1].origin, axes[2].origin],
      spacing: [axes[0].spacing, axes[1].spacing, axes[2].spacing],
      periodic: goesAround(state, facts),
      values: volume.values.slice(),
      tint: tint === null ? null : tint.values.slice(),
    };
    this.#worker.postMessage(message, [message.values.buffer, ...(message.tint === null ? [] : [message.tint.buffer])]);
    this.#level = "";
  }

  /** Starts the worker and listens to its surfaces and failures. */
  #start(): Worker {
    const worker = startWorker();
    worker.addEventListener("message", (event: MessageEvent<SurfaceMessage>) => this.#take(event.data));
    worker.addEventListener("error", (event) => this.#fail(worker, event.message));
    worker.addEventListener("messageerror", () => this.#fail(worker, "its answer could not be read"));
    return worker;
  }

  /** Shows why the worker failed; trying again starts another one. */
  #fail(worker: Worker, reason: string): void {
    worker.terminate();
    if (this.#worker !== worker) return;
    this.#worker = null;
    this.#level = "";
    this.request.fail(new Error(`The isosurface could not be computed: ${reason || "its worker did not start"}.`));
  }

  #levelKey(): string {
    const { enclosed, level } = this.#store.state;
    return `${this.#asked} ${level ?? `${enclosed} %`}`;
  }

  #ask(): void {
    const { enclosed, level, surface } = this.#store.state;
    const key = this.#levelKey();
    if (key === this.#level || surface === "none") return;
    this.#level = key;
    const message: LevelMessage = {
      kind: "level",
      id: ++this.#asking,
      level,
      enclosed,
      smallest: marksBySmall(surface),
    };
    this.#worker?.postMessage(message);
  }

  #take(message: SurfaceMessage): void {
    const volume = this.request.value?.volume;
    if (message.id !== this.#asking || volume === undefined || this.#queried === null) return;
    const ms = performance.now() - this.#since;
    this.#shown = { ...message, ms, state: this.#queried };
    this.#render();
  }
}

/** The surface in words, with its level and unit. */
export function describeSurface(surface: ShownSurface, unit: string): string {
  const { state, enclosed } = surface;
  if (state.surface === "none") return "";
  const sense = marksBySmall(state.surface) ? "below" : "above";
  const where = state.box === null ? "volume" : "part shown";
  return `${quantityOf(state.surface).title} = ${levelText(surface, unit)}, ${Number(enclosed.toPrecision(3))} % of the ${where} lies ${sense}`;
}

/** A volume drawn by rays in words: what of it is clear, of values of both signs as far on either side of zero. */
export function describeRays(surface: ShownSurface, [low, high]: ValueRange, unit: string): string {
  const { title } = quantityOf(surface.state.surface);
  if (low < 0 && high > 0)
    return `${title}, clear within ±${levelText({ ...surface, level: Math.abs(surface.level) }, unit)}`;
  const small = marksBySmall(surface.state.surface) || high <= 0;
  return `${title}, clear ${small ? "above" : "below"} ${levelText(surface, unit)}`;
}

/** A level with its unit, and as a multiple of the rms. */
function levelText({ level, rms }: ShownSurface, unit: string): string {
  const value = `${withMinus(String(Number(level.toPrecision(4))))} ${unit}`.trim();
  return `${value} (${withMinus(String(Number((level / rms).toPrecision(3))))} rms)`;
}
