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
import { type Quantity, quantitiesOf } from "./state/quantities.js";
import { change, dataset, datasets, needsToken, open, view } from "./state/view.js";

export const chooseQuantity = (what: string): void => change({ what, map: null });

/** Opens a dataset; choices are kept where the dataset has them. */
export async function chooseDataset(name: string): Promise<void> {
  const { method, show, flow, stage } = view.peek();
  await open({ ...EMPTY, dataset: name, method, show: show === "compare" ? "four" : show, flow, stage }, "choice");
}

const itemOf = (kind: string, name: string, about: string, run: () => void, words = ""): Item => ({
  ...{ kind, name, about, run, words },
});

const quantityItem = ({ symbol, title, group, what, words = "" }: Quantity): Item =>
  itemOf(group, symbol, title, () => chooseQuantity(what), `${what} ${words}`);

const expressionItem = (text: string): Item =>
  itemOf("Expression", text, "Show this expression", () => chooseQuantity(text));

export function datasetItems(): Item[] {
  const count = confirmable();
  const about = `${count} ${count === 1 ? "file waits" : "files wait"} to be confirmed`;
  const adding = count === 0 ? [] : [itemOf("Dataset", "Add data", about, openDrafts, "draft upload inspect")];
  const served = (datasets.peek() ?? []).map(({ name, title }) =>
    itemOf("Dataset", name, title, () => void chooseDataset(name).catch(report)),
  );
  return [...adding, ...served];
}

const timeItems = (set: Dataset): Item[] =>
  set.times.map((time) =>
    itemOf("Time", `t = ${timeText(set, time)}`, "Stored time", () => change({ time }), `t = ${exactNumber(time)}`),
  );

export const methodItems = ({ methods }: Dataset): Item[] =>
  methods.map((method) => itemOf("Method", method, methodTitle(method), () => change({ method })));

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
  ...commandRows(set).map(([name, about, words, run]) => itemOf("Command", name, about, run, words)),
  ...cardNames(set).map((card) =>
    itemOf("Statistics", card, "Statistics", () => {
      chooseCard(card);
      showTab("Statistics");
    }),
  ),
];

function placeItem(text: string): Item | null {
  const numbers = text.split(/[\s,;]+/).map(Number);
  const set = dataset.peek();
  if (set === null || numbers.length !== 3 || !numbers.every(Number.isFinite)) return null;
  return itemOf("Place", text, "Crosshair to this place", () => goTo(set, numbers));
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
