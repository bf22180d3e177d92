/** Tables of the answers of analyses, for CSV, NumPy files and plots. */
import { RequestError } from "../shared/errors.js";

type AnswerMembers = Readonly<Record<string, unknown>>;

/** A table: columns by name, and the columns that a plot shows. */
export interface AnalysisTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  /** Columns along and up a plot; null if the table has no curve. */
  readonly plot: {
    readonly x: string;
    /** Columns whose mean is along the plot instead of `x`. */
    readonly along?: readonly string[];
    /** What is along the plot; absent: `x`. */
    readonly title?: string;
    readonly y: readonly string[];
    readonly by?: string;
    readonly log: boolean;
  } | null;
  /** Whether a plot shows a row; absent: it shows all. */
  readonly shown?: (row: readonly unknown[]) => boolean;
}

function flatten(value: unknown, name: string, out: Map<string, unknown>): Map<string, unknown> {
  if (typeof value === "object" && value !== null)
    for (const [key, member] of Object.entries(value)) flatten(member, name === "" ? key : `${name}.${key}`, out);
  else out.set(name, value);
  return out;
}

function tableOf(items: readonly unknown[], plot: AnalysisTable["plot"]): AnalysisTable {
  const flat = items.map((item) => flatten(item, "", new Map()));
  const columns = [...new Set(flat.flatMap((row) => [...row.keys()]))];
  return { columns, rows: flat.map((row) => columns.map((column) => row.get(column) ?? "")), plot };
}

/** Members of a result with a number for each bin. Their columns are in the singular. */
const OF_BINS = ["density", "counts", "weights", "mean", "variance", "mean_se", "variance_se"];

function resultTable(result: AnswerMembers): AnalysisTable {
  if (result.coordinates !== undefined) return profileTable(result);
  if (isOfComponents(result)) return tableOf(partsOf(result), null);
  if (result.edges !== undefined) return binsTable(result);
  if (result.highest === undefined) return tableOf([result], null);
  const side = (name: string) => (result[name] as AnswerMembers[]).map((one) => ({ side: name, ...one }));
  return tableOf([...side("highest"), ...side("lowest")], null);
}

/** Whether lists of a result have an element for each component of a quantity. */
const isOfComponents = ({ of, matrix, edges }: AnswerMembers): boolean =>
  Array.isArray(of) && matrix === undefined && edges === undefined;

const partsOf = (result: AnswerMembers): readonly AnswerMembers[] =>
  (result.of as readonly string[]).map((_, c) => sliceOf(result, (list) => list[c]));

/** A result with a part of each list, in nested members too. */
function sliceOf(result: AnswerMembers, part: (list: readonly unknown[], name: string) => unknown): AnswerMembers {
  const sliced = Object.entries(result).map(([name, value]) => {
    if (Array.isArray(value)) return [name, part(value, name)];
    const isNested = typeof value === "object" && value !== null && name !== "coordinates";
    return [name, isNested ? sliceOf(value as AnswerMembers, part) : value];
  });
  return Object.fromEntries(sliced);
}

function binsTable(result: AnswerMembers): AnalysisTable {
  const edges = result.edges as readonly number[] | readonly (readonly number[])[];
  const [across = [], up] = (Array.isArray(edges[0]) ? edges : [edges]) as readonly (readonly number[])[];
  const numbers = Object.fromEntries(
    OF_BINS.flatMap((one) => (one in result ? [[one.replace(/s$/, ""), result[one]]] : [])),
  );
  const rows = across.slice(1).flatMap((to, i) => {
    const bin = { from: across[i], to };
    if (up === undefined) return [{ ...bin, ...sliceOf(numbers, (list) => list[i]) }];
    const line = sliceOf(numbers, (list) => list[i]);
    return up.slice(1).map((to2, j) => ({ ...bin, from2: up[j], to2, ...sliceOf(line, (list) => list[j]) }));
  });
  const y = ["mean" in result ? "mean" : "weight"];
  const title = String(result.on ?? result.of);
  return tableOf(rows, up === undefined ? { x: "from", along: ["from", "to"], title, y, log: false } : null);
}

/** Coordinates of places along the kept axes, the slowest first, as lists of a result are nested. */
type Coordinates = Readonly<Record<string, readonly number[]>>;

const isOfAllPlaces = (name: string): boolean => name === "at" || name === "edges";

/** Whether a member of a result varies along an axis that is kept. */
function variesAlong(name: string, axis: string): boolean {
  if (isOfAllPlaces(name)) return false;
  if (name === "convection_velocity") return axis !== "omega";
  if (["mean_convection_velocity", "realisations", "missing"].includes(name)) return axis !== "omega" && axis !== "k";
  if (name === "wavelength") return axis.startsWith("k");
  return name.endsWith("_plus") ? axis === name[0] : true;
}

/** The rows of a result at each place along axes, after the coordinates of the place. */
function rowsAt(result: AnswerMembers, axes: readonly [string, readonly number[]][], places = {}): readonly object[] {
  const [[axis, along] = ["", []], ...more] = axes;
  if (axes.length === 0) {
    const { columns, rows } = resultTable(result);
    return rows.map((row) => ({ ...places, ...numbered(row, columns) }));
  }
  const at = (i: number) => sliceOf(result, (list, name) => (variesAlong(name, axis) ? list[i] : list));
  return along.flatMap((place, i) => rowsAt(at(i), more, { [axis]: place, ...places }));
}

/** The rows of a result at each place, x first. Members that are of no kept axis are left out. */
function profileTable({ coordinates, beside, ...result }: AnswerMembers): AnalysisTable {
  const axes = Object.entries(coordinates as Coordinates);
  const named = isOfComponents(result)
    ? partsOf(result).flatMap(({ of, ...part }) => Object.entries(part).map(([name, one]) => [`${name}.${of}`, one]))
    : Object.entries(result);
  const members = [...(named as [string, unknown][]), ...Object.entries(beside ?? {})].filter(([name, value]) => {
    if (["of", "on", "passes"].includes(name) || value === undefined || typeof value === "string") return false;
    return !Array.isArray(value) || isOfAllPlaces(name) || axes.some(([axis]) => variesAlong(name, axis));
  });
  const table = tableOf(rowsAt(Object.fromEntries(members), axes), null);
  const [[axis] = [""], ...more] = axes;
  if (more.length > 0 || result.edges !== undefined) return table;
  const lists = members.flatMap(([name, value]) => (Array.isArray(value) && variesAlong(name, axis) ? [name] : []));
  const means = lists.filter((name) => /^mean(\.|$)/.test(name));
  const shown = means.length > 0 ? means : lists.filter((name) => !/^(count|missing|infinite|.*_plus)$/.test(name));
  const y = table.columns.filter((column) => shown.some((name) => column === name || column.startsWith(`${name}.`)));
  const title = lists.includes("wavelength") ? "wavelength" : axis;
  return { ...table, plot: { x: axis, along: [title], title, y: y.filter((column) => column !== title), log: false } };
}

/** Rows of several reductions, each with its number and its quantities. */
function joinedTable(results: readonly AnswerMembers[]): AnalysisTable {
  const tables = results.map(resultTable);
  const names = results.map(({ budget, of }) => [budget ?? of ?? ""].flat().join(", "));
  const columns = [...new Set(["reduction", ...(names.join("") && ["of"]), ...tables.flatMap((one) => one.columns)])];
  const rows = tables.flatMap((table, number) =>
    table.rows.map((row) => {
      const cells = { reduction: number, of: names[number], ...numbered(row, table.columns) };
      return columns.map((name) => (cells as AnswerMembers)[name] ?? "");
    }),
  );
  const [plot, ...plots] = tables.map((table) => table.plot);
  const isAlike = plots.every((one) => one?.x === plot?.x && String(one?.y) === String(plot?.y));
  const isNamed = !names.includes("") && new Set(names).size === names.length;
  const title = [...new Set(tables.map((table) => table.plot?.title))].join(", ");
  return { columns, rows, plot: plot && isAlike && isNamed ? { ...plot, title, by: "of" } : null };
}

const numbered = (values: readonly unknown[] = [], names: readonly string[]): object =>
  Object.fromEntries(names.map((name, k) => [name, values[k]]));

function dispersionTable(times: readonly unknown[], answer: AnswerMembers): AnalysisTable {
  const rows = times.map((time, r) => {
    const at = sliceOf(answer, (list, name) => (name === "edges" ? list : list[r])) as Readonly<
      Record<string, AnswerMembers>
    >;
    const { particles, mean_square, mean_square_axes, velocity_square, autocorrelation } = at;
    return {
      ...{ time, particles, mean_square },
      ...numbered(mean_square_axes as never, ["mean_square.x", "mean_square.y", "mean_square.z"]),
      ...{ velocity_square, autocorrelation },
      ...{ separation: at.pairs?.separation ?? {}, increment: at.increments?.moments ?? {} },
      ...(at.histogram && { histogram: at.histogram }),
      ...(at.increment_histogram && { increment_histogram: at.increment_histogram }),
      ...(at.tetrads && numbered(at.tetrads.eigenvalues as never, ["eigenvalue.1", "eigenvalue.2", "eigenvalue.3"])),
    };
  });
  const table = tableOf(rows, null);
  const y = table.columns.filter((name) => name === "mean_square" || name.startsWith("separation."));
  return { ...table, plot: { x: "time", y, log: false } };
}

/** A row for each bin of each PDF of increments; plots show the first axis and part. */
function pdfTable(separations: readonly AnswerMembers[], edges: unknown): AnalysisTable {
  const rows = separations.flatMap(({ axis, nodes, length, pdf }) =>
    Object.entries(pdf as Readonly<Record<string, AnswerMembers>>).flatMap(([part, own]) =>
      rowsAt({ edges, ...own }, [], { axis, part, ...(nodes === undefined ? {} : { nodes }), length }),
    ),
  );
  const table = tableOf(rows, { x: "from", along: ["from", "to"], y: ["density"], by: "length", log: false });
  const [[axis, part]] = table.rows;
  return { ...table, shown: (row) => row[0] === axis && row[1] === part };
}

/** Members of spectra with a number for each wavenumber. */
const OF_WAVENUMBERS = ["E", "helicity", "cross", "dissipation", "transfer", "flux"];

/** A row for each wavenumber, and in planes for each position across them; plots end at the Nyquist wavenumber. */
function spectrumTable({ k, coordinates, components, nyquist, ...answer }: AnswerMembers): AnalysisTable {
  const spectra = Object.entries(answer).filter(([name]) => OF_WAVENUMBERS.includes(name));
  const parts = ((components ?? []) as unknown[]).map((list, c) => [`E_${"xyz"[c]}`, list]);
  const places = { ...(coordinates as Coordinates | undefined), k: k as readonly number[] };
  const table = profileTable({ coordinates: places, ...Object.fromEntries([...spectra, ...parts]) });
  if (coordinates !== undefined) return table;
  const plot = { x: "k", y: spectra.map(([name]) => name), log: true };
  return { ...table, plot, shown: (row) => Number(row[0]) <= Number(nyquist) };
}

/** The table of an answer. Throws RequestError if it has none. */
export function analysisTable(answer: AnswerMembers): AnalysisTable {
  if (answer.nyquist !== undefined) return spectrumTable(answer);
  const { results, separations, structures } = answer as Readonly<Record<string, readonly AnswerMembers[] | undefined>>;
  if (structures !== undefined) return tableOf(structures, null);
  if (separations?.[0]?.pdf !== undefined) return pdfTable(separations, answer.edges);
  if (separations !== undefined) {
    const table = tableOf(separations, null);
    const y = table.columns.filter((column) => /^(longitudinal|scalar)\./.test(column));
    return { ...table, plot: { x: "length", y, by: "axis", log: true } };
  }
  if (answer.times !== undefined) return dispersionTable(answer.times as readonly unknown[], answer);
  const beside = { ...(answer.wall_units as object), wavelength: answer.wavelength };
  const [first, ...more] = (results ?? []).map((result) => ({ ...result, ...(result.coordinates ? { beside } : {}) }));
  if (first === undefined) throw new RequestError("Unsupported", "A table has rows, and this answer has none.");
  return more.length > 0 ? joinedTable([first, ...more]) : resultTable(first);
}

export function* tableLines({ columns, rows }: AnalysisTable): Generator<string, undefined> {
  const cell = (value: unknown): string => {
    const text = String(value ?? "");
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  yield `${columns.map(cell).join(",")}\r\n`;
  for (const row of rows) yield `${row.map(cell).join(",")}\r\n`;
}
