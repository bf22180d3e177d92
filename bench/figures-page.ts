/**
 * Reads and rewrites the tables of docs/performance.md: the lines of figures, each with its command and date, and the
 * machines on which figures were measured.
 *
 * A comment in the last cell of a line says which rows of the benches its figures are:
 * `<!-- ours SELECTOR; theirs SELECTOR; ratio SELECTOR -->`, a selector `CASE @ BACKEND @ UNIT @ NAME=VALUE ...` with
 * braces for alternatives, `{lag4,lag6} @ simd`; what it leaves out matches everything.
 */
import type { Row } from "./row.js";

const HEAD = ["Figure", "Ours", "Anchor", "Ratio", "Aim", "Command", "Measured"];
const MACHINES = ["Measured", "Machine and programs"];
/** Which rows are the figures of a line, by the cell that shows them. */
export type Selectors = Readonly<Partial<Record<"ours" | "theirs" | "ratio", readonly string[]>>>;

/** A line of figures. */
export interface FigureLine {
  readonly cells: readonly string[];
  /** The npm script with its arguments, e.g. `bench --only kernels`; null if no script makes the figures. */
  readonly command: string | null;
  /** The day on which they were measured, `YYYY-MM-DD`. */
  readonly date: string;
  readonly selectors: Selectors;
}

/** What a report measured: rows by command, the day, and the machine in words. */
export interface Measured {
  readonly date: string;
  readonly machine: string;
  readonly rows: ReadonlyMap<string, readonly Row[]>;
}

const cellsOf = (line: string): string[] =>
  line
    .slice(1, line.lastIndexOf("|"))
    .split("|")
    .map((cell) => cell.trim());
const lineOf = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`.replace(/\| {2}(?=\|)/g, "| ");

/** Alternatives in braces, one after another: `{a,b} c` is `a c`, `b c`. */
export function alternatives(text: string): string[] {
  const [whole, list] = /\{([^}]*)\}/.exec(text) ?? [];
  if (whole === undefined || list === undefined) return [text];
  return list.split(",").flatMap((one) => alternatives(text.replace(whole, () => one)));
}

/** Reads the selectors of a comment; throws for a cell that has no figures. */
function readSelectors(comment: string): Selectors {
  const parts = comment.split(";").map((part) => /^\s*(ours|theirs|ratio) (.+?)\s*$/.exec(part));
  const selectors: Record<string, string[]> = {};
  for (const [i, part] of parts.entries()) {
    if (part === null) throw new Error(`"${comment.split(";")[i]?.trim()}" does not begin with ours, theirs or ratio`);
    const [, cell = "", selector = ""] = part;
    selectors[cell] = [...(selectors[cell] ?? []), ...alternatives(selector)];
  }
  return selectors;
}

/** Reads a line of figures; null for the titles of groups. */
function readLine(line: string): FigureLine | null {
  const cells = cellsOf(line);
  const [figure = ""] = cells;
  if (cells.length !== HEAD.length) throw new Error(`${figure}: ${cells.length} cells instead of ${HEAD.length}`);
  if (cells.slice(1).every((cell) => cell === "")) return null;
  const [, date, comment] = /^(\d{4}-\d{2}-\d{2})(?: <!-- (.*) -->)?$/.exec(cells[6] ?? "") ?? [];
  if (date === undefined) throw new Error(`${figure}: the last cell has no day`);
  if (cells[5] === "") throw new Error(`${figure}: no command`);
  const [, command = null] = /^`(bench[^`]*)`$/.exec(cells[5] ?? "") ?? [];
  return { cells, command, date, selectors: comment === undefined ? {} : readSelectors(comment) };
}

/** The lines of the page from a head on, with their places. */
function tableOf(page: string, head: readonly string[]): { first: number; lines: string[] } {
  const lines = page.split("\n");
  const at = lines.indexOf(lineOf(head));
  if (at < 0) throw new Error(`The page has no table with the head ${head.join(", ")}`);
  const length = lines.slice(at + 2).findIndex((line) => !line.startsWith("|"));
  return { first: at + 2, lines: lines.slice(at + 2, length < 0 ? undefined : at + 2 + length) };
}

/** All lines of figures. */
export function figureLines(page: string): FigureLine[] {
  return tableOf(page, HEAD).lines.flatMap((line) => readLine(line) ?? []);
}

/** The days of the table of machines. */
export function machineDays(page: string): string[] {
  return tableOf(page, MACHINES).lines.map((line) => cellsOf(line)[0] as string);
}

/** The last row that a selector matches, as benches go from small to large. */
function select(rows: readonly Row[], selector: string): Row | undefined {
  const [name, backend, unit, params = ""] = selector.split(" @ ").map((part) => part.trim());
  const wanted = params.split(" ").flatMap((one) => (one === "" ? [] : [one.split("=") as [string, string]]));
  return rows.findLast(
    (row) =>
      row.case === name &&
      (!backend || row.backend === backend) &&
      (!unit || row.unit === unit) &&
      wanted.every(([key, value]) => String(row.params[key] ?? "") === value),
  );
}

/** A number without an exponent, in groups of three digits from five on. */
function grouped(value: number, decimals: number): string {
  const text = value.toFixed(decimals);
  return Math.abs(value) < 1e4 ? text : text.replace(/\B(?=(\d{3})+(?!\d))/g, " ");
}

/** A figure and its spread, rounded to the first digit of the spread and to two of the figure at least. */
export function written(value: number, spread: number): string {
  const placeOf = (number: number) => Math.floor(Math.log10(Math.abs(number)));
  if (value === 0) return "0";
  const place = Math.min(spread > 0 ? placeOf(spread) : placeOf(value) - 2, placeOf(value) - 1);
  const decimals = Math.max(0, -place);
  const round = (number: number) => Math.round(number / 10 ** place) * 10 ** place;
  const figure = grouped(round(value), decimals);
  return round(spread) > 0 ? `${figure} ± ${grouped(round(spread), decimals)}` : figure;
}

/** Figures one after another, with their unit at the end if they share it; ratios have none. */
function listed(rows: readonly Row[], withUnit: boolean): string {
  const figures = rows.map(({ value, spread }) => written(value, spread));
  if (!withUnit) return figures.join(", ");
  const units = rows.map(({ unit }) => unit.replace("/point", " per point"));
  if (new Set(units).size === 1) return `${figures.join(", ")} ${units[0]}`;
  return figures.map((figure, i) => `${figure} ${units[i]}`).join(", ");
}

/**
 * A line with the figures of new rows.
 *
 * @returns null if a row is missing: then the whole line stays as it is, so that its figures are of one day
 */
function renewed({ cells, selectors }: FigureLine, rows: readonly Row[], date: string): string | null {
  const next = [...cells];
  for (const [at, cell] of [
    ["ours", 1],
    ["theirs", 2],
    ["ratio", 3],
  ] as const) {
    const wanted = selectors[at];
    if (wanted === undefined) continue;
    const found = wanted.map((selector) => select(rows, selector));
    if (found.includes(undefined)) return null;
    const figures = listed(found as Row[], at !== "ratio");
    next[cell] = at === "theirs" ? `${next[cell]?.replace(/: .*$/, "")}: ${figures}` : figures;
  }
  next[6] = (next[6] as string).replace(/^\S+/, date);
  return lineOf(next);
}

/**
 * The page with the figures of a report, and with the machines of the days that its figures are of.
 *
 * @returns the page, and the figures whose command was run but whose rows it did not print
 */
export function rewritePage(page: string, { date, machine, rows }: Measured): { page: string; missing: string[] } {
  const missing: string[] = [];
  const lines = page.split("\n");
  const figures = tableOf(page, HEAD);
  for (const [i, text] of figures.lines.entries()) {
    const line = readLine(text);
    const made = line?.command ? rows.get(line.command) : undefined;
    if (!line || !made || Object.keys(line.selectors).length === 0) continue;
    const next = renewed(line, made, date);
    if (next === null) missing.push(`${line.cells[0]} (${line.command})`);
    else lines[figures.first + i] = next;
  }
  const days = new Set(figureLines(lines.join("\n")).map((line) => line.date));
  const machines = tableOf(page, MACHINES);
  const known = machines.lines.filter((line) => {
    const [day = ""] = cellsOf(line);
    return days.has(day) && day !== date;
  });
  if (days.has(date)) known.push(lineOf([date, machine]));
  lines.splice(machines.first, machines.lines.length, ...known);
  return { page: lines.join("\n"), missing };
}
