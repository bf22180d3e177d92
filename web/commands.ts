/** Commands: what the user can choose in Find and in menus, as items with their actions. */
import { cardNames, chooseCard } from "./cards.js";
import { confirmable, openDrafts } from "./drafts.js";
import { openJobs } from "./export/jobs-list.js";
import { openShare } from "./export/share.js";
import { openExport } from "./export.js";
import { type Item, openFinder } from "./finder.js";
import { showTab, TABS } from "./inspector.js";
import { say } from "./notify.js";
import { togglePlay } from "./playing.js";
import { toggleRuler } from "./ruler.js";
import { centreHere, fit } from "./stage-input.js";
import { tool } from "./stage-state.js";
import { type Dataset, middleOf, type Vec3, wrapped } from "./state/dataset.js";
import { plainNumber } from "./state/format.js";
import { EMPTY } from "./state/link.js";
import { change, dataset, datasets, needsToken, open, saveLink, view } from "./state/model.js";
import { type Quantity, quantitiesOf, quantityOf } from "./state/quantities.js";

/** Chooses a quantity, with the default range of its values. */
export function chooseQuantity(what: string): void {
  change({ what, map: null });
  const set = dataset.peek();
  if (set !== null) document.title = `${quantityOf(what).symbol} of ${set.name} · fieldprobe`;
}

/** Opens a dataset; choices are kept where the dataset has them. */
export async function chooseDataset(name: string): Promise<void> {
  const { method, show, flow, stage } = view.peek();
  await open({ ...EMPTY, dataset: name, method, show: show === "compare" ? "four" : show, flow, stage });
  saveLink("push");
}

const quantityItem = (quantity: Quantity): Item => ({
  name: quantity.symbol,
  about: quantity.title,
  kind: quantity.group,
  words: `${quantity.what} ${quantity.words ?? ""}`,
  run: () => chooseQuantity(quantity.what),
});

/** The item of a typed expression. */
const expressionItem = (text: string): Item => ({
  name: text,
  about: "Show this expression",
  kind: "Expression",
  run: () => chooseQuantity(text),
});

export function chooseFrom(title: string, items: readonly Item[], typed?: (text: string) => Item | null): void {
  openFinder({ title, items, ...(typed === undefined ? {} : { typed }) });
}

/** The item that opens the drafts, for those who may confirm them. */
const addData = (): Item[] =>
  confirmable() === 0
    ? []
    : [
        {
          name: "Add data",
          about: `${confirmable()} ${confirmable() === 1 ? "file waits" : "files wait"} to be confirmed`,
          kind: "Dataset",
          words: "draft upload inspect",
          run: openDrafts,
        },
      ];

export const datasetItems = (): Item[] => [...addData(), ...servedItems()];
const servedItems = (): Item[] =>
  (datasets.peek() ?? []).map(({ name, title }) => ({
    name,
    about: title,
    kind: "Dataset",
    run: () => void chooseDataset(name).catch((error: unknown) => say(String((error as Error).message))),
  }));

const timeItems = ({ times }: Dataset): Item[] =>
  times.map((time) => ({
    name: `t = ${plainNumber(time)}`,
    about: "Stored time",
    kind: "Time",
    run: () => change({ time }),
  }));

export const methodItems = ({ methods }: Dataset): Item[] =>
  methods.map((method) => ({
    name: method,
    about: methodTitle(method),
    kind: "Method",
    run: () => change({ method }),
  }));

function methodTitle(method: string): string {
  if (method === "nearest") return "Value of the nearest node";
  const [, nodes] = /^Lag(\d)$/.exec(method) ?? [];
  if (nodes !== undefined) return `Lagrange polynomials on ${nodes} nodes an axis`;
  const [, smooth, width] = /^M(\d)Q(\d+)$/.exec(method) ?? [];
  return smooth === undefined ? "Interpolation" : `Spline on ${width} nodes, ${smooth} continuous derivatives`;
}

const commands = (set: Dataset): Item[] => [
  ...(["four", "slice:z", "3d", "compare"] as const).map((show, i) => ({
    name: ["Four views", "Slice", "3-D", "Compare"][i],
    about: "Show",
    kind: "Command",
    run: () => change({ show }),
  })),
  {
    name: "Strongest vortex",
    about: "Crosshair to the largest Q",
    kind: "Place",
    words: "maximum",
    run: () => change({ cross: null, centre: null }),
  },
  {
    name: "Middle of the box",
    about: "Crosshair to the centre",
    kind: "Place",
    run: () => change({ cross: middleOf(set) }),
  },
  { name: "Fit", about: "Whole box in every view", kind: "Command", words: "zoom reset", run: fit },
  { name: "Centre here", about: "Crosshair into the middle of the views", kind: "Command", run: centreHere },
  { name: "Play", about: "Play or stop time", kind: "Command", words: "movie animation", run: togglePlay },
  {
    name: "Export figure",
    about: "Figure for a paper or slide",
    kind: "Command",
    words: "png pdf picture",
    run: () => openExport("figure"),
  },
  {
    name: "Export movie",
    about: "Time or turntable",
    kind: "Command",
    words: "video webm",
    run: () => openExport("movie"),
  },
  {
    name: "Export data",
    about: "Plane, box or nodes as a file",
    kind: "Command",
    words: "download csv netcdf hdf5",
    run: () => openExport("data"),
  },
  {
    name: "Code",
    about: "curl, Python and command line of this question",
    kind: "Command",
    words: "api request",
    run: () => openExport("code"),
  },
  {
    name: "Share",
    about: "Link, curl, Python and command line of what is shown",
    kind: "Command",
    run: () => openShare(),
  },
  { name: "Jobs", about: "Progress and results of jobs", kind: "Command", words: "queue batch", run: openJobs },
  {
    name: "Token",
    about: "For requests, until the page is closed",
    kind: "Command",
    run: () => {
      needsToken.value = true;
    },
  },
  ...TABS.map((name) => ({ name, about: "Tab of the inspector", kind: "Panel", run: () => showTab(name) })),
  ...cardNames(set).map((card) => ({
    name: card,
    about: "Statistics",
    kind: "Statistics",
    run: () => {
      chooseCard(card);
      showTab("Statistics");
    },
  })),
  {
    name: "Ruler",
    about: "Measure a distance in a plane",
    kind: "Command",
    words: "length distance",
    run: toggleRuler,
  },
  {
    name: "Dye",
    about: "Draw in a plane, and see where it flows",
    kind: "Command",
    words: "tracers",
    run: () => {
      tool.value = "dye";
      showTab("Particles");
    },
  },
  {
    name: "Streaks",
    about: "Moving streaks of the flow, on or off",
    kind: "Command",
    words: "LIC flow arrows",
    run: () => change({ flow: view.peek().flow === "off" ? "streaks" : "off" }),
  },
  {
    name: "Light stage",
    about: "Light or dark background",
    kind: "Command",
    words: "theme dark white",
    run: () => change({ stage: view.peek().stage === "dark" ? "light" : "dark" }),
  },
];

/** The item of a typed position, three numbers. */
function placeItem(text: string): Item | null {
  const numbers = text.split(/[\s,;]+/).map(Number);
  const set = dataset.peek();
  if (set === null || numbers.length !== 3 || !numbers.every(Number.isFinite)) return null;
  const place = numbers.map((one, a) => wrapped(set.axes[a], one)) as unknown as Vec3;
  return { name: text, about: "Crosshair to this place", kind: "Place", run: () => change({ cross: place }) };
}

/** Opens Find with all items. */
export function openFind(): void {
  const set = dataset.peek();
  if (set === null) return;
  const items = [
    ...quantitiesOf(set).map(quantityItem),
    ...commands(set),
    ...datasetItems(),
    ...timeItems(set),
    ...methodItems(set),
  ];
  openFinder({
    title: "Find a quantity, a dataset, a command …",
    items,
    typed: (text) => placeItem(text) ?? expressionItem(text),
  });
}

export function openQuantities(): void {
  const set = dataset.peek();
  if (set !== null) chooseFrom("Quantity or expression", quantitiesOf(set).map(quantityItem), expressionItem);
}
