/** Start of the page: the parts around the stage, keys, and the address. */
import { effect } from "@preact/signals-core";
import { render } from "lit-html";
import "./style.css";
import { wantCards } from "./cards.js";
import { openFind, openQuantities } from "./commands.js";
import { onceThen } from "./controls.js";
import { readWaiting } from "./drafts.js";
import { download, report } from "./export/download.js";
import { finderView } from "./finder.js";
import { tab } from "./inspector.js";
import { stepTime, togglePlay } from "./playing.js";
import { wantPoint } from "./point.js";
import { sampleTable } from "./readout.js";
import { toggleRuler } from "./ruler.js";
import { chooseShow, overStage, PARTS, wantSeries } from "./shell.js";
import { Stage } from "./stage.js";
import { centreHere, fit, listen, step } from "./stage-input.js";
import { picked, stroke, tool } from "./stage-state.js";
import { jobAbove } from "./state/answers.js";
import { AXIS_NAMES } from "./state/dataset.js";
import { turnBack, turned } from "./state/history.js";
import { readLink, type Show } from "./state/link.js";
import { PLANE_AXES } from "./state/picture-plan.js";
import { change, dataset, isDragging, isPlaying, open, openAddress, view } from "./state/view.js";

// Relative addresses of the document are made absolute, since its own address changes with the view.
for (const link of document.querySelectorAll("link")) link.href = new URL(link.href).href;

const app = document.getElementById("app") as HTMLElement;
const stageRoot = app.querySelector(".stage") as HTMLElement;
stageRoot.tabIndex = 0;
stageRoot.setAttribute("aria-label", "Views");
const [over, samples] = [document.createElement("div"), document.createElement("div")];
stageRoot.append(over, samples);
app.querySelector(".bar")?.remove();
function slotOf(name: string): HTMLElement {
  const slot = document.createElement("div");
  slot.style.display = "contents";
  if (name === "bar") app.prepend(slot);
  else app.append(slot);
  return slot;
}

const stage = new Stage(stageRoot);
listen(stageRoot);

/** Milliseconds between renderings of a part during drags and playing, which leave the time to the stage. */
const CALM_MS = 250;

/** Renders a part of the page whenever what it reads changes, at most once a frame of the screen. */
function rendering(draw: () => void, calm = 0): void {
  let isQueued = false;
  let last = 0;
  let dispose: (() => void) | undefined;
  const run = () => {
    const isMoving = isDragging.peek() || isPlaying.peek();
    if (isMoving && performance.now() - last < calm) {
      setTimeout(run, calm);
      return;
    }
    isQueued = false;
    last = performance.now();
    dispose?.();
    dispose = onceThen(draw, () => {
      if (!isQueued) requestAnimationFrame(run);
      isQueued = true;
    });
  };
  run();
}

for (const [name, part] of Object.entries(PARTS)) {
  const slot = slotOf(name);
  rendering(() => render(part(), slot), name === "time" ? 0 : CALM_MS);
}
const finder = slotOf("finder");
rendering(() => render(overStage(), over));
rendering(() => render(sampleTable(), samples), CALM_MS);
rendering(() => {
  render(finderView(), finder);
  const dialog = finder.querySelector("dialog");
  if (dialog !== null && !dialog.open) dialog.showModal();
});
effect(() => wantSeries(dataset.value));
effect(() => wantPoint(tab.value === "Point" ? dataset.value : null));
effect(() => wantCards(dataset.value, tab.value));
effect(() => {
  app.dataset.stage = view.value.stage;
});

const SHOW_KEYS: Readonly<Record<string, Show>> = {
  ...{ x: "slice:x", y: "slice:y", z: "slice:z" },
  ...{ "1": "slice:z", "2": "3d", "3": "four", "4": "compare" },
};

addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
    event.preventDefault();
    openFind();
    return;
  }
  const isTyping = event.target instanceof Element && event.target.matches("input, textarea, select");
  if (isTyping || document.querySelector("dialog[open]") !== null) return;
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z") {
    event.preventDefault();
    turnBack(event.shiftKey ? 1 : -1);
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const isStage = document.activeElement === stageRoot || document.activeElement === document.body;
  if (!isStage) return;
  const by = event.shiftKey ? 10 : 1;
  const show = SHOW_KEYS[event.key];
  const normal = view.peek().show.startsWith("slice") ? "xyz".indexOf(view.peek().show.slice(-1)) : 2;
  const [h, v] = PLANE_AXES[AXIS_NAMES[normal]];
  const actions: Readonly<Record<string, () => void>> = {
    ArrowRight: () => step(h, by),
    ArrowLeft: () => step(h, -by),
    ArrowUp: () => step(v, by),
    ArrowDown: () => step(v, -by),
    "]": () => step(normal, by),
    "[": () => step(normal, -by),
    ".": () => stepTime(1),
    ",": () => stepTime(-1),
    " ": togglePlay,
    f: fit,
    c: centreHere,
    p: () => change({ pins: [...view.peek().pins, view.peek().cross ?? [0, 0, 0]] }),
    m: toggleRuler,
    Escape: () => {
      tool.value = "cross";
      stroke.value = null;
      picked.value = null;
    },
    "/": openQuantities,
    "?": openFind,
  };
  const action = show === undefined ? actions[event.key] : () => chooseShow(show);
  if (action === undefined) return;
  event.preventDefault();
  action();
});

addEventListener("click", download);
addEventListener("popstate", () => {
  turned();
  const name = /\/view\/([^/]+)$/.exec(location.pathname)?.[1];
  if (name !== undefined) open(readLink(decodeURIComponent(name), location.search)).catch(report);
});

void openAddress().then(readWaiting);

const probe = {
  settled: async (): Promise<void> => {
    for (let quiet = 0; quiet < 3; ) {
      await new Promise(requestAnimationFrame);
      quiet = stage.isSettled ? quiet + 1 : 0;
    }
  },
  get finished() {
    return stage.finished();
  },
  view,
  jobAbove,
};
Object.assign(globalThis, { stage: probe });
