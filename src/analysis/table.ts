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
    readonly y: readonly string[];
    readonly by?: string;
    readonly log: boolean;
  } | null;
  /** Whether a plot shows a row; absent: it shows all. */
  readonly shown?: (row: readonly unknown[]) => boolean;
}

/** Nested members as columns with dots between names. */
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

/** The table of a reduction. */
function resultTable(result: AnswerMembers): AnalysisTable {
  if (Array.isArray(result.of) && result.matrix === undefined && result.edges === undefined)
    return componentsTable(result, result.of);
  if (result.coordinates !== undefined) return profileTable(result);
  if (result.highest !== undefined) {
    const side = (name: string) => (result[name] as AnswerMembers[]).map((one) => ({ side: name, ...one }));
    return tableOf([...side("highest"), ...side("lowest")], null);
  }
  const { edges, counts, weights, mean } = result as Readonly<Record<string, number[] | undefined>>;
  if (edges === undefined || counts === undefined) return tableOf([result], null);
  if (Array.isArray(edges[0])) return jointTable(result as unknown as JointAnswer);
  const means = ["mean", "variance", "mean_se", "variance_se"].filter((name) => result[name] !== undefined);
  const rows = counts.map((count, i) => ({
    ...{ from: edges[i], to: edges[i + 1], count, weight: weights?.[i] },
    ...Object.fromEntries(means.map((name) => [name, (result[name] as readonly unknown[])[i]])),
  }));
  return tableOf(rows, { x: "from", y: [mean === undefined ? "weight" : "mean"], log: false });
}

/** Moments of the components of a quantity: a row for each, or columns of each along a kept axis. */
function componentsTable(result: AnswerMembers, of: readonly string[]): AnalysisTable {
  const { coordinates } = result as { coordinates?: AnswerMembers };
  const lists = Object.entries(result).filter(([, list]) => Array.isArray(list)) as [string, unknown[]][];
  const parts = of.map((_, c) => Object.fromEntries(lists.map(([name, list]) => [name, list[c]])));
  if (coordinates === undefined) return tableOf(parts, null);
  const named = parts.flatMap(({ of: text, ...part }) =>
    Object.entries(part).map(([name, list]) => [`${name}.${text}`, list as unknown[]] as const),
  );
  return profileRows(
    coordinates,
    named,
    of.map((text) => `mean.${text}`),
  );
}

type Cells = readonly (readonly number[])[];
type JointAnswer = Readonly<
  Record<"edges" | "counts" | "weights", Cells> & Partial<Record<"mean" | "variance", Cells>>
>;

function jointTable({ edges: [rows = [], columns = []], counts, weights, mean, variance }: JointAnswer): AnalysisTable {
  const cells = counts.flatMap((line, i) =>
    line.map((count, j) => ({
      ...{ from: rows[i], to: rows[i + 1], from2: columns[j], to2: columns[j + 1] },
      ...{ count, weight: weights[i]?.[j] },
      ...(mean === undefined ? {} : { mean: mean[i]?.[j], variance: variance?.[i]?.[j] }),
    })),
  );
  return tableOf(cells, null);
}

const FIXED = ["at", "on", "edges"];

/** A row for each coordinate of the kept axes. */
function profileTable({ of: _, coordinates, ...result }: AnswerMembers): AnalysisTable {
  const members = Object.entries(result).flatMap(([name, one]) =>
    Array.isArray(one) || typeof one !== "object"
      ? [[name, one] as const]
      : Object.entries(one ?? {}).map(([n, list]) => [`${name}.${n}`, list]),
  );
  const same = Object.fromEntries(members.filter(([name]) => FIXED.includes(name)));
  const lists = members.filter(([name, list]) => Array.isArray(list) && !FIXED.includes(name)) as [string, unknown[]][];
  const names = lists.map(([name]) => name);
  return profileRows(coordinates as AnswerMembers, lists, names.includes("mean") ? ["mean"] : names, same);
}

/** The elements of a nested list, in order. */
function flatTo(list: readonly unknown[], depth: number): readonly unknown[] {
  return depth <= 1 ? list : flatTo(list.flat(1), depth - 1);
}

function profileRows(
  coordinates: AnswerMembers,
  lists: readonly (readonly [string, unknown[]])[],
  y: readonly string[],
  same: AnswerMembers = {},
): AnalysisTable {
  // Coordinates are in the order of the lists, the slowest first; columns are x, y, z, t.
  const axes = Object.entries(coordinates) as [string, number[]][];
  const flat = lists.flatMap(([name, list]) => {
    let [depth, level]: [number, unknown] = [0, list];
    while (Array.isArray(level) && level.length === axes[depth]?.[1].length) [depth, level] = [depth + 1, level[0]];
    return depth === 0 ? [] : [[name, flatTo(list, depth)] as const];
  });
  const count = axes.reduce((product, [, places]) => product * places.length, 1);
  const rows = Array.from({ length: count }, (_, i) => {
    let span = count;
    const places = axes.map(([axis, along]) => {
      span /= along.length;
      return [axis, along[Math.floor(i / span) % along.length]] as const;
    });
    // A list along the slower axes alone is the same along the others.
    const own = flat.map(([name, list]) => [name, list[Math.floor((i * list.length) / count)]]);
    return { ...Object.fromEntries(places.reverse()), ...same, ...Object.fromEntries(own) };
  });
  const [[axis] = [""]] = axes;
  const plot = axes.length === 1 && same.edges === undefined ? { x: axis, y, log: false } : null;
  return tableOf(rows, plot);
}

/** Rows of several reductions, each with the number of its reduction. */
function joinedTable(results: readonly AnswerMembers[]): AnalysisTable {
  const tables = results.map(resultTable);
  const columns = ["reduction", ...new Set(tables.flatMap((table) => table.columns))];
  const rows = tables.flatMap((table, number) =>
    table.rows.map((row) =>
      columns.map((name) => (name === "reduction" ? number : (row[table.columns.indexOf(name)] ?? ""))),
    ),
  );
  return { columns, rows, plot: null };
}

const numbered = (values: readonly unknown[] = [], names: readonly string[]): object =>
  Object.fromEntries(names.map((name, k) => [name, values[k]]));

/** A row for each time of dispersion. */
function dispersionTable(times: readonly unknown[], answer: AnswerMembers): AnalysisTable {
  const lists = answer as Readonly<Record<string, readonly unknown[]>>;
  const { moments = {} } = (answer.increments ?? {}) as {
    moments?: Readonly<Record<string, Record<string, number[]>>>;
  };
  const increments = Object.entries(moments).flatMap(([p, of]) =>
    Object.entries(of).map(([c, list]) => [`increment.${p}.${c}`, list] as const),
  );
  const { pairs, tetrads } = answer as Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;
  const separation = Object.entries((pairs?.separation ?? {}) as Readonly<Record<string, unknown[]>>);
  const rows = times.map((time, r) => ({
    ...{ time, particles: lists.particles?.[r], mean_square: lists.mean_square?.[r] },
    ...numbered(lists.mean_square_axes?.[r] as unknown[], ["mean_square.x", "mean_square.y", "mean_square.z"]),
    ...{ velocity_square: lists.velocity_square?.[r], autocorrelation: lists.autocorrelation?.[r] },
    ...Object.fromEntries(separation.map(([order, list]) => [`separation.${order}`, list[r]])),
    ...Object.fromEntries(increments.map(([name, list]) => [name, list[r]])),
    ...(tetrads === undefined
      ? {}
      : numbered((tetrads.eigenvalues as unknown[][])[r], ["eigenvalue.1", "eigenvalue.2", "eigenvalue.3"])),
  }));
  const y = ["mean_square", ...separation.map(([order]) => `separation.${order}`)];
  return tableOf(rows, { x: "time", y, log: false });
}

/** A row for each wavenumber, and in planes for each position across them; plots end at the Nyquist wavenumber. */
function spectrumTable({ k, coordinates, ...answer }: AnswerMembers): AnalysisTable {
  const waves = k as readonly number[];
  const isNumbers = (list: unknown) =>
    Array.isArray(list) && list.flat(9).every((one) => typeof (one ?? 0) === "number");
  const lists = Object.entries(answer).filter(([, list]) => isNumbers(list) && (list as []).length > 0);
  if (coordinates !== undefined) {
    const places = coordinates as Readonly<Record<string, readonly unknown[]>>;
    const [count] = Object.values(places).map(({ length }) => length);
    const ofPlanes = lists.filter(([, list]) => (list as readonly unknown[]).length === count);
    return profileRows({ ...places, k: waves }, ofPlanes as [string, unknown[]][], []);
  }
  const alongK = lists.filter(([, list]) => (list as readonly unknown[]).length === waves.length);
  const rows = waves.map((wave, n) => ({
    k: wave,
    ...Object.fromEntries(alongK.map(([name, list]) => [name, (list as readonly number[])[n]])),
    ...(Array.isArray(answer.components)
      ? Object.fromEntries((answer.components as number[][]).map((list, c) => [`E_${"xyz"[c]}`, list[n]]))
      : {}),
  }));
  const { nyquist } = answer as { readonly nyquist: number };
  return { ...tableOf(rows, { x: "k", y: ["E"], log: true }), shown: (row) => Number(row[0]) <= nyquist };
}

/** The table of an answer. Throws RequestError if it has none. */
export function analysisTable(answer: AnswerMembers): AnalysisTable {
  if (answer.nyquist !== undefined) return spectrumTable(answer);
  const { results, separations, structures } = answer as Readonly<Record<string, readonly AnswerMembers[] | undefined>>;
  if (structures !== undefined) return tableOf(structures, null);
  if (separations !== undefined) {
    const table = tableOf(separations, null);
    const y = table.columns.filter((column) => /^(longitudinal|scalar)\./.test(column));
    return { ...table, plot: { x: "length", y, by: "axis", log: true } };
  }
  if (answer.times !== undefined) return dispersionTable(answer.times as readonly unknown[], answer);
  const [first, ...more] = results ?? [];
  if (first === undefined) throw new RequestError("Unsupported", "A table has rows, and this answer has none.");
  return more.length > 0 ? joinedTable(results as readonly AnswerMembers[]) : resultTable(first);
}

/** The lines of a table as CSV, names of columns first. */
export function* tableLines({ columns, rows }: AnalysisTable): Generator<string, undefined> {
  const cell = (value: unknown): string => {
    const text = String(value ?? "");
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  yield `${columns.map(cell).join(",")}\n`;
  for (const row of rows) yield `${row.map(cell).join(",")}\n`;
}
