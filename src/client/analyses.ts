/** Asks for analyses over plain HTTP: statistics, structure functions, structures, spectra and flow maps. */
import type { Integrator } from "../shared/operations.js";
import { postTo } from "./plain-http.js";

type Coordinates3 = readonly [number, number, number];
type HistogramRange = readonly [number, number];
type AveragedAxis = "x" | "y" | "z";

/** Ends a request early. */
export interface AnalysisOptions {
  readonly signal?: AbortSignal;
}

/** A box in lengths, or in nodes counted from 0 without the end itself; on periodic axes it may cross the seam. */
export type Region<Numbers = Coordinates3> =
  | { readonly origin: Numbers; readonly extent: Numbers }
  | { readonly start?: Numbers; readonly end?: Numbers; readonly step?: Numbers };

/** Which nodes and frames are analysed: one of `time`, `times` and `frames`; frames are numbered from 1. */
export interface AnalysisPlaces {
  readonly time?: number;
  readonly times?: readonly number[];
  readonly frames?: "all" | readonly number[];
  readonly region?: Region;
  readonly weights?: "volume" | "nodes";
  readonly derivatives?: string;
  readonly filter?: { readonly kind: "gaussian" | "sharp" | "tophat"; readonly width: number };
}

/** A reduction; quantities are names or expressions, as docs/analysis.md describes them. */
export type Reduction =
  | { readonly moments: string; readonly order?: 1 | 2 | 3 | 4 }
  | { readonly covariance: readonly string[] }
  | { readonly histogram: string; readonly bins: number; readonly range: HistogramRange | "auto" }
  | {
      readonly joint: readonly [string, string];
      readonly bins: readonly [number, number];
      readonly range: readonly [HistogramRange, HistogramRange] | "auto";
    }
  | {
      readonly conditional: string;
      readonly on: string;
      readonly bins: number;
      readonly range: HistogramRange | "auto";
    }
  | { readonly extremes: string; readonly count: number; readonly apart?: number };

export interface StatisticsRequest extends AnalysisPlaces {
  readonly at?: "nodes" | { readonly random: number; readonly seed?: number; readonly method?: string };
  readonly over?: readonly (AveragedAxis | "t")[];
  readonly reduce: readonly Reduction[];
}

export interface StructureFunctionsRequest extends AnalysisPlaces {
  readonly of?: string;
  readonly orders?: readonly number[];
  readonly separations:
    | { readonly nodes: readonly number[] }
    | { readonly lengths: readonly number[]; readonly pairs: number; readonly seed?: number; readonly method?: string };
  readonly axes?: readonly AveragedAxis[];
  /** Members of each separation in addition to `pairs`; all by default. */
  readonly terms?: readonly ("longitudinal" | "transverse" | "mixed" | "R_LL" | "R_NN" | "scalar" | "yaglom")[];
  /** What `R_LL` and `R_NN` are without: the mean of each component by default. */
  readonly remove?: "mean" | "none";
  /** Significant digits of means. */
  readonly digits?: number;
  /** A row for each separation (by default), or lists over the separations. */
  readonly form?: "rows" | "columns";
}

type StructureThreshold = number | { readonly rms: number };

export interface StructuresRequest extends AnalysisPlaces {
  readonly of: string;
  readonly above?: StructureThreshold;
  readonly below?: StructureThreshold;
  readonly connectivity?: 6 | 18 | 26;
  readonly least?: number;
  readonly properties?: readonly string[];
}

/** What every answer says. */
export interface AnalysisAnswer {
  readonly operation: string;
  readonly dataset: string;
  readonly manifest: string;
  readonly version: string;
  readonly frames: readonly { readonly frame: number; readonly time: number }[];
  readonly formulas: Readonly<Record<string, string>>;
  /** Units of quantities, as far as the dataset states its own. */
  readonly units: Readonly<Record<string, string>>;
  /** The filter, with its width along each axis: a tophat has odd numbers of nodes. */
  readonly filter?: { readonly kind: string; readonly width: number; readonly widths: readonly number[] };
  /** What a node weighed: the volume of its cell, or 1, as a random point does. */
  readonly weights: "volume" | "nodes" | "points";
}

/** One result for each reduction; its members are those of docs/analysis.md, nested along the axes that are kept. */
export interface StatisticsAnswer extends AnalysisAnswer {
  readonly results: readonly Readonly<Record<string, unknown>>[];
}

type MomentsByOrder = Readonly<Record<string, number>>;

export interface StructureFunctionsAnswer extends AnalysisAnswer {
  readonly separations: readonly {
    readonly axis: AveragedAxis;
    readonly nodes?: number;
    readonly length: number;
    readonly pairs: number;
    readonly missing: number;
    readonly infinite: number;
    readonly longitudinal?: MomentsByOrder;
    readonly transverse?: MomentsByOrder;
    readonly mixed?: number;
    readonly R_LL?: number;
    readonly R_NN?: number;
    readonly scalar?: MomentsByOrder;
    readonly yaglom?: number;
  }[];
}

/** The members of the rows as lists over the separations; one value if it is the same in all rows. */
export interface StructureFunctionColumns extends AnalysisAnswer {
  /** By axis: the members that differ between the axes. */
  readonly axes: Readonly<Partial<Record<AveragedAxis, Readonly<Record<string, unknown>>>>>;
  readonly [member: string]: unknown;
}

export interface StructuresAnswer extends AnalysisAnswer {
  readonly threshold: number;
  readonly nodes: number;
  readonly missing: number;
  readonly infinite: number;
  readonly count: number;
  readonly structures: readonly {
    readonly nodes: number;
    readonly volume: number;
    readonly centre: Coordinates3;
    readonly box: readonly [Coordinates3, Coordinates3];
    readonly wraps: readonly [boolean, boolean, boolean];
    readonly properties: Readonly<Record<string, Readonly<Record<"integral" | "mean" | "min" | "max", number | null>>>>;
  }[];
}

export interface SpectrumRequest extends Omit<AnalysisPlaces, "region"> {
  readonly of?: string;
  readonly kind?: "shell" | "line" | "plane";
  readonly axis?: AveragedAxis;
  /** transfer, flux, dissipation, helicity, or cross: and a quantity. */
  readonly with?: readonly string[];
}

/** By wavenumber; spectra of planes have such a list for each plane. */
type ByWavenumber = readonly number[] | readonly (readonly number[])[];

export interface SpectrumAnswer extends AnalysisAnswer {
  readonly kind: "shell" | "line" | "plane";
  readonly axis?: AveragedAxis;
  readonly k: readonly number[];
  readonly E: ByWavenumber;
  /** Spectra along lines of a vector: one for each component. */
  readonly components?: readonly (readonly number[])[];
  readonly cross?: ByWavenumber;
  readonly helicity?: readonly number[];
  readonly transfer?: readonly number[];
  readonly flux?: readonly number[];
  readonly dissipation?: readonly number[];
  readonly nyquist: number;
  /** Spectra of planes: the coordinate of each plane. */
  readonly coordinates?: Readonly<Partial<Record<AveragedAxis, readonly number[]>>>;
  /** Of shells of a velocity: its scales, as docs/analysis.md describes them. */
  readonly scales?: Readonly<Record<string, number>>;
}

/** For each node, the number of its structure in the list, from 1; 0 if it belongs to none. */
export interface LabelsAnswer {
  /** Nodes along z, y, x. */
  readonly shape: readonly number[];
  readonly labels: Int32Array;
}

/** Seeds, times and scheme of a flow map, as docs/tracking.md describes them. */
export interface FlowMapRequest {
  readonly start: number;
  readonly end: number;
  readonly dt: number;
  readonly plane?: { readonly normal: "x" | "y" | "z"; readonly at: number; readonly count: readonly number[] };
  readonly box?: { readonly count: readonly number[] };
  readonly region?: Region<readonly number[]>;
  readonly integrator?: "rk4" | "heun";
  readonly method?: string;
  readonly derivatives?: string;
  readonly quantities?: readonly ("map" | "gradient" | "eigenvalues" | "ftle")[];
}

/** The quantities asked for, each nested as `shape` says, the slowest axis first. */
export interface FlowMapAnswer extends Omit<AnalysisAnswer, "weights"> {
  readonly shape: readonly number[];
  readonly map?: readonly unknown[];
  readonly gradient?: readonly unknown[];
  readonly eigenvalues?: readonly unknown[];
  readonly ftle?: readonly unknown[];
}

/** Where particles start: alone, in pairs, whose separations are answered, or in tetrads, whose shapes are. */
export type DispersionSeeds =
  | { readonly random: number; readonly seed?: number }
  | { readonly grid: readonly number[] }
  | { readonly pairs: number; readonly distance: number; readonly seed?: number }
  | { readonly tetrads: number; readonly distance: number; readonly seed?: number }
  | { readonly points: readonly Coordinates3[]; readonly together?: 1 | 2 | 4 };

/** Seeds, times and scheme of dispersion, as docs/tracking.md describes them. */
export interface DispersionRequest {
  readonly start: number;
  readonly end: number;
  readonly dt: number;
  readonly every?: number;
  readonly seeds: DispersionSeeds;
  readonly region?: Region;
  readonly orders?: readonly number[];
  readonly method?: string;
  readonly integrator?: Integrator;
  readonly tolerance?: number;
  readonly openFaces?: "fail" | "stop";
  /** What the autocorrelation is without: the mean velocity of the particles by default. */
  readonly remove?: "mean" | "none";
}

type MeanAtTimes = readonly (number | null)[];

/** Means over the particles that are in the domain, for each of `times`; null if there are none. */
export interface DispersionAnswer extends Omit<AnalysisAnswer, "frames" | "formulas" | "weights"> {
  readonly times: readonly number[];
  readonly particles: readonly number[];
  readonly meanSquare: MeanAtTimes;
  /** The same along x, y and z. */
  readonly meanSquareAxes: readonly MeanAtTimes[];
  readonly velocitySquare: MeanAtTimes;
  readonly autocorrelation: MeanAtTimes;
  readonly pairs?: {
    readonly count: readonly number[];
    readonly separation: Readonly<Record<string, MeanAtTimes>>;
  };
  readonly tetrads?: { readonly count: readonly number[]; readonly eigenvalues: readonly MeanAtTimes[] };
}

/** The methods of a client that analyse. */
export function analysesOf(url: string, token: string | undefined) {
  const ask = async (name: string, dataset: string, request: object, accept: string, options: AnalysisOptions) => {
    const { signal = new AbortController().signal } = options;
    return postTo(url, `${encodeURIComponent(dataset)}/${name}`, request, accept, token, signal);
  };
  const json =
    (name: string) =>
    async (dataset: string, request: object, options: AnalysisOptions = {}): Promise<unknown> => {
      const { bytes } = await ask(name, dataset, request, "application/json", options);
      return JSON.parse(new TextDecoder().decode(bytes));
    };
  const structureLabels = async (dataset: string, request: object, options: AnalysisOptions = {}) => {
    const asked = { ...request, labels: true };
    const { bytes, headers } = await ask("structures", dataset, asked, "application/x-npy", options);
    const shape = (headers.get("fieldprobe-shape") ?? "").split(",").map(Number);
    const nodes = shape.reduce((product, n) => product * n, 1);
    return { shape, labels: new Int32Array(bytes.slice(bytes.byteLength - 4 * nodes)) };
  };
  return {
    statistics: json("statistics"),
    structureFunctions: json("structure-functions"),
    structures: json("structures"),
    spectrum: json("spectrum"),
    flowMap: json("flow-map"),
    dispersion: json("dispersion"),
    structureLabels,
  };
}
