/** Commands: what the user can choose in Find and in menus, as items with their actions. */
import { cardNames, chooseCard } from "./cards.js";
import { setting } from "./controls.js";
import { confirmable, openDrafts } from "./drafts.js";
import { report } from "./export/download.js";
import { openJobs } from "./export/jobs-list.js";
import { openShare } from "./export/share.js";
import { openExport } from "./export.js";
import { type Item, openFinder } from "./finder.js";
import { showTab, TABS } from "./inspector.js";
import { togglePlay } from "./playing.js";
import { toggleRuler } from "./ruler.js";
import { centreHere, fit, goTo } from "./stage-input.js";
import { tool } from "./stage-state.js";
import { type Dataset, middleOf, timeText } from "./state/dataset.js";
import { exactNumber } from "./state/format.js";
import { EMPTY } from "./state/link.js";
import { change, dataset, datasets, needsToken, open, view } from "./state/model.js";
import { type Quantity, quantitiesOf } from "./state/quantities.js";

export const chooseQuantity = (what: string): void => change({ what, map: null });

/** Opens a dataset; choices are kept where the dataset has them. */
export async function chooseDataset(name: string): Promise<void> {
  const { method, show, flow, stage } = view.peek();
  await open({ ...EMPTY, dataset: name, method, show: show === "compare" ? "four" : show, flow, stage }, "choice");
}

const quantityItem = (quantity: Quantity): Item => ({
  name: quantity.symbol,
  about: quantity.title,
  kind: quantity.group,
  words: `${quantity.what} ${quantity.words ?? ""}`,
  run: () => chooseQuantity(quantity.what),
});

const expressionItem = (text: string): Item => ({
  name: text,
  about: "Show this expression",
  kind: "Expression",
  run: () => chooseQuantity(text),
});

const addData = (): Item => ({
  name: "Add data",
  about: `${confirmable()} ${confirmable() === 1 ? "file waits" : "files wait"} to be confirmed`,
  kind: "Dataset",
  words: "draft upload inspect",
  run: openDrafts,
});

export const datasetItems = (): Item[] => [...(confirmable() === 0 ? [] : [addData()]), ...servedItems()];
const servedItems = (): Item[] =>
  (datasets.peek() ?? []).map(({ name, title }) => ({
    name,
    about: title,
    kind: "Dataset",
    run: () => void chooseDataset(name).catch(report),
  }));

const timeItems = (set: Dataset): Item[] =>
  set.times.map((time) => ({
    name: `t = ${timeText(set, time)}`,
    about: "Stored time",
    kind: "Time",
    words: `t = ${exactNumber(time)}`,
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

/** Rows of commands: name, what it does, further words by which Find finds it, and the action. */
const commandRows = (set: Dataset): (readonly [string, string, string, () => void])[] => [
  ...(["four", "slice:z", "3d", "compare"] as const).map(
    (show, i) => [["Four views", "Slice", "3-D", "Compare"][i], "Show", "", () => change({ show })] as const,
  ),
  ["Strongest vortex", "Crosshair to the largest Q", "maximum place", () => change({ cross: null, centre: null })],
  ["Middle of the box", "Crosshair to the centre", "place", () => change({ cross: middleOf(set) })],
  ["Fit", "Whole box in every view", "zoom reset", fit],
  ["Centre here", "Crosshair into the middle of the views", "", centreHere],
  ["Play", "Play or stop time", "movie animation", togglePlay],
  ["Export figure", "Figure for a paper or slide", "png pdf picture", () => openExport("figure")],
  ["Export movie", "Time or turntable", "video webm", () => openExport("movie")],
  ["Export data", "Plane, box or nodes as a file", "download csv netcdf hdf5", () => openExport("data")],
  ["Code", "curl, Python and command line of this question", "api request", () => openExport("code")],
  ["Share", "Link, curl, Python and command line of what is shown", "", () => openShare()],
  ["Jobs", "Progress and results of jobs", "queue batch", openJobs],
  ["Token", "For requests, until the page is closed", "", setting(needsToken, true)],
  ["Ruler", "Measure a distance in a plane", "length distance", toggleRuler],
  ["Dye", "Draw in a plane, and see where it flows", "tracers", startDye],
  ["Streaks", "Moving streaks of the flow, on or off", "LIC flow arrows", toggleStreaks],
  ["Light stage", "Light or dark background", "theme dark white", toggleStage],
  ...TABS.map((name) => [name, "Tab of the inspector", "panel", () => showTab(name)] as const),
];
const toggleStreaks = () => change({ flow: view.peek().flow === "off" ? "streaks" : "off" });
const toggleStage = () => change({ stage: view.peek().stage === "dark" ? "light" : "dark" });
function startDye(): void {
  tool.value = "dye";
  showTab("Particles");
}

const commands = (set: Dataset): Item[] => [
  ...commandRows(set).map(([name, about, words, run]) => ({ name, about, kind: "Command", words, run })),
  ...cardNames(set).map((card) => ({
    name: card,
    about: "Statistics",
    kind: "Statistics",
    run: () => {
      chooseCard(card);
      showTab("Statistics");
    },
  })),
];

function placeItem(text: string): Item | null {
  const numbers = text.split(/[\s,;]+/).map(Number);
  const set = dataset.peek();
  if (set === null || numbers.length !== 3 || !numbers.every(Number.isFinite)) return null;
  return { name: text, about: "Crosshair to this place", kind: "Place", run: () => goTo(set, numbers) };
}

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
    typed: (text) => placeItem(text) ?? (/^t *=/.test(text) ? null : expressionItem(text)),
  });
}

export function openQuantities(): void {
  const set = dataset.peek();
  if (set !== null)
    openFinder({ title: "Quantity or expression", items: quantitiesOf(set).map(quantityItem), typed: expressionItem });
}
