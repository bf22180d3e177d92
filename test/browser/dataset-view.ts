/** A dataset in the page: its views by their addresses, what it shows, and what the service answers about the same. */
import type { BrowserContextOptions, Page } from "playwright-core";
import { readOutOf } from "./pictures.js";
import { askService, openPage, settled, TEST_PANELS, type useStage, type Watched } from "./stage.js";

/** A service and a browser. */
type Stage = Pick<ReturnType<typeof useStage>, "service" | "browser">;

/** A dataset with what is asked of it: methods that fit, and whether it lacks the third direction or some values. */
export interface Kind {
  readonly name: string;
  readonly values: string;
  readonly second: string | null;
  readonly flat: boolean;
  readonly holes: boolean;
  readonly speedUnit: string;
  readonly lengthUnit: string;
}

export const KINDS: readonly Kind[] = [
  { name: "isotropic32", values: "Lag4", second: "None", flat: false, holes: false, speedUnit: "", lengthUnit: "" },
  { name: "walled", values: "Lag4", second: "None", flat: false, holes: false, speedUnit: "U_b", lengthUnit: "h" },
  { name: "planar", values: "None", second: null, flat: true, holes: false, speedUnit: "m/s", lengthUnit: "m" },
  { name: "perforated", values: "None", second: "Lag4", flat: false, holes: true, speedUnit: "m/s", lengthUnit: "m" },
];

export interface Axis {
  readonly name: string;
  readonly nodes: number;
  readonly first: number;
  readonly length: number;
  readonly spacing: number;
  readonly periodic: boolean;
  readonly coordinates?: readonly number[];
}

export interface Facts {
  readonly title: string;
  readonly digest: string;
  readonly axes: readonly [Axis, Axis, Axis];
  readonly times: { readonly stored: readonly number[]; readonly guardBefore: number };
  readonly units: Readonly<Record<string, string>>;
  readonly operations: readonly { name: string; available: boolean; spatialInterpolation: readonly string[] }[];
}

/** A slice as the service answers it, rows from the smallest coordinates up. */
export interface Answer {
  readonly url: string;
  readonly values: Float32Array;
  readonly rows: number;
  readonly columns: number;
  /** Places of a column and of a row as fractions of the picture from its upper left corner. */
  readonly across: (column: number) => number;
  readonly down: (row: number) => number;
}

export type Triple = [number, number, number];

/** The values that are numbers. */
export const finite = (values: Float32Array): number[] => [...values].filter(Number.isFinite);

/** A number of a table; "no data" is none. */
export const numberOf = (cell: string | undefined): number =>
  cell === "no data" ? Number.NaN : Math.fround(Number(cell));

export class DatasetView {
  readonly kind: Kind;
  readonly watched: Watched;
  readonly page: Page;
  readonly facts: Facts;
  readonly middle: Triple;
  /** The lower left corner of the plane in the middle, where the probe is out of the way. */
  readonly corner: Triple;
  readonly #service: Stage["service"];

  private constructor(kind: Kind, watched: Watched, facts: Facts, service: Stage["service"]) {
    this.kind = kind;
    this.watched = watched;
    this.page = watched.page;
    this.facts = facts;
    this.#service = service;
    this.middle = facts.axes.map((axis) => Math.fround(axis.first + axis.length / 2)) as Triple;
    this.corner = [facts.axes[0].first, facts.axes[1].first, this.middle[2]];
  }

  /** @param options of the browser, such as a touch screen */
  static async open(
    { service, browser }: Stage,
    kind: Kind,
    options: BrowserContextOptions = {},
  ): Promise<DatasetView> {
    const facts = (await (await fetch(`${service.url}/api/datasets/${kind.name}`)).json()) as Facts;
    return new DatasetView(
      kind,
      await openPage(browser, `${service.url}/?dataset=${kind.name}`, options),
      facts,
      service,
    );
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }

  /** Shows a view by its address, without loading the page again; the probe is in a corner of the plane. */
  async show(members: Readonly<Record<string, string | number>> = {}): Promise<void> {
    const { name, values } = this.kind;
    const usual = {
      dataset: name,
      field: "ux",
      values,
      nodes: 32,
      map: "viridis",
      scaling: "picture",
      open: TEST_PANELS,
      probe: this.corner.join(","),
    };
    const all = Object.entries({ ...usual, ...members });
    const query = new URLSearchParams(all.map(([member, value]) => [member, String(value)]));
    await this.page.evaluate((search) => {
      history.replaceState(null, "", `?${search}`);
      dispatchEvent(new PopStateEvent("popstate"));
      scrollTo(0, 0);
    }, query.toString());
    await settled(this.page);
  }

  query(name: string): string | null {
    return new URL(this.page.url()).searchParams.get(name);
  }

  numbersIn(name: string): number[] {
    return (this.query(name) ?? "").split(",").map(Number);
  }

  async text(selector: string): Promise<string> {
    return ((await this.page.textContent(selector)) ?? "").trim().replaceAll(/\s+/g, " ");
  }

  /** The values of a select. */
  options(selector: string): Promise<string[]> {
    return this.page.$$eval(`${selector} option`, (all) => all.map((option) => (option as HTMLOptionElement).value));
  }

  /** One record of the service at a point, by the method of the view. */
  ask(operation: string, point: readonly number[], more: object = {}): Promise<number[]> {
    const usual = { time: 0, spatialInterpolation: this.kind.values, temporalInterpolation: "PCHIP" };
    return askService(this.#service, this.kind.name, operation, { ...usual, ...more }, point);
  }

  async boxOf(selector: string): Promise<{ x: number; y: number; width: number; height: number }> {
    const box = await this.page.locator(selector).boundingBox();
    if (box === null) throw new Error(`${selector} is not there`);
    return box;
  }

  /** Place and value under the pointer. */
  async readOut(): Promise<{ point: Triple; value: number }> {
    const parts = await readOutOf(this.page);
    return { point: parts.slice(0, 3) as Triple, value: parts[3] as number };
  }

  /** The last slice with these members that the page asked for, as the service answers it. */
  async slice(given: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const { facts, kind, middle, watched } = this;
    const query = (name: string) => this.query(name);
    const axis = given.axis ?? query("axis") ?? "z";
    const at = (query("layout") === "three" ? null : query("at")) ?? String(middle["xyz".indexOf(axis)]);
    const view = { time: query("time") ?? "0", method: query("values") ?? kind.values, axis, at };
    const members: Record<string, string> = { ...view, ...given };
    const numbersOf = (text: string | null) => (text ?? "").split(",").map((part) => Math.fround(Number(part)));
    const isWhole = (asked: URLSearchParams) => {
      const first = facts.axes.filter(({ name }) => name !== asked.get("axis")).map((axis) => axis.first);
      return String(numbersOf(asked.get("region.origin"))) === String(first.map(Math.fround));
    };
    const whole = query("window") === null && query("nodes") !== "grid";
    const url = watched.calls.findLast((address) => {
      const asked = new URL(address).searchParams;
      const has = ([name, value]: [string, string]) => {
        const given = asked.get(name);
        return given === value || Math.fround(Number(given ?? "-")) === Math.fround(Number(value));
      };
      return address.includes("/slice?") && Object.entries(members).every(has) && (!whole || isWhole(asked));
    });
    if (url === undefined) throw new Error(`no slice with ${JSON.stringify(members)} was asked for`);
    const response = await fetch(url);
    const list = (name: string) => (response.headers.get(`fieldprobe-${name}`) ?? "").split(",");
    const [rows = 0, columns = 0] = list("shape").map(Number);
    const names = list("axes");
    const window = given.axis === undefined && query("window") !== null ? this.numbersIn("window") : null;
    const [up, across] = [0, 1].map((side) => {
      const axis = facts.axes["xyz".indexOf(names[side] as string)] as Axis;
      const [origin = 0, spacing = 0] = [list("origin"), list("spacing")].map((numbers) => Number(numbers[side]));
      const [low = 0, high = 0] = window?.slice(side === 0 ? 2 : 0) ?? [axis.first, axis.first + axis.length];
      return (index: number) => (origin + index * spacing - low) / (high - low);
    }) as [(index: number) => number, (index: number) => number];
    const values = new Float32Array(await response.arrayBuffer());
    return { url, rows, columns, values, across, down: (row) => 1 - up(row) };
  }

  /** The cells of a data table, opened if it is not. */
  async tableOf(id: string): Promise<string[][]> {
    const { page } = this;
    const box = page.locator(`#${id}-table`);
    if (!(await box.evaluate((details) => (details as HTMLDetailsElement).open))) await box.locator("summary").click();
    await page.waitForSelector(`#${id}-table tbody tr`);
    return page.$$eval(`#${id}-table tbody tr`, (all) =>
      all.map((row) => [...row.children].map((cell) => cell.textContent?.trim() ?? "")),
    );
  }
}
