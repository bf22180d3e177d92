/** The tour tells in seven steps what turbulence is, in the shipped flow. */
import { html, nothing, render, type TemplateResult } from "lit-html";
import type { ViewStore } from "../state/view-store.js";
import { goTo } from "./views-panel.js";

interface TourStep {
  readonly title: string;
  readonly text: string;
  /** The view, apart from the dataset. */
  readonly query: string;
}

const STEPS: readonly TourStep[] = [
  {
    title: "A flow in a box",
    text: "This is a computed flow in a cube whose faces join: what leaves on the right comes in on the left. The streaks follow the velocity in the plane; the colours show how fast the fluid spins there, its vorticity. Press Play to see it move.",
    query: "overlay=streamlines&nodes=256",
  },
  {
    title: "Eddies of all sizes",
    text: "The energy spectrum tells how much of the motion belongs to large eddies (left) and small ones (right). Large eddies break up into smaller ones until viscosity stops the smallest. In an endless cascade the curve would follow the dashed line; this flow is small, so it falls off soon.",
    query: "overlay=streamlines&open=statistics&analysis=energy&field=ux&time=1",
  },
  {
    title: "Calm mostly, violent rarely",
    text: "The distribution of a velocity gradient has longer tails than the dashed Gaussian: strong events are rare, but far more frequent than chance. Drag over a tail of the chart to see where in the picture they are.",
    query: "field=wz&open=statistics&analysis=distribution&time=1&map=RdBu",
  },
  {
    title: "Vortex tubes",
    text: "Where rotation wins over strain, Q is large. The surface that encloses the 4 % of the volume with the highest Q shows tubes: the sinews of turbulence. Turn the box with the mouse or the arrow keys.",
    query: "scene=true&surface=Q&tint=speed&enclosed=4&volume=64&time=1&open=particles",
  },
  {
    title: "Stretched and folded",
    text: "Each point of the flow is stretched and turned by its surroundings. The joint distribution of the invariants Q and R has the shape of a drop: most vortices are stretched, which makes them thinner and faster.",
    query: "field=Q&open=statistics&analysis=invariants&time=1",
  },
  {
    title: "Neighbours part",
    text: "Particles that start on one plane are carried away and mixed. Their paths end at the time of the view; move the time line to follow them.",
    query: "scene=true&launched=true&count=144&along=speed&time=1.4&open=particles",
  },
  {
    title: "Check for yourself",
    text: "Click anywhere: the probe reads everything at that point, by every method of interpolation, with their differences. Export copies the call that answers the same numbers in your own program.",
    query: "open=probe,export&time=1&probe=2.6,3.6,3.1415927",
  },
];

export class Tour {
  readonly #store: ViewStore;
  readonly #flow: string;
  readonly #box = document.createElement("section");
  #at = -1;
  #before = "";

  /** @param flow a dataset of isotropic turbulence */
  constructor(store: ViewStore, flow: string) {
    this.#store = store;
    this.#flow = flow;
    this.#box.id = "tour-box";
    this.#box.setAttribute("aria-labelledby", "tour-title");
    document.body.append(this.#box);
    this.#box.addEventListener("keydown", ({ key }) => {
      if (key === "Escape") this.#end();
    });
  }

  start(): void {
    if (this.#at < 0) this.#before = new URL(this.#store.link).search.slice(1);
    this.#go(0);
  }

  #go(step: number): void {
    this.#at = step;
    goTo(`dataset=${this.#flow}&${STEPS[step]?.query}`);
    this.#draw();
    this.#box.querySelector<HTMLElement>("#tour-next, #tour-end")?.focus();
  }

  /** Ends the tour; the view of the last step stays. */
  #end(): void {
    this.#at = -1;
    this.#draw();
    document.querySelector<HTMLElement>("#tour")?.focus();
  }

  #draw(): void {
    this.#box.hidden = this.#at < 0;
    const step = STEPS[this.#at];
    render(step === undefined ? nothing : this.#view(step), this.#box);
  }

  #view({ title, text }: TourStep): TemplateResult {
    const last = this.#at === STEPS.length - 1;
    return html`
      <h2 id="tour-title">${this.#at + 1} of ${STEPS.length}: ${title}</h2>
      <p>${text}</p>
      <div class="row">
        <button type="button" id="tour-back" ?disabled=${this.#at === 0} @click=${() => this.#go(this.#at - 1)}>Back</button>
        ${last ? nothing : html`<button type="button" id="tour-next" class="primary" @click=${() => this.#go(this.#at + 1)}>Next</button>`}
        <button type="button" id="tour-end" @click=${() => this.#end()}>Stay in this view</button>
        <button type="button" id="tour-return" @click=${() => this.#return()}>Back to my view</button>
      </div>
    `;
  }

  #return(): void {
    goTo(this.#before);
    this.#end();
  }
}
