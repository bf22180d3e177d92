/**
 * The held range is the automatic range of colours, the same whichever way a view was come to: the extremes of its
 * planes of nodes over all stored times; or, of values that are none of single nodes, those seen, which links carry.
 */

import { withoutNoise } from "../../src/float32/format.js";
import { extremesCall, familyCall } from "../state/analyses.js";
import { axisOf } from "../state/facts.js";
import { LatestRequest } from "../state/latest-request.js";
import { PlaneExtremes } from "../state/plane-extremes.js";
import { comparedView, planePaths, showsStretching } from "../state/queries.js";
import { questionKey } from "../state/question-key.js";
import type { ValueRange } from "../state/shown-quantity.js";
import { hasScene, type ViewState } from "../state/view-state.js";
import type { ViewStore } from "../state/view-store.js";
import { type HeldRange, joinRanges, rangeOf, type ScaledValues } from "./colour-scale.js";

/** Stored times at most whose kept planes the range of times seen takes in. */
const MOST_HELD = 256;

const RANGE_PARTS = ["low", "high", "least"] as const;

/** A plane with the view that asked for it. */
interface HeldPlane {
  readonly state: ViewState;
  readonly slice: ScaledValues;
}

export class HeldRanges {
  readonly #store: ViewStore;
  readonly #wanted: () => readonly ViewState[];
  readonly #extremes: PlaneExtremes;
  /** The extremes of nodes, with the key of the views that they are of. */
  readonly #everyTime: LatestRequest<{ readonly key: string; readonly range: HeldRange }>;
  #held: { readonly key: string; readonly range: HeldRange } = { key: "", range: joinRanges([]) };
  #askedFor = "";
  /** What the address had, as soon as it is taken in. */
  #carried: ViewState["seen"] = null;

  /** @param wanted the views of the planes that are to be shown */
  constructor(store: ViewStore, wanted: () => readonly ViewState[], render: () => void) {
    this.#store = store;
    this.#wanted = wanted;
    this.#extremes = new PlaneExtremes(store.api);
    this.#everyTime = new LatestRequest(render);
    store.seen = () => this.#seen;
  }

  /** Whether the range that the view takes is on its way. */
  get isRunning(): boolean {
    return this.#isAutomatic && this.#everyTime.status.running;
  }

  /** The same as long as the extremes of nodes are. */
  get known(): unknown {
    return this.#everyTime.value;
  }

  /** Takes in what a link has seen, and asks for the extremes of nodes. */
  refresh(): void {
    const { state, facts } = this.#store;
    if (state.seen !== this.#carried) {
      this.#carried = state.seen;
      const [low, high, least] = state.seen ?? [];
      if (low !== undefined && high !== undefined && least !== undefined)
        this.#held = { key: this.#keyOf(this.#wanted()), range: { low, high, least } };
    }
    const views = this.#wanted();
    const [key, inScene] = [this.#keyOf(views), hasScene(state)];
    if (!this.#isAutomatic || key === this.#askedFor) return;
    this.#askedFor = key;
    if (views.some((view) => (inScene ? familyCall : extremesCall)(view, facts) === null)) {
      this.#everyTime.clear();
      return;
    }
    const joined = (all: readonly ValueRange[]) => ({
      key,
      range: joinRanges(all.map(([low, high]) => ({ low, high, least: 0 }))),
    });
    const known = this.#extremes.known(views, facts, inScene);
    if (known !== null) this.#everyTime.take(joined(known));
    else void this.#everyTime.run(async (signal) => joined(await this.#extremes.load(views, facts, signal, inScene)));
  }

  invalidate(): void {
    this.#extremes.clear();
    this.#askedFor = "";
  }

  /** Forgets what it holds, for another dataset. */
  clear(): void {
    this.#everyTime.clear();
    this.#held = { key: "", range: joinRanges([]) };
    this.#askedFor = "";
  }

  /** The range of planes that are shown; before there are any, what is held. */
  over(shown: readonly HeldPlane[]): HeldRange {
    if (shown.length === 0) return this.#held.range;
    const { facts, slices, state } = this.#store;
    const log = state.shape === "log";
    const views = shown.map(({ state: own }) => ({ ...own, time: facts.times.first }));
    const key = this.#keyOf(views);
    const every = this.#everyTime.value;
    const kept = this.#held.key === key ? [this.#held.range] : [];
    let range: HeldRange;
    if (every?.key === key) {
      const first = log ? joinRanges(shown.map(({ slice }) => rangeOf(slice, true))).least : 0;
      const held = kept[0]?.least ?? 0;
      range = { ...every.range, least: log && held > 0 ? held : first };
    } else {
      const cached = views
        .filter((view) => comparedView(view) === null)
        .flatMap((view) =>
          facts.times.stored.slice(0, MOST_HELD).map((time) => ({ ...view, time: withoutNoise(time) })),
        )
        .flatMap((view) => slices.glance(planePaths(view, facts).main) ?? []);
      const seen = [...cached, ...shown.map(({ slice }) => slice)].map((slice) => rangeOf(slice, log));
      range = joinRanges([...kept, ...seen]);
    }
    const before = this.#held;
    this.#held = { key, range };
    // While time plays, the range is the same from picture to picture, and so is what the address says of it.
    if (before.key !== key || RANGE_PARTS.some((part) => before.range[part] !== range[part])) this.#store.rewrite();
    return range;
  }

  /** The values that the range is taken from, in words. */
  get rule(): string {
    const places = hasScene(this.#store.state);
    const times = this.#store.facts.times.count > 1;
    if (this.#isOfNodes) {
      if (times) return places ? "of all times and planes" : "of all times";
      return places ? "of all planes" : "of the whole plane";
    }
    if (!times) return places ? "of all planes seen" : "of all parts seen";
    return places ? "of all times and planes seen" : "of all times seen";
  }

  get #isAutomatic(): boolean {
    const { state } = this.#store;
    return state.scaling === "auto" && state.range === null && !showsStretching(state);
  }

  get #isOfNodes(): boolean {
    return this.#everyTime.value !== null && this.#everyTime.value.key === this.#held.key;
  }

  /** What a link has to carry, as the view alone does not say it: values seen, and where a logarithm ends. */
  get #seen(): ViewState["seen"] {
    const { key, range } = this.#held;
    const isOwn = key !== "" && key === this.#keyOf(this.#wanted());
    if (!this.#isAutomatic || !isOwn) return null;
    if (this.#store.state.shape !== "log" && (this.#isOfNodes || this.isRunning)) return null;
    return [Math.fround(range.low), Math.fround(range.high), Math.fround(range.least)];
  }

  /** What a range is held for: views at any time and in any part; in 3-D at any place as well. */
  #keyOf(views: readonly ViewState[]): string {
    const { facts, state } = this.#store;
    const same = { window: null, time: facts.times.first, overlay: "none", brush: [] } as const;
    const moves = hasScene(state);
    const any = views.map((view) => {
      const at = moves ? axisOf(facts, view.axis).first : view.at;
      return planePaths({ ...view, ...same, at }, facts);
    });
    const fields = views.map(({ field }) => field);
    return questionKey(facts, fields, [any, state.shape === "log"]);
  }
}
