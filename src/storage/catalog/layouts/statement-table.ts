/**
 * Lists words by which files state that values, places, components or times change, and what is known about them. New
 * statements are added as rows.
 */
import type { Subject } from "../../file/dataset.js";

/** Words that raise a question unless the value of the statement says that nothing changes. */
export interface SuspectRow {
  /** Beginnings of the words of a name: `scal` is the beginning of one word of `time_scale`. */
  readonly stems: readonly string[];
  /** Words of a name as a whole. */
  readonly words?: readonly string[];
  readonly about: Subject;
  /** What the statement may do, for people: "may ... them". */
  readonly effect: string;
  /** The number that changes nothing; null if numbers say nothing. */
  readonly neutral: number | null;
  /** Texts that change nothing, in lower case. */
  readonly plain: readonly string[];
}

const NONE = ["", "none", "no", "false", "off", "n/a", "unscaled", "raw"];

export const SUSPECTS: readonly SuspectRow[] = [
  {
    stems: ["scal", "fact", "multipl", "slope", "gain", "conver", "calibr", "normali"],
    words: ["norm", "si", "cgs", "mks", "unit"],
    about: "scale",
    effect: "scale",
    neutral: 1,
    plain: [...NONE, "linear", "1", "si", "cgs"],
  },
  {
    stems: ["offset", "bias", "intercept", "anomal"],
    words: ["ref", "reference", "datum", "shift", "baseline"],
    about: "scale",
    effect: "shift",
    neutral: 0,
    plain: NONE,
  },
  {
    stems: ["transform", "logarithm", "spectral", "fourier"],
    words: ["log", "log10", "exponent"],
    about: "scale",
    effect: "transform",
    neutral: 0,
    plain: [...NONE, "linear", "physical", "identity"],
  },
  {
    stems: ["fill", "missing", "nodata"],
    words: ["valid"],
    about: "scale",
    effect: "mark some of",
    neutral: null,
    plain: [...NONE, "nan"],
  },
  {
    stems: ["stagger", "center", "centr", "centering", "colloc", "colocat"],
    words: ["location", "position"],
    about: "spacing",
    effect: "move the places of",
    neutral: 0,
    plain: [...NONE, "node", "nodes", "nodal", "vertex", "vertices", "point", "points", "collocated", "colocated"],
  },
  {
    stems: ["order"],
    words: ["majority"],
    about: "order",
    effect: "reorder",
    neutral: null,
    plain: [...NONE, "c", "row", "row-major", "row_major", "rowmajor"],
  },
];

/** Names, or words of names, that match a row above and change nothing. */
export interface HarmlessRow {
  readonly producer: string;
  /** Names as a whole, in lower case. */
  readonly names?: readonly string[];
  /** Words of names. */
  readonly words?: readonly string[];
}

export const HARMLESS_STATEMENTS: readonly HarmlessRow[] = [
  { producer: "HDF5 dimension scales", names: ["reference_list", "dimension_list", "dimension_labels"] },
  { producer: "CF conventions", names: ["references", "standard_name", "long_name", "axis", "positive", "calendar"] },
  { producer: "WRF", names: ["memoryorder"] },
  { producer: "Dedalus", names: ["scales"] },
  {
    producer: "openPMD",
    names: ["unitdimension", "gridunitsi", "gridglobaloffset", "timeunitsi", "dataorder", "position"],
  },
  { producer: "fluidsim", names: ["axes"] },
  { producer: "netCDF", names: ["_netcdf4coordinates", "_fillvalue"], words: ["quantize", "endianness", "byte"] },
  { producer: "yt", names: ["unit_registry", "unit_system"] },
  {
    producer: "solvers: statistics of the flow",
    words: ["integral", "taylor", "kolmogorov", "eddy", "dissipation", "batchelor", "turbulent", "large", "forcing"],
  },
  {
    producer: "solvers: settings of their schemes",
    words: ["cfl", "courant", "safety", "dealias", "dealiasing", "padding", "relaxation", "compression"],
  },
];

/** Texts whose wording says that stored numbers are not plain values at plain nodes. */
export interface WordingRow {
  readonly about: Subject;
  readonly pattern: RegExp;
  readonly effect: string;
}

/** Attributes whose text is read for such wording. */
export const WORDED = /^(units?|long_?name|description|comments?|notes?|quantity|space|kind|type|remarks?|info)$/i;

export const WORDINGS: readonly WordingRow[] = [
  {
    about: "scale",
    pattern: /multipl(y|ied)|divided? by|scaled? (by|with)|in units of|normali[sz]ed|non-?dimensional|\btimes \d/i,
    effect: "scale",
  },
  { about: "scale", pattern: /\blog(10|2)?\b|logarithm|\bd[bB]\b|fourier|spectral coeff/i, effect: "transform" },
  { about: "scale", pattern: /anomal(y|ies)|perturbation|deviation from|minus the mean/i, effect: "shift" },
  { about: "spacing", pattern: /stagger|(cell|face|edge)[- ]?cent(er|re)/i, effect: "move the places of" },
];
